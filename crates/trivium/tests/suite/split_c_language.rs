//! Programs that use C and Split-C in many ways together (`tests/split-c/`): each prints what stands beside it, under every
//! protocol, with small and large blocks, in a simulation and in a run.

use crate::harness::{self, trivium};
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

/// Each program, by its number, in those ways and with those commands that are its own.
fn print_the_same(is_its_own: impl Fn(usize, usize, &str) -> bool) {
    let programs = programs();
    assert!(programs.len() >= 12, "{programs:?}");
    for (number, program) in programs.into_iter().enumerate() {
        let expected = std::fs::read_to_string(program.with_extension("out")).unwrap();
        let expected: Vec<&str> = expected.lines().collect();
        let program = program.to_str().unwrap();
        for (at, way) in UNDER.into_iter().enumerate() {
            for command in ["sim", "run"].into_iter().filter(|command| is_its_own(number, at, command)) {
                assert_eq!(printed(command, program, way), expected, "{command} {program} {way:?}");
            }
        }
    }
}

/// Each program in one way, a fifth of them in each test; in turns in a simulation and in a run.
macro_rules! in_one_way {
    ($($name:ident: $way:expr),+) => {$(
        #[test]
        fn $name() {
            let in_turns = |number: usize| if number % 2 == 0 { "sim" } else { "run" };
            print_the_same(|number, way, command| {
                way == $way && number % UNDER.len() == way && command == in_turns(number)
            });
        }
    )+};
}

in_one_way!(
    programs_print_the_same_uncached: 0, programs_print_the_same_under_stache: 1, programs_print_the_same_with_blocks_of_8: 2,
    programs_print_the_same_with_blocks_of_1024: 3, programs_print_the_same_with_blocks_of_65536: 4
);

#[test]
#[ignore = "minutes"]
fn programs_print_the_same_everywhere() {
    print_the_same(|_, _, _| true);
}
