//! The memory handle, completed accesses, and accesses in pieces.

use std::{cell::RefCell, rc::Rc};

use trivium_guest::*;

/// Gives out one shared region, and records what is asked.
#[derive(Default)]
struct Recorder {
    accesses: Vec<LoadStore>,
    /// Read accesses of this address are answered with these bits.
    answer: Option<(u32, u64)>,
    /// How often the next access waits.
    waits: u32,
}

impl Processor for Recorder {
    fn access(&mut self, _: Executed, access: LoadStore) -> Result<AccessStep, ProgramFault> {
        if self.waits > 0 {
            self.waits -= 1;
            return Ok(AccessStep::Wait);
        }
        self.accesses.push(access);
        match self.answer {
            Some((addr, bits)) if addr == access.addr => Ok(AccessStep::Complete(bits)),
            _ => Ok(AccessStep::Go),
        }
    }
    fn poll(&mut self, _: Executed) -> Result<AccessStep, ProgramFault> {
        Ok(AccessStep::Go)
    }
    fn call(&mut self, _: Executed, call: &Call) -> Result<CallStep, ProgramFault> {
        match call {
            Call::Alloc { .. } => Ok(CallStep::Done(i64::from(SHARED_BASE))),
            Call::Nodes => Ok(CallStep::Done(3)),
            Call::Shared { .. } => Ok(CallStep::Done(0)),
            Call::Barrier => Ok(CallStep::Wait),
            other => Err(ProgramFault::new(format!("{other:?}"))),
        }
    }
}

fn node(body: &str) -> (ProgramNode<Recorder>, Rc<RefCell<Recorder>>) {
    let bytes = wat::parse_str(format!(
        r#"(module
            (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
            (import "trivium" "barrier" (func $barrier))
            (memory 1)
            (func (export "_start")
                (drop (call $alloc (i64.const 64) (i32.const 1) (i32.const 0) (i32.const 0)))
                {body}))"#
    ))
    .expect("the test's own text");
    let recorder = Rc::new(RefCell::new(Recorder::default()));
    let program = Program::load(&bytes, "memory").expect("a program");
    (ProgramNode::new(&program, 0, &[], recorder.clone()).expect("a node"), recorder)
}

#[test]
fn memory_survives_the_program_but_not_the_node() {
    let (mut node, _) = node("(i64.store (i32.const 0x40000008) (i64.const 0x1234))");
    let memory = node.memory();
    memory.write_u64(SHARED_BASE, 77).expect("shared memory is there before it is allocated");
    assert_eq!(node.resume(), NodeOutcome::Finished { exit_code: 0 });
    assert_eq!(memory.read_u64(SHARED_BASE + 8), Ok(0x1234));
    assert_eq!(memory.read_word(SHARED_BASE, 4), Ok(77));
    let mut all = vec![0; 16];
    memory.read(SHARED_END - 16, &mut all).expect("the last bytes");
    assert!(memory.read(SHARED_END - 15, &mut all).is_err());
    assert!(memory.write(u32::MAX, &all).is_err());
    drop(node);
    assert!(memory.read_u64(SHARED_BASE).is_err());
    assert!(memory.write_u64(SHARED_BASE, 1).is_err());
}

#[test]
fn places_are_gathered_and_scattered_in_their_order() {
    let (node, _) = node("");
    let memory = node.memory();
    memory.write(SHARED_BASE, &std::array::from_fn::<u8, 64, _>(|at| at as u8)).expect("in memory");
    // A word, one that is not aligned, nothing, and other lengths, one of them at the end of memory.
    let last = u64::from(SHARED_END - SHARED_BASE) - 3;
    memory.write(SHARED_END - 3, b"end").expect("in memory");
    let places = [(8, 8), (21, 8), (40, 0), (0, 3), (last, 3), (32, 16)];
    let mut gathered = vec![99];
    memory.gather(&places, &mut gathered).expect("in memory");
    let expected: Vec<u8> =
        [99].into_iter().chain(8..16).chain(21..29).chain(0..3).chain(*b"end").chain(32..48).collect();
    assert_eq!(gathered, expected);

    let to = [(64, 8), (77, 8), (0, 0), (90, 3), (93, 3), (96, 16)];
    memory.scatter(&to, &gathered[1..]).expect("in memory");
    let mut seen = vec![0; 48];
    memory.read(SHARED_BASE + 64, &mut seen).expect("in memory");
    let mut expected = vec![0; 48];
    expected[..8].copy_from_slice(&gathered[1..9]);
    expected[13..21].copy_from_slice(&gathered[9..17]);
    expected[26..48].copy_from_slice(&gathered[17..39]);
    assert_eq!(seen, expected);

    assert!(memory.gather(&[(0, 8), (last, 4)], &mut gathered).is_err(), "beyond the end");
    assert!(memory.gather(&[(u64::MAX - 4, 8)], &mut gathered).is_err(), "an offset that wraps around");
    assert!(memory.scatter(&[(last - 4, 8)], &[1; 8]).is_err(), "beyond the end");
    assert!(memory.scatter(&[(0, 8), (8, 8)], &[1; 15]).is_err(), "too few bytes");
    drop(node);
    assert!(memory.gather(&[(0, 8)], &mut gathered).is_err());
    assert!(memory.scatter(&[(0, 8)], &[1; 8]).is_err());
}

