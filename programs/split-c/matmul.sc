/* matmul.sc: C = A x B in Split-C, naively: the matrices are dealt to the processors element by element, and each processor computes its own
 * elements of C. Every element of A and B is read through a global address, as often as it is needed; whether that is cheap is
 * the protocol's matter. (Krashinsky and Machnicki, SWCC-Split-C, 1999; the stagger begins at MYPROC/PROCS of the row, which their text overruns.)
 */
#include "options.h"

enum { SIZE, CHECK, BEFORE, PLAIN, OPTIONS };

static struct option options[OPTIONS] = {
    [SIZE] = {'d', 32, 1, 512, "rows and columns"},
    [CHECK] = {'c', 1, 0, 1, "1: compare with a multiplication on processor 0"},
    [BEFORE] = {'s', 0, 0, 65536, "bytes of spread memory on each processor that are taken before the matrices are"},
    [PLAIN] = {'q', 0, 0, 1, "1: processor 0 alone, in plain C, on memory of its own"},
};

/* What the elements are at first: whole numbers, so that sums are exact in any order. */
static double a_of(int i, int k) { return (i * 7 + k * 3) % 11 - 5; }
static double b_of(int k, int j) { return (k * 5 + j) % 13 - 6; }

/* Compares C with what one processor computes; gives the sum of C's elements, each weighed by its place. */
static double check(double *spread C, int d) {
    double sum = 0;
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            double ought = 0, is = C[i * d + j];
            for (int k = 0; k < d; k++) ought += a_of(i, k) * b_of(k, j);
            if (is != ought) {
                printf("matmul: C[%d][%d] is %g, not %g\n", i, j, is, ought);
                trivium_fail("matmul: wrong answer");
            }
            sum += is * ((i * d + j) % 17);
        }
    }
    return sum;
}

/* The same sequentially, without any global pointer. */
static void multiply_plainly(int d) {
    double *a = malloc((size_t)d * d * sizeof *a), *b = malloc((size_t)d * d * sizeof *b), *c = malloc((size_t)d * d * sizeof *c);
    for (int l = 0; l < d * d; l++) a[l] = a_of(l / d, l % d), b[l] = b_of(l / d, l % d);
    trivium_begin();
    for (int l = 0; l < d * d; l++) {
        double sum = 0;
        for (int k = 0; k < d; k++) sum += a[l / d * d + k] * b[k * d + l % d];
        c[l] = sum;
    }
    trivium_end();
    /* A row's sum is that of A's row times the sums of B's rows. */
    for (int i = 0; i < d; i++) {
        double is = 0, ought = 0;
        for (int k = 0; k < d; k++) {
            double row = 0;
            for (int j = 0; j < d; j++) row += b[k * d + j];
            ought += a[i * d + k] * row;
            is += c[i * d + k];
        }
        if (is != ought) trivium_fail("matmul: wrong answer");
    }
    printf("matmul: ok, %d x %d, sequentially\n", d, d);
}

int splitc_main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int d = (int)options[SIZE].value;
    if (options[PLAIN].value) {
        if (MYPROC == 0) multiply_plainly(d);
        return 0;
    }
    if (options[BEFORE].value) all_spread_malloc(PROCS, (size_t)options[BEFORE].value);
    double *spread A = all_spread_malloc(d * d, sizeof(double));
    double *spread B = all_spread_malloc(d * d, sizeof(double));
    double *spread C = all_spread_malloc(d * d, sizeof(double));
    int i, j, l;
    for_my_2D(i, j, l, d, d) {
        A[l] = a_of(i, j);
        B[l] = b_of(i, j);
        C[l] = 0;
    }
    barrier();
    trivium_begin();
    for_my_2D(i, j, l, d, d) {
        double sum = C[i * d + j];
        int k = MYPROC * d / PROCS;
        for (int n = 0; n < d; n++) {
            sum += A[i * d + k] * B[k * d + j];
            if (++k == d) k = 0;
        }
        C[i * d + j] = sum;
    }
    trivium_end();
    barrier();
    if (MYPROC == 0 && options[CHECK].value) printf("matmul: ok, %d x %d, sum %.17g\n", d, d, check(C, d));
    barrier();
    return 0;
}
