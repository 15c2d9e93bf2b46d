/* What shallow.cs does, one column after the other: to the last bit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

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

typedef double field[SIZE][SIZE]; /* by columns */
static field u, v, p, u_old, v_old, p_old, u_next, v_next, p_next, cu, cv, z, h;

static double streams(int i, int j) { return 1e6 * sin((i + 0.5) * TWO_PI / SIZE) * sin((j + 0.5) * TWO_PI / SIZE); }

static void begin(void) {
    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++) {
            u[i][j] = -(streams(i, j + 1) - streams(i, j)) / WIDTH;
            v[i][j] = (streams(i + 1, j) - streams(i, j)) / WIDTH;
            p[i][j] = 5e4 + 1250 * (cos(2 * i * TWO_PI / SIZE) + cos(2 * j * TWO_PI / SIZE));
        }
    }
    memcpy(u_old, u, sizeof u);
    memcpy(v_old, v, sizeof v);
    memcpy(p_old, p, sizeof p);
}

static void smooth(double *old, double now, double next) { *old = now + ALPHA * (next - 2 * now + *old); }

int main(void) {
    begin();
    double time = STEP;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < SIZE; i++) {
            int w = (i + SIZE - 1) % SIZE, e = (i + 1) % SIZE;
            for (int j = 0; j < SIZE; j++) {
                int s = (j + SIZE - 1) % SIZE, n = (j + 1) % SIZE;
                cu[i][j] = 0.5 * (p[i][j] + p[w][j]) * u[i][j];
                cv[i][j] = 0.5 * (p[i][j] + p[i][s]) * v[i][j];
                z[i][j] = (4 / WIDTH * (v[i][j] - v[w][j]) - 4 / WIDTH * (u[i][j] - u[i][s])) /
                          (p[w][s] + p[i][s] + p[i][j] + p[w][j]);
                h[i][j] = p[i][j] + 0.25 * (u[e][j] * u[e][j] + u[i][j] * u[i][j] + v[i][n] * v[i][n] + v[i][j] * v[i][j]);
            }
        }
        for (int i = 0; i < SIZE; i++) {
            int w = (i + SIZE - 1) % SIZE, e = (i + 1) % SIZE;
            for (int j = 0; j < SIZE; j++) {
                int s = (j + SIZE - 1) % SIZE, n = (j + 1) % SIZE;
                u_next[i][j] = u_old[i][j] + time / 8 * (z[i][n] + z[i][j]) * (cv[i][n] + cv[w][n] + cv[w][j] + cv[i][j]) -
                               time / WIDTH * (h[i][j] - h[w][j]);
                v_next[i][j] = v_old[i][j] - time / 8 * (z[e][j] + z[i][j]) * (cu[e][j] + cu[i][j] + cu[i][s] + cu[e][s]) -
                               time / WIDTH * (h[i][j] - h[i][s]);
                p_next[i][j] = p_old[i][j] - time / WIDTH * (cu[e][j] - cu[i][j]) - time / WIDTH * (cv[i][n] - cv[i][j]);
                smooth(&u_old[i][j], u[i][j], u_next[i][j]);
                smooth(&v_old[i][j], v[i][j], v_next[i][j]);
                smooth(&p_old[i][j], p[i][j], p_next[i][j]);
            }
        }
        memcpy(u, u_next, sizeof u);
        memcpy(v, v_next, sizeof v);
        memcpy(p, p_next, sizeof p);
        time = 2 * STEP;
    }
    unsigned long long digest = 0;
    for (int i = 0; i < SIZE; i++) {
        unsigned long long own = 0;
        for (int j = 0; j < SIZE; j++) own = own * 31 + (union bits){u[i][j] + v[i][j] + p[i][j]}.bits;
        digest ^= own * (2 * (unsigned long long)i + 1);
    }
    printf("shallow: %d by %d, %d steps, digest %016llx\n", SIZE, SIZE, STEPS, digest);
    return 0;
}
