//! The example programs give right answers on perfect memory, whoever waits for how long.

use crate::world;
use std::collections::BTreeSet;

use trivium_guest::{NodeOutcome, Program};

/// Runs a program; what it printed. It must have ended well on every node.
fn run(program: &Program, nodes: u32, args: &[&str], patience: u64) -> String {
    let run = world::run(program, nodes, args, patience, 10_000_000);
    for outcome in &run.outcomes {
        assert_eq!(*outcome, NodeOutcome::Finished { exit_code: 0 }, "{args:?} on {nodes}: {}", run.output);
    }
    run.output
}

/// Runs a program on several numbers of nodes, waiting and not; every run prints `ok`.
fn runs(name: &str, args: &[&[&str]]) {
    let program = world::load(name);
    for args in args {
        for nodes in [1, 2, 3, 8] {
            for patience in [0, 6] {
                let output = run(&program, nodes, args, patience);
                assert!(output.contains("ok"), "{name} {args:?} on {nodes}: {output}");
            }
        }
    }
}

#[test]
fn hello_on_256_nodes() {
    let output = run(&world::load("hello.c"), 256, &[], 0);
    let lines: BTreeSet<&str> = output.lines().collect();
    assert_eq!(lines.len(), 256);
    assert!(lines.contains("hello from node 255 of 256"), "{output}");
}

#[test]
fn em3d() {
    let split_c: &[&str] = &["-n", "40", "-d", "9", "-v", "1", "-s", "1", "-p", "0", "-z", "1", "-r", "60"];
    runs("em3d.c", &[&["-n", "50"], &["-n", "20", "-i", "1", "-r", "100", "-s", "2"], split_c]);
}

#[test]
fn em3d_depends_on_its_seed() {
    let program = world::load("em3d.c");
    let first = run(&program, 2, &["-g", "1"], 0);
    assert_eq!(first, run(&program, 2, &["-g", "1"], 5));
    assert_ne!(first, run(&program, 2, &["-g", "2"], 0));
}

#[test]
fn matmul() {
    runs("matmul.c", &[&["-n", "13"], &["-n", "16", "-b", "5"], &["-n", "2"]]);
}

#[test]
fn pingpong() {
    runs("pingpong.c", &[&["-n", "20"], &["-n", "1", "-h", "1"]]);
}

#[test]
fn litmus() {
    let program = world::load("litmus.c");
    let output = run(&program, 4, &["-n", "50", "-d", "40"], 6);
    for test in ["mp", "sb", "corr", "iriw", "coherence"] {
        assert!(output.contains(&format!("litmus: {test}:")), "{output}");
    }
    assert!(!output.contains("FORBIDDEN") && !output.contains("skipped"), "{output}");
    assert!(run(&program, 1, &[], 0).contains("skipped"));
}

#[test]
fn locks() {
    runs("lockbench.c", &[&["-n", "40", "-c", "20", "-t", "50"]]);
    runs("lockbench-token.c", &[&["-n", "40", "-c", "20", "-t", "50"]]);
}

#[test]
fn barriers() {
    runs("barrierbench.c", &[&["-n", "10"]]);
    runs("barrierbench-tree.c", &[&["-n", "10"]]);
}

#[test]
fn scatter() {
    runs("scatter.c", &[&["-n", "30"]]);
    let calls = world::load("scatter.c").calls().to_vec();
    let find = |op: &str| calls.iter().find(|call| call.op == op).expect("imported").clone();
    assert_eq!((find("put").params, find("put").has_result), (2, true));
    assert_eq!((find("finish").params, find("finish").has_result), (1, true));
    assert!(calls.iter().all(|call| call.protocol == "remote-write"));
}

#[test]
fn programs_refuse_bad_arguments() {
    let range = "-n is followed by a number from 2 to 1000000: graph nodes per processor";
    for (args, complaint) in [
        (&["-n", "0"][..], &["wrong argument: -n 0: ", range][..]),
        (&["-n"], &["-n (its number is missing): ", range]),
        (&["-n", "12x"], &["wrong argument: -n 12x: ", range]),
        (&["-n", "99999999999999999999"], &["wrong argument: -n 99999999999999999999: ", range]),
        (&["-q", "1"], &["wrong argument: -q: there is no such option", "usage:"]),
        (&["fast"], &["wrong argument: fast: there is no such option", "usage:"]),
    ] {
        let run = world::run(&world::load("em3d.c"), 2, args, 0, 1000);
        assert_eq!(run.outcomes, vec![NodeOutcome::Finished { exit_code: 2 }; 2]);
        for complaint in complaint {
            assert_eq!(run.output.matches(complaint).count(), 1, "{complaint}: {}", run.output);
        }
    }
}

#[test]
fn a_program_is_compiled_once_and_hashed() {
    let path = world::root().join("programs/hello.c");
    let (first, second) = (world::compile(&path).expect("C"), world::compile(&path).expect("C"));
    assert_eq!(first, second);
    let program = Program::load(&first, "hello.c").expect("a program");
    assert_eq!(program.hash().len(), 64);
    assert_eq!(program.hash(), Program::load(&second, "other").expect("a program").hash());
}

/// An assertion says what failed, and where, unless the program turns it off.
#[test]
fn assertions_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("asserts.c");
    let text =
        "#include <assert.h>\nint main(int count, char **args) {\n  assert(count == 17 && args);\n  return 0;\n}\n";
    let compiled = |text: &str| {
        std::fs::write(&source, text).expect("written");
        let bytes = world::compile(&source).unwrap_or_else(|error| panic!("{error}"));
        let program = Program::load(&bytes, "asserts.c").unwrap_or_else(|error| panic!("{error}"));
        world::run(&program, 1, &[], 0, 1_000_000)
    };
    let failed = compiled(text);
    assert!(matches!(failed.outcomes[0], NodeOutcome::Trapped { .. }), "{:?}", failed.outcomes);
    assert!(failed.output.contains("count == 17"), "{}", failed.output);
    assert!(failed.output.contains("asserts.c: main: 3"), "{}", failed.output);
    let quiet = compiled(&format!("#define NDEBUG\n{text}"));
    assert_eq!(quiet.outcomes[0], NodeOutcome::Finished { exit_code: 0 });
}
