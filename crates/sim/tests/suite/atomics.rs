//! C's own atomic operations, of programs as people have them.

use crate::bench::{self, Run, machine, same_in, source, text_program, windows};
use std::sync::Arc;
use trivium_sim::{Blame, NodeError};

/// With thread-local storage in one file the compiler makes plain loads and stores of atomic operations, unless it may use
/// bulk memory for both.
#[test]
fn atomics_are_kept_beside_thread_local_variables() {
    let program = source(
        r#"#include "trivium.h"
        #include <errno.h>
        #include <stdatomic.h>
        #include <stdio.h>
        static _Thread_local int own = 3;
        int main(void) {
            _Atomic int *shared = trivium_alloc_on(0, sizeof *shared);
            for (int i = 0; i < 100; i++) {
                atomic_fetch_add(shared, 1);
                own++;
            }
            trivium_barrier();
            errno = own;
            if (trivium_node() == 0) printf("%d, %d\n", *shared, errno);
            return 0;
        }"#,
    );
    assert_eq!(Run::with(program, &[]).nodes(4).right().output, "400, 103\n");
}

/// Parts of the C library are written in C and others in Zig: all mean the same `errno`.
#[test]
fn the_library_sets_errno_where_the_program_reads_it() {
    let program = source(
        r#"#include <errno.h>
        #include <limits.h>
        #include <stdio.h>
        #include <stdlib.h>
        static _Thread_local char own[2000];
        int main(int count, char **arguments) {
            own[count] = 1;
            long number = strtol("99999999999999999999", 0, 10);
            printf("%d %d, ", number == LONG_MAX, errno == ERANGE);
            void *volatile much = malloc((size_t)count << 31);
            printf("%d, ", much == NULL);
            errno = 0;
            FILE *file = fopen("nowhere", "r");
            printf("%d %d\n", file == NULL, errno != 0);
            return arguments[0] == NULL;
        }"#,
    );
    assert_eq!(Run::with(program, &[]).nodes(1).right().output, "1 1, 1, 1 1\n");
}

/// A node that takes the lock again at once keeps nobody out: each gets it in its turn.
#[test]
fn a_lock_lets_everybody_through() {
    let program = source(
        r#"#include "trivium.h"
        struct shared { trivium_lock_t lock; volatile int32_t entries[8]; };
        int main(void) {
            struct shared *shared = trivium_alloc_on(0, sizeof *shared);
            int me = trivium_node(), nodes = trivium_nodes();
            trivium_barrier();
            for (int done = 0; !done;) {
                trivium_lock(&shared->lock);
                shared->entries[me]++;
                done = 1;
                for (int node = 0; node < nodes; node++) done &= shared->entries[node] >= 3;
                trivium_unlock(&shared->lock);
            }
            return 0;
        }"#,
    );
    for protocol in ["stache", "msi", "migratory", "swcc", "german", "uncached"] {
        for nodes in [2, 3, 4] {
            let run = Run::with(program.clone(), &[]).under(&[protocol]).nodes(nodes).max_cycles(1_000_000);
            assert_eq!(run.right().incomplete, None, "{protocol}, {nodes} nodes");
        }
    }
}

/// What `trivium.h` does to private memory helps nobody: an error, which says where.
#[test]
fn locks_waits_and_atomics_on_private_memory_are_errors() {
    for (call, what) in [
        ("trivium_fetch_add32(&word, 1);", "an atomic operation on private memory"),
        ("trivium_lock(&lock);", "an atomic operation on private memory"),
        ("trivium_wait_until_changed(&word, 0);", "a wait for a change on private memory"),
    ] {
        let text = format!(
            "#include \"trivium.h\"\nstatic int32_t word; trivium_lock_t lock;\nint main(void) {{ (void)word; {call} return 0; }}\n"
        );
        let error = Run::with(source(&text), &[]).error();
        assert!(
            error.diagnostic.message.contains(what) && error.diagnostic.message.contains("trivium_alloc"),
            "{call}: {error}"
        );
        assert!(error.diagnostic.notes[0].contains("in main"), "{call}: {error}");
    }
}

/// C11 atomics on private memory do no harm, and no good: a warning, once.
#[test]
fn c_atomics_on_private_memory_are_told_once() {
    for operation in ["atomic_fetch_add(&own, 1);", "atomic_store(&own, 3);", "(void)atomic_load(&own);"] {
        let text = format!(
            "#include <stdatomic.h>\n_Atomic int own;\n\
             __attribute__((noinline)) static void count(void) {{ for (int i = 0; i < 9; i++) {{ {operation} }} }}\n\
             int main(void) {{ count(); return 0; }}\n"
        );
        let run = Run::with(source(&text), &[]).nodes(3);
        let warnings = run.right().warnings;
        assert_eq!(warnings.len(), 1, "{operation}: {warnings:?}");
        assert!(warnings[0].starts_with("node 0 uses an atomic operation in count on private memory"), "{warnings:?}");
        same_in(&run, &windows(&run));
        same_in(&run.clone().jobs(2), &[run.machine.lookahead()]);
    }
    assert_eq!(Run::of("atomics", &["-n", "2"]).right().warnings, [""; 0]);
}

