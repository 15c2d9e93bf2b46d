//! Programs say where objects are at home that are no blocks (`docs/semantics.md`, section 1).

use crate::harness::{Run, in_file, trivium};

/// A program in which all nodes do this, where `me` is the node's number.
fn program(body: &str) -> String {
    format!(
        "#include \"trivium.h\"\n#include \"trivium/flash-lock.h\"\n#include <stdio.h>\nint main(void) {{\n    int me = trivium_node();\n    \
         {body}\n    printf(\"node %d is done\\n\", me);\n    return 0;\n}}\n"
    )
}

fn under(folder: &crate::harness::Folder, backend: &[&str], body: &str) -> Run {
    let file = in_file(folder, "place.c", &program(body));
    let (name, options) = backend.split_first().unwrap();
    trivium(&[&[*name, &file, "-p", "flash-lock", "-n", "3", "--format", "json"], options].concat())
}

const BACKENDS: [&[&str]; 4] =
    [&["sim", "-m", "flash"], &["sim", "-m", "typhoon", "--jobs", "2"], &["run"], &["run", "--delays", "7"]];

/// Messages of one kind that a run has sent.
fn sent(run: &Run, message: &str) -> u64 {
    let result = run.json(0);
    let messages = result["messages"].as_object().expect("a result counts its messages");
    messages.iter().filter(|(name, _)| name.ends_with(message)).map(|(_, count)| count.as_u64().unwrap()).sum()
}

/// A lock's token is at its home at first: who is at home there asks nobody.
#[test]
fn an_object_is_at_home_where_it_is_placed() {
    let folder = crate::harness::folder();
    let takes = "if (me == 1) { flash_lock_acquire(3); flash_lock_release(3); }";
    let placed = format!("trivium_place(\"flash-lock\", \"lock\", 3, 1); {takes}");
    let twice = format!("trivium_place(\"flash-lock\", \"lock\", 3, 2); {placed}");
    for backend in BACKENDS {
        let (far, here, again) =
            (under(&folder, backend, takes), under(&folder, backend, &placed), under(&folder, backend, &twice));
        assert_eq!((sent(&far, "LockReq"), sent(&here, "LockReq"), sent(&again, "LockReq")), (1, 0, 0), "{backend:?}");
    }
}

/// What nodes do not agree about, or come too late for, ends the run; and the error says what, who and what to do.
#[test]
fn a_home_that_cannot_be_given_is_told() {
    let folder = crate::harness::folder();
    let place = |home: &str| format!("trivium_place(\"flash-lock\", \"lock\", 3, {home});");
    let used =
        format!("if (me == 2) {{ flash_lock_acquire(3); flash_lock_release(3); }} trivium_barrier(); {}", place("1"));
    let cases: [(String, &[&str]); 7] = [
        (
            place("me"),
            &[
                "node 0 places lock 3 of flash-lock at node 0, but node 1 places lock 3 of flash-lock at node 1",
                "trivium_place is collective",
            ],
        ),
        (
            format!("if (me == 0) {} else trivium_barrier();", place("1")),
            &[
                "node 0 places lock 3 of flash-lock at node 1, but node 1 is at the barrier",
                "trivium_place is collective",
            ],
        ),
        (
            used,
            &[
                "lock 3 of flash-lock is to be at home at node 1, but node ",
                " has used it before",
                "it has been at home at node 0",
                "before any of them makes a call about the object",
            ],
        ),
        (place("3"), &["places lock 3 of flash-lock at node 3, where none is", "there are 3 nodes, numbered from 0"]),
        (place("-1"), &["places lock 3 of flash-lock at node -1, where none is"]),
        (
            "trivium_place(\"flash-lock\", \"luck\", 3, 1);".into(),
            &["places a `luck` of flash-lock, which has no such objects to be placed", "did you mean `lock`?"],
        ),
        (
            "trivium_place(\"flashlock\", \"lock\", 3, 1);".into(),
            &["places an object of protocol `flashlock`, which is not loaded", "did you mean `flash-lock`?"],
        ),
    ];
    for (body, said) in &cases {
        for backend in BACKENDS {
            let run = under(&folder, backend, body);
            assert_eq!(run.code, Some(1), "{backend:?}: {run:?}");
            for part in *said {
                assert!(run.err.contains(part), "{backend:?}: `{part}` is not in {}", run.err);
            }
        }
    }
}

/// Blocks are placed as they are allocated, and what handlers make is at home where it is made.
#[test]
fn what_is_placed_otherwise_is_refused() {
    let folder = crate::harness::folder();
    for (protocol, kind) in [("stache", "block"), ("stache", "node"), ("fbcopy", "job")] {
        let text = format!(
            "#include \"trivium.h\"\nint main(void) {{ trivium_place(\"{protocol}\", \"{kind}\", 0, 0); return 0; }}\n"
        );
        let file = in_file(&folder, "place.c", &text);
        let run = trivium(&["sim", &file, "-p", protocol, "-m", "flash", "-n", "2"]);
        let said = format!("places a `{kind}` of {protocol}, which has no such objects to be placed");
        assert!(run.code == Some(1) && run.err.contains(&said), "{run:?}");
    }
}
