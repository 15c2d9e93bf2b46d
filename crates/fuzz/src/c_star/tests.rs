//! The generator and what it makes, without the compiler.

use super::*;

#[path = "../../../check/tests/suite/slow.rs"]
mod slow;

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

/// Constructs by words that stand for nothing else.
const WORDS: [&str; 22] = [
    "from_torus_dim(",
    "from_grid_dim(",
    "to_torus_dim(",
    "to_grid_dim(",
    "everywhere",
    "where (",
    "else",
    "switch",
    "do {",
    "while (",
    "for (",
    "pcoord(",
    "dimof",
    "positionsof",
    "rankof",
    "shapeof",
    "<?=",
    ">?=",
    "%%",
    ":current",
    "struct",
    "#pragma cstar dist",
];

#[test]
fn each_construct_is_made() {
    let texts: Vec<String> = (0..60).map(|case| text::written(&program(7, case).unwrap())).collect();
    for word in WORDS {
        let of = texts.iter().filter(|text| text.contains(word)).count();
        assert!(of >= 3, "`{word}` stands in {of} of {} programs", texts.len());
    }
}

/// The program of this workspace, which is built beside its tests.
fn trivium() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.ancestors().nth(2).unwrap().join("trivium")
}

/// Two programs or three for each way to run them, with TRIVIUM_SLOW twice as many, each on one number of nodes.
#[test]
fn random_programs_of_even_numbers_print_what_they_must() {
    programs_print_what_they_must(0);
}

/// The others, at the same time.
#[test]
fn random_programs_of_odd_numbers_print_what_they_must() {
    programs_print_what_they_must(1);
}

/// Every other program from this one on.
fn programs_print_what_they_must(first: usize) {
    let trivium = trivium();
    if !trivium.exists() {
        eprintln!("SKIPPED: {} is not there; it is where all tests are built", trivium.display());
        return;
    }
    let folder = trivium.with_file_name(format!("c-star-{first}"));
    std::fs::create_dir_all(&folder).unwrap();
    let bench = Bench::at(folder, &trivium);
    let setups = Setup::asked(&[], &[]);
    let mut wrong = Vec::new();
    for (case, setup) in (0..slow::all_or(60, 30)).zip(setups.iter().cycle()).skip(first).step_by(2) {
        let program = program(SEED, case).unwrap();
        let setup = setup.with(setup.one_of_nodes(case / setups.len() as u64));
        if let Some(found) = bench.wrong(&program, &setup).unwrap() {
            let (nodes, how) = (found.nodes, setup.protocol());
            let again = format!("make c-star-random SEED={SEED} CASE={case} NODES={nodes} HOW={how}");
            wrong.push(format!("{again}: {}", found.what));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

const SEED: u64 = 2;
