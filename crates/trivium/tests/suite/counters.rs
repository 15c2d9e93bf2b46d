//! A static counter is one on each node: where one node reads its own, and what another has counted is never read, that is told.

use crate::harness::trivium;

/// The warnings of a program of which this is `count`, and this the end of `main`, with two nodes in `sim` and in `run`.
fn warned(folder: &crate::harness::Folder, name: &str, count: &str, end: &str, flags: &str) -> Vec<String> {
    let text = format!(
        "#include <stdio.h>
#include \"trivium.h\"
int counter;
static long steps[4];
static double spent = 1.5;
__attribute__((noinline)) static void count(trivium_lock_t *lock, int i) {{ trivium_lock(lock); {count} trivium_unlock(lock); }}
int main(void) {{
    trivium_lock_t *lock = trivium_alloc_on(0, 64);
    int me = trivium_node();
    for (int i = 0; i < 10; i++) count(lock, i);
    trivium_barrier();
    {end}
    return 0;
}}
"
    );
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    let program = file.to_str().unwrap();
    let flags = format!("--cc={flags}");
    let both = [&["sim", "-m", "typhoon"][..], &["run"]].map(|first| {
        let args = [first, &[program, "-p", "stache", "-n", "2", "--format", "json", &flags]].concat();
        let warnings = trivium(&args).json(0)["warnings"].as_array().cloned().unwrap_or_default();
        warnings.iter().map(|warning| warning.as_str().unwrap().to_string()).collect::<Vec<_>>()
    });
    assert_eq!(both[0], both[1], "sim and run");
    both[0].clone()
}

#[test]
fn a_counter_that_is_read_on_one_node_is_told() {
    let folder = crate::harness::folder();
    for (name, count, end, variable) in [
        ("plain.c", "counter++;", "if (!me) printf(\"%d\\n\", counter);", "counter"),
        ("sum.c", "spent += i;", "if (me == 1) printf(\"%f\\n\", spent);", "spent"),
    ] {
        for flags in ["-O2", "-O0"] {
            let warnings = warned(&folder, name, count, end, flags);
            let [warning] = &warnings[..] else { panic!("{name} {flags}: {warnings:?}") };
            let words = [
                format!("{name}:6: each node adds to a `{variable}` of its own"),
                format!("TRIVIUM_PRIVATE({variable});"),
            ];
            for word in &words {
                assert!(warning.contains(word), "{warning}");
            }
        }
    }
}

/// Each node has its own, and reads it; or nobody does; or it is said.
#[test]
fn what_is_meant_is_not_told() {
    let folder = crate::harness::folder();
    for (name, count, end) in [
        (
            "reduced.c",
            "counter++;",
            "int64_t all = trivium_reduce_sum64(counter); if (!me) printf(\"%d\\n\", (int)all);",
        ),
        ("each.c", "counter++;", "printf(\"%d\\n\", counter);"),
        ("nobody.c", "counter++;", ""),
        ("said.c", "counter++;", "TRIVIUM_PRIVATE(counter); if (!me) printf(\"%d\\n\", counter);"),
        ("set.c", "counter = i;", "if (!me) printf(\"%d\\n\", counter);"),
        ("array.c", "steps[i % 4] += 1;", "if (!me) printf(\"%ld\\n\", steps[1]);"),
        ("pointer.c", "counter++;", "int *volatile its = &counter; if (!me) printf(\"%d\\n\", *its);"),
    ] {
        assert_eq!(warned(&folder, name, count, end, "-O2"), [""; 0], "{name}");
    }
}
