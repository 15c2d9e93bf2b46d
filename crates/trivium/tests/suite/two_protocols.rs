//! Handlers of one protocol that use memory which another keeps coherent: what the other's tag does not allow is a fault.

use crate::harness::{Run, trivium};

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

/// Where processors have caches of their own, a node that is not the block's home must have it in its cache.
#[test]
fn lines_of_cached_processors_are_looked_at() {
    let args = ["programs/bad/two-protocols.c", "-p", "flash-coherence", "-p", "./programs/bad/mover.tri", "-n", "3"];
    let sim = |why| trivium(&[&["sim"], &args[..], &["-m", "flash", "--", why]].concat());
    let run = sim("4");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("`mover` loads from shared offset 0x1000 of block"), "{run:?}");
    assert_eq!(sim("3").code, Some(0), "at home");
}
