/* The same as jacobi.cs, in sequential C. */
#include <math.h>
#include <stdio.h>

#ifndef ROWS
#define ROWS 128
#endif
#ifndef COLUMNS
#define COLUMNS 128
#endif
#ifndef PASSES
#define PASSES 18
#endif

static double a[ROWS][COLUMNS], b[ROWS][COLUMNS];

int main(void) {
    double most = 0, least = INFINITY;
    unsigned mixed = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) a[i][j] = i * 7919 % 101 + j * 0.5;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        most = -INFINITY;
        for (int i = 1; i < ROWS - 1; i++) {
            for (int j = 1; j < COLUMNS - 1; j++) {
                b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
                most = most > fabs(b[i][j] - a[i][j]) ? most : fabs(b[i][j] - a[i][j]);
            }
        }
        for (int i = 1; i < ROWS - 1; i++) {
            for (int j = 1; j < COLUMNS - 1; j++) a[i][j] = b[i][j];
        }
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            mixed += (unsigned)(a[i][j] * 65536.0) * (unsigned)(i * 31 + j + 1);
            least = least < a[i][j] ? least : a[i][j];
        }
    }
    printf("jacobi: %d by %d, %d passes, most %.17g, corner %.17g, mixed %u, least %.17g\n", ROWS, COLUMNS, PASSES, most,
           a[1][COLUMNS - 2], mixed, least);
    return 0;
}
