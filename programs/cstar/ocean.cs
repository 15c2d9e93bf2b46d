/* Waves of a shallow layer of water on a turning earth: a channel that closes on itself from west to east, with walls in the south and in the north. A
 * position is a column of the grid; a column has an array of parallel variables for its rows, so that what one row gets from the next column lies
 * apart from what the next row gets. The answer is that of sequential C (ocean.c), to the last bit, on any number of nodes.
 *
 * Of the source (Larus 1994) the distribution, and that there are gets of 8 and of 16 bytes by one position of each node, are known. Its own model is lost;
 * equations and sizes are ours.
 *
 * --cc "-DCOLUMNS=37 -DROWS=11 -DSTEPS=4" gives another size. */
#include <stdio.h>

#include "bits.h"

#ifndef COLUMNS
#define COLUMNS 128
#endif
#ifndef ROWS
#define ROWS 64
#endif
#ifndef STEPS
#define STEPS 20
#endif

#define GRAVITY 0.02
#define DEPTH 0.5
#define TURN 0.01

struct flow {
    double east, north;
};

shape [COLUMNS]columns;
double:columns height[ROWS], risen[ROWS];
struct flow:columns flow[ROWS], next[ROWS];
union bits:columns element;
unsigned long long:columns digest;

int main(void) {
    with (columns) {
        for (int j = 0; j < ROWS; j++) {
            height[j] = pcoord(0) > COLUMNS / 3 && pcoord(0) < COLUMNS / 2 && j > ROWS / 4 ? 0.25 : (pcoord(0) * 7 + j * 5) % 13 / 512.0;
        }
        for (int step = 0; step < STEPS; step++) {
            for (int j = 0; j < ROWS; j++) {
                double:columns there = [(. + 1) %% COLUMNS]height[j];
                next[j] = flow[j];
                next[j].east -= GRAVITY * (there - height[j]) - TURN * flow[j].north;
                if (j < ROWS - 1) next[j].north -= GRAVITY * (height[j + 1] - height[j]) + TURN * flow[j].east;
            }
            for (int j = 0; j < ROWS; j++) {
                struct flow:columns west;
                west = [(. - 1) %% COLUMNS]next[j];
                risen[j] = height[j] - DEPTH * (next[j].east - west.east + 0.125 * (next[j].north - west.north));
                if (j > 0) risen[j] -= DEPTH * (next[j].north - next[j - 1].north);
            }
            for (int j = 0; j < ROWS; j++) {
                height[j] = risen[j];
                flow[j] = next[j];
            }
        }
        for (int j = 0; j < ROWS; j++) {
            element.number = height[j] + flow[j].east;
            digest = digest * 31 + element.bits;
        }
        digest *= 2 * pcoord(0) + 1;
        printf("ocean: %d by %d, %d steps, highest %.17g, digest %016llx\n", COLUMNS, ROWS, STEPS, (>?= height[ROWS / 2]),
               (^= digest));
    }
    return 0;
}
