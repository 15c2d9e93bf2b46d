//! What must hold however nodes take turns: each test does the same in every way that this host can.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use trivium_guest::*;

const MODULE: &str = r#"
    (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
    (import "trivium" "barrier" (func $barrier))
    (import "trivium" "rmw" (func $rmw (param i32 i32 i32 i64 i64) (result i64)))
    (import "trivium" "cycles" (func $cycles (result i64)))
    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
    (memory 2)"#;

/// What is waited for.
#[derive(Debug, Clone, PartialEq)]
enum Asked {
    Access(LoadStore),
    Poll,
    Call(Call),
}

/// Lets everything wait so many times, and then happen.
#[derive(Default)]
struct Patient {
    waits: u32,
    waited: u32,
    /// Everything that happened, with what was executed by then.
    happened: Vec<(Executed, Asked)>,
    memory: Option<Memory>,
    /// Panics at barriers.
    panics: bool,
    /// Resumed at barriers.
    other: Option<Rc<RefCell<ProgramNode<Patient>>>>,
}

impl Patient {
    fn waits(&mut self, executed: Executed, asked: Asked) -> bool {
        if self.waited < self.waits {
            self.waited += 1;
            return true;
        }
        self.waited = 0;
        self.happened.push((executed, asked));
        false
    }

    fn step(&mut self, executed: Executed, asked: Asked) -> Result<AccessStep, ProgramFault> {
        Ok(if self.waits(executed, asked) { AccessStep::Wait } else { AccessStep::Go })
    }
}

impl Processor for Patient {
    fn access(&mut self, executed: Executed, access: LoadStore) -> Result<AccessStep, ProgramFault> {
        self.step(executed, Asked::Access(access))
    }

    fn poll(&mut self, executed: Executed) -> Result<AccessStep, ProgramFault> {
        self.step(executed, Asked::Poll)
    }

    fn call(&mut self, executed: Executed, call: &Call) -> Result<CallStep, ProgramFault> {
        if *call == Call::Barrier {
            assert!(!self.panics, "asked to");
            if let Some(other) = self.other.take() {
                other.borrow_mut().resume();
            }
        }
        if self.waits(executed, Asked::Call(call.clone())) {
            return Ok(CallStep::Wait);
        }
        Ok(CallStep::Done(match call {
            Call::Alloc { .. } => SHARED_BASE.into(),
            Call::ReadModifyWrite(rmw) => self.memory.as_ref().expect("set").read_modify_write(rmw)? as i64,
            Call::Cycles | Call::Nanoseconds => executed.instructions as i64,
            Call::Sleep { .. } => 0,
            _ => 0,
        }))
    }
}

fn program(body: &str) -> Program {
    let bytes = wat::parse_str(format!("(module {MODULE} {body})")).expect("the test's own text");
    Program::load(&bytes, "test").expect("a program")
}

/// A program in every way to take turns.
fn each(body: &str) -> Vec<Program> {
    let program = program(body);
    Switching::all().iter().map(|switching| program.clone().switching_by(*switching)).collect()
}

/// Weights that differ.
fn odd_weights() -> OperatorWeights {
    let weight = |class: OperatorClass| [7, 130, 1_048_576, 11, 3, 170, 997, 13, 5, 1, 20, 2][class as usize];
    OperatorWeights::new(weight).expect("weights that are allowed")
}

/// What happened on a node, what it has left in memory, and what it has executed.
type Told = (Vec<(Executed, Asked)>, Vec<u8>, Executed);

type Processors = Vec<Rc<RefCell<Patient>>>;

/// So many nodes on one stage.
fn nodes(program: &Program, build: Build, count: u32, waits: u32) -> (Vec<ProgramNode<Patient>>, Processors) {
    let stage = Stage::new(program, build).expect("a stage");
    let make = |number| {
        let processor = Rc::new(RefCell::new(Patient { waits, ..Patient::default() }));
        let node = stage.node(number, &[], processor.clone()).expect("a node");
        processor.borrow_mut().memory = Some(node.memory());
        (node, processor)
    };
    (0..count).map(make).unzip()
}

/// Resumes until it ends; how it ends, and how often it waited.
fn finish(node: &mut ProgramNode<Patient>) -> (NodeOutcome, u32) {
    let mut waited = 0;
    loop {
        match node.resume() {
            NodeOutcome::Suspended => waited += 1,
            outcome => return (outcome, waited),
        }
    }
}

/// Everything that a host function may wait in: the first page of shared memory is filled, copied, added to, read
/// across words and printed.
const EVERYTHING: &str = r#"
    (func $add (param i32) (result i64)
        (call $rmw (local.get 0) (i32.const 8) (i32.const 0) (i64.const 5) (i64.const 0)))
    (func (export "_start") (local $i i32)
        (drop (call $alloc (i64.const 4096) (i32.const 1) (i32.const 0) (i32.const 0)))
        (memory.fill (i32.const 0x40000003) (i32.const 65) (i32.const 21))
        (memory.copy (i32.const 0x40000101) (i32.const 0x40000003) (i32.const 21))
        (memory.copy (i32.const 0x40000105) (i32.const 0x40000101) (i32.const 21))
        (loop $again
            (i64.store (i32.const 0x40000205) (i64.add (i64.load (i32.const 0x40000103)) (call $add (i32.const 0x40000300))))
            (drop (i64.atomic.rmw.add (i32.const 0x40000308) (i64.const 7)))
            (i64.store (i32.const 0x40000310) (call $cycles))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 3))))
        (i64.store (i32.const 0x40000320) (i64.const 0x0000_0015_4000_0101))
        (call $barrier)
        (drop (call $write (i32.const 1) (i32.const 0x40000320) (i32.const 1) (i32.const 0x40000328))))"#;

