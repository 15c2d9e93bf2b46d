/* columns.c: every node puts columns to the next one as fast as it may, and looks at those of the one before until it gives them back. */
#include <stdio.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

enum { WORDS = 40, COLUMNS = 3, ROUNDS = 60 };

static void look(const volatile int64_t *column, int64_t round) {
    for (int again = 0; again < 20; again++) {
        for (int i = 0; i < WORDS; i++) {
            if (column[i] != round) trivium_fail("columns: a column is not what has been put, or changes while it is used");
        }
    }
}

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes(), next = (self + 1) % nodes;
    int64_t *in = 0, *out = 0;
    for (int p = 0; p < nodes; p++) {
        int64_t *place = trivium_alloc_on(p, sizeof *place * WORDS * COLUMNS), *from = trivium_alloc_on(p, sizeof *from * WORDS);
        if (p == self) in = place, out = from;
    }
    PREFIX_open(self, in, WORDS, (self + nodes - 1) % nodes);
    for (int64_t round = 0; round < ROUNDS; round++) {
        int column = (int)(round % COLUMNS), last = (int)((round + COLUMNS - 1) % COLUMNS);
        for (int i = 0; i < WORDS; i++) out[i] = round;
        PREFIX_put(next, out, WORDS, column);
        if (round == 0) continue;
        PREFIX_wait(self, last);
        look(in + last * WORDS, round - 1);
        PREFIX_used(self);
    }
    trivium_barrier();
    if (self == 0) printf("columns: ok\n");
    return 0;
}
