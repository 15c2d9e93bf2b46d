/* chain.c: each node adds one to a counter when it is its turn, and hands the turn on with a store behind that.
 * Whoever has seen the turn must see the counter: under total store order, and with FENCE under release consistency. */
#include <stdio.h>
#include "trivium.h"
#if __has_include("trivium/PROTOCOL.h") /* it has calls */
#include "trivium/PROTOCOL.h"
#endif

enum { ROUNDS = 60 };

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    volatile int *turns[8], *counter = trivium_alloc_on(nodes - 1, 64);
    for (int node = 0; node < nodes; node++) turns[node] = trivium_alloc_on(node, 64);
    trivium_barrier();
    for (int round = 0; round < ROUNDS; round++) {
        int turn = round * nodes + self;
        (void)*counter; /* an old copy */
        for (int now = *turns[self]; now != turn && turn != 0;) now = trivium_wait_until_changed(turns[self], now);
        FENCE;
        if (*counter != turn) {
            printf("chain: node %d finds %d in turn %d\n", self, *counter, turn);
            trivium_fail("chain: the turn is seen, and not what was stored before");
        }
        *counter = turn + 1;
        FENCE;
        *turns[(self + 1) % nodes] = turn + 1;
    }
    FENCE;
    if (self == 0) printf("chain: ok\n");
    return 0;
}
