//! Atomic operations on 1 and 2 bytes: compilers leave in the upper bits of a word what was there before.

use crate::harness::{in_file, trivium};

/// What is expected is a number that the compiler has worked out in 32 bits and not cut down: it is swapped all the same.
const SWAPS: &str = r#"#include <stdatomic.h>
#include <stdio.h>
#include "trivium.h"
#define SWAPPED(type, at, was, now) do { \
    type expected = (type)(was); \
    atomic_store(at, expected); \
    if (!atomic_compare_exchange_strong(at, &expected, (type)(now))) trivium_fail("it is not swapped"); \
    if (*(at) != (type)(now)) trivium_fail("it says that it is swapped, and is not"); \
    expected = (type)((was) + 1); \
    if (atomic_compare_exchange_strong(at, &expected, (type)(was))) trivium_fail("it is swapped though another is there"); \
    if (expected != (type)(now)) trivium_fail("it does not say what is there"); \
} while (0)
static _Atomic int16_t mine = -1;
int main(int argc, char **argv) {
    (void)argv;
    int none = argc - 1;
    void *shared = trivium_alloc_on(trivium_nodes() - 1, 64);
    if (trivium_node() == 0) {
        SWAPPED(uint16_t, (_Atomic uint16_t *)shared, none - 1, 7);
        SWAPPED(uint8_t, (_Atomic uint8_t *)shared + 3, none - 1, 7);
        SWAPPED(uint8_t, (_Atomic uint8_t *)shared + 4, none + 300, 9);
        SWAPPED(int16_t, (_Atomic int16_t *)shared + 3, none - 3, none - 4);
        SWAPPED(int8_t, (_Atomic int8_t *)shared + 9, none - 128, 1);
        SWAPPED(uint32_t, (_Atomic uint32_t *)shared + 4, none - 1, 3);
        SWAPPED(int64_t, (_Atomic int64_t *)shared + 4, none - 1, 3);
        SWAPPED(int16_t, &mine, none - 1, 4);
        _Atomic int16_t *half = (_Atomic int16_t *)shared + 20;
        atomic_store(half, -3);
        *half *= 5;
        if (*half != -15 || !__sync_bool_compare_and_swap((int16_t *)half, (int16_t)(none - 15), 2) || *half != 2) trivium_fail("it is lost");
        printf("all swapped\n");
    }
    return 0;
}
"#;

#[test]
fn what_is_said_to_be_swapped_is() {
    let folder = crate::harness::folder();
    let program = in_file(&folder, "swaps.c", SWAPS);
    for protocol in ["stache", "uncached"] {
        for args in
            [&["sim", "-m", "typhoon"][..], &["sim", "-m", "typhoon", "--cc=-O3"], &["run"], &["run", "--cc=-O0"]]
        {
            let run = trivium(&[&args[..1], &[&program, "-p", protocol, "-n", "2"], &args[1..]].concat());
            assert!(run.out.contains("all swapped") && run.code == Some(0), "{protocol} {args:?}: {run:?}");
        }
    }
}