/// A protocol that sends stores to the home, each with its value. An atomic operation has none yet: what was sent was its
/// operand, and 10 additions of each of 3 nodes gave 1.
const SENDS_STORES: &str = "protocol sends-stores\npromises coherent\nlane main fifo buffered\n\
    message Get on main\nmessage Data on main with block\nmessage Put(at: address, w: word) on main\nmessage Done on main\n\
    role cache of block {\n  otherwise impossible\n  state Away {\n\
      on read { send Get to home; await Data { install; goto Away; complete } }\n\
      on write(at, w) { send Put(at, w) to home; await Done { goto Away; complete } }\n  }\n}\n\
    role home of block {\n  otherwise impossible\n  state Here: write {\n\
      on Get { send Data to sender }\n\
      on Put(at, w) { perform write(at, w); send Done to sender }\n  }\n}\n";

#[test]
fn a_protocol_that_looks_at_stored_values_refuses_atomics() {
    let compiled = trivium_lang::compile("sends-stores.tri", SENDS_STORES, &Default::default());
    let sends = Arc::new(compiled.unwrap_or_else(|error| panic!("{error}")));
    let adds = |under: &str| {
        let text = format!(
            "#include \"trivium.h\"\n#include <stdatomic.h>\nint main(void) {{ _Atomic int *sum = trivium_alloc_on_under({under}, 0, 64);\n\
             for (int i = 0; i < 10; i++) atomic_fetch_add(sum, 1); trivium_barrier(); return trivium_node() == 0 && *sum != 30; }}\n"
        );
        Run::with(source(&text), &[]).nodes(3)
    };
    let mut run = adds("0");
    run.protocols = vec![sends.clone()];
    let error = run.error();
    assert!(
        error.blame == Blame::Input && error.diagnostic.message.contains("`sends-stores` cannot answer"),
        "{error}"
    );
    // Another protocol is loaded: refused where it is not the one.
    run.protocols.insert(0, bench::protocol("msi"));
    run.right();
    let mut run = adds("\"sends-stores\"");
    run.protocols = vec![bench::protocol("msi"), sends.clone()];
    let error = run.error();
    assert!(
        error.blame == Blame::Subject
            && error.diagnostic.message.contains("an atomic operation at 0x40000000, which protocol"),
        "{error}"
    );
    // Without atomic operations it is as good as any.
    let plain = "(module (import \"trivium\" \"alloc\" (func $alloc (param i64 i32 i32 i32) (result i32))) (memory 1)
        (func (export \"_start\") (i64.store (call $alloc (i64.const 64) (i32.const 0) (i32.const 0) (i32.const 0)) (i64.const 1))))";
    let mut run = Run::with(text_program(plain), &[]).on(machine("typhoon", &[]));
    run.protocols = vec![sends];
    run.right();
}

/// The same, with no look at the value: `complete` would make the addition on a copy that is not the only one.
#[test]
fn a_protocol_that_completes_stores_and_answers_no_rmw_refuses_atomics() {
    let text =
        SENDS_STORES.replace("on write(at, w) { send Put(at, w) to home;", "on write(at) { send Put(at, 1) to home;");
    assert_ne!(text, SENDS_STORES);
    let adds = "#include \"trivium.h\"\n#include <stdatomic.h>\nint main(void) { _Atomic int *sum = trivium_alloc_on(0, 64);\n\
                atomic_fetch_add(sum, 1); return 0; }\n";
    let under = |text: &str| {
        let compiled = trivium_lang::compile("sends-stores.tri", text, &Default::default());
        let mut run = Run::with(source(adds), &[]).nodes(2);
        run.protocols = vec![Arc::new(compiled.unwrap_or_else(|error| panic!("{error}")))];
        run
    };
    let error = under(&text).error();
    assert!(error.blame == Blame::Input, "{error}");
    assert!(
        error.diagnostic.message.contains("`Away.write.Done.Done` completes stores, and it does not say"),
        "{error}"
    );
    // Where the role says that it may, it may.
    under(&text.replace(
        "on write(at) {",
        "on rmw(at) { send Put(at, 1) to home; await Done { goto Away; complete } }\n      on write(at) {",
    ))
    .right();
}

/// What is told of a program under `uncached` with one thing changed; the same on one and on two host threads.
fn performed_wrongly(mut run: Run, changes: &[(&str, &str)]) -> NodeError {
    let text = std::fs::read_to_string("../../protocols/uncached.tri").unwrap();
    let changed = changes.iter().fold(text, |text, (from, to)| {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        changed
    });
    let compiled = trivium_lang::compile("changed.tri", &changed, &Default::default());
    run.protocols = vec![Arc::new(compiled.unwrap_or_else(|error| panic!("{error}")))];
    let error = run.clone().jobs(2).error();
    let plain = run.clone().error();
    assert_eq!(
        (&error.diagnostic.message, &error.diagnostic.place(), &error.diagnostic.notes),
        (&plain.diagnostic.message, &plain.diagnostic.place(), &plain.diagnostic.notes)
    );
    error
}

/// An access that a handler performs for a thread is performed once, and then completed: what is not so is told at the step, with
/// node, handler and line, however the nodes are simulated.
#[test]
fn an_access_that_is_not_performed_once_is_told_at_the_step() {
    let torn = Run::of("fetchadd", &[]).under(&["broken/uncached-update-torn"]).nodes(3);
    let early = Run::of("fetchadd", &[]).under(&["broken/uncached-answered-early"]).nodes(8);
    for jobs in [1, 2] {
        let error = torn.clone().jobs(jobs).error();
        assert!(
            error.diagnostic.message.contains("node 2: handler Away.Value completes the access of its thread 0"),
            "{error}"
        );
        assert!(
            error.diagnostic.message.contains(" and it gave ")
                && error.diagnostic.message.ends_with(" when it was performed"),
            "{error}"
        );
        assert!(error.diagnostic.notes[0].contains("node 0 by handler Home.change, at "), "{error}");
        assert!(error.diagnostic.notes[0].contains("uncached-update-torn.tri:10:"), "{error}");
        let error = early.clone().jobs(jobs).error();
        assert!(
            error.diagnostic.message.contains("node 1: handler Away.Written completes the access of its thread 0"),
            "{error}"
        );
        assert!(error.diagnostic.message.ends_with("which nobody has performed"), "{error}");
        assert!(error.diagnostic.place().is_some_and(|place| place.to_string().contains("uncached.tri:")), "{error}");
    }
}

#[test]
fn an_access_that_is_performed_twice_is_told_at_the_second() {
    let once = "perform write(at, w, n) as t; send";
    let error = performed_wrongly(
        Run::of("fetchadd", &[]).nodes(3),
        &[(once, "perform write(at, w, n) as t; perform write(at, w, n) as t; send")],
    );
    assert!(error.diagnostic.message.contains("handler Home.Write performs an access to shared offset 0x"), "{error}");
    assert!(error.diagnostic.message.ends_with("for which one has been performed that is not completed"), "{error}");
    let line = error.diagnostic.place().unwrap();
    assert!(
        error.diagnostic.notes[0].contains("it was performed at cycle")
            && !error.diagnostic.notes[0].ends_with(&line.to_string()),
        "{error}"
    );
}

#[test]
fn a_thread_that_performs_its_access_again_is_told() {
    let error = performed_wrongly(
        Run::of("fetchadd", &[]).nodes(3),
        &[("on Written(t)             { complete to t }", "on Written(t)             { complete }")],
    );
    assert!(error.diagnostic.message.contains("handler Away.Written lets its thread 0 perform an access"), "{error}");
    assert!(error.diagnostic.notes[0].contains("by handler Home.Write"), "{error}");
}

/// The only remote access of a program is performed once more when it has been answered.
#[test]
fn an_access_that_is_performed_again_behind_its_answer_is_told() {
    let once = "#include \"trivium.h\"\n#include <stdatomic.h>\nint main(void) { _Atomic int *sum = trivium_alloc_on(0, 64);\n\
                if (trivium_node() == 1) atomic_fetch_add(sum, 1); return 0; }\n";
    let error = performed_wrongly(
        Run::with(source(once), &[]).nodes(2),
        &[
            (
                "state Home: write {",
                "task more(at: address, n: 1..8, op: operation, x: word, t: thread, by: node) { let w = perform rmw(at, n, op, x) as t of by }\n  state Home: write {",
            ),
            ("t) to sender }\n    on Get", "t) to sender; start more(at, n, op, x, t, sender) }\n    on Get"),
        ],
    );
    assert!(error.diagnostic.message.contains("handler Home.more performs an access to shared offset 0x0 for thread 0 of node 1, for which one has been performed"), "{error}");
}
