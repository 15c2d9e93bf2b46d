//! Loops that look at tags ahead ask for each access that no tag allows, and for no other, with the same counts as loops that do not.
//!
//! What a node may not access holds other bytes than its own meanwhile, as in a copy that is out of date. So an access that
//! should have asked gives another memory in the end.

use crate::slow;
use crate::world;
use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use trivium_guest::*;

/// Bytes of memory that the programs use, from [`FIRST`] on.
const LENGTH: u32 = 0x2000;
const FIRST: u32 = 0x1_0000;

/// Memory in lines that come when they are asked for, and go when others come or the program polls.
struct Lines {
    memory: Option<Memory>,
    tags: Option<Tags>,
    line: u32,
    /// What may be done with each line: nothing, loads, loads and stores.
    allowed: Vec<u8>,
    random: u64,
    /// Polls from so many instructions on ask; so many lie between two.
    next_poll: u64,
    interval: u64,
    /// What was asked, with the count.
    asked: Vec<(u64, LoadStore)>,
    polled: Vec<u64>,
    /// Asks for an access that was allowed.
    needless: u64,
}

impl Lines {
    fn next(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) % below
    }

    /// The bytes of a line change to what they are not, or back.
    fn spoil(&self, line: usize) {
        let memory = self.memory.as_ref().expect("the node is made");
        let address = FIRST + line as u32 * self.line;
        let mut bytes = vec![0; self.line as usize];
        memory.read(address, &mut bytes).expect("in memory");
        bytes.iter_mut().for_each(|byte| *byte ^= 0xa5);
        memory.write(address, &bytes).expect("in memory");
    }

    fn set(&mut self, line: usize, allowed: u8) {
        if (self.allowed[line] == 0) != (allowed == 0) {
            self.spoil(line);
        }
        self.allowed[line] = allowed;
        if let Some(tags) = &self.tags {
            tags.set(FIRST + line as u32 * self.line, self.line, allowed > 0, allowed > 1);
        }
    }

    fn lose_some(&mut self) {
        for _ in 0..self.next(4) {
            let lines = self.allowed.len() as u64;
            let (line, allowed) = (self.next(lines) as usize, self.next(2) as u8);
            self.set(line, self.allowed[line].min(allowed));
        }
    }

    /// At the end all is as the program has left it.
    fn settle(&mut self) {
        (0..self.allowed.len()).for_each(|line| self.set(line, 2));
    }
}

impl Processor for Lines {
    fn access(&mut self, executed: Executed, access: LoadStore) -> Result<AccessStep, ProgramFault> {
        let Some(line) = access.addr.checked_sub(FIRST).filter(|at| *at < LENGTH).map(|at| (at / self.line) as usize)
        else {
            return Ok(AccessStep::Go);
        };
        let needed = if access.kind == AccessKind::Write { 2 } else { 1 };
        // Accesses that are not aligned may ask needlessly, and so may all in the reference build.
        if self.allowed[line] >= needed {
            self.needless += 1;
            return Ok(AccessStep::Go);
        }
        self.asked.push((executed.instructions, access));
        self.lose_some();
        let more = self.next(3) as usize;
        for line in line..(line + 1 + more).min(self.allowed.len()) {
            self.set(line, self.allowed[line].max(needed));
        }
        Ok(AccessStep::Go)
    }

    fn poll(&mut self, executed: Executed) -> Result<AccessStep, ProgramFault> {
        if executed.work >= self.next_poll {
            self.polled.push(executed.instructions);
            self.next_poll = executed.work + self.interval;
            self.lose_some();
        }
        Ok(AccessStep::Go)
    }

    fn call(&mut self, _: Executed, call: &Call) -> Result<CallStep, ProgramFault> {
        panic!("{call:?}")
    }

    fn deadline(&self) -> u64 {
        self.next_poll
    }
}

/// How a run ended, the memory then, what was executed, asked, and polled.
type Ran = (NodeOutcome, Vec<u8>, Executed, Vec<(u64, LoadStore)>, Vec<u64>);

