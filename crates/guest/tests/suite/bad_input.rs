//! Every kind of bad program gets one clear message and no panic.

use crate::world;
use trivium_diagnostic::Diagnostic;
use trivium_guest::{NodeOutcome, Program};

fn refuse(text: &str) -> Diagnostic {
    let bytes = wat::parse_str(text).expect("the test's own text");
    let error = Program::load(&bytes, "bad.wasm").err();
    error.unwrap_or_else(|| panic!("accepted: {text}"))
}

/// Checks that what and help contain these words, and that the place is told.
fn says(error: &Diagnostic, what: &str, help: &str) {
    assert!(error.message.contains(what), "{error}");
    assert!(error.help.as_deref().unwrap_or("").contains(help), "{error}");
    assert!(error.place().is_some_and(|place| place.file.starts_with("bad.wasm")), "{error}");
}

#[test]
fn not_webassembly() {
    for bytes in [&b""[..], b"\0as", b"#!/bin/sh\n", b"\x7fELF\x02\x01"] {
        let error = Program::load(bytes, "bad.wasm").err().expect("refused");
        says(&error, "not a WebAssembly module", ".wasm");
    }
}

#[test]
fn truncated_and_corrupted_modules() {
    let whole = wat::parse_str(
        r#"(module (memory 1) (data (i32.const 0) "abc") (func (export "_start") (drop (i32.load (i32.const 4)))))"#,
    )
    .expect("the test's own text");
    for length in 4..whole.len() {
        // A module may end between two sections, but then it has no body for `_start`.
        let error = Program::load(&whole[..length], "bad.wasm");
        assert!(error.is_err() || length > whole.len() - 12, "accepted the first {length} bytes");
    }
    for at in 0..whole.len() {
        for flip in [1, 0x80, 0xff] {
            let mut broken = whole.clone();
            broken[at] ^= flip;
            // Whether it is refused depends on the byte; it must not panic.
            let _ = Program::load(&broken, "bad.wasm");
        }
    }
}

#[test]
fn component() {
    says(&refuse("(component)"), "component", "preview 1");
}

