/* The product of two matrices, by columns: in each step one column is told to all. The answer is that of sequential C (matrix.c), to the last bit, on any
 * number of nodes.
 *
 * Of the source (Larus 1994) the size, the distribution by columns and the kinds of communication are known; the program is ours.
 *
 * --cc "-DSIZE=37" gives another size. */
#include <stdio.h>

#include "bits.h"

#ifndef SIZE
#define SIZE 128
#endif

struct column {
    double v[SIZE];
};

shape [SIZE]columns;
struct column:columns a, b, c;
union bits:columns element;
unsigned long long:columns digest;

int main(void) {
    with (columns) {
        for (int i = 0; i < SIZE; i++) {
            a.v[i] = (i * 31 + pcoord(0) * 17) % 101 / 8.0;
            b.v[i] = (i * 13 + pcoord(0) * 29) % 103 / 7.0;
        }
        for (int k = 0; k < SIZE; k++) {
            struct column told = [k]a;
            for (int i = 0; i < SIZE; i++) c.v[i] += told.v[i] * b.v[k];
        }
        for (int i = 0; i < SIZE; i++) {
            element.number = c.v[i];
            digest = digest * 31 + element.bits;
        }
        digest *= 2 * pcoord(0) + 1;
        printf("matrix: %d by %d, digest %016llx\n", SIZE, SIZE, (^= digest));
    }
    return 0;
}
