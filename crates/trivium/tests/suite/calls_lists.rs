//! A program passes lists and arrays to a call, in a simulation and in a run; what they cannot be is told with place and remedy.

use crate::harness::trivium;

const PROTOCOL: &str = "crates/trivium/tests/calls/mailbox.tri";
const PROGRAM: &str = "crates/trivium/tests/calls/passes.c";

#[test]
fn lists_and_arrays_are_passed_and_what_they_cannot_be_is_told() {
    let ways: [&[&str]; 2] = [&["sim", PROGRAM, "-m", "typhoon"], &["run", PROGRAM]];
    for way in ways {
        let with = |more: &[&str]| trivium(&[way, &["-p", "msi", "-p", PROTOCOL, "-n", "2"], more].concat());
        let ended = with(&[]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let out = ended.out;
        // 7 + 200 + 12; -4 at first, and 27; then what was last before.
        assert!(
            out.contains("0 12\n") && out.contains("23 3\n") && out.contains("4\n") && out.contains("219\n"),
            "{out}"
        );
        for (wrong, told) in [
            ("l", "mailbox.post: `w` is a list of at most 12 elements, not of 13"),
            ("n", "mailbox.post: `w` is a list of at most 12 elements, not of -1"),
            ("e", "mailbox.post: element 2 of `w`: 300 is outside 0..200"),
            ("x", "mailbox.name: element 1 of `them`: `none` where a node or thread is needed"),
            ("a", "mailbox.swap: element 1 of `x`: 9 is outside -4..4"),
        ] {
            with(&["--", wrong]).refuses(1, &[told, "passes.c:"]);
        }
    }
}
