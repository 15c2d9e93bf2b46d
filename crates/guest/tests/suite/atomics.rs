//! Every atomic operator of a program does what WebAssembly says, in both builds.

use crate::world;
use trivium_guest::{Build, NodeOutcome, Program};

/// A module that puts what an expression gives into memory at 0, and what it leaves in shared memory at 8.
fn module(long: bool, before: u64, expression: &str) -> Program {
    let store = if long { "i64.store" } else { "i32.store" };
    let text = format!(
        r#"(module
            (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
            (memory 1)
            (func (export "_start") (local $p i32)
                (local.set $p (call $alloc (i64.const 64) (i32.const 1) (i32.const 0) (i32.const 0)))
                (i64.store offset=16 (local.get $p) (i64.const {before}))
                ({store} (i32.const 0) {expression})
                (atomic.fence)
                (i64.store (i32.const 8) (i64.load offset=16 (local.get $p)))))"#
    );
    let bytes = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Program::load(&bytes, "atomics").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What an expression gave, and what it left in memory: in both builds, waiting and not, with one count of instructions.
fn run(long: bool, before: u64, expression: &str) -> (u64, u64) {
    let program = module(long, before, expression);
    let mut all = Vec::new();
    for build in [Build::Reference, Build::Fast] {
        for patience in [0, 7] {
            let (outcome, memory, instructions) = world::run_alone(&program, build, patience, 16);
            assert_eq!(outcome, NodeOutcome::Finished { exit_code: 0 }, "{expression}");
            let word = |at: usize| u64::from_le_bytes(memory[at..at + 8].try_into().unwrap());
            all.push((word(0), word(8), instructions));
        }
    }
    assert!(all.iter().all(|one| *one == all[0]), "{expression}: {all:?}");
    (all[0].0, all[0].1)
}

/// Types and widths: the type's name, whether it is long, what follows `atomic.rmw` or `load`, and the bits.
const WIDTHS: [(&str, bool, &str, u32); 7] = [
    ("i32", false, "", 32),
    ("i32", false, "8", 8),
    ("i32", false, "16", 16),
    ("i64", true, "", 64),
    ("i64", true, "8", 8),
    ("i64", true, "16", 16),
    ("i64", true, "32", 32),
];

const BEFORE: u64 = 0xf1e2_d3c4_b5a6_9788;

fn low(value: u64, bits: u32) -> u64 {
    value & (u64::MAX >> (64 - bits))
}

/// The word with its low bits replaced.
fn with_low(bits: u32, value: u64) -> u64 {
    BEFORE ^ low(BEFORE ^ value, bits)
}

#[test]
fn read_modify_writes() {
    type Op = fn(u64, u64) -> u64;
    let ops: [(&str, Op); 6] = [
        ("add", u64::wrapping_add),
        ("sub", u64::wrapping_sub),
        ("and", |a, b| a & b),
        ("or", |a, b| a | b),
        ("xor", |a, b| a ^ b),
        ("xchg", |_, b| b),
    ];
    for (ty, long, width, bits) in WIDTHS {
        let suffix = if width.is_empty() { "" } else { "_u" };
        for (name, op) in ops {
            for operand in [1u64, 0xffff_ffff_ffff_fff0, 0x1234_5678_9abc_def0] {
                let value = if long { operand as i64 } else { i64::from(operand as i32) };
                let text =
                    format!("({ty}.atomic.rmw{width}.{name}{suffix} offset=16 (local.get $p) ({ty}.const {value}))");
                let expected = (low(BEFORE, bits), with_low(bits, op(BEFORE, operand)));
                assert_eq!(run(long, BEFORE, &text), expected, "{text}");
            }
        }
    }
}

#[test]
fn compare_and_exchange() {
    for (ty, long, width, bits) in WIDTHS {
        let suffix = if width.is_empty() { "" } else { "_u" };
        let right = low(BEFORE, bits);
        // Of the last one only the low bits count, which are there.
        for (expected, is_there) in
            [(right, true), (right ^ 1, false), (right | 1 << (bits % 64), bits < 64 || right & 1 == 1)]
        {
            if !long && expected > u64::from(u32::MAX) {
                continue;
            }
            let signed = if long { expected as i64 } else { i64::from(expected as i32) };
            let text = format!(
                "({ty}.atomic.rmw{width}.cmpxchg{suffix} offset=16 (local.get $p) ({ty}.const {signed}) ({ty}.const 77))"
            );
            let after = if is_there { with_low(bits, 77) } else { BEFORE };
            assert_eq!(run(long, BEFORE, &text), (right, after), "{text}");
        }
    }
}

#[test]
fn loads_and_stores() {
    for (ty, long, width, bits) in WIDTHS {
        let suffix = if width.is_empty() { "" } else { "_u" };
        let load = format!("({ty}.atomic.load{width}{suffix} offset=16 (local.get $p))");
        assert_eq!(run(long, BEFORE, &load), (low(BEFORE, bits), BEFORE), "{load}");
        let store =
            format!("(block (result {ty}) ({ty}.atomic.store{width} offset=16 (local.get $p) ({ty}.const -3)) {load})");
        let after = with_low(bits, -3i64 as u64);
        assert_eq!(run(long, BEFORE, &store), (low(after, bits), after), "{store}");
    }
}

#[test]
fn what_is_not_aligned_ends_the_program() {
    for access in [
        "(i32.atomic.load offset=18 (local.get $p))",
        "(i32.atomic.rmw16.add_u offset=17 (local.get $p) (i32.const 1))",
        "(block (result i32) (i64.atomic.store offset=20 (local.get $p) (i64.const 1)) (i32.const 0))",
    ] {
        for build in [Build::Reference, Build::Fast] {
            let (outcome, ..) = world::run_alone(&module(false, 0, access), build, 0, 16);
            let NodeOutcome::Trapped { message, .. } = &outcome else { panic!("{access}: {outcome:?}") };
            assert!(message.contains("it must be aligned to its size"), "{access}: {message}");
        }
    }
}
