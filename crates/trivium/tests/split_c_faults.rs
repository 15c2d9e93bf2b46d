//! What goes wrong in a program on a network of workstations (the machine `now`, Split-C's library with copies and without), as the study's section 8 lists it:
//! each fault whose mechanism is there is told. docs/split-c.md says which are not.

mod harness;

use harness::{Run, root, trivium};
use std::path::Path;

const LIBRARIES: [&str; 2] = ["uncached", "swcc"];

fn on_now(program: &str, protocol: &str, more: &[&str]) -> Run {
    trivium(&[&["sim", program, "-p", protocol, "-m", "now", "-n", "2", "--block", "8"], more].concat())
}

/// A program of its own.
fn written(folder: &Path, text: &str) -> String {
    let path = folder.join("program.sc");
    std::fs::write(&path, format!("#include <stdio.h>\n{text}")).unwrap();
    path.display().to_string()
}

#[test]
fn pointers_that_lead_nowhere_are_told_before_anything_is_sent() {
    for (name, what) in [
        ("null", "a null global pointer is used"),
        ("processor", "toglobal names processor 2, which does not exist"),
        ("processor-negative", "toglobal names processor -"),
        ("wild", "points to no processor's memory"),
        ("beyond", "is out of bounds"),
        ("bulk-negative", "a negative length"),
    ] {
        for protocol in LIBRARIES {
            let file = format!("crates/trivium/tests/bad/split-c/{name}.sc");
            let run = on_now(&file, protocol, &[]);
            assert!(run.code == Some(1) && run.err.contains(what) && run.err.contains(&file), "{protocol}: {run:?}");
        }
    }
}

#[test]
fn an_access_across_blocks_is_one_of_each_and_none_of_no_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let program = written(
        folder.path(),
        "static int words[8];
        int splitc_main(void) {
            int here[2] = {0, 0}, at = (uintptr_t)words % 8 ? 0 : 1;
            if (MYPROC == 0) for (int i = 0; i < 8; i++) words[i] = i + 1;
            barrier();
            trivium_begin();
            if (MYPROC == 1) {
                bulk_read(here, toglobal(0, words), 0);
                bulk_read(here, toglobal(0, words + at), sizeof here);
                if (here[0] != at + 1 || here[1] != at + 2) trivium_fail(\"another value\");
            }
            trivium_end();
            return 0;
        }",
    );
    for protocol in LIBRARIES {
        let result = on_now(&program, protocol, &["--format", "json"]).json(0);
        let counted = result["accesses"][1]["accesses"].as_array().unwrap();
        let gets: u64 =
            counted.iter().filter(|one| one["kind"] == "get").map(|one| one["misses"].as_u64().unwrap()).sum();
        assert_eq!(gets, 2, "{protocol}: {counted:?}");
    }
}

#[test]
fn a_local_pointer_to_what_another_processor_has_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let program = written(
        folder.path(),
        "static int total;
        int splitc_main(void) {
            if (MYPROC == 1) *toglobal(0, &total) = 7;
            barrier();
            if (MYPROC == 0) printf(\"%d\\n\", total);
            return 0;
        }",
    );
    let run = on_now(&program, "swcc", &[]);
    assert!(run.code == Some(1) && run.err.contains("program.sc:6") && run.err.contains("shared address"), "{run:?}");
}

#[test]
fn an_answer_that_nobody_waits_for_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(root().join("protocols/swcc.tri")).unwrap();
    let once = "on Inv           { send InvAck to home; lose() }";
    assert!(text.contains(once), "the handler that is to answer twice is another one now");
    let twice = text.replace(once, "on Inv           { send InvAck to home; send InvAck to home; lose() }");
    let protocol = folder.path().join("swcc.tri");
    std::fs::write(&protocol, twice).unwrap();
    let run = trivium(&[
        "sim",
        "programs/split-c/em3d.sc",
        "-p",
        &protocol.display().to_string(),
        "-m",
        "now",
        "-n",
        "4",
        "--block",
        "256",
    ]);
    assert!(run.code == Some(1) && run.err.contains("InvAck") && run.err.contains("declared impossible"), "{run:?}");
}

#[test]
fn requests_that_are_refused_for_ever_are_a_livelock() {
    let folder = "crates/trivium/tests/bad/split-c";
    let run = on_now(&format!("{folder}/refused-for-ever.sc"), &format!("{folder}/refuses.tri"), &[]);
    assert!(run.code == Some(1) && run.err.contains("no progress: for 10000000 cycles handlers ran"), "{run:?}");
}

#[test]
fn a_barrier_with_gets_under_way_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let program = written(
        folder.path(),
        "static long box;
        int splitc_main(void) {
            long got;
            got := *toglobal(1 - MYPROC, &box);
            barrier();
            sync();
            return (int)got;
        }",
    );
    for protocol in LIBRARIES {
        let run = on_now(&program, protocol, &[]);
        assert!(
            run.code == Some(0) && run.err.contains("program.sc:6: a barrier while gets or puts are under way"),
            "{run:?}"
        );
    }
}

#[test]
fn blocks_of_other_sizes_are_refused() {
    for bytes in ["4", "12", "0", "131072"] {
        let run = trivium(&["sim", "programs/split-c/ring.sc", "-p", "swcc", "-m", "now", "--block", bytes]);
        assert!(run.code == Some(2) && run.err.contains("a power of two"), "{run:?}");
    }
}
