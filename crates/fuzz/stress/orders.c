/* orders.c: two nodes store to one word. Where each location is coherent, no two nodes see the two values in opposite orders. */
#include <stdio.h>
#include "trivium.h"

enum { ROUNDS = 300, WORDS = 16 };

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    volatile int *words = trivium_alloc_on(nodes - 1, ROUNDS * WORDS * sizeof(int));
    static int seen[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        volatile int *word = words + round * WORDS;
        (void)*word; /* a copy */
        trivium_barrier();
        if (self < 2) *word = self + 1;
        int first = 0;
        for (int look = 0; look < 3000; look++) {
            int now = *word;
            if (first == 0) first = now;
            if (now != first) {
                /* The first order that a node sees stays: 12 or 21. */
                if (seen[round] == 0) seen[round] = first * 10 + now;
                else if (seen[round] % 10 != now) trivium_fail("orders: a value comes back");
            }
        }
    }
    volatile int *all = trivium_alloc_on(0, nodes * 2048 * sizeof(int));
    for (int round = 0; round < ROUNDS; round++) all[self * 2048 + round] = seen[round];
    trivium_barrier();
    /* An old copy of these is 0, and no harm. */
    for (int round = 0; self == 0 && round < ROUNDS; round++)
        for (int node = 0; node < nodes; node++)
            for (int other = 0; other < node; other++)
                if (all[node * 2048 + round] + all[other * 2048 + round] == 33) trivium_fail("orders: opposite orders are seen");
    if (self == 0) printf("orders: ok\n");
    return 0;
}
