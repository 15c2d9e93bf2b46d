// The naive matrix multiply of the study of Split-C with software caching: each processor computes its own elements of C, and reads a row of A and a
// column of B for each.
#include <stdio.h>

#ifndef D
#define D 16
#endif

double A[D][D]::, B[D][D]::, C[D][D]::;

static void multiply(int n, int r, int m, double a[n][r]::, double b[r][m]::, double c[n][m]::) {
    int i, j, l;
    for_my_2D(i, j, l, n, m) {
        double sum = c[i][j];
        int kk = MYPROC * r / PROCS;  // processors begin at different places, so that no home has them all at once
        for (int k = 0; k < r; k++) {
            sum += a[i][kk] * b[kk][j];
            if (++kk == r) kk = 0;
        }
        c[i][j] = sum;
    }
}

int splitc_main(void) {
    int i, j, l;
    for_my_2D(i, j, l, D, D) {
        A[i][j] = i + 2 * j;
        B[i][j] = i - j;
    }
    barrier();
    trivium_begin();
    multiply(D, D, D, A, B, C);
    trivium_end();
    barrier();
    double all = 0;
    for_my_2D(i, j, l, D, D) all += C[i][j] * (i + 3 * j);
    all = all_reduce_to_all_dadd(all);
    if (MYPROC == 0) printf("%.0f\n", all);
    return 0;
}
