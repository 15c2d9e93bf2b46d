//! `memory.copy`, `memory.fill` and `memory.init` cost what loops that do the same cost.

use crate::bench::{Run, same_in, text_program, windows};
use crate::slow;

/// A program of one function, with two arrays of 16 KiB in private memory, and one in shared memory.
fn program(body: &str) -> Run {
    let text = format!(
        r#"(module
            (import "trivium" "node" (func $node (result i32)))
            (import "trivium" "barrier" (func $barrier))
            (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
            (memory 1)
            (data $data "what lies in a passive data segment, of some length that is not a multiple of 8")
            (func (export "_start") (local $shared i32) (local $round i32) (local $i i32)
                (local.set $shared (call $alloc (i64.const 16384) (i32.const 1) (i32.const 0) (i32.const 0)))
                (local.set $round (i32.const 100))
                (loop $again
                    {body}
                    (br_if $again (local.tee $round (i32.sub (local.get $round) (i32.const 1)))))))"#
    );
    Run::with(text_program(&text), &[])
}

/// 100 rounds over 16 KiB by a loop over words of 8 bytes.
fn by_a_loop(access: &str) -> u64 {
    let body = format!(
        "(local.set $i (i32.const 16384))
         (loop $words {access}
            (br_if $words (local.tee $i (i32.sub (local.get $i) (i32.const 8)))))"
    );
    program(&body).nodes(1).right().cycles
}

#[test]
fn a_copy_of_what_is_cached_costs_as_much_as_a_loop() {
    let copy = program("(memory.copy (i32.const 16384) (i32.const 0) (i32.const 16384))").nodes(1).right().cycles;
    let same = by_a_loop("(i64.store offset=16384 (local.get $i) (i64.load (local.get $i)))");
    assert!(copy <= same && 2 * copy >= same, "{copy} cycles, {same} by a loop");
    let fill = program("(memory.fill (i32.const 16384) (i32.const 7) (i32.const 16384))").nodes(1).right().cycles;
    let same = by_a_loop("(i64.store offset=16384 (local.get $i) (i64.const 7))");
    assert!(fill <= same && 2 * fill >= same, "{fill} cycles, {same} by a loop");
}

/// Copies that miss, wait and are overtaken, in both builds and all windows.
#[test]
fn bulk_operations_in_all_windows() {
    let bodies = [
        "(memory.copy (local.get $shared) (i32.const 3) (i32.const 900))",
        "(memory.copy (i32.const 3) (i32.add (local.get $shared) (call $node)) (i32.const 2000))",
        "(memory.fill (i32.add (local.get $shared) (local.get $round)) (local.get $round) (i32.const 700))",
        "(memory.init $data (i32.add (local.get $shared) (local.get $round)) (i32.const 5) (i32.const 70))",
        "(memory.init $data (i32.const 4000) (i32.const 0) (i32.const 78)) (call $barrier)",
        "(memory.copy (i32.add (local.get $shared) (i32.const 9)) (local.get $shared) (i32.const 3000))",
    ];
    for body in slow::one_in(2, bodies) {
        let run = program(body).nodes(3);
        run.right();
        let windows = windows(&run);
        same_in(&run, slow::all_or(&windows, &windows[3..]));
        same_in(&run.clone().jobs(2), &[run.machine.lookahead()]);
    }
}

/// A long copy polls: a limit of cycles cuts it off where it stands.
#[test]
fn a_limit_of_cycles_cuts_a_copy_off() {
    let run = program("(memory.copy (i32.const 16384) (i32.const 0) (i32.const 16384))").max_cycles(3000);
    let result = run.go().unwrap();
    assert!(result.incomplete.is_some() && result.cycles < 3100, "{:?}, {} cycles", result.incomplete, result.cycles);
    same_in(&run, &windows(&run));
}
