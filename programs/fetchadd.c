/* fetchadd.c: remote accesses of all sizes. Every node, -n times, adds 1 to a counter of node 0, and in each round stores and
 * loads its own parts of words that it shares with its neighbours: bytes, halves, words, double words, a float and a double.
 * Node 0 prints the sum, and whether anything was lost: nothing, whoever stores beside it.
 */
#include "options.h"
#include <stdatomic.h>

enum { ROUNDS, OPTIONS };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'n', 10, 1, 200, "rounds of each node"},
};

enum { MOST = 256 }; /* nodes */

struct shared {
    _Atomic uint32_t sum;
    uint8_t bytes[MOST];
    uint16_t halves[MOST];
    uint32_t words[MOST];
    uint64_t longs[MOST];
    float floats[MOST];
    double doubles[MOST];
};

static int lost(volatile const struct shared *s, int node, int round) {
    return (s->bytes[node] != (uint8_t)(round + node)) + (s->halves[node] != (uint16_t)(round * 257 + node)) +
           (s->words[node] != (uint32_t)round * 65537u + (uint32_t)node) +
           (s->longs[node] != ((uint64_t)round << 40 | (uint64_t)node)) + (s->floats[node] != (float)round / 2 + (float)node) +
           (s->doubles[node] != (double)round / 4 + (double)node);
}

int main(int count, char **arguments) {
    read_options(count, arguments, options, OPTIONS);
    int me = trivium_node(), nodes = trivium_nodes(), rounds = (int)options[ROUNDS].value, mistakes = 0;
    if (nodes > MOST) {
        fprintf(stderr, "fetchadd: at most %d nodes\n", MOST);
        return 2;
    }
    volatile struct shared *s = trivium_alloc_on(0, sizeof *s);
    for (int round = 1; round <= rounds; round++) {
        atomic_fetch_add(&s->sum, 1);
        s->bytes[me] = (uint8_t)(round + me);
        s->halves[me] = (uint16_t)(round * 257 + me);
        s->words[me] = (uint32_t)round * 65537u + (uint32_t)me;
        s->longs[me] = (uint64_t)round << 40 | (uint64_t)me;
        s->floats[me] = (float)round / 2 + (float)me;
        s->doubles[me] = (double)round / 4 + (double)me;
        mistakes += lost(s, me, round);
    }
    trivium_barrier();
    if (me == 0) {
        for (int node = 0; node < nodes; node++) mistakes += lost(s, node, rounds);
        mistakes += s->sum != (uint32_t)(nodes * rounds);
        printf("fetchadd: %s, sum %u\n", mistakes == 0 ? "ok" : "wrong", s->sum);
    }
    return mistakes != 0;
}
