/* Jacobi's iteration on a grid: each inner position becomes the mean of its four neighbours, and the largest change of the last pass is told. The
 * border stays as it is. The answer is that of sequential C (jacobi.c), to the last bit, on any number of nodes.
 *
 * --cc "-DROWS=37 -DCOLUMNS=23 -DPASSES=7" gives another size. */
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

shape [ROWS][COLUMNS]grid;
/* On 8 nodes each has a block, and its edges are short. */
#pragma cstar dist grid block(2,4)
double:grid a, b;
unsigned:grid mixed;

int main(void) {
    double most = 0;
    with (grid) {
        a = pcoord(0) * 7919 % 101 + pcoord(1) * 0.5;
        where (pcoord(0) > 0 & pcoord(0) < ROWS - 1 & pcoord(1) > 0 & pcoord(1) < COLUMNS - 1) {
            for (int pass = 0; pass < PASSES; pass++) {
                b = 0.25 * ([. - 1][.]a + [. + 1][.]a + [.][. - 1]a + [.][. + 1]a);
                most = (>?= fabs(b - a));
                a = b;
            }
        }
        /* Of all bits: no rounding hides a difference. */
        mixed = (unsigned)(a * 65536.0) * (unsigned)(pcoord(0) * 31 + pcoord(1) + 1);
        printf("jacobi: %d by %d, %d passes, most %.17g, corner %.17g, mixed %u, least %.17g\n", dimof(grid, 0),
               dimof(grid, 1), PASSES, most, [1][COLUMNS - 2]a, (+= mixed), (<?= a));
    }
    return 0;
}
