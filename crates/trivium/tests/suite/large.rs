//! More than a GiB of shared memory: addresses whose highest bit is set are as others.

use crate::harness::{in_file, trivium};
use crate::slow;

/// An array lies across 0x80000000, another one at the end of shared memory. What nodes make of them they also make of private memory.
const LARGE: &str = r#"#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "trivium.h"
enum { WORDS = 4096, PIECE = 1 << 16 };
static int64_t own[WORDS], copy[WORDS];
static void work(int64_t *words, int me, int nodes) {
    for (int i = me; i < WORDS; i += nodes) words[i] = 3 * i - 5000;
    trivium_barrier();
    int64_t sum = 0;
    for (int64_t *p = words + WORDS; p-- != words;) sum = 31 * sum + *p;
    for (unsigned char *p = (unsigned char *)words; p < (unsigned char *)(words + WORDS); p += 7) sum += *p;
    trivium_barrier();
    for (int i = me; i < WORDS; i += nodes) words[i] ^= sum + i;
    trivium_barrier();
}
int main(void) {
    int me = trivium_node(), nodes = trivium_nodes();
    char *filler = trivium_alloc_round_robin((1u << 30) - PIECE / 4);
    int64_t *across = trivium_alloc_round_robin(PIECE);
    char *more = trivium_alloc_first_touch((1u << 30) - 5 * PIECE);
    int64_t *last = trivium_alloc_on(nodes - 1, PIECE);
    _Atomic int32_t *count = trivium_alloc_on(0, 64);
    trivium_lock_t *lock = trivium_alloc_on(0, sizeof *lock);
    if ((uintptr_t)across >= 0x80000000u || (uintptr_t)(across + WORDS) <= 0x80000000u) trivium_fail("it does not lie across");
    if ((uintptr_t)last < 0xbff00000u || (uintptr_t)more < 0x80000000u) trivium_fail("it does not lie at the end");
    int64_t *arrays[] = {across, last};
    for (int which = 0; which < 2; which++) {
        memset(own, 0, sizeof own);
        for (int i = 0; i < WORDS; i++) own[i] = 3 * i - 5000;
        int64_t sum = 0;
        for (int i = WORDS - 1; i >= 0; i--) sum = 31 * sum + own[i];
        for (size_t i = 0; i < sizeof own; i += 7) sum += ((unsigned char *)own)[i];
        for (int i = 0; i < WORDS; i++) own[i] ^= sum + i;
        work(arrays[which], me, nodes);
        memcpy(copy, arrays[which], sizeof copy);
        if (memcmp(copy, own, sizeof own)) trivium_fail("private and shared memory differ");
        if (memcmp(arrays[which], own, sizeof own)) trivium_fail("shared memory is not compared as it is copied");
    }
    filler[(1u << 28) * (unsigned)me] = more[(1u << 28) * (unsigned)me] = (char)(me + 1);
    trivium_barrier();
    for (int n = 0; n < nodes; n++) {
        if (filler[(1u << 28) * (unsigned)n] != n + 1 || more[(1u << 28) * (unsigned)n] != n + 1) trivium_fail("what is far apart is mixed up");
    }
    for (int i = 0; i < 10; i++) {
        atomic_fetch_add(count, 1);
        trivium_lock(lock);
        across[0] += 1;
        trivium_unlock(lock);
    }
    trivium_barrier();
    if (*count != 10 * nodes || across[0] != own[0] + 10 * nodes) trivium_fail("counts are lost");
    trivium_free(more);
    if (trivium_alloc_first_touch((1u << 30) - 5 * PIECE) != more) trivium_fail("it is not allocated again");
    if (me == 0) printf("all right\n");
    return 0;
}
"#;

#[test]
fn two_gib_of_shared_memory_are_as_good_as_a_little() {
    let folder = crate::harness::folder();
    let program = &in_file(&folder, "large.c", LARGE);
    for protocol in slow::all_or(&["stache", "msi", "uncached", "migratory", "moesi"][..], &["stache"]) {
        for machine in slow::all_or(&["typhoon", "simple-coma"][..], &["typhoon"]) {
            let sim = trivium(&["sim", program, "-p", protocol, "-m", machine, "-n", "3"]);
            assert!(sim.out.contains("all right"), "{protocol}, {machine}: {sim:?}");
        }
        let run = trivium(&["run", program, "-p", protocol, "-n", "3"]);
        assert!(run.out.contains("all right"), "{protocol}: {run:?}");
    }
}