#[test]
fn more_than_one_memory() {
    says(&refuse(r#"(module (memory 1) (memory 1) (func (export "_start")))"#), "2 memories", "exactly one");
}

#[test]
fn large_and_long_memories() {
    says(&refuse(r#"(module (memory 16385) (func (export "_start")))"#), "private memory", "smaller");
    says(&refuse(r#"(module (memory i64 1) (func (export "_start")))"#), "64-bit memory", "wasm32");
    says(&refuse(r#"(module (memory 1 1 shared) (func (export "_start")))"#), "shared memory", "trivium_alloc");
}

#[test]
fn refused_instructions_name_the_function() {
    let with = |instruction: &str| {
        refuse(&format!(r#"(module (memory 1) (func (export "_start")) (func $culprit {instruction}))"#))
    };
    let simd = with("(drop (v128.const i32x4 0 0 0 0))");
    says(&simd, "vector", "-mno-simd128");
    let atomics = with("(drop (memory.atomic.notify (i32.const 0) (i32.const 1)))");
    says(&atomics, "wait for another thread", "trivium_wait_until_changed");
    let tail = with("(return_call 0)");
    says(&tail, "tail calls", "-mtail-call");
    for error in [simd, atomics, tail] {
        assert!(error.place().is_some_and(|place| place.file.contains("`culprit`")), "{error}");
    }
    says(&refuse(r#"(module (tag $e) (func (export "_start") (throw $e)))"#), "exceptions", "setjmp");
    let gc = r#"(module (type $s (struct)) (func (export "_start") (drop (struct.new $s))))"#;
    says(&refuse(gc), "garbage", "from C");
}

#[test]
fn imports() {
    let import = |what: &str| refuse(&format!(r#"(module (import {what}) (func (export "_start")))"#));
    says(&import(r#""trivium" "teleport" (func)"#), "trivium.teleport", "barrier");
    says(&import(r#""wasi_snapshot_preview1" "path_symlink" (func)"#), "path_symlink", "fd_write");
    says(&import(r#""env" "missing" (func)"#), "env.missing", "not defined");
    says(&import(r#""trivium" "barrier" (func (param i32))"#), "wrong type", "() -> ()");
    says(&import(r#""env" "memory" (memory 1)"#), "memory", "define");
    says(&import(r#""trivium:lock" "acquire" (func (param i32))"#), "int64_t", "header");
    says(&import(r#""trivium:lock" "acquire" (func (result i64 i64))"#), "int64_t", "header");
}

#[test]
fn entry() {
    says(&refuse("(module)"), "_start", "main");
    says(&refuse(r#"(module (func (export "_start") (param i32)))"#), "_start", "main");
    says(&refuse(r#"(module (memory (export "_start") 1))"#), "_start", "main");
    says(&refuse(r#"(module (func $f (export "_start")) (start $f))"#), "start function", "_start");
    says(&refuse(r#"(module (func (export "_start")) (func (export "trivium-host:memory")))"#), "reserved", "name");
}

#[test]
fn data_outside_memory() {
    let error = refuse(r#"(module (memory 1) (data (i32.const 65535) "ab") (func (export "_start")))"#);
    says(&error, "outside the program's memory", "");
}

/// Compiles and runs one of `programs/bad` on two nodes; what node 0 did and where.
fn trap(name: &str) -> (String, String) {
    let program = world::load(&format!("bad/{name}.c"));
    let run = world::run(&program, 2, &[], 0, 1000);
    match &run.outcomes[0] {
        NodeOutcome::Trapped { message, stack } => {
            (message.clone(), stack.first().map_or(String::new(), |place| place.function.clone()))
        }
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn programs_that_trap() {
    for (name, message, function) in [
        ("out-of-bounds", "node 0: a load of 4 bytes at 0x40000190 is out of bounds", "read_behind"),
        ("wild-pointer", "node 0: a store of 8 bytes at 0x30000000 is out of bounds", "write_wild"),
        ("trap", "aborted", "abort"),
        ("divide", "divided by zero", "divide"),
        ("recursion", "recursion", "descend"),
        ("exhaust", "shared memory is exhausted", "main"),
        ("wrong-answer", "1 + 1 is not 3", "main"),
    ] {
        let (is, place) = trap(name);
        assert!(is.contains(message), "{name}: {is}");
        assert_eq!(place, function, "{name}");
    }
}

#[test]
fn function_pointers() {
    let trap = |body: &str| {
        let bytes = wat::parse_str(format!(
            r#"(module (table 3 funcref) (elem (i32.const 0) $f) (func $f (param i32)) (func $caller (export "_start") {body}))"#
        ));
        let program = Program::load(&bytes.expect("the test's own text"), "t").expect("a program");
        match world::run(&program, 1, &[], 0, 10).outcomes.remove(0) {
            NodeOutcome::Trapped { message, stack } => {
                assert_eq!(stack.first().map(|place| place.function.as_str()), Some("caller"));
                message
            }
            other => panic!("{other:?}"),
        }
    };
    assert!(trap("(call_indirect (i32.const 0))").contains("another type"));
    assert!(trap("(call_indirect (i32.const 1))").contains("null function pointer"));
    assert!(trap("(call_indirect (i32.const 7))").contains("no function's"));
    assert!(trap("unreachable").contains("aborted"));
}

#[test]
fn addresses_do_not_wrap_around() {
    let bytes =
        wat::parse_str(r#"(module (memory 1) (func (export "_start") (drop (i32.load offset=8 (i32.const -4)))))"#);
    let program = Program::load(&bytes.expect("the test's own text"), "t").expect("a program");
    let run = world::run(&program, 1, &[], 0, 10);
    let NodeOutcome::Trapped { message, .. } = &run.outcomes[0] else { panic!("{:?}", run.outcomes) };
    assert!(message.contains("0x100000004"), "{message}");
}

#[test]
fn a_program_that_never_ends_can_be_dropped() {
    let program = world::load("bad/endless.c");
    let run = world::run(&program, 2, &[], 1, 100);
    assert_eq!(run.outcomes, [NodeOutcome::Suspended, NodeOutcome::Suspended]);
}

#[test]
fn the_compilers_messages_are_shown_as_they_are() {
    let error = world::compile(&world::root().join("programs/bad/syntax.c")).expect_err("refused");
    assert!(error.message.contains("syntax.c:3:13: error: expected ';'"), "{error}");
    let error = world::compile(&world::root().join("programs/nowhere.c")).expect_err("refused");
    assert!(error.message.contains("cannot be read"), "{error}");
}

#[test]
fn unknown_imports_of_c_programs() {
    let bytes = world::compile(&world::root().join("programs/bad/unknown-import.c")).expect("compiles");
    let error = Program::load(&bytes, "bad.wasm").err().expect("refused");
    says(&error, "trivium.teleport", "wait_until_changed");
}
