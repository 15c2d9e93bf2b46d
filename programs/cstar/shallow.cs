/* The shallow-water equations on a square that closes on itself both ways, by leap-frog steps with time smoothing (after the benchmark of NCAR, Sadourny's
 * scheme). A position is a column. What one neighbour needs of a whole column it is sent, into a column that is kept for it; velocities of the other
 * neighbour are got one by one. The answer is that of sequential C (shallow.c), to the last bit, on any number of nodes.
 *
 * Of the source (Larus 1994) size, distribution, gets of one number and sends of whole columns are known; the program is ours. It sends 6 columns for each
 * 64 numbers that it gets at the end of a node.
 *
 * --cc "-DSIZE=13 -DSTEPS=4" gives another size. */
#include <math.h>
#include <stdio.h>

#include "bits.h"

#ifndef SIZE
#define SIZE 64
#endif
#ifndef STEPS
#define STEPS 10
#endif

#define STEP 90.0
#define WIDTH 1e5
#define ALPHA 0.001
#define TWO_PI 6.283185307179586

struct column {
    double v[SIZE];
};

shape [SIZE]columns;
struct column:columns u, v, p, u_old, v_old, p_old, u_next, v_next, p_next, cu, cv, z, h;
/* What the columns in the west and in the east have sent. */
struct column:columns p_west, v_west, cv_west, h_west, cu_east, z_east;
union bits:columns element;
unsigned long long:columns digest;

static double streams(int i, int j) { return 1e6 * sin((i + 0.5) * TWO_PI / SIZE) * sin((j + 0.5) * TWO_PI / SIZE); }

/* Mass and velocities in the beginning, as tables that every node has. */
static double streamed[SIZE + 1][SIZE + 1], pressure[SIZE][SIZE];

static void begin(void) {
    for (int i = 0; i <= SIZE; i++) {
        for (int j = 0; j <= SIZE; j++) streamed[i][j] = streams(i, j);
    }
    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++) pressure[i][j] = 5e4 + 1250 * (cos(2 * i * TWO_PI / SIZE) + cos(2 * j * TWO_PI / SIZE));
    }
    with (columns) {
        for (int j = 0; j < SIZE; j++) {
            u.v[j] = -(streamed[pcoord(0)][j + 1] - streamed[pcoord(0)][j]) / WIDTH;
            v.v[j] = (streamed[pcoord(0) + 1][j] - streamed[pcoord(0)][j]) / WIDTH;
            p.v[j] = pressure[pcoord(0)][j];
        }
        u_old = u;
        v_old = v;
        p_old = p;
    }
}

int main(void) {
    begin();
    double time = STEP;
    with (columns) {
        for (int step = 0; step < STEPS; step++) {
            where (pcoord(0) < SIZE - 1) {
                [. + 1]p_west = p;
                [. + 1]v_west = v;
            }
            struct column last_p = [SIZE - 1]p, last_v = [SIZE - 1]v;
            where (pcoord(0) == 0) {
                p_west = last_p;
                v_west = last_v;
            }
            for (int j = 0; j < SIZE; j++) {
                int s = (j + SIZE - 1) % SIZE, n = (j + 1) % SIZE;
                double:columns u_east = [(. + 1) %% SIZE]u.v[j];
                cu.v[j] = 0.5 * (p.v[j] + p_west.v[j]) * u.v[j];
                cv.v[j] = 0.5 * (p.v[j] + p.v[s]) * v.v[j];
                z.v[j] = (4 / WIDTH * (v.v[j] - v_west.v[j]) - 4 / WIDTH * (u.v[j] - u.v[s])) /
                         (p_west.v[s] + p.v[s] + p.v[j] + p_west.v[j]);
                h.v[j] = p.v[j] + 0.25 * (u_east * u_east + u.v[j] * u.v[j] + v.v[n] * v.v[n] + v.v[j] * v.v[j]);
            }
            where (pcoord(0) < SIZE - 1) {
                [. + 1]cv_west = cv;
                [. + 1]h_west = h;
            }
            where (pcoord(0) > 0) {
                [. - 1]cu_east = cu;
                [. - 1]z_east = z;
            }
            struct column last_cv = [SIZE - 1]cv, last_h = [SIZE - 1]h, first_cu = [0]cu, first_z = [0]z;
            where (pcoord(0) == 0) {
                cv_west = last_cv;
                h_west = last_h;
            }
            where (pcoord(0) == SIZE - 1) {
                cu_east = first_cu;
                z_east = first_z;
            }
            for (int j = 0; j < SIZE; j++) {
                int s = (j + SIZE - 1) % SIZE, n = (j + 1) % SIZE;
                u_next.v[j] = u_old.v[j] +
                              time / 8 * (z.v[n] + z.v[j]) * (cv.v[n] + cv_west.v[n] + cv_west.v[j] + cv.v[j]) -
                              time / WIDTH * (h.v[j] - h_west.v[j]);
                v_next.v[j] = v_old.v[j] -
                              time / 8 * (z_east.v[j] + z.v[j]) * (cu_east.v[j] + cu.v[j] + cu.v[s] + cu_east.v[s]) -
                              time / WIDTH * (h.v[j] - h.v[s]);
                p_next.v[j] = p_old.v[j] - time / WIDTH * (cu_east.v[j] - cu.v[j]) - time / WIDTH * (cv.v[n] - cv.v[j]);
                u_old.v[j] = u.v[j] + ALPHA * (u_next.v[j] - 2 * u.v[j] + u_old.v[j]);
                v_old.v[j] = v.v[j] + ALPHA * (v_next.v[j] - 2 * v.v[j] + v_old.v[j]);
                p_old.v[j] = p.v[j] + ALPHA * (p_next.v[j] - 2 * p.v[j] + p_old.v[j]);
            }
            u = u_next;
            v = v_next;
            p = p_next;
            time = 2 * STEP;
        }
        for (int j = 0; j < SIZE; j++) {
            element.number = u.v[j] + v.v[j] + p.v[j];
            digest = digest * 31 + element.bits;
        }
        digest *= 2 * pcoord(0) + 1;
        printf("shallow: %d by %d, %d steps, digest %016llx\n", SIZE, SIZE, STEPS, (^= digest));
    }
    return 0;
}