#[test]
fn what_happens_does_not_depend_on_waiting() {
    let run = |program: &Program, build: Build, waits: u32| {
        let (mut nodes, processors) = nodes(program, build, 2, waits);
        let mut told: Vec<Told> = Vec::new();
        for (node, processor) in nodes.iter_mut().zip(&processors) {
            let (outcome, waited) = finish(node);
            assert_eq!(outcome, NodeOutcome::Finished { exit_code: 0 });
            let happened = processor.borrow().happened.clone();
            assert_eq!(waited, waits * happened.len() as u32);
            let mut memory = vec![0; 4096];
            node.memory().read(SHARED_BASE, &mut memory).expect("in memory");
            told.push((happened, memory, node.executed()));
        }
        told
    };
    let programs = each(EVERYTHING);
    let first = run(&programs[0], Build::Reference, 0);
    let (happened, memory, _) = &first[0];
    let printed = Asked::Call(Call::Print { fd: 1, bytes: vec![65; 21] });
    assert!(happened.iter().any(|(_, asked)| *asked == printed), "{happened:?}");
    assert_eq!((memory[0x300], memory[0x308], memory[0x328]), (15, 21, 21));
    let weighed = |program: &Program| program.clone().weighing(odd_weights());
    let weighed: Vec<Program> = programs.iter().map(weighed).collect();
    let weighed_first = run(&weighed[0], Build::Reference, 0);
    let instructions = |told: &[Told]| -> Vec<Vec<u64>> {
        let of = |happened: &[(Executed, Asked)]| happened.iter().map(|(executed, _)| executed.instructions).collect();
        told.iter().map(|(happened, ..)| of(happened)).collect()
    };
    assert_eq!(instructions(&weighed_first), instructions(&first));
    for (programs, first) in [(programs, first), (weighed, weighed_first)] {
        for program in &programs {
            for build in [Build::Reference, Build::Fast] {
                for waits in [0, 1, 3] {
                    assert_eq!(run(program, build, waits), first, "{build:?}, {waits} times");
                }
            }
        }
    }
}

