/* matmul-blocked.sc: C = A x B in Split-C by blocks of B x B elements, which are dealt to the processors one by one. A processor fetches whole
 * blocks of A and B by bulk gets into memory of its own, and multiplies them there. The size of the blocks is known when the program is compiled:
 * --cc -DBLOCK=16. (Krashinsky and Machnicki, SWCC-Split-C, 1999.) Their optimised versions, whose local multiplication is in assembly, are
 * --cc '-DBLOCK=16 -DOPTIMISED' here: in C, with the sums of four by four elements in registers, and the same bits.
 */
#include <string.h>

#include "options.h"

#ifndef BLOCK
#define BLOCK 4
#endif

typedef double block[BLOCK][BLOCK];

enum { SIZE, OWNER, CHECK, OPTIONS };

static struct option options[OPTIONS] = {
    [SIZE] = {'d', 32, BLOCK, 512, "rows and columns, a multiple of the block's"},
    [OWNER] = {'o', 0, 0, 1, "1: processor 0 sets all elements of A and B, not their owners"},
    [CHECK] = {'c', 1, 0, 1, "1: compare with a multiplication on processor 0"},
};

static double a_of(int i, int k) { return (i * 7 + k * 3) % 11 - 5; }
static double b_of(int k, int j) { return (k * 5 + j) % 13 - 6; }

#ifdef OPTIMISED
enum { TILE = 4 };
_Static_assert(BLOCK % TILE == 0, "an optimised block is as large as whole tiles");

/* Four rows of four sums, in the order of the plain multiplication. */
static void multiply(double (*c)[BLOCK], double (*a)[BLOCK], double (*b)[BLOCK]) {
    for (int i = 0; i < BLOCK; i += TILE) {
        for (int j = 0; j < BLOCK; j += TILE) {
            double sum[TILE][TILE];
#pragma clang loop unroll(full)
            for (int y = 0; y < TILE; y++) memcpy(sum[y], &c[i + y][j], sizeof sum[y]);
            for (int k = 0; k < BLOCK; k++) {
#pragma clang loop unroll(full)
                for (int y = 0; y < TILE; y++) {
                    double x = a[i + y][k];
#pragma clang loop unroll(full)
                    for (int z = 0; z < TILE; z++) sum[y][z] += x * b[k][j + z];
                }
            }
#pragma clang loop unroll(full)
            for (int y = 0; y < TILE; y++) memcpy(&c[i + y][j], sum[y], sizeof sum[y]);
        }
    }
}
#else
static void multiply(double (*c)[BLOCK], double (*a)[BLOCK], double (*b)[BLOCK]) {
    for (int i = 0; i < BLOCK; i++) {
        for (int k = 0; k < BLOCK; k++) {
            double x = a[i][k];
            for (int j = 0; j < BLOCK; j++) c[i][j] += x * b[k][j];
        }
    }
}
#endif

/* Sets a block of A and one of B, at row i and column j of the blocks. */
static void set(block *global a, block *global b, int i, int j) {
    for (int y = 0; y < BLOCK; y++) {
        for (int x = 0; x < BLOCK; x++) {
            (*a)[y][x] = a_of(i * BLOCK + y, j * BLOCK + x);
            (*b)[y][x] = b_of(i * BLOCK + y, j * BLOCK + x);
        }
    }
}

static double check(block *spread C, int d) {
    double sum = 0;
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            double ought = 0, is = C[i / BLOCK * (d / BLOCK) + j / BLOCK][i % BLOCK][j % BLOCK];
            for (int k = 0; k < d; k++) ought += a_of(i, k) * b_of(k, j);
            if (is != ought) {
                printf("matmul-blocked: C[%d][%d] is %g, not %g\n", i, j, is, ought);
                trivium_fail("matmul-blocked: wrong answer");
            }
            sum += is * ((i * d + j) % 17);
        }
    }
    return sum;
}

int splitc_main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int d = (int)options[SIZE].value, n = d / BLOCK;
    if (d % BLOCK) trivium_fail("matmul-blocked: -d is no multiple of the block's rows");
    block *spread A = all_spread_malloc(n * n, sizeof(block));
    block *spread B = all_spread_malloc(n * n, sizeof(block));
    block *spread C = all_spread_malloc(n * n, sizeof(block));
    block *la = malloc(sizeof(block)), *lb = malloc(sizeof(block)), *lc = malloc(sizeof(block));
    int i, j, l;
    if (options[OWNER].value) {
        if (MYPROC == 0) {
            for (l = 0; l < n * n; l++) set((block *global)&A[l], (block *global)&B[l], l / n, l % n);
        }
    } else {
        for_my_2D(i, j, l, n, n) set((block *global)&A[l], (block *global)&B[l], i, j);
    }
    barrier();
    trivium_begin();
    for_my_2D(i, j, l, n, n) {
        memset(lc, 0, sizeof(block));
        for (int k = 0; k < n; k++) {
            bulk_get(la, A[i * n + k], sizeof(block));
            bulk_get(lb, B[k * n + j], sizeof(block));
            sync();
            multiply(*lc, *la, *lb);
        }
        for (int y = 0; y < BLOCK; y++) {
            for (int x = 0; x < BLOCK; x++) C[l][y][x] = (*lc)[y][x];
        }
    }
    trivium_end();
    barrier();
    if (MYPROC == 0 && options[CHECK].value) printf("matmul-blocked: ok, %d x %d by %d, sum %.17g\n", d, d, BLOCK, check(C, d));
    barrier();
    return 0;
}
