/* The game of life on a torus: a glider, and how many cells live after each generation. --cc "-DSIDE=20 -DGENERATIONS=8" gives another size. */
#include <stdio.h>

#ifndef SIDE
#define SIDE 16
#endif
#ifndef GENERATIONS
#define GENERATIONS 4
#endif

shape [SIDE][SIDE]world;
int:world cell, row, near;

int main(void) {
    with (world) {
        cell = 0;
        where (pcoord(0) == 0) cell = pcoord(1) == 1;
        where (pcoord(0) == 1) cell = pcoord(1) == 2;
        where (pcoord(0) == 2) cell = pcoord(1) < 3;
        for (int generation = 0; generation < GENERATIONS; generation++) {
            row = cell + [.][(. + 1) %% SIDE]cell + [.][(. - 1) %% SIDE]cell;
            near = row + [(. + 1) %% SIDE][.]row + [(. - 1) %% SIDE][.]row - cell;
            where (cell) cell = near == 2 | near == 3; else cell = near == 3;
        }
        int alive = (+= cell);
        where (cell) {
            printf("life: %d alive, rows %d to %d, columns %d to %d\n", alive, (<?= pcoord(0)), (>?= pcoord(0)), (<?= pcoord(1)),
                   (>?= pcoord(1)));
        }
    }
    return 0;
}
