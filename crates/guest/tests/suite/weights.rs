//! Operators weigh what the table of weights says, in both builds, and instructions are what they were.

use crate::world;
use std::cell::RefCell;
use std::rc::Rc;
use trivium_guest::*;

/// Runs `body` as `_start`, unweighed and with these weights, in both builds; what is executed, with the weights.
fn executed(body: &str, weights: OperatorWeights) -> Executed {
    let module = format!(
        r#"(module
            (memory 1)
            (table funcref (elem $empty))
            (global $g (mut i32) (i32.const 3))
            (data $data "abcdefgh")
            (func $empty)
            (func (export "_start") (local $i i32) (local $f f64) {body}))"#
    );
    let bytes = wat::parse_str(&module).expect("the test's own text");
    let program = Program::load(&bytes, "weights").unwrap_or_else(|error| panic!("{error}\n{module}"));
    let run = |program: &Program, build, patience| {
        let (outcome, _, executed) = world::run_alone(program, build, patience, 0);
        assert_eq!(outcome, NodeOutcome::Finished { exit_code: 0 }, "{module}");
        executed
    };
    let unweighed = run(&program, Build::Reference, 0);
    assert_eq!(unweighed.work, unweighed.instructions, "{module}");
    let program = program.weighing(weights);
    let first = run(&program, Build::Reference, 0);
    assert_eq!(first.instructions, unweighed.instructions, "{module}");
    for (build, patience) in [(Build::Reference, 5), (Build::Fast, 0), (Build::Fast, 5)] {
        assert_eq!(run(&program, build, patience), first, "{build:?}, patience {patience}: {module}");
    }
    first
}

/// An operator of each class, or several, beside operators that do not count.
const OPERATORS: [(OperatorClass, &str); 25] = [
    (OperatorClass::Integer, "(drop (i32.add (i32.const 1) (i32.const 2)))"),
    (OperatorClass::Integer, "(drop (i64.extend_i32_s (i32.const 2)))"),
    (OperatorClass::Integer, "(drop (select (i32.const 1) (i32.const 2) (i32.const 0)))"),
    (OperatorClass::Multiply, "(drop (i64.mul (i64.const 1) (i64.const 2)))"),
    (OperatorClass::Divide, "(drop (i32.div_s (i32.const 1) (i32.const 2)))"),
    (OperatorClass::Divide, "(drop (i64.rem_u (i64.const 1) (i64.const 2)))"),
    (OperatorClass::FloatAdd, "(drop (f64.sub (f64.const 1) (f64.const 2)))"),
    (OperatorClass::FloatAdd, "(drop (f32.lt (f32.const 1) (f32.const 2)))"),
    (OperatorClass::FloatMultiply, "(drop (f32.mul (f32.const 1) (f32.const 2)))"),
    (OperatorClass::FloatDivide, "(drop (f64.div (f64.const 1) (f64.const 2)))"),
    (OperatorClass::SquareRoot, "(drop (f64.sqrt (f64.const 2)))"),
    (OperatorClass::Conversion, "(drop (i32.trunc_f64_s (f64.const 2)))"),
    (OperatorClass::Conversion, "(drop (f64.reinterpret_i64 (i64.const 2)))"),
    (OperatorClass::Conversion, "(drop (f32.nearest (f32.const 2)))"),
    (OperatorClass::Branch, "(if (i32.const 0) (then))"),
    (OperatorClass::Branch, "(block (br 0))"),
    (OperatorClass::Branch, "(block (br_table 0 0 (i32.const 5)))"),
    (OperatorClass::Call, "(call $empty)"),
    (OperatorClass::Call, "(call_indirect (i32.const 0))"),
    (OperatorClass::Memory, "(drop (i32.load16_u (i32.const 2048)))"),
    (OperatorClass::Memory, "(f64.store (i32.const 2051) (f64.const 3))"),
    (OperatorClass::Memory, "(i64.atomic.store (i32.const 2048) (i64.const 3))"),
    (OperatorClass::Other, "(global.set $g (i32.const 5))"),
    (OperatorClass::Other, "(drop (memory.size))"),
    (OperatorClass::Other, "(data.drop $data)"),
];

#[test]
fn each_operator_weighs_what_its_class_does() {
    let weights = world::odd_weights();
    for (class, operator) in OPERATORS {
        let expected = Executed { instructions: 1, work: weights.of(class).into() };
        assert_eq!(executed(operator, weights), expected, "{operator}");
    }
    let classes: std::collections::BTreeSet<_> = OPERATORS.iter().map(|(class, _)| *class).collect();
    assert_eq!(classes.len(), OperatorClass::ALL.len());
}

/// In a loop, on both sides of a branch, and with nothing but integers between them.
#[test]
fn more_divisions_are_more_work_by_exactly_their_number() {
    let body = |rounds: u32| {
        format!(
            "(local.set $i (i32.const {rounds}))
             (local.set $f (f64.const 3))
             (loop $again
                (if (i32.and (local.get $i) (i32.const 1))
                    (then (drop (i32.div_u (i32.const 100) (local.get $i))))
                    (else (f64.store (i32.const 2048) (f64.mul (f64.load (i32.const 2048)) (local.get $f)))
                          (drop (i32.rem_s (i32.const 100) (local.get $i)))))
                (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))"
        )
    };
    let weights = |divide: u32| {
        OperatorWeights::new(|class| match class {
            OperatorClass::Divide => divide,
            OperatorClass::FloatMultiply => 10,
            _ => 7,
        })
        .expect("weights that are allowed")
    };
    for rounds in [1, 2, 1000] {
        let light = executed(&body(rounds), weights(7));
        for divide in [1, 8, 180, OperatorWeights::MOST] {
            let heavy = executed(&body(rounds), weights(divide));
            let more = i128::from(rounds) * (i128::from(divide) - 7);
            assert_eq!(i128::from(heavy.work), i128::from(light.work) + more, "{rounds} rounds, {divide}");
            assert_eq!(heavy.instructions, light.instructions);
        }
    }
}

