/* hits.c: how long 1,000 loads take, each of whose addresses the load before it gives: as a program of `trivium run` of shared words of another node that the
 * node has copies of, and on the host itself.
 */
#include "percentiles.h"

#ifdef __wasm__
#include <trivium.h>
#else
static void *trivium_alloc_on(int node, uint64_t bytes) { return malloc(bytes + (size_t)node); }
static int trivium_node(void) { return 1; }
static void trivium_barrier(void) {}
#endif

enum { WORDS = 512, LOADS = 1000, ROUNDS = 2000 };

int main(void) {
    volatile int64_t *words = trivium_alloc_on(0, WORDS * sizeof *words);
    int64_t times[ROUNDS], at = 0;
    /* A circle through all of them. */
    if (trivium_node() == 1) {
        for (int i = 0; i < WORDS; i++) words[i] = (i + 167) % WORDS;
    }
    trivium_barrier();
    if (trivium_node() == 1) {
        for (int i = 0; i < ROUNDS; i++) {
            int64_t begun = now_ns();
            for (int k = 0; k < LOADS; k++) at = words[at];
            times[i] = now_ns() - begun;
        }
        if (at != (int64_t)LOADS * ROUNDS * 167 % WORDS) return 1;
        tell_percentiles(times, ROUNDS);
    }
    trivium_barrier();
    return 0;
}
