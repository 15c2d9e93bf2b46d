//! The instruction count is exact on every path of control, and does not depend on waiting.
//! What counts: docs of `code::is_counted`, the definition in the results' contract.

use crate::world;
use trivium_guest::{Build, NodeOutcome, Program};

/// Runs `body` as `_start` of a module with some functions to call; its instructions.
fn count(body: &str) -> u64 {
    let module = format!(
        r#"(module
            (import "trivium" "node" (func $node (result i32)))
            (memory (export "memory") 1)
            (table funcref (elem $empty $empty))
            (global $g (mut i32) (i32.const 3))
            (data $data "abcdefgh")
            (func $empty)
            (func $two (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)) return)
            (func $fall (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
            (func (export "_start") (local $i i32) {body}))"#
    );
    let bytes = wat::parse_str(&module).expect("the test's own text");
    let program = Program::load(&bytes, "count").unwrap_or_else(|error| panic!("{error}\n{module}"));
    let counts: Vec<u64> = [0, 5, 11]
        .iter()
        .map(|patience| {
            let run = world::run(&program, 1, &[], *patience, 1_000_000);
            assert_eq!(run.outcomes[0], NodeOutcome::Finished { exit_code: 0 }, "{module}");
            run.instructions[0]
        })
        .collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?} depend on waiting: {module}");
    counts[0]
}

#[test]
fn nothing_counts_nothing() {
    assert_eq!(count(""), 0);
}

#[test]
fn brackets_constants_locals_and_drops_are_free() {
    assert_eq!(count("nop (block (loop (nop))) (drop (i32.const 1)) (local.set $i (i32.const 2))"), 0);
    assert_eq!(count("(drop (local.tee $i (i32.const 2))) (drop (f64.const 1))"), 0);
}

#[test]
fn straight_line() {
    // add, global.get, mul, global.set
    assert_eq!(
        count(
            "(drop (i32.add (i32.const 1) (i32.const 2)))
               (global.set $g (i32.mul (global.get $g) (i32.const 2)))"
        ),
        4
    );
}

#[test]
fn return_skips_the_rest() {
    assert_eq!(count("(return) (drop (i32.add (i32.const 1) (i32.const 2)))"), 1);
    assert_eq!(count("(drop (i32.eqz (i32.const 1))) (return) (return)"), 2);
}

#[test]
fn branch_out_of_a_block() {
    // br; the add is skipped; eqz after it
    assert_eq!(
        count(
            "(block (br 0) (drop (i32.add (i32.const 1) (i32.const 2))))
               (drop (i32.eqz (i32.const 1)))"
        ),
        2
    );
}

#[test]
fn conditional_branch_taken_and_not() {
    let body = |condition: i32| {
        format!(
            "(block (br_if 0 (i32.const {condition})) (drop (i32.eqz (i32.const 1)))) (drop (i32.eqz (i32.const 1)))"
        )
    };
    assert_eq!(count(&body(1)), 2);
    assert_eq!(count(&body(0)), 3);
}

#[test]
fn if_with_and_without_else() {
    let with_else = |condition: i32| {
        format!(
            "(if (i32.const {condition})
            (then (drop (i32.eqz (i32.const 1))))
            (else (drop (i32.eqz (i32.const 1))) (drop (i32.eqz (i32.const 1)))))"
        )
    };
    assert_eq!(count(&with_else(1)), 2);
    assert_eq!(count(&with_else(0)), 3);
    let without = |condition: i32| {
        format!("(if (i32.const {condition}) (then (drop (i32.eqz (i32.const 1))))) (drop (i32.eqz (i32.const 1)))")
    };
    assert_eq!(count(&without(1)), 3);
    assert_eq!(count(&without(0)), 2);
}

#[test]
fn if_whose_arms_leave() {
    let body = |condition: i32| {
        format!(
            "(block (if (i32.const {condition}) (then (br 1)) (else (return)))
                 (drop (i32.eqz (i32.const 1)))) (drop (i32.eqz (i32.const 1)))"
        )
    };
    assert_eq!(count(&body(1)), 3);
    assert_eq!(count(&body(0)), 2);
}

