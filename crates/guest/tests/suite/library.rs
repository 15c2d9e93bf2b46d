//! What a C library, or a compiler, has for a program that does not do here what it promises.

use crate::world;
use trivium_diagnostic::Diagnostic;
use trivium_guest::{Build, NodeOutcome, Program};

/// Compiles and loads a C program.
fn load(text: &str) -> Result<Program, Diagnostic> {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("program.c");
    std::fs::write(&path, text).expect("written");
    Program::load(&world::compile(&path).unwrap_or_else(|error| panic!("{error}")), "program.c")
}

fn refused(text: &str) -> String {
    load(text).err().unwrap_or_else(|| panic!("accepted: {text}")).to_string()
}

fn refused_by_the_compiler(text: &str) -> String {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("program.c");
    std::fs::write(&path, text).expect("written");
    world::compile(&path).err().unwrap_or_else(|| panic!("accepted: {text}")).to_string()
}

/// What a program has in place of other ways to run in parallel is told where it asks for them.
#[test]
fn other_ways_to_run_in_parallel_are_named() {
    for (head, words) in [
        ("#include <omp.h>", &["a program has no OpenMP", "trivium_node()", "trivium_lock_t"][..]),
        ("#include <mpi.h>", &["a program has no MPI", "trivium_node() is the rank", "`channel`"]),
        ("#include <setjmp.h>", &["`setjmp` and `longjmp` are not in the C library", "return through the callers"]),
    ] {
        let told = refused_by_the_compiler(&format!("{head}\nint main(void) {{ return 0; }}\n"));
        words.iter().for_each(|word| assert!(told.contains(word), "`{word}` is missing in: {told}"));
    }
}

/// They were stubs that do nothing, and the exit code was 0.
#[test]
fn threads_and_mutexes_are_named() {
    let told = refused(
        r#"#include <pthread.h>
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        static int sum;
        static void *add(void *argument) {
            pthread_mutex_lock(&mutex);
            sum++;
            pthread_mutex_unlock(&mutex);
            return argument;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, add, 0);
            pthread_join(thread, 0);
            return 0;
        }"#,
    );
    for word in [
        "`pthread_create` (",
        "program.c:12 in main",
        "`pthread_join` (",
        "`pthread_mutex_lock` (",
        "program.c:5 in add",
        "trivium_lock_t",
    ] {
        assert!(told.contains(word), "`{word}` is missing in: {told}");
    }
    for (call, header) in [
        ("pthread_barrier_wait((pthread_barrier_t *)0)", "pthread"),
        ("pthread_cond_wait((pthread_cond_t *)0, (pthread_mutex_t *)0)", "pthread"),
        ("pthread_cond_signal((pthread_cond_t *)0)", "pthread"),
        ("pthread_spin_lock((pthread_spinlock_t *)8)", "pthread"),
    ] {
        let told = refused(&format!("#include <{header}.h>\nint main(void) {{\n  return {call};\n}}\n"));
        let name = call.split('(').next().unwrap();
        assert!(told.contains(&format!("`{name}` (")) && told.contains("program.c:3 in main"), "{told}");
        assert!(told.contains("trivium_barrier()"), "{told}");
    }
    // The library locks for itself what a key of threads needs; on one thread that does what it should.
    let key = "#include <pthread.h>\nint main(void) { pthread_key_t key; return pthread_key_create(&key, 0); }\n";
    load(key).unwrap_or_else(|error| panic!("{error}"));
    let own = "int pthread_cond_wait(int n) { return n; }\nint main(void) { return pthread_cond_wait(0); }\n";
    load(own).unwrap_or_else(|error| panic!("a program's own function of that name: {error}"));
    let own = "typedef int (*f)(void); int pthread_create(f run) { return run(); }\n\
               static int zero(void) { return 0; }\nint main(void) { return pthread_create(zero); }\n";
    load(own).unwrap_or_else(|error| panic!("a program's own function of that name: {error}"));
}

#[test]
fn atomic_operations_on_more_than_8_bytes_are_refused() {
    let told = refused(
        r#"#include <stdatomic.h>
        static _Atomic unsigned __int128 wide;
        int main(void) { return (int)atomic_fetch_add(&wide, 1); }"#,
    );
    assert!(
        told.contains("more than 8 bytes")
            && told.contains("`__atomic_fetch_add_16` (")
            && told.contains("program.c:3 in main"),
        "{told}"
    );
    let told = refused(
        r#"#include <stdatomic.h>
        struct three { int a, b, c; };
        static _Atomic struct three all;
        int main(void) { struct three some = {1, 2, 3}; atomic_store(&all, some); return 0; }"#,
    );
    assert!(told.contains("`__atomic_store` (") && told.contains("program.c:4 in main"), "{told}");
    load("#include <stdatomic.h>\nstatic _Atomic long long word;\nint main(void) { return (int)atomic_fetch_add(&word, 1); }\n")
        .unwrap_or_else(|error| panic!("8 bytes: {error}"));
}

/// A module that shares memory, as far as its imports go, with a section of features and an instruction.
fn module(features: Option<&[&str]>, instruction: &str) -> Vec<u8> {
    let text = format!(
        r#"(module (import "trivium" "alloc" (func (param i64 i32 i32 i32) (result i32))) (memory 1)
            (func (export "_start") {instruction}))"#
    );
    let mut bytes = wat::parse_str(&text).expect("the test's own text");
    if let Some(features) = features {
        let mut section = vec![15];
        section.extend(b"target_features");
        section.push(features.len() as u8);
        for feature in features {
            section.extend([b'+', feature.len() as u8]);
            section.extend(feature.bytes());
        }
        bytes.extend([0, section.len() as u8]);
        bytes.extend(section);
    }
    bytes
}