/// Weights that are all alike are no more than a unit.
#[test]
fn equal_weights_multiply_the_instructions() {
    let equal = OperatorWeights::new(|_| 3).expect("weights that are allowed");
    let body = "(memory.fill (i32.const 2048) (i32.const 7) (i32.const 100))
        (local.set $i (i32.const 10))
        (loop (br_if 0 (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))";
    let instructions = 1 + 13 * 2 + 20;
    assert_eq!(executed(body, equal), Executed { instructions, work: 3 * instructions });
}

/// Each access of a piece weighs what an access does, and the rest of its round what an integer operator does.
#[test]
fn bulk_operations_weigh_as_the_same_loop() {
    let weights = world::odd_weights();
    let [memory, integer] = [OperatorClass::Memory, OperatorClass::Integer].map(|class| u64::from(weights.of(class)));
    for (body, pieces, accesses) in [
        ("(memory.fill (i32.const 2048) (i32.const 7) (i32.const 100))", 13, 1),
        ("(memory.fill (i32.const 2049) (i32.const 7) (i32.const 10000))", 1251, 1),
        ("(memory.copy (i32.const 4096) (i32.const 2048) (i32.const 960))", 120, 2),
        ("(memory.copy (i32.const 2056) (i32.const 2048) (i32.const 960))", 120, 2),
        ("(memory.init $data (i32.const 2049) (i32.const 0) (i32.const 8))", 2, 1),
    ] {
        let expected = Executed {
            instructions: 1 + pieces * (accesses + 1),
            work: memory + pieces * (accesses * memory + integer),
        };
        assert_eq!(executed(body, weights), expected, "{body}");
    }
}

/// Where a program is asked to stop by the work that it has done, it stops at the first poll at which it has done so much, and not
/// before.
#[test]
fn a_deadline_is_one_of_work() {
    struct Deadline(u64, Vec<Executed>);
    impl Processor for Deadline {
        fn access(&mut self, _: Executed, _: LoadStore) -> Result<AccessStep, ProgramFault> {
            Ok(AccessStep::Go)
        }
        fn poll(&mut self, executed: Executed) -> Result<AccessStep, ProgramFault> {
            if executed.work >= self.0 {
                self.1.push(executed);
                self.0 += 1000;
            }
            Ok(AccessStep::Go)
        }
        fn call(&mut self, _: Executed, _: &Call) -> Result<CallStep, ProgramFault> {
            Ok(CallStep::Done(0))
        }
        fn deadline(&self) -> u64 {
            self.0
        }
    }
    let text = r#"(module (memory 1) (func (export "_start") (local $i i32) (local $f f64)
        (memory.fill (i32.const 2048) (i32.const 1) (i32.const 800))
        (loop $again
            (local.set $f (f64.div (f64.add (local.get $f) (f64.const 1)) (f64.const 3)))
            (if (i32.eqz (i32.rem_u (local.get $i) (i32.const 3)))
                (then (f64.store (i32.const 2048) (f64.sqrt (local.get $f)))))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 500))))))"#;
    let weights = OperatorWeights::new(|class| match class {
        OperatorClass::FloatDivide => 120,
        OperatorClass::SquareRoot | OperatorClass::Divide => 170,
        OperatorClass::FloatAdd => 10,
        OperatorClass::Branch => 3,
        _ => 7,
    });
    let program = Program::load(&wat::parse_str(text).expect("the test's own text"), "deadline").expect("a program");
    let program = program.weighing(weights.expect("weights that are allowed"));
    let stops = |build| {
        let processor = Rc::new(RefCell::new(Deadline(1000, Vec::new())));
        let mut node = ProgramNode::in_build(&program, build, 0, &[], processor.clone()).expect("a node");
        assert_eq!(node.resume(), NodeOutcome::Finished { exit_code: 0 });
        let stops = processor.borrow().1.clone();
        (stops, node.executed())
    };
    let (reference, fast) = (stops(Build::Reference), stops(Build::Fast));
    assert_eq!(reference, fast);
    assert!(reference.0.len() > 150, "{}", reference.0.len());
    assert!(reference.0.iter().zip(1..).all(|(at, number)| at.work >= 1000 * number), "{:?}", reference.0);
}

/// Two tables are two modules, of one program and on one shelf.
#[test]
fn programs_with_other_weights_are_other_modules() {
    let folder = tempfile::tempdir().expect("a folder");
    let shelf = Shelf::at(folder.path()).expect("a shelf");
    let text = r#"(module (memory 1) (func (export "_start") (drop (f64.sqrt (f64.const 2)))))"#;
    let program = Program::load(&wat::parse_str(text).expect("the test's own text"), "two").expect("a program");
    let program = program.kept_on(shelf);
    let heavy = |root: u32| {
        let weights = OperatorWeights::new(|class| if class == OperatorClass::SquareRoot { root } else { 1 });
        program.clone().weighing(weights.expect("weights that are allowed"))
    };
    for build in [Build::Reference, Build::Fast] {
        for root in [1, 17, 18, 17] {
            let (_, _, executed) = world::run_alone(&heavy(root), build, 0, 0);
            assert_eq!(executed, Executed { instructions: 1, work: root.into() }, "{build:?}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("the shelf").count(), 6);
}
