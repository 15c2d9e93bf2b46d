/* Barriers of flash-barrier as programs may use them: the master lets the others go twice, trees differ, and nobody waits for the others' init. */
#include <trivium.h>
#include <trivium/PROTOCOL.h>
#include <stdio.h>

#ifndef MASTER
#define MASTER 0
#endif

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    volatile int64_t *round[64];
    for (int p = 0; p < nodes; p++) round[p] = trivium_alloc_on(p, sizeof(int64_t));
    trivium_barrier();
    for (int late = 0; late < self * 100; late++) trivium_cycles();
    PREFIX_init(0, nodes, 2, 4, 0, 1, MASTER);
    for (int64_t i = 1; i <= 60; i++) {
        *round[self] = i;
        PREFIX_arrive(0);
        for (int p = 0; p < nodes; p++)
            if (*round[p] < i) trivium_fail("barriers: not all had arrived");
        if (MASTER && self == 0) PREFIX_let_go(0), PREFIX_let_go(0);
    }
    if (self == 0) printf("barriers: ok\n");
    return 0;
}
