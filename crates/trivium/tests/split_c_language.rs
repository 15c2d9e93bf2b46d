//! Programs that use C and Split-C in many ways together (`tests/split-c/`): each prints what stands beside it, under every
//! protocol, with small and large blocks, in a simulation and in a run.

mod harness;

use harness::trivium;
use std::path::PathBuf;

const UNDER: [(&str, &str); 5] =
    [("uncached", "8"), ("stache", "64"), ("swcc", "8"), ("swcc", "1024"), ("swcc", "65536")];

fn programs() -> Vec<PathBuf> {
    let folder = harness::root().join("crates/trivium/tests/split-c");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ending| ending == "sc")).collect();
    files.sort();
    files
}

/// What a program prints on three processors, line by line; processors that print at once do so in any order.
fn printed(command: &str, program: &str, (protocol, block): (&str, &str)) -> Vec<String> {
    let mut all = vec![command, program, "-p", protocol, "--block", block, "-n", "3", "--format", "json"];
    if command == "sim" {
        all.extend(["-m", "typhoon", "--set", "machine.cache.line=8", "--set", "machine.access_control.granule=8"]);
    }
    let result = trivium(&all).json(0);
    let mut lines: Vec<String> = result["output"].as_str().unwrap().lines().map(str::to_string).collect();
    lines.sort();
    lines
}

#[test]
fn programs_print_the_same_everywhere() {
    let programs = programs();
    assert!(programs.len() >= 12, "{programs:?}");
    for program in programs {
        let expected = std::fs::read_to_string(program.with_extension("out")).unwrap();
        let expected: Vec<&str> = expected.lines().collect();
        let program = program.to_str().unwrap();
        for way in UNDER {
            for command in ["sim", "run"] {
                assert_eq!(printed(command, program, way), expected, "{command} {program} {way:?}");
            }
        }
    }
}
