/* flags.c: a word goes round the nodes. Each sleeps until it is its turn, and passes on what it has been given. */
#include <stdint.h>
#include <stdio.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

enum { ROUNDS = 300 };

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    volatile int64_t *turn = trivium_alloc_on(nodes - 1, sizeof *turn);
    volatile int64_t *sum = trivium_alloc_on(0, sizeof *sum);
    for (int64_t round = 0; round < ROUNDS; round++) {
        while (*turn != round * nodes + self) PREFIX_mwait((void *)turn);
        *sum += 1;
        *turn += 1;
    }
    trivium_barrier();
    if (*sum != (int64_t)ROUNDS * nodes) trivium_fail("flags: wrong answer");
    if (self == 0) printf("flags: ok\n");
    return 0;
}
