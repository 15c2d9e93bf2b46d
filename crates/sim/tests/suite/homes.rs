//! Homes of pages that are placed by first touch, where handlers name blocks that their nodes have never accessed.

use crate::bench::{Run, machine, same_in, text_program};
use std::sync::Arc;
use trivium_guest::SHARED_BASE;
use trivium_protocol::Protocol;

/// A handler sends messages about other blocks, and to nodes that have accessed nothing.
const GOSSIP: &str = r"protocol gossip
op hint(b: block, other: block)
op tell(b: block, n: 0..7): word
lane main fifo buffered
message Get on main
message Data on main with block
message Rumour on main
message Here(n: 0..7) on main
message There on main
role home of block defers up to 4 {
  state Kept: write {
    on Get { send Data to sender }
    on Rumour { }
    on hint(other) { send Rumour of other to me; return }
    on tell(n) { send Here(n) to node(n); await There { goto Kept; return 3 } otherwise defer }
    on There impossible
  }
}
role copy of block defers up to 4 {
  state Away {
    on read, write { send Get to home; await Data { install; goto Near; resume } otherwise defer }
    on Here(n) { send There to home }
    on hint(other) { send Rumour of other to me; return }
    on tell(n) { return 0 }
    on Data impossible
  }
  state Near: write {
    on Here(n) { send There to home }
    on hint(other) { send Rumour of other to me; return }
    on tell(n) { return 0 }
    on Data impossible
  }
}";

fn gossip() -> Arc<Protocol> {
    let compiled = trivium_lang::compile("gossip.tri", GOSSIP, &Default::default());
    Arc::new(compiled.unwrap_or_else(|error| panic!("{error}")))
}

/// A program that allocates a page by first touch, and another on node 0; then this node does something.
fn program(node: u32, does: &str) -> Run {
    let text = format!(
        r#"(module
        (import "trivium" "node" (func $node (result i32)))
        (import "trivium" "barrier" (func $barrier))
        (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
        (import "trivium:gossip" "hint" (func $hint (param i64 i64)))
        (import "trivium:gossip" "tell" (func $tell (param i64 i64) (result i64)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start") (local $touched i32) (local $placed i32) (local $said i32)
            (local.set $touched (call $alloc (i64.const 4096) (i32.const 2) (i32.const 0) (i32.const 0)))
            (local.set $placed (call $alloc (i64.const 4096) (i32.const 0) (i32.const 0) (i32.const 0)))
            (call $barrier)
            (if (i32.eq (call $node) (i32.const {node})) (then {does}))
            (call $barrier)
            (call $exit (local.get $said))))"#
    );
    let mut run = Run::with(text_program(&text), &[]).nodes(3);
    run.protocols = vec![gossip()];
    run
}

/// The calling node makes the page's home, and a node hears of it that has never accessed it, perhaps simulated by another host thread.
#[test]
fn whoever_gets_a_message_about_a_block_knows_its_home() {
    let tell = "(local.set $said (i32.wrap_i64 (call $tell (i64.extend_i32_u (local.get $touched)) (i64.const 1))))";
    let run = program(2, tell);
    let result = run.go().unwrap();
    assert_eq!(result.exit_codes[&2], 3);
    for jobs in 2..4 {
        same_in(&run.clone().jobs(jobs), &[machine("typhoon", &[]).lookahead()]);
    }
}

#[test]
fn a_block_without_a_home_that_a_handler_names_is_an_error() {
    let hint = |number: u32| {
        let pointer = SHARED_BASE + 64 * number;
        let call = format!(
            "(call $hint (i64.extend_i32_u (local.get $placed)) (i64.const {pointer}))
             (local.set $said (i32.const 0))"
        );
        program(1, &call)
    };
    // Pages have 4096 bytes, so block 5 lies in the one that nobody has touched, and block 128 behind both.
    let named = &["node 1, cycle", "block 5 (address 0x", "placed by first touch", "help: a handler may name"][..];
    for (block, parts) in [(5, named), (128, &["node 1", "which is not in shared memory"])] {
        for jobs in 1..4 {
            let error = hint(block).jobs(jobs).error();
            let whole = error.to_string();
            for part in parts {
                assert!(whole.contains(part), "{jobs}: {part}: {whole}");
            }
        }
    }
}
