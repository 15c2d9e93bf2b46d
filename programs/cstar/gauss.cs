/* Gaussian elimination with pivoting, without exchanging rows: in each step the row that is largest in one column is told to all, and is taken from the
 * others that were not chosen yet. The answer is that of sequential C (gauss.c), to the last bit, on any number of nodes.
 *
 * Of the source (Larus 1994) the size, the distribution by rows and the kinds of communication are known; the program is ours.
 *
 * --cc "-DSIZE=37" gives another size. */
#include <math.h>
#include <stdio.h>

#include "bits.h"

#ifndef SIZE
#define SIZE 128
#endif

struct row {
    double v[SIZE];
};

shape [SIZE]rows;
struct row:rows a;
int:rows used, order;
union bits:rows element;
unsigned long long:rows digest;

int main(void) {
    int positive = 1;
    with (rows) {
        for (int j = 0; j < SIZE; j++) {
            a.v[j] = (pcoord(0) * 7919 + j * 104729 + pcoord(0) * j * 31) % 1009 / 64.0 - 7.5;
        }
        for (int k = 0; k < SIZE; k++) {
            double most;
            int pivot;
            where (!used) {
                most = (>?= fabs(a.v[k]));
                where (fabs(a.v[k]) == most) pivot = (<?= pcoord(0));
            }
            struct row chosen = [pivot]a;
            [pivot]used = 1;
            [pivot]order = k;
            positive ^= chosen.v[k] < 0;
            where (!used) {
                double:rows factor = a.v[k] / chosen.v[k];
                for (int j = k; j < SIZE; j++) a.v[j] -= factor * chosen.v[j];
            }
        }
        digest = order;
        for (int j = 0; j < SIZE; j++) {
            element.number = a.v[j];
            digest = digest * 31 + element.bits;
        }
        digest *= 2 * pcoord(0) + 1;
        printf("gauss: %d by %d, the last pivot is row %d, signs %d, digest %016llx\n", SIZE, SIZE,
               (+= (order == SIZE - 1 ? pcoord(0) : 0)), positive, (^= digest));
    }
    return 0;
}
