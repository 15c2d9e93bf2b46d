/* Sends, structures, arrays of parallel variables, and functions that have parallel parameters and results. */
#include <stdio.h>

struct particle {
    int cell;
    double mass;
};

shape [12]particles;
shape [4]cells;
struct particle:particles p;
double:cells mass[2];
int:cells most;

/* In the shape, and the context, in which it is called. */
static int:current clipped(int:current x, int least, int greatest) {
    where (x < least) x = least;
    return x <? greatest;
}

static void show(const char *what, double:cells of) {
    printf("%s:", what);
    for (int i = 0; i < positionsof(cells); i++) printf(" %g", [i]of);
    printf("\n");
}

int main(void) {
    with (particles) {
        p.cell = pcoord(0) * 5 % 7 - 1;
        p.mass = 0.25 * (pcoord(0) + 1);
        where (p.cell >= 0 && p.cell < 4) {
            /* Of several positions that send to one, all count. */
            [p.cell]mass[0] += p.mass;
            [p.cell]most >?= pcoord(0);
        }
        int:particles near = clipped(p.cell, 0, 3);
        [near]mass[1] += p.mass;
        /* To the next particle, all at once. */
        [(. + 1) %% 12]p = p;
        printf("particle 0 is in cell %d now\n", [0]p.cell);
    }
    with (cells) {
        show("masses", mass[0]);
        show("clipped", mass[1]);
        double:cells last = most;
        show("the last particle", last);
    }
    return 0;
}