#[test]
fn memory_may_be_changed_while_an_access_waits() {
    let (mut node, recorder) = node("(i64.store (i32.const 0x40000008) (i64.load (i32.const 0x40000000)))");
    recorder.borrow_mut().waits = 2;
    assert_eq!(node.resume(), NodeOutcome::Suspended);
    let memory = node.memory();
    memory.write_u64(SHARED_BASE, 41).expect("in memory");
    assert_eq!(node.resume(), NodeOutcome::Suspended);
    memory.write_u64(SHARED_BASE, 42).expect("in memory");
    assert_eq!(node.resume(), NodeOutcome::Finished { exit_code: 0 });
    assert_eq!(memory.read_u64(SHARED_BASE + 8), Ok(42));
}

/// Shared private memory is the same at two places from the call on, with what it had; the node is the second of three.
#[test]
fn a_shared_range_lies_at_two_places() {
    let text = r#"(module
        (import "trivium" "share" (func $share (param i32 i64 i32) (result i32)))
        (memory 4)
        (data (i32.const 0x10010) "abcd")
        (func (export "_start")
            (drop (call $share (i32.const 0x10000) (i64.const 0x20000) (i32.const 0)))))"#;
    let program = Program::load(&wat::parse_str(text).expect("the test's own text"), "share").expect("a program");
    let recorder = Rc::new(RefCell::new(Recorder::default()));
    let mut node = ProgramNode::new(&program, 1, &[], recorder).expect("a node");
    let memory = node.memory();
    memory.write_u64(SHARED_BASE + 0x20018, 9).expect("in memory");
    assert_eq!(node.resume(), NodeOutcome::Suspended, "at the barrier");
    let part = SHARED_BASE + 0x20000;
    assert_eq!(memory.read_word(part + 0x10, 4), Ok(u64::from(u32::from_le_bytes(*b"abcd"))));
    assert_eq!((memory.read_u64(part + 0x18), memory.read_u64(0x10018)), (Ok(0), Ok(0)), "what was there is gone");
    memory.write_u64(part + 0x1fff8, 7).expect("in memory");
    memory.write_u64(0x10020, 8).expect("in memory");
    assert_eq!((memory.read_u64(0x2fff8), memory.read_u64(part + 0x20)), (Ok(7), Ok(8)));
    let apart = [0xfff8, 0x30000, part - 8, part + 0x20000].map(|place| memory.read_u64(place));
    assert!(apart.iter().all(|found| *found == Ok(0)), "what lies beside is not shared");
    drop(node);
    assert!(memory.read_u64(part).is_err());
}

#[test]
fn a_suspended_node_can_be_dropped() {
    let (mut node, _) = node("(call $barrier)");
    assert_eq!(node.resume(), NodeOutcome::Suspended);
    assert_eq!(node.resume(), NodeOutcome::Suspended);
}