#[test]
fn every_arm_of_a_branch_table() {
    let body = |index: u32| {
        format!(
            "(block (block (block
            (br_table 0 1 2 (i32.const {index})))
            (drop (i32.eqz (i32.const 1))))
            (drop (i32.eqz (i32.const 1))))"
        )
    };
    assert_eq!([0, 1, 2, 9].map(|index| count(&body(index))), [3, 2, 1, 1]);
}

#[test]
fn loops() {
    // Ten rounds of sub, br_if.
    assert_eq!(
        count(
            "(local.set $i (i32.const 10))
               (loop (br_if 0 (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))"
        ),
        20
    );
    // A loop that is left from inside: 4 rounds of add, eq, br_if, br, less the last br.
    assert_eq!(
        count(
            "(block (loop
                 (local.set $i (i32.add (local.get $i) (i32.const 1)))
                 (br_if 1 (i32.eq (local.get $i) (i32.const 4)))
                 (br 0)))"
        ),
        15
    );
    // A loop with a parameter.
    assert_eq!(
        count(
            "(i32.const 3) (loop (param i32)
                 (local.set $i (i32.sub (i32.const 1)))
                 (br_if 1 (i32.eqz (local.get $i))) (local.get $i) (br 0))"
        ),
        3 * 4 - 1
    );
}

#[test]
fn calls() {
    assert_eq!(count("(call $empty)"), 1);
    assert_eq!(count("(call_indirect (i32.const 1))"), 1);
    // call, add, return
    assert_eq!(count("(drop (call $two (i32.const 1)))"), 3);
    assert_eq!(count("(drop (call $fall (i32.const 1)))"), 2);
    assert_eq!(count("(drop (call $node)) (drop (i32.eqz (i32.const 0)))"), 2);
}

#[test]
fn accesses_are_one_each() {
    assert_eq!(count("(i64.store (i32.const 8) (i64.load (i32.const 0)))"), 2);
    // Unaligned, in two pieces.
    assert_eq!(count("(i64.store (i32.const 5) (i64.load (i32.const 13)))"), 2);
    assert_eq!(count("(drop (memory.grow (memory.size)))"), 2);
}

/// The operation itself, and for each piece of an aligned word its accesses and one more.
#[test]
fn bulk_operations_count_as_the_same_loop() {
    // 0 to 8, 8 to 16 .. 96 to 100
    assert_eq!(count("(memory.fill (i32.const 0) (i32.const 7) (i32.const 100))"), 1 + 13 * 2);
    // 1 to 8, 8 to 16, .. 96 to 101
    assert_eq!(count("(memory.fill (i32.const 1) (i32.const 7) (i32.const 100))"), 1 + 13 * 2);
    assert_eq!(count("(memory.copy (i32.const 512) (i32.const 8) (i32.const 96))"), 1 + 12 * 3);
    // Overlapping, downwards.
    assert_eq!(count("(memory.copy (i32.const 16) (i32.const 8) (i32.const 96))"), 1 + 12 * 3);
    // 2 bytes to the end of the source's word, 6 to that of the destination's, and so on.
    assert_eq!(count("(memory.copy (i32.const 8) (i32.const 22) (i32.const 16))"), 1 + 4 * 3);
    assert_eq!(count("(memory.init $data (i32.const 1) (i32.const 0) (i32.const 8)) (data.drop $data)"), 2 + 2 * 2);
    for nothing in ["memory.fill", "memory.copy", "memory.init $data"] {
        assert_eq!(count(&format!("({nothing} (i32.const 1) (i32.const 0) (i32.const 0))")), 1);
    }
}

