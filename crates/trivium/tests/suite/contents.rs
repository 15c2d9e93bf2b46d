//! Contents that a node keeps without access, and looks at contents that are forgotten, in a simulated and in a real run.

use crate::harness::{Run, trivium};
use std::path::PathBuf;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../check/tests/files");

/// The protocol of a file test of `check`.
fn protocol(folder: &crate::harness::Folder, name: &str) -> PathBuf {
    let text = std::fs::read_to_string(format!("{FILES}/{name}.test")).unwrap();
    let file = folder.path().join(format!("{name}.tri"));
    let lines = text.lines().filter(|line| !line.starts_with("// "));
    std::fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    file
}

fn runs(name: &str, program: &str, args: &[&str]) -> [Run; 2] {
    let folder = crate::harness::folder();
    let file = protocol(&folder, name);
    let file = file.to_str().unwrap();
    // So little memory that pages of other homes have to go.
    let frames = ["--set", "machine.memory.frames=2", "--set", "machine.memory.page=2048"];
    let all = [&["-p", file, "-n", "3"], args].concat();
    [
        trivium(&[&["sim", program, "-m", "typhoon"], &frames[..], &all].concat()),
        trivium(&[&["run", program], &all[..]].concat()),
    ]
}

#[test]
fn what_is_kept_is_there() {
    let wanted = runs("evict-keeps-the-data", "programs/em3d.c", &[]).map(|run| (run.code, run.out));
    for name in ["state-keeps-the-data", "contents-kept-for-another-role"] {
        for (run, (code, out)) in runs(name, "programs/em3d.c", &[]).iter().zip(&wanted) {
            assert_eq!((run.code, *code), (Some(0), Some(0)), "{name}: {run:?} {out}");
        }
    }
}

#[test]
fn what_is_forgotten_is_a_fault() {
    for run in runs("contents-seen-from-another-role", "programs/em3d.c", &[]) {
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.err.contains("it looks at the contents of block"), "{run:?}");
        assert!(run.err.contains("no state of its roles gives access or keeps them"), "{run:?}");
        assert!(run.err.contains("contents-seen-from-another-role.tri:"), "{run:?}");
    }
}
