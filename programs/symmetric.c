/* symmetric.c: a symmetric heap, as partitioned global address spaces have it: every node's memory is shared where it is.
 *
 * Each node fills an array of its own, by plain accesses, which nobody checks. Then every node adds to a part of its right
 * neighbour's array, through the shared address. In the next round each node works on its own array by plain accesses again, after it
 * has been through it once by the shared address: that brings home what a neighbour may still have.
 */
#include "options.h"

enum { COUNT, ROUNDS, OPTIONS };

static struct option options[OPTIONS] = {
    [COUNT] = {'n', 1000, 1, 16384, "numbers of each node"},
    [ROUNDS] = {'r', 3, 1, 100, "rounds"},
};

enum { PART = 131072 };

static int64_t heap[PART / sizeof(int64_t)] __attribute__((aligned(65536)));

/* Node `node`'s part. */
static int64_t *part(char *parts, int node) { return (int64_t *)(parts + (uint64_t)PART * node); }

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes(), count = (int)options[COUNT].value;
    int rounds = (int)options[ROUNDS].value;
    for (int i = 0; i < count; i++) heap[i] = (int64_t)self * 1000000 + i;
    char *parts = trivium_share(heap, PART, 0);
    trivium_name(parts, "heap");
    trivium_begin();
    for (int round = 1; round <= rounds; round++) {
        volatile int64_t *right = part(parts, (self + 1) % nodes);
        for (int i = 0; i < count; i += 3) right[i] += round;
        trivium_barrier();
        volatile int64_t *own = part(parts, self);
        for (int i = 0; i < count; i++) own[i] = own[i];
        for (int i = 0; i < count; i++) heap[i] *= 2;
        trivium_barrier();
    }
    trivium_end();

    for (int i = 0; i < count; i++) {
        int64_t ought = (int64_t)self * 1000000 + i;
        for (int round = 1; round <= rounds; round++) ought = 2 * (ought + (i % 3 == 0 ? round : 0));
        if (heap[i] == ought) continue;
        printf("symmetric: number %d of node %d is %lld, not %lld\n", i, self, (long long)heap[i], (long long)ought);
        trivium_fail("symmetric: wrong answer");
    }
    trivium_barrier();
    if (self == 0) printf("symmetric: ok, %d numbers on each of %d nodes\n", count, nodes);
    return 0;
}
