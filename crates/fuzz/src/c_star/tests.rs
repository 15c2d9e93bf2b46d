//! The generator and what it makes, without the compiler.

use super::*;

/// Nothing that C leaves undefined, at any number of nodes; and the output does not depend on that but for real numbers.
#[test]
fn no_program_is_wrong() {
    for case in 0..200 {
        let program = program(7, case).unwrap_or_else(|what| panic!("case {case}: {what}"));
        for nodes in [2, 17] {
            if let Err(what) = machine::printed(&program, nodes, &[]) {
                panic!("case {case}, {nodes} nodes: {what}\n{}", text::written(&program));
            }
        }
    }
}

/// The program of this workspace, which is built beside its tests.
fn trivium() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.ancestors().nth(2).unwrap().join("trivium")
}

/// Three programs for each way to run them.
#[test]
fn random_programs_print_what_they_must() {
    let trivium = trivium();
    if !trivium.exists() {
        eprintln!("SKIPPED: {} is not there; it is where all tests are built", trivium.display());
        return;
    }
    let bench = Bench::new(&trivium).unwrap();
    let setups = Setup::asked(&[], &[]);
    let mut wrong = Vec::new();
    for (case, setup) in (0..24).zip(setups.iter().cycle()) {
        let program = program(SEED, case).unwrap();
        if let Some(found) = bench.wrong(&program, setup).unwrap() {
            let (nodes, how) = (found.nodes, setup.protocol());
            let again = format!("make c-star-random SEED={SEED} CASE={case} NODES={nodes} HOW={how}");
            wrong.push(format!("{again}: {}", found.what));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

const SEED: u64 = 2;