fn run(program: &Program, build: Build, line: u32, interval: u64) -> (Ran, u64) {
    let lines = Lines {
        memory: None,
        tags: None,
        line,
        allowed: vec![2; (LENGTH / line) as usize],
        random: interval,
        next_poll: 0,
        interval,
        asked: Vec::new(),
        polled: Vec::new(),
        needless: 0,
    };
    let lines = Rc::new(RefCell::new(lines));
    let mut node = ProgramNode::in_build(program, build, 0, &[], lines.clone()).expect("a node");
    let mut bytes: Vec<u8> = (0..LENGTH).map(|at| (at * 7 + at / 256) as u8).collect();
    node.memory().write(FIRST, &bytes).expect("in memory");
    {
        let mut lines = lines.borrow_mut();
        lines.memory = Some(node.memory());
        lines.tags = node.tags();
        (0..lines.allowed.len()).for_each(|line| lines.set(line, 0));
    }
    let outcome = node.resume();
    let mut lines = lines.borrow_mut();
    lines.settle();
    node.memory().read(FIRST, &mut bytes).expect("in memory");
    let (asked, polled) = (std::mem::take(&mut lines.asked), std::mem::take(&mut lines.polled));
    ((outcome, bytes, node.executed(), asked, polled), lines.needless)
}

/// One thing that the body of the loop does.
#[derive(Debug, Clone)]
enum Do {
    /// `sum += *(pointer + offset)`, in one of the sizes.
    Load {
        pointer: u32,
        offset: u32,
        size: u32,
    },
    /// `*(pointer + offset) = sum`.
    Store {
        pointer: u32,
        offset: u32,
        size: u32,
    },
    /// `sum += *(somewhere)`, or a store there: where, depends on the sum.
    Elsewhere {
        store: bool,
    },
    /// The element of an array that a counter names.
    Element {
        store: bool,
    },
    /// `pointer += step`, in the middle of the round.
    Step {
        pointer: u32,
        step: i32,
    },
    /// The next few, if a bit of the sum is set.
    If {
        bit: u32,
        then: Vec<Do>,
        otherwise: Vec<Do>,
    },
    /// Another round at once, if a bit of the sum is set and the counter allows it.
    Continue {
        bit: u32,
    },
    Break {
        bit: u32,
    },
    /// A division, which traps where the sum is 0.
    Divide,
}

fn simple() -> impl Strategy<Value = Do> {
    let size = prop_oneof![Just(1u32), Just(2), Just(4), Just(8), Just(8), Just(8)];
    prop_oneof![
        4 => (0..3u32, 0..4u32, size.clone()).prop_map(|(pointer, at, size)| Do::Load { pointer, offset: at * size, size }),
        3 => (0..3u32, 0..4u32, size.clone()).prop_map(|(pointer, at, size)| Do::Store { pointer, offset: at * size, size }),
        1 => (0..3u32, 0..40u32, size).prop_map(|(pointer, offset, size)| Do::Load { pointer, offset, size }),
        2 => any::<bool>().prop_map(|store| Do::Elsewhere { store }),
        1 => any::<bool>().prop_map(|store| Do::Element { store }),
        1 => (0..3u32, prop_oneof![Just(8), Just(-8), Just(16), Just(4)]).prop_map(|(pointer, step)| Do::Step { pointer, step }),
        1 => (0..4u32).prop_map(|bit| Do::Continue { bit }),
        1 => (3..6u32).prop_map(|bit| Do::Break { bit }),
    ]
}

fn body() -> impl Strategy<Value = Vec<Do>> {
    let some = || proptest::collection::vec(simple(), 0..4);
    let branches = (0..4u32, some(), some()).prop_map(|(bit, then, otherwise)| Do::If { bit, then, otherwise });
    proptest::collection::vec(prop_oneof![6 => simple(), 1 => branches, 1 => Just(Do::Divide)], 1..8)
}

/// Pushes whether a bit of the sum is set.
fn bit(bit: u32) -> String {
    format!("(i32.and (i32.wrap_i64 (local.get $sum)) (i32.const {}))", 1 << bit)
}

fn load(address: &str, offset: u32, size: u32) -> String {
    let name = ["i64.load8_u", "i64.load16_s", "i64.load32_u", "i64.load"][size.trailing_zeros() as usize];
    format!("(local.set $sum (i64.add (i64.mul (local.get $sum) (i64.const 3)) ({name} offset={offset} {address})))\n")
}

fn store(address: &str, offset: u32, size: u32) -> String {
    let name = ["i64.store8", "i64.store16", "i64.store32", "i64.store"][size.trailing_zeros() as usize];
    format!("({name} offset={offset} {address} (local.get $sum))\n")
}

