/* matmul.c: C = A * B of square matrices of doubles, rows partitioned over the nodes.
 *
 * Naive (-b 0), every element of B is fetched for every row of C; blocked, a square of B is used
 * for all of a node's rows before the next one. The matrices hold small whole numbers, so that
 * the answer is exact whatever the order of additions.
 */
#include "options.h"

enum { SIZE, BLOCK, CHECK, ROUNDS, OPTIONS };

static struct option options[OPTIONS] = {
    [SIZE] = {'n', 32, 1, 4096, "rows and columns"},
    [BLOCK] = {'b', 0, 0, 4096, "side of a block (0: naive)"},
    [CHECK] = {'c', 1, 0, 1, "0: do not check the answer"},
    [ROUNDS] = {'r', 1, 1, 1000000, "how often it is multiplied (naive only)"},
};

static int n, nodes;

/* Node p owns rows first_row(p) .. first_row(p + 1) - 1. */
static int first_row(int p) { return (int)((int64_t)p * n / nodes); }

/* Allocates a matrix, each row at home on its owner, and returns its rows. */
static double **matrix(void) {
    double **rows = malloc(sizeof(double *) * n);
    for (int p = 0; p < nodes; p++) {
        int count = first_row(p + 1) - first_row(p);
        if (count == 0) continue;
        double *part = trivium_alloc_on(p, (uint64_t)count * n * sizeof(double));
        for (int i = 0; i < count; i++) rows[first_row(p) + i] = part + (int64_t)i * n;
    }
    return rows;
}

static double a_element(int i, int k) { return (i * 3 + k * 5) % 7 - 3; }
static double b_element(int k, int j) { return (k * 2 + j * 11) % 9 - 4; }

static void naive(double **a, double **b, double **c, int from, int to) {
    for (int i = from; i < to; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    }
}

static int least(int x, int y) { return x < y ? x : y; }

static void blocked(double **a, double **b, double **c, int from, int to, int side) {
    for (int i = from; i < to; i++) {
        for (int j = 0; j < n; j++) c[i][j] = 0;
    }
    for (int k0 = 0; k0 < n; k0 += side) {
        for (int j0 = 0; j0 < n; j0 += side) {
            for (int i = from; i < to; i++) {
                for (int k = k0; k < least(k0 + side, n); k++) {
                    double aik = a[i][k];
                    for (int j = j0; j < least(j0 + side, n); j++) c[i][j] += aik * b[k][j];
                }
            }
        }
    }
}

/* Compares rows with what they must be, from the formulas and not from shared memory. */
static void check(double **c, int from, int to) {
    for (int i = from; i < to; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a_element(i, k) * b_element(k, j);
            if (c[i][j] != sum) {
                printf("matmul: element %d, %d is %g, not %g\n", i, j, c[i][j], sum);
                trivium_fail("matmul: wrong answer");
            }
        }
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    n = (int)options[SIZE].value;
    nodes = trivium_nodes();
    int self = trivium_node(), from = first_row(self), to = first_row(self + 1);
    double **a = matrix(), **b = matrix(), **c = matrix();
    for (int i = from; i < to; i++) {
        for (int j = 0; j < n; j++) {
            a[i][j] = a_element(i, j);
            b[i][j] = b_element(i, j);
        }
    }
    trivium_barrier();
    trivium_begin();
    if (options[BLOCK].value == 0) {
        for (int64_t round = 0; round < options[ROUNDS].value; round++) naive(a, b, c, from, to);
    } else {
        blocked(a, b, c, from, to, (int)options[BLOCK].value);
    }
    trivium_barrier();
    trivium_end();
    if (options[CHECK].value) {
        /* The rows of the next node: what it wrote must have arrived here. */
        int next = (self + 1) % nodes;
        check(c, first_row(next), first_row(next + 1));
        trivium_barrier();
    }
    if (self == 0) printf("matmul: ok, %d x %d\n", n, n);
    return 0;
}