/// Every kind of load extends completed bits as it would extend memory.
#[test]
fn completed_loads_extend_like_loads_from_memory() {
    for (load, store, bits) in [
        ("i32.load", "i32.store", 0xffff_fffe),
        ("i64.load", "i64.store", 0xffff_ffff_ffff_fffe),
        ("f32.load", "f32.store", 0xc020_0000),
        ("f64.load", "f64.store", 0xc004_0000_0000_0000),
        ("i32.load8_s", "i32.store", 0xfe),
        ("i32.load8_u", "i32.store", 0xfe),
        ("i32.load16_s", "i32.store", 0xfffe),
        ("i32.load16_u", "i32.store", 0xfffe),
        ("i64.load8_s", "i64.store", 0xfe),
        ("i64.load8_u", "i64.store", 0xfe),
        ("i64.load16_s", "i64.store", 0xfffe),
        ("i64.load16_u", "i64.store", 0xfffe),
        ("i64.load32_s", "i64.store", 0xffff_fffe),
        ("i64.load32_u", "i64.store", 0xffff_fffe),
    ] {
        let body = format!("({store} (i32.const 0x40000010) ({load} (i32.const 0x40000000)))");
        let (mut from_memory, _) = node(&body);
        from_memory.memory().write_u64(SHARED_BASE, bits).expect("in memory");
        assert_eq!(from_memory.resume(), NodeOutcome::Finished { exit_code: 0 });
        let (mut completed, recorder) = node(&body);
        recorder.borrow_mut().answer = Some((SHARED_BASE, bits));
        assert_eq!(completed.resume(), NodeOutcome::Finished { exit_code: 0 });
        let at = |node: &ProgramNode<Recorder>| node.memory().read_u64(SHARED_BASE + 16);
        assert_eq!(at(&completed), at(&from_memory), "{load}");
    }
}

#[test]
fn a_completed_store_leaves_memory_alone() {
    let (mut node, recorder) = node("(i32.store8 (i32.const 0x40000003) (i32.const 0x1ff))");
    recorder.borrow_mut().answer = Some((SHARED_BASE + 3, 0));
    assert_eq!(node.resume(), NodeOutcome::Finished { exit_code: 0 });
    assert_eq!(node.memory().read_u64(SHARED_BASE), Ok(0));
    let write = LoadStore { addr: SHARED_BASE + 3, size: 1, kind: AccessKind::Write, value: 0xff };
    assert_eq!(recorder.borrow().accesses, [write]);
}

#[test]
fn an_access_across_words_comes_in_pieces() {
    let (mut node, recorder) = node(
        "(i64.store (i32.const 0x40000005) (i64.const 0x0807060504030201))
              (i32.store (i32.const 0x40000020) (i32.load16_s (i32.const 0x40000007)))",
    );
    assert_eq!(node.resume(), NodeOutcome::Finished { exit_code: 0 });
    let pieces: Vec<_> = recorder.borrow().accesses.iter().map(|a| (a.addr - SHARED_BASE, a.size, a.value)).collect();
    let expected = [(5, 3, 0x030201), (8, 5, 0x0807060504), (7, 1, 0), (8, 1, 0), (0x20, 4, 0x0403)];
    assert_eq!(pieces, expected);
    assert_eq!(node.memory().read_u64(SHARED_BASE + 5), Ok(0x0807060504030201));
    assert_eq!(node.memory().read_word(SHARED_BASE + 0x20, 4), Ok(0x0403));
}

#[test]
fn overlapping_copies() {
    for (to, from) in [(0x11, 0x10), (0x10, 0x11), (0x18, 0x10), (0x10, 0x18), (0x13, 0x13)] {
        let (mut node, _) = node(&format!(
            "(memory.copy (i32.const {}) (i32.const {}) (i32.const 30))",
            SHARED_BASE + to,
            SHARED_BASE + from
        ));
        let mut expected: Vec<u8> = (0..64).collect();
        node.memory().write(SHARED_BASE, &expected).expect("in memory");
        assert_eq!(node.resume(), NodeOutcome::Finished { exit_code: 0 });
        let (to, from) = (to as usize, from as usize);
        expected.copy_within(from..from + 30, to);
        let mut is = vec![0; 64];
        node.memory().read(SHARED_BASE, &mut is).expect("in memory");
        assert_eq!(is, expected, "from {from} to {to}");
    }
}

#[test]
fn read_modify_write() {
    let (node, _) = node("");
    let memory = node.memory();
    memory.write_u64(SHARED_BASE, 0xffff_ffff_ffff_ffff).expect("in memory");
    let add = |size| ReadModifyWrite { addr: SHARED_BASE, size, op: RmwOp::Add, operand: 1, expected: 0 };
    assert_eq!(memory.read_modify_write(&add(4)), Ok(0xffff_ffff));
    assert_eq!(memory.read_u64(SHARED_BASE), Ok(0xffff_ffff_0000_0000));
    assert_eq!(memory.read_modify_write(&add(8)), Ok(0xffff_ffff_0000_0000));
    let swap = |expected| ReadModifyWrite { op: RmwOp::CompareSwap, operand: 9, expected, ..add(4) };
    assert_eq!(memory.read_modify_write(&swap(5)), Ok(1));
    assert_eq!(memory.read_modify_write(&swap(1)), Ok(1));
    assert_eq!(memory.read_word(SHARED_BASE, 4), Ok(9));
}
