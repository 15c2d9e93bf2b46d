/* rounds.c: message passing and store buffering, many rounds between two barriers, so that the two nodes drift past each other.
 * A word is old or new in a round: it has the batch's number, or the one before. Compiled with -DBATCHES=N. */
#include <stdio.h>
#include "trivium.h"

enum { ROUNDS = 250, STRIDE = 16 };

static unsigned state;

static void delay(void) {
    state = state * 1664525u + 1013904223u;
    for (volatile unsigned left = (state >> 16) % DELAY; left > 0;) left = left - 1;
}

int main(void) {
    int self = trivium_node();
    volatile int *x = trivium_alloc_on(0, ROUNDS * STRIDE * sizeof(int)), *y = trivium_alloc_on(1, ROUNDS * STRIDE * sizeof(int));
    volatile int *seen[2] = {trivium_alloc_on(0, ROUNDS * 8), trivium_alloc_on(1, ROUNDS * 8)};
    static long long counts[2][4];
    state = 12345u + 777u * self;
    for (int test = 0; test < 2; test++) {
        for (int batch = 1; batch <= BATCHES; batch++) {
            int new = test * BATCHES + batch;
            for (int i = 0; i < ROUNDS; i++) {
                int r[2] = {0, 0};
                volatile int *a = &x[i * STRIDE], *b = &y[i * STRIDE];
                delay();
                if (test == 0 && self == 0) {
                    *a = new;
                    *b = new;
                } else if (test == 0) {
                    r[0] = *b;
                    r[1] = *a;
                } else {
                    *(self == 0 ? a : b) = new;
                    r[self] = *(self == 0 ? b : a);
                }
                for (int k = 0; k < 2; k++) {
                    int reads = test == 0 ? self == 1 : k == self;
                    if (reads && r[k] != new && r[k] != new - 1) trivium_fail("a value out of thin air");
                    seen[self][2 * i + k] = reads && r[k] == new;
                }
            }
            trivium_barrier();
            for (int i = 0; self == 0 && i < ROUNDS; i++) {
                int r0 = seen[0][2 * i] + seen[1][2 * i], r1 = seen[0][2 * i + 1] + seen[1][2 * i + 1];
                counts[test][2 * r0 + r1]++;
            }
            trivium_barrier();
        }
    }
    if (self == 0) {
        for (int test = 0; test < 2; test++) {
            long long *c = counts[test];
            printf("%s %lld %lld %lld %lld\n", test == 0 ? "mp" : "sb", c[0], c[1], c[2], c[3]);
        }
    }
    return 0;
}