/// The text of a body; `depth` blocks are open around it inside of the loop.
fn text(body: &[Do], depth: u32) -> String {
    let each = |what: &Do| match what {
        Do::Load { pointer, offset, size } => load(&format!("(local.get $p{pointer})"), *offset, *size),
        Do::Store { pointer, offset, size } => store(&format!("(local.get $p{pointer})"), *offset, *size),
        Do::Elsewhere { store: is_store } => {
            let at = format!(
                "(i32.add (i32.const {FIRST}) (i32.and (i32.wrap_i64 (local.get $sum)) (i32.const {})))",
                LENGTH - 8
            );
            if *is_store { store(&at, 0, 8) } else { load(&at, 0, 8) }
        }
        Do::Element { store: is_store } => {
            let at = format!("(i32.add (i32.const {}) (i32.shl (local.get $n) (i32.const 3)))", FIRST + 0x400);
            if *is_store { store(&at, 0, 8) } else { load(&at, 0, 8) }
        }
        Do::Step { pointer, step } => {
            format!("(local.set $p{pointer} (i32.add (local.get $p{pointer}) (i32.const {step})))\n")
        }
        Do::If { bit: number, then, otherwise } => {
            format!("(if {} (then {}) (else {}))\n", bit(*number), text(then, depth + 1), text(otherwise, depth + 1))
        }
        Do::Continue { bit: number } => format!(
            "(if {} (then (local.set $n (i32.sub (local.get $n) (i32.const 1)))
                (br_if {} (i32.gt_s (local.get $n) (i32.const 0)))))\n",
            bit(*number),
            depth + 1
        ),
        Do::Break { bit: number } => format!("(br_if {} (i32.eqz {}))\n", depth + 1, bit(*number)),
        Do::Divide => {
            "(local.set $sum (i64.add (local.get $sum) (i64.div_u (i64.const 1000) (local.get $sum))))\n".to_string()
        }
    };
    body.iter().map(each).collect()
}

/// A program with such a loop: pointers begin at these addresses, and move by these steps in each round.
fn program(body: &[Do], starts: &[u32], steps: &[i32], rounds: u32) -> Program {
    let begin: String =
        starts.iter().enumerate().map(|(p, start)| format!("(local.set $p{p} (i32.const {start}))\n")).collect();
    let moves: String = steps
        .iter()
        .enumerate()
        .map(|(p, step)| format!("(local.set $p{p} (i32.add (local.get $p{p}) (i32.const {step})))\n"))
        .collect();
    let body = text(body, 0);
    let text = format!(
        r#"(module (memory 2)
            (func (export "_start") (local $p0 i32) (local $p1 i32) (local $p2 i32) (local $n i32) (local $m i32) (local $sum i64)
                (local.set $sum (i64.const 12345))
                (local.set $m (i32.const 3))
                (loop $again
                    {begin}
                    (local.set $n (i32.const {rounds}))
                    (block $out (loop $loop
                        {body}
                        {moves}
                        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
                        (br_if $loop (i32.gt_s (local.get $n) (i32.const 0)))))
                    (local.set $m (i32.sub (local.get $m) (i32.const 1)))
                    (br_if $again (local.get $m)))
                (i64.store (i32.const {FIRST}) (local.get $sum))))"#
    );
    let bytes = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    Program::load(&bytes, "ahead").unwrap_or_else(|error| panic!("{error}: {text}"))
}

proptest! {
    #![proptest_config(world::cases(slow::all_or(400, 80)))]

    #[test]
    fn looking_ahead_changes_nothing(
        body in body(),
        starts in proptest::collection::vec(0..LENGTH / 2, 3),
        is_aligned in proptest::bool::weighted(0.8),
        steps in proptest::collection::vec(prop_oneof![Just(8), Just(16), Just(32), Just(-8), Just(0), Just(1), Just(4), Just(80)], 3),
        rounds in 1..60u32,
        line in prop_oneof![Just(8u32), Just(64), Just(64), Just(256), Just(4096)],
        interval in prop_oneof![Just(1u64), 2..60u64, 200..5000u64],
        is_weighed in any::<bool>(),
    ) {
        let starts: Vec<u32> = starts.iter().map(|at| FIRST + 0x800 + if is_aligned { at / 8 * 8 } else { *at }).collect();
        let mut program = program(&body, &starts, &steps, rounds);
        if is_weighed {
            program = program.weighing(world::odd_weights());
        }
        let (reference, _) = run(&program, Build::Reference, line, interval);
        let (fast, needless) = run(&program, Build::Fast, line, interval);
        let (ahead, needless_ahead) = run(&program.clone().looking_ahead(), Build::Fast, line, interval);
        prop_assert_eq!(&reference, &fast);
        prop_assert_eq!(&reference, &ahead);
        // It asks no more than without.
        prop_assert!(needless_ahead <= needless, "{} and {}", needless_ahead, needless);
    }
}
