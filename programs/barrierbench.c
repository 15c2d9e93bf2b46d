/* barrierbench.c: all nodes meet again and again.
 *
 * Before each barrier a node waits for 0 to -t cycles and writes the number of the round; after
 * it, it looks whether its neighbours have. The barrier is the machine's; barrierbench-tree.c
 * runs the same with the protocol tree-barrier, and four more with those of baselines.h.
 */
#include "options.h"
#include "random.h"

enum { ROUNDS, AWAY, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'n', 20, 1, 1000000, "barriers"},
    [AWAY] = {'t', 100, 0, 1000000, "longest time between two barriers, in cycles"},
    [SEED] = {'g', 1, 0, 1000000, "seed of those times"},
};

#ifndef BARRIER_NAME
#define BARRIER_NAME "machine"
static void make_barrier(void) {}
static void arrive(void) { trivium_barrier(); }
#endif

static void delay(int64_t cycles) {
    for (int64_t start = trivium_cycles(); trivium_cycles() - start < cycles;) {
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes();
    int64_t rounds = options[ROUNDS].value;
    uint64_t random = (uint64_t)options[SEED].value * 1000003u + (uint64_t)self;
    volatile int64_t **round = malloc(sizeof *round * nodes);
    for (int p = 0; p < nodes; p++) round[p] = trivium_alloc_on(p, sizeof(int64_t));
    make_barrier();
    trivium_barrier();
    trivium_begin();
    int64_t waited = 0;
    for (int64_t i = 1; i <= rounds; i++) {
        delay(random_below(&random, options[AWAY].value + 1));
        *round[self] = i;
        int64_t start = trivium_cycles();
        arrive();
        waited += trivium_cycles() - start;
        for (int distance = 1; distance < nodes; distance *= 2) {
            /* A neighbour may have gone on, but not have stayed behind. */
            if (*round[(self + distance) % nodes] < i) {
                trivium_fail("barrierbench: the barrier released before all had arrived");
            }
        }
    }
    trivium_end();
    trivium_barrier();
    if (self == 0) {
        printf("barrierbench: ok, %s barrier, %.1f cycles in each on node 0\n", BARRIER_NAME,
               (double)waited / (double)rounds);
    }
    return 0;
}