/// What lies in a passive segment, as far as it reaches and until it is dropped.
#[test]
fn data_segments_are_copied_as_far_as_they_reach() {
    let run = |body: &str| {
        let module = format!(
            r#"(module (memory 1) (data $data "abcdefghijkl") (data $active (i32.const 900) "x")
                (func (export "_start") {body}))"#
        );
        let program = Program::load(&wat::parse_str(&module).expect("the test's own text"), "data").expect("a program");
        let fast = world::run_alone(&program, Build::Fast, 5, 32);
        let reference = world::run_alone(&program, Build::Reference, 5, 32);
        assert_eq!(fast, reference, "{body}");
        fast
    };
    let (outcome, memory, _) = run("(memory.init $data (i32.const 5) (i32.const 2) (i32.const 10))");
    assert_eq!((outcome, &memory[..16]), (NodeOutcome::Finished { exit_code: 0 }, &b"\0\0\0\0\0cdefghijkl\0"[..]));
    for wrong in [
        "(memory.init $data (i32.const 5) (i32.const 2) (i32.const 11))",
        "(memory.init $data (i32.const 5) (i32.const 13) (i32.const 0))",
        "(memory.init $data (i32.const 5) (i32.const 8) (i32.const -4))",
        "(memory.init $active (i32.const 5) (i32.const 0) (i32.const 1))",
        "(data.drop $data) (memory.init $data (i32.const 5) (i32.const 0) (i32.const 1))",
    ] {
        let (outcome, memory, _) = run(wrong);
        let NodeOutcome::Trapped { message, .. } = outcome else { panic!("{wrong}: {outcome:?}") };
        assert!(message.contains("a data segment was read beyond its end"), "{wrong}: {message}");
        assert_eq!(memory, [0; 32], "{wrong}");
    }
    let (outcome, ..) = run("(memory.init $data (i32.const 65530) (i32.const 0) (i32.const 7))");
    assert!(
        matches!(&outcome, NodeOutcome::Trapped { message, .. } if message.contains("out of bounds")),
        "{outcome:?}"
    );
    assert_eq!(
        run("(data.drop $data) (memory.init $data (i32.const 5) (i32.const 0) (i32.const 0))").0,
        NodeOutcome::Finished { exit_code: 0 }
    );
}

#[test]
fn a_branch_with_values() {
    // br carries the value; add after
    assert_eq!(count("(drop (i32.add (block (result i32) (br 0 (i32.const 1))) (i32.const 1)))"), 2);
}

#[test]
fn the_processor_sees_the_count_at_each_access() {
    use std::{cell::RefCell, rc::Rc};
    use trivium_guest::*;
    struct Log(Vec<(u64, u32)>, Vec<u64>);
    impl Processor for Log {
        fn access(&mut self, executed: Executed, access: LoadStore) -> Result<AccessStep, ProgramFault> {
            self.0.push((executed.instructions, access.addr));
            Ok(AccessStep::Go)
        }
        fn poll(&mut self, executed: Executed) -> Result<AccessStep, ProgramFault> {
            self.1.push(executed.instructions);
            Ok(AccessStep::Go)
        }
        fn call(&mut self, _: Executed, _: &Call) -> Result<CallStep, ProgramFault> {
            Ok(CallStep::Done(0))
        }
    }
    let bytes = wat::parse_str(
        r#"(module (memory 1) (func (export "_start") (local i32)
            (drop (i32.eqz (i32.const 1)))
            (i32.store8 offset=4 (i32.const 1) (i32.const 1))
            (drop (i32.eqz (i32.const 1)))
            (drop (i32.load (i32.const 16)))
            (local.set 0 (i32.const 2))
            (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))"#,
    )
    .expect("the test's own text");
    let log = Rc::new(RefCell::new(Log(vec![], vec![])));
    let program = Program::load(&bytes, "log").expect("a program");
    let mut node = ProgramNode::new(&program, 0, &[], log.clone()).expect("a node");
    assert_eq!(node.resume(), NodeOutcome::Finished { exit_code: 0 });
    assert_eq!(log.borrow().0, [(2, 5), (4, 16)]);
    assert_eq!(log.borrow().1, [0, 4, 6], "function entry, and two rounds of the loop");
    assert_eq!(node.executed(), Executed { instructions: 8, work: 8 });
}
