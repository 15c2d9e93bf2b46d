/* relay.c: a table goes from node to node. Whose turn it is adds to every entry. */
#include <stdio.h>

#include "trivium.h"

enum { ENTRIES = 512, ROUNDS = 60 };

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    int *table = trivium_alloc_on(0, ENTRIES * sizeof *table); /* shared, at home on node 0; zero */
    trivium_begin();
    for (int round = 0; round < ROUNDS; round++) {
        if (round % nodes == self)
            for (int i = 0; i < ENTRIES; i++) table[i] += i + round;
        trivium_barrier();
    }
    trivium_end();
    if (self == 0) {
        for (int i = 0; i < ENTRIES; i++)
            if (table[i] != ROUNDS * i + ROUNDS * (ROUNDS - 1) / 2) trivium_fail("a turn is missing");
        printf("relay: ok, %d turns\n", ROUNDS);
    }
    return 0;
}
