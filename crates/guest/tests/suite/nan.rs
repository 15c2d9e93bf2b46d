//! Whoever sees the bits of a NaN that arithmetic made sees the canonical ones, in both builds; others' stay as they are.

use crate::world;
use trivium_guest::{Build, NodeOutcome, Program};

const CANONICAL: u64 = 0x7ff8_0000_0000_0000;
/// Minus and a payload.
const OTHER: u64 = 0xfff8_0000_0000_1234;

/// The 8 bytes at 2048 that a program leaves.
fn left_by(body: &str, build: Build) -> u64 {
    let module = format!(
        r#"(module
            (memory (export "memory") 1)
            (global $g (mut f64) (f64.const 0))
            (func $store (param f64) (f64.store (i32.const 2048) (local.get 0)))
            (func $nan (result f64) (f64.div (f64.load (i32.const 1024)) (f64.load (i32.const 1024))))
            (func (export "_start") (local $x f64) (local $i i32)
                (i64.store (i32.const 1032) (i64.const {OTHER}))
                {body}))"#
    );
    let bytes = wat::parse_str(&module).unwrap_or_else(|error| panic!("{error}\n{module}"));
    let program = Program::load(&bytes, "nan").unwrap_or_else(|error| panic!("{error}\n{module}"));
    let (outcome, memory, _) = world::run_alone(&program, build, 0, 4096);
    assert_eq!(outcome, NodeOutcome::Finished { exit_code: 0 }, "{module}");
    u64::from_le_bytes(memory[2048..2056].try_into().expect("8 bytes"))
}

/// 0/0 and the square root of -1 are other NaNs on most machines.
const ZERO_BY_ZERO: &str = "(f64.div (f64.load (i32.const 1024)) (f64.load (i32.const 1024)))";
const ROOT: &str = "(f64.sqrt (f64.sub (f64.load (i32.const 1024)) (f64.const 1)))";

fn leaves(body: &str, bits: u64) {
    for made in [ZERO_BY_ZERO, ROOT, "(call $nan)"] {
        let body = body.replace("NAN", made);
        for build in [Build::Reference, Build::Fast] {
            assert_eq!(left_by(&body, build), bits, "{build:?}: {body}: {bits:#x} is right");
        }
    }
}

#[test]
fn who_sees_a_nan_sees_the_canonical_one() {
    for body in [
        "(f64.store (i32.const 2048) NAN)",
        "(call $store NAN)",
        "(local.set $x NAN) (f64.store (i32.const 2048) (local.get $x))",
        "(f64.store (i32.const 2048) (local.tee $x NAN))",
        "(global.set $g NAN) (f64.store (i32.const 2048) (global.get $g))",
        "(i64.store (i32.const 2048) (i64.reinterpret_f64 NAN))",
        "(f64.store (i32.const 2048) (f64.abs NAN))",
        "(f64.store (i32.const 2048) (f64.copysign NAN (f64.const 1)))",
        "(f64.store (i32.const 2048) (f64.copysign (f64.load (i32.const 1032)) NAN))
         (i64.store (i32.const 2048) (i64.and (i64.load (i32.const 2048)) (i64.const 0x7ff8000000000000)))",
        "(f64.store (i32.const 2048) (select NAN (f64.const 1) (i32.const 1)))",
        "(f64.store (i32.const 2048) (select (f64.const 1) NAN (i32.const 0)))",
        "(f64.store (i32.const 2048) (block (result f64) NAN))",
        "(f64.store (i32.const 2048) (block (result f64) (br 0 NAN)))",
        "(f64.store (i32.const 2048) (block (result f64) NAN (br_if 0 (i32.const 1))))",
        "(f64.store (i32.const 2048) (block (result f64) NAN (br_table 0 0 (i32.const 1))))",
        "(f64.store (i32.const 2048) (if (result f64) (i32.const 1) (then NAN) (else (f64.const 1))))",
        "(f64.store (i32.const 2048) (f64.add NAN (f64.const 1)))",
        "(f64.store (i32.const 2048) (f64.add (f64.const 1) (f64.mul NAN (f64.const 2))))",
        "(f64.store (i32.const 2048) (f64.min NAN (f64.const 1)))",
        "(f64.store (i32.const 2048) (f64.promote_f32 (f32.demote_f64 NAN)))",
        "(f64.store (i32.const 2048) (f64.floor (f64.load (i32.const 1032))))",
        // It stays on the stack while other accesses happen.
        "(i32.const 2048) NAN (drop (i32.load (i32.const 3000))) f64.store",
        // A loop keeps it in a local.
        "(loop $again
            (local.set $x (f64.add (local.get $x) NAN))
            (drop (f64.load (i32.const 3000)))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 9))))
         (f64.store (i32.const 2048) (local.get $x))",
    ] {
        leaves(body, CANONICAL);
    }
    leaves("(f64.store (i32.const 2048) (f64.neg NAN))", CANONICAL | 1 << 63);
    leaves("(f32.store (i32.const 2048) (f32.demote_f64 NAN))", 0x7fc0_0000);
    leaves("(i32.store (i32.const 2048) (f64.ne NAN NAN))", 1);
}

#[test]
fn what_is_only_moved_stays() {
    for body in [
        "(f64.store (i32.const 2048) (f64.load (i32.const 1032)))",
        "(local.set $x (f64.load (i32.const 1032))) (f64.store (i32.const 2048) (local.get $x))",
        "(f64.store (i32.const 2048) (select (f64.load (i32.const 1032)) NAN (i32.const 1)))",
        "(f64.store (i32.const 2048) (f64.neg (f64.neg (f64.load (i32.const 1032)))))",
        // It is put aside in the loop while the host is asked.
        "(local.set $x (f64.load (i32.const 1032)))
         (loop $again
            (f64.store (i32.const 2048) (local.get $x))
            (drop (f64.load (i32.mul (local.get $i) (i32.const 1000))))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 9))))
         (f64.store (i32.const 2048) (local.get $x))",
    ] {
        leaves(body, OTHER);
    }
}
