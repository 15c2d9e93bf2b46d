/* What matrix.cs does, one column after the other: to the last bit. */
#include <stdio.h>

#include "bits.h"

#ifndef SIZE
#define SIZE 128
#endif

static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE]; /* by columns */

int main(void) {
    unsigned long long digest = 0;
    for (int j = 0; j < SIZE; j++) {
        for (int i = 0; i < SIZE; i++) {
            a[j][i] = (i * 31 + j * 17) % 101 / 8.0;
            b[j][i] = (i * 13 + j * 29) % 103 / 7.0;
        }
    }
    for (int k = 0; k < SIZE; k++) {
        for (int j = 0; j < SIZE; j++) {
            for (int i = 0; i < SIZE; i++) c[j][i] += a[k][i] * b[j][k];
        }
    }
    for (int j = 0; j < SIZE; j++) {
        unsigned long long own = 0;
        for (int i = 0; i < SIZE; i++) own = own * 31 + (union bits){c[j][i]}.bits;
        digest ^= own * (2 * (unsigned long long)j + 1);
    }
    printf("matrix: %d by %d, digest %016llx\n", SIZE, SIZE, digest);
    return 0;
}
