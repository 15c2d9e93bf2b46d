/* stencil.sc: heat in a bar. Each processor has a piece of it, and needs the last cells of its neighbours: it gets both while it computes
 * the cells that do not need them. For teaching. */
#include "options.h"

enum { CELLS, STEPS, OPTIONS };

static struct option options[OPTIONS] = {
    [CELLS] = {'n', 20, 2, 4096, "cells of each processor"},
    [STEPS] = {'s', 10, 1, 100000, "steps"},
};

/* A cell's next value. */
static double next_of(double left, double here, double right) { return 0.25 * left + 0.5 * here + 0.25 * right; }

/* What a cell of the whole bar is at first. */
static double first_of(int cell) { return cell % 7 * 100.0; }

/* The same on one processor: the bar's ends stay as they are. */
static void alone(double *bar, double *other, int cells, int steps) {
    for (int i = 0; i < cells; i++) bar[i] = first_of(i);
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < cells; i++) {
            other[i] = i == 0 || i == cells - 1 ? bar[i] : next_of(bar[i - 1], bar[i], bar[i + 1]);
        }
        double *done = other;
        other = bar, bar = done;
    }
}

int splitc_main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int n = (int)options[CELLS].value, steps = (int)options[STEPS].value;
    /* Element p of a spread array of rows is processor p's row: two, which take turns. */
    double *spread rows[2] = {all_spread_malloc(PROCS, n * sizeof(double)), all_spread_malloc(PROCS, n * sizeof(double))};
    uintptr_t at[2] = {(uintptr_t)tolocal(rows[0]), (uintptr_t)tolocal(rows[1])};
    int me = MYPROC, last = me == PROCS - 1;
    for (int i = 0; i < n; i++) *toglobal(me, (double *)at[0] + i) = first_of(me * n + i);
    barrier();
    trivium_begin();
    for (int s = 0; s < steps; s++) {
        double *old = (double *)at[s % 2], *new = (double *)at[1 - s % 2];
        double *global mine = toglobal(me, old), *global to = toglobal(me, new);
        double left = 0, right = 0;
        if (me > 0) left := *toglobal(me - 1, old + n - 1);
        if (!last) right := *toglobal(me + 1, old);
        for (int i = 1; i < n - 1; i++) to[i] = next_of(mine[i - 1], mine[i], mine[i + 1]);
        sync();
        to[0] = me > 0 ? next_of(left, mine[0], mine[1]) : mine[0];
        to[n - 1] = last ? mine[n - 1] : next_of(mine[n - 2], mine[n - 1], right);
        barrier();
    }
    trivium_end();
    if (me == 0) {
        int cells = n * PROCS;
        double *bar = malloc(cells * sizeof *bar), *other = malloc(cells * sizeof *other), sum = 0;
        alone(bar, other, cells, steps);
        double *ought = steps % 2 ? other : bar;
        for (int i = 0; i < cells; i++) {
            double is = toglobal(i / n, (double *)at[steps % 2])[i % n];
            if (is != ought[i]) {
                printf("stencil: cell %d is %.17g, not %.17g\n", i, is, ought[i]);
                trivium_fail("stencil: wrong answer");
            }
            sum += is * i;
        }
        printf("stencil: ok, %d cells, %d steps, sum %.17g\n", cells, steps, sum);
    }
    barrier();
    return 0;
}