/// Calls itself so often, waits there, and comes back.
const DEEP: &str = r#"
    (func $down (param i32) (result i32)
        (if (i32.eqz (local.get 0)) (then (call $barrier) (return (i32.const 0))))
        (i32.add (call $down (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))"#;

#[test]
fn nodes_wait_in_the_depths_of_their_own_stacks() {
    for program in
        each(&format!(r#"{DEEP} (func (export "_start") (call $exit (call $down (i32.const 5000))) (unreachable))"#))
    {
        let (mut nodes, processors) = nodes(&program, Build::Fast, 3, 0);
        processors.iter().for_each(|processor| processor.borrow_mut().waits = 1);
        let mut ended = [false; 3];
        while !ended.iter().all(|ended| *ended) {
            for (node, ended) in nodes.iter_mut().zip(&mut ended) {
                *ended = match node.resume() {
                    NodeOutcome::Suspended => false,
                    outcome => {
                        assert_eq!(outcome, NodeOutcome::Finished { exit_code: 5000 });
                        true
                    }
                };
            }
        }
        let counts: Vec<Executed> = nodes.iter().map(ProgramNode::executed).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    }
}

#[test]
fn the_end_of_a_node_leaves_the_others_alone() {
    let ends = format!(
        r#"{DEEP}
        (func $fails (unreachable))
        (func $recurses (param i32) (result i32) (i32.add (call $recurses (local.get 0)) (i32.const 1)))
        (func $divides (drop (i32.div_u (i32.const 1) (i32.load (i32.const 0)))))
        (func (export "_start") (local $what i32)
            (drop (call $down (i32.const 100)))
            (local.set $what (i32.load (i32.const 16)))
            (if (i32.eq (local.get $what) (i32.const 1)) (then (call $fails)))
            (if (i32.eq (local.get $what) (i32.const 2)) (then (drop (call $recurses (i32.const 0)))))
            (if (i32.eq (local.get $what) (i32.const 3)) (then (call $divides)))
            (if (i32.eq (local.get $what) (i32.const 4)) (then (call $exit (i32.const 9))))
            (if (i32.eq (local.get $what) (i32.const 5)) (then (drop (i32.load (i32.const 0x50000000)))))
            (drop (call $down (i32.const 100))))"#
    );
    for program in each(&ends) {
        let (mut nodes, _) = nodes(&program, Build::Fast, 8, 1);
        for (what, node) in nodes.iter().enumerate() {
            node.memory().write_word(16, 4, what as u64).expect("in memory");
        }
        // A node that waits for ever vanishes with what it has begun.
        let mut last = nodes.pop().expect("eight");
        assert_eq!((last.resume(), last.resume()), (NodeOutcome::Suspended, NodeOutcome::Suspended));
        drop(last);
        let mut outcomes = vec![NodeOutcome::Suspended; nodes.len()];
        while outcomes.contains(&NodeOutcome::Suspended) {
            for (node, outcome) in nodes.iter_mut().zip(&mut outcomes) {
                *outcome = node.resume();
            }
        }
        let told = |outcome: &NodeOutcome| match outcome {
            NodeOutcome::Trapped { message, stack } => {
                format!("{message} in {}", stack.first().map_or("no function", |place| &place.function))
            }
            outcome => format!("{outcome:?}"),
        };
        let told: Vec<String> = outcomes.iter().map(told).collect();
        assert_eq!(told[0], "Finished { exit_code: 0 }");
        assert!(told[1].starts_with("the program aborted") && told[1].ends_with("in fails"), "{}", told[1]);
        assert_eq!(told[2], "the call stack is full: too deep a recursion in recurses");
        assert_eq!(told[3], "an integer was divided by zero in divides");
        assert_eq!(told[4], "Finished { exit_code: 9 }");
        assert!(told[5].contains("a load of 4 bytes at 0x50000000 is out of bounds"), "{}", told[5]);
        assert_eq!(told[6], told[0]);
    }
}

#[test]
fn a_callback_that_panics_ends_its_node_only() {
    for program in each(&format!(r#"{DEEP} (func (export "_start") (drop (call $down (i32.const 9))))"#)) {
        let (mut nodes, processors) = nodes(&program, Build::Fast, 3, 1);
        processors[1].borrow_mut().panics = true;
        assert_eq!(nodes[0].resume(), NodeOutcome::Suspended);
        let panicked = catch_unwind(AssertUnwindSafe(|| finish(&mut nodes[1]))).expect_err("it panics");
        assert_eq!(panicked.downcast_ref::<&str>(), Some(&"asked to"));
        let message = "the node was resumed after one of its callbacks panicked".into();
        assert_eq!(nodes[1].resume(), NodeOutcome::Trapped { message, stack: Vec::new() });
        assert_eq!(finish(&mut nodes[2]).0, NodeOutcome::Finished { exit_code: 0 });
        nodes.remove(1);
        assert_eq!(finish(&mut nodes[0]).0, NodeOutcome::Finished { exit_code: 0 });
    }
}

/// Their store is in use then, if they have one together.
#[test]
fn a_callback_cannot_resume_another_node_of_its_stage() {
    for (program, switching) in each(r#"(func (export "_start") (call $barrier))"#).iter().zip(Switching::all()) {
        let (mut nodes, processors) = nodes(program, Build::Fast, 2, 0);
        let other = Rc::new(RefCell::new(nodes.pop().expect("two")));
        processors[0].borrow_mut().other = Some(other.clone());
        assert_eq!(nodes[0].resume(), NodeOutcome::Finished { exit_code: 0 });
        let outcome = format!("{:?}", other.borrow_mut().resume());
        let expected = match switching {
            Switching::Stacks => "resumed by a callback",
            Switching::Fibres => "Finished",
        };
        assert!(outcome.contains(expected), "{outcome}");
    }
}
