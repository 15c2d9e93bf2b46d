//! Shared memory that is given back is allocated again.

use crate::harness::{self, in_file, trivium};
use crate::slow;

/// Each piece is zeroed, what some nodes write the others read, and what is allocated again lies where it did.
const AGAIN: &str = r#"#include <stdio.h>
#include "trivium.h"
enum { WORDS = 3000, BIG = 1 << 17 };
int main(void) {
    int me = trivium_node(), nodes = trivium_nodes();
    int64_t *kept = trivium_alloc_on(nodes - 1, 64), *before = 0;
    for (int round = 0; round < 6; round++) {
        int64_t *big = trivium_alloc_round_robin(BIG);
        int64_t *words = round % 2 ? trivium_alloc_first_touch(8 * WORDS) : trivium_alloc_on(round % nodes, 8 * WORDS);
        for (int i = me; i < WORDS; i += nodes) {
            if (words[i] || big[i]) trivium_fail("it is not zeroed");
        }
        trivium_barrier();
        for (int i = me; i < WORDS; i += nodes) words[i] = big[i] = 1000 * round + i;
        trivium_barrier();
        for (int i = 0; i < WORDS; i += 7) {
            if (words[i] != 1000 * round + i || big[i] != words[i]) trivium_fail("it is not what was written");
        }
        if (before && big != before) trivium_fail("it is not used again");
        before = big;
        if (me == round % nodes) kept[0] += round;
        trivium_free(big);
        trivium_free(words);
        trivium_free(0);
    }
    if (kept[0] != 15) trivium_fail("what was not freed has changed");
    if (me == 0) printf("all rounds\n");
    return 0;
}
"#;

#[test]
fn what_is_freed_is_allocated_again() {
    let folder = crate::harness::folder();
    let program = in_file(&folder, "again.c", AGAIN);
    for protocol in slow::all_or(&["stache", "msi", "migratory", "uncached"][..], &["stache", "uncached"]) {
        let sim = trivium(&["sim", &program, "-p", protocol, "-m", "typhoon", "-n", "3"]);
        assert!(sim.out.contains("all rounds"), "{protocol}: {sim:?}");
        let jobs = trivium(&["sim", &program, "-p", protocol, "-m", "typhoon", "-n", "3", "--jobs", "2"]);
        let cycles = |run: &harness::Run| run.out.lines().find(|line| line.starts_with("cycles")).map(str::to_string);
        assert_eq!(cycles(&jobs), cycles(&sim), "{protocol}");
        let run = trivium(&["run", &program, "-p", protocol, "-n", "3"]);
        assert!(run.out.contains("all rounds"), "{protocol}: {run:?}");
    }
}

#[test]
fn what_is_freed_wrongly_is_an_error_with_its_line() {
    let folder = crate::harness::folder();
    for (name, wrong, words) in [
        ("twice.c", "trivium_free(memory); trivium_free(memory);", "frees 0x40000000 a second time"),
        ("within.c", "trivium_free(memory + 1);", "frees 0x40000004, at which no allocation begins"),
        ("own.c", "trivium_free(&own);", "at which no allocation begins"),
        ("other.c", "trivium_free(trivium_node() ? memory : other);", "asks in its allocation 3 to free 0x4000"),
        ("shared.c", "trivium_free(trivium_share(own, 65536, 0));", "which is private memory that is shared"),
    ] {
        let text = format!(
            "#include \"trivium.h\"\nstatic char own[65536] __attribute__((aligned(65536)));\nint main(void) {{\n    int *memory = trivium_alloc_on(0, 64), *other = trivium_alloc_on(1, 64);\n    (void)other;\n    {wrong}\n    return own[0];\n}}\n"
        );
        let program = in_file(&folder, name, &text);
        let place = format!("{name}:6");
        trivium(&["sim", &program, "-p", "stache", "-m", "typhoon", "-n", "2"]).refuses(1, &[words, &place]);
        // Which node hears of the other first is not known where, if it has not made its call yet.
        let place = if name == "other.c" { "allocation is collective" } else { &place };
        trivium(&["run", &program, "-p", "stache", "-n", "2"]).refuses(1, &[words, place]);
    }
}
