/* What ocean.cs does, one column after the other: to the last bit. */
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

static double height[ROWS][COLUMNS], risen[ROWS][COLUMNS];
static struct flow flow[ROWS][COLUMNS], next[ROWS][COLUMNS];

int main(void) {
    double highest = -1e300;
    unsigned long long digest = 0;
    for (int j = 0; j < ROWS; j++) {
        for (int i = 0; i < COLUMNS; i++) {
            height[j][i] = i > COLUMNS / 3 && i < COLUMNS / 2 && j > ROWS / 4 ? 0.25 : (i * 7 + j * 5) % 13 / 512.0;
        }
    }
    for (int step = 0; step < STEPS; step++) {
        for (int j = 0; j < ROWS; j++) {
            for (int i = 0; i < COLUMNS; i++) {
                struct flow *to = &next[j][i];
                *to = flow[j][i];
                to->east -= GRAVITY * (height[j][(i + 1) % COLUMNS] - height[j][i]) - TURN * flow[j][i].north;
                if (j < ROWS - 1) to->north -= GRAVITY * (height[j + 1][i] - height[j][i]) + TURN * flow[j][i].east;
            }
        }
        for (int j = 0; j < ROWS; j++) {
            for (int i = 0; i < COLUMNS; i++) {
                struct flow west = next[j][(i + COLUMNS - 1) % COLUMNS], own = next[j][i];
                risen[j][i] = height[j][i] - DEPTH * (own.east - west.east + 0.125 * (own.north - west.north));
                if (j > 0) risen[j][i] -= DEPTH * (own.north - next[j - 1][i].north);
            }
        }
        for (int j = 0; j < ROWS; j++) {
            for (int i = 0; i < COLUMNS; i++) {
                height[j][i] = risen[j][i];
                flow[j][i] = next[j][i];
            }
        }
    }
    for (int i = 0; i < COLUMNS; i++) {
        unsigned long long own = 0;
        for (int j = 0; j < ROWS; j++) own = own * 31 + (union bits){height[j][i] + flow[j][i].east}.bits;
        digest ^= own * (2 * (unsigned long long)i + 1);
        if (height[ROWS / 2][i] > highest) highest = height[ROWS / 2][i];
    }
    printf("ocean: %d by %d, %d steps, highest %.17g, digest %016llx\n", COLUMNS, ROWS, STEPS, highest, digest);
    return 0;
}