#[test]
fn a_module_that_may_have_lost_its_atomics_is_told() {
    let told = |features: Option<&[&str]>, instruction: &str| {
        Program::load(&module(features, instruction), "module").expect("a program").warnings().join("\n")
    };
    for features in [&["sign-ext"][..], &["atomics"], &["bulk-memory"]] {
        let told = told(Some(features), "");
        assert!(told.starts_with("the module was not compiled with atomic") && told.contains("-matomics"), "{told}");
    }
    assert!(told(None, "").starts_with("the module does not say that it was compiled with atomic"));
    assert_eq!(told(None, "(atomic.fence)"), "");
    assert_eq!(told(Some(&["atomics", "bulk-memory"]), ""), "");
    let alone = wat::parse_str(r#"(module (memory 1) (func (export "_start")))"#).expect("the test's own text");
    assert!(Program::load(&alone, "alone").expect("a program").warnings().is_empty(), "it shares nothing");
    assert!(world::load("atomics.c").warnings().is_empty() && world::load("hello.c").warnings().is_empty());
}

/// The linker named a file in its cache, and no line.
#[test]
fn functions_that_nobody_has_are_named_as_they_were_called() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("program.c");
    let told = |text: &str| {
        std::fs::write(&path, text).expect("written");
        world::compile(&path).err().unwrap_or_else(|| panic!("accepted: {text}")).to_string()
    };
    let linked = told(
        "int fork(void), sum(int);\nstatic int start(int n) {\n    return n + fork();\n}\n\
         int main(void) {\n    int n = sum(2);\n    return start(n) + sum(n);\n}\n",
    );
    for words in [
        "`fork` (",
        "program.c:3 in start)",
        "`sum` (",
        "program.c:6 in main",
        "program.c:7 in main)",
        "starts no other",
    ] {
        assert!(linked.contains(words), "`{words}` is missing in: {linked}");
    }
    assert!(!linked.contains("wasm-ld") && !linked.contains("env."), "{linked}");
    let waits = told("#include <semaphore.h>\nint main(void) {\n  return sem_wait(0);\n}\n");
    assert!(waits.contains("`sem_wait` (") && waits.contains("program.c:3 in main"), "{waits}");
    assert!(waits.contains("trivium_barrier()") && !waits.contains("name the file"), "{waits}");
    let data = told("extern int data;\nint main(void) { return data; }\n");
    assert!(data.contains("`data` is not in the C library"), "{data}");
    let undeclared =
        told("#include <sys/socket.h>\n#include <unistd.h>\nint main(void) {\n return socket(1, 2, 3) + fork(); }\n");
    assert!(
        undeclared.contains("program.c:4:") && undeclared.contains("`fork`, `socket` are not in the C library"),
        "{undeclared}"
    );
}

/// What was told was `wasi_snapshot_preview1.fd_readdir`.
#[test]
fn what_wasi_has_and_a_simulation_has_not_is_named_as_it_was_called() {
    let told = refused(
        "#include <sys/stat.h>\n#include <stdio.h>\n#include <unistd.h>\nstatic void list(void) {\n\
           symlink(\"a\", \"b\");\n  readlink(\"a\", 0, 0);\n}\n\
         int main(void) {\n  list();\n  link(\"a\", \"b\");\n  link(\"b\", \"c\");\n  return utimensat(0, \"a\", 0, 0);\n}\n",
    );
    let places = [
        "`symlink` (",
        ".c:5 in list)",
        "`readlink` (",
        ".c:6 in list)",
        "`link` (",
        ".c:10 in main",
        ".c:11 in main)",
        "`utimensat` (",
    ];
    for words in [&places[..], &["neither made nor read", "files have no times"]].concat() {
        assert!(told.contains(words), "`{words}` is missing in: {told}");
    }
    assert!(!told.contains("wasi_snapshot"), "{told}");
}

/// A module that imports `fd_fdstat_set_rights`, whose only caller is `function`; `_start` calls that one through a table or not at all.
fn lists(function: &str, start: &str) -> Vec<u8> {
    let text = format!(
        r#"(module (type $empty (func)) (import "wasi_snapshot_preview1" "fd_fdstat_set_rights" (func $list (param i32 i64 i64) (result i32)))
            (memory 1) (table funcref (elem ${function}))
            (func ${function} (drop (call $list (i32.const 3) (i64.const 0) (i64.const 0))))
            (func (export "_start") {start}))"#
    );
    wat::parse_str(&text).expect("the test's own text")
}

#[test]
fn what_a_library_only_contains_is_no_error() {
    let called = "(call_indirect (type $empty) (i32.const 0))";
    let direct = Program::load(&lists("readdir", "(call $readdir)"), "module").err().expect("refused").to_string();
    assert!(direct.contains("`readdir` (in ") && !direct.contains("wasi_snapshot"), "{direct}");
    for start in ["", called] {
        let program =
            Program::load(&lists("readdir", start), "module").unwrap_or_else(|error| panic!("{start}: {error}"));
        let (outcome, _, _) = world::run_alone(&program, Build::Fast, 0, 0);
        match outcome {
            NodeOutcome::Finished { exit_code: 0 } => assert_eq!(start, ""),
            other => {
                assert!(
                    start == called && format!("{other:?}").contains("`fd_fdstat_set_rights`, which has no answer"),
                    "{other:?}"
                )
            }
        }
    }
}
