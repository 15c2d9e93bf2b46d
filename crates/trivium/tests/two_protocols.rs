//! Handlers of one protocol that use memory which another keeps coherent: what the other's tag does not allow is a fault.

mod harness;

use harness::{Run, trivium};

fn both(why: &str, protocol: &str) -> [Run; 2] {
    let args = ["programs/bad/two-protocols.c", "-p", protocol, "-p", "./programs/bad/mover.tri", "-n", "3"];
    let sim = trivium(&[&["sim"], &args[..], &["-m", "typhoon", "--", why]].concat());
    let run = trivium(&[&["run"], &args[..], &["--", why]].concat());
    [sim, run]
}

#[test]
fn what_the_tag_does_not_allow_is_a_fault() {
    for protocol in ["stache", "msi"] {
        for (why, what) in [
            ("0", "`mover` stores to shared offset 0x0 of block 0"),
            ("1", "`mover` loads from shared offset 0x1000 of block"),
            ("2", "`mover` stores to shared offset 0x0 of block 0"),
        ] {
            let owner = format!("which the protocol `{protocol}` keeps coherent");
            for run in both(why, protocol) {
                assert_eq!(run.code, Some(1), "{why}: {run:?}");
                assert!(run.err.contains(what) && run.err.contains(&owner), "{why}: {run:?}");
                assert!(run.err.contains("mover.tri:"), "{why}: {run:?}");
            }
        }
        both("3", protocol).iter().for_each(|run| assert_eq!(run.code, Some(0), "{run:?}"));
    }
}

/// Where processors have caches of their own, nobody but their protocol knows where the contents are.
#[test]
fn memory_of_cached_processors_is_left_alone() {
    let run = trivium(&[
        "sim",
        "programs/bad/two-protocols.c",
        "-p",
        "flash-coherence",
        "-p",
        "./programs/bad/mover.tri",
        "-n",
        "3",
        "-m",
        "flash",
        "--",
        "3",
    ]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("its processors have caches of their own"), "{run:?}");
}
