//! Pages that a program maps and unmaps, under `mapped`.

use crate::harness::{Run, trivium};

fn paging(command: &[&str], nodes: &str, sets: &[&str], args: &[&str]) -> Run {
    let program = ["paging", "-p", "mapped", "--block", "256", "-n", nodes];
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let words = command[..1].iter().chain(&program).chain(&command[1..]).copied();
    trivium(&words.chain(sets).chain(["--"]).chain(args.iter().copied()).collect::<Vec<_>>())
}

/// Page faults, and pages that were fetched.
fn counted(run: &Run) -> (u64, u64) {
    assert!(run.code == Some(0) && run.out.contains("paging: ok\n"), "{run:?}");
    let line = run.out.lines().find(|line| line.contains(" pages fetched, ")).expect("it says what it has fetched");
    let numbers: Vec<u64> = line.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

/// What has been mapped longest is what is needed next: so page faults, which drive it out, bring more pages than the program, which knows what it needs.
#[test]
fn a_program_fetches_less_than_its_page_faults() {
    for command in [&["sim", "-m", "typhoon"][..], &["sim", "-m", "typhoon-0"], &["run", "--delays", "3"]] {
        for nodes in ["1", "3"] {
            let of = |mapped| counted(&paging(command, nodes, &["protocol.frames=6"], &["-n", "32", "-m", mapped]));
            let ((faults, by_faults), (none, by_program)) = (of("0"), of("1"));
            assert_eq!((faults > 0, none), (nodes != "1", 0), "{command:?} {nodes}");
            assert!(by_faults > by_program || nodes == "1", "{command:?} {nodes}: {by_faults} {by_program}");
        }
    }
}

#[test]
fn a_page_fault_without_a_frame_is_named_where_no_page_may_be_unmapped() {
    for command in [&["sim", "-m", "typhoon"][..], &["run"]] {
        let sets = ["protocol.frames=3", "protocol.victim=-1"];
        paging(command, "2", &sets, &["-n", "32", "-m", "0"]).refuses(1, &["FaultWithoutFreeFrame", "impossible"]);
    }
}

#[test]
fn too_few_frames_are_told() {
    let few = ["protocol.frames=2"];
    let run = paging(&["run"], "2", &few, &["-n", "32"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.starts_with("paging: a node has 2 frames, and three tiles need 3\n"), "{run:?}");
}
