/* misses.c: node 1 reads a word of each of many blocks, at home on node 0, each for the first time. Meanwhile node 0 waits at a
 * barrier, or (-c 1) multiplies matrices of its own, and answers at its poll points. `trivium run` tells how long the misses took.
 */
#include "../include/options.h"

enum { BLOCKS, COMPUTE, OPTIONS };

static struct option options[OPTIONS] = {
    [BLOCKS] = {'n', 100000, 1, 1000000, "blocks of 64 bytes"},
    [COMPUTE] = {'c', 0, 0, 1, "1: the home computes meanwhile"},
};

enum { SIDE = 64 };

static double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];

static void multiply(void) {
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            double sum = 0;
            for (int k = 0; k < SIDE; k++) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int64_t blocks = options[BLOCKS].value;
    volatile int64_t *words = trivium_alloc_on(0, (uint64_t)blocks * 64);
    volatile int64_t *done = trivium_alloc_on(0, 8);
    int self = trivium_node();
    if (self == 0) {
        for (int64_t i = 0; i < blocks; i++) words[8 * i] = i;
        *done = 0;
    }
    trivium_barrier();
    trivium_begin();
    if (self == 1) {
        int64_t sum = 0;
        for (int64_t i = 0; i < blocks; i++) sum += words[8 * i];
        *done = 1;
        if (sum != blocks * (blocks - 1) / 2) trivium_fail("misses: wrong answer");
    }
    while (self == 0 && options[COMPUTE].value && !*done) multiply();
    trivium_barrier();
    trivium_end();
    if (self == 0) printf("misses: ok, %g\n", c[1][1]);
    return 0;
}
