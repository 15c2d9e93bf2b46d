/* appbt-check.h: what appbt.c checks of itself, after its measured part. */
#ifndef APPBT_CHECK_H
#define APPBT_CHECK_H

/* The bits of all cells, each with its number: whichever node has it, the sum is the same. Collective. */
static uint64_t digest_of_all(void) {
    uint64_t sum = 0;
    int at[3];
    for (at[2] = own->first[2]; at[2] < own->end[2]; at[2]++) {
        for (at[1] = own->first[1]; at[1] < own->end[1]; at[1]++) {
            for (at[0] = own->first[0]; at[0] < own->end[0]; at[0]++) {
                uint64_t mixed = (uint64_t)((at[2] * side + at[1]) * side + at[0]);
                const double *cell = cell_of(own, at);
                for (int m = 0; m < FIVE; m++) {
                    uint64_t bits;
                    memcpy(&bits, &cell[m], sizeof bits);
                    mixed ^= bits;
                    sum += random_next(&mixed);
                }
            }
        }
    }
    /* On a page of each node's own. */
    uint64_t *given = trivium_alloc_round_robin((uint64_t)nodes * 4096);
    trivium_name(given, "digests");
    given[self * 512] = sum;
    trivium_fence();
    trivium_barrier();
    sum = 0;
    for (int p = 0; p < nodes; p++) sum += given[p * 512];
    return sum;
}

/* The root of the mean square of a component's residuals, in one order: of one node. */
static double mean_residual(int m) {
    double squares = 0;
    int64_t cells = (int64_t)count[0] * count[1] * count[2];
    for (int64_t k = 0; k < cells; k++) squares += residual[FIVE * k + m] * residual[FIVE * k + m];
    return sqrt(squares / (double)cells) / time_step;
}

/* The same of what a component's values are away from the solution. */
static double mean_error(int m) {
    double squares = 0, exact[FIVE];
    int at[3];
    for (at[2] = 0; at[2] < side; at[2]++) {
        for (at[1] = 0; at[1] < side; at[1]++) {
            for (at[0] = 0; at[0] < side; at[0]++) {
                const double where[3] = {(double)at[0] / (side - 1), (double)at[1] / (side - 1), (double)at[2] / (side - 1)};
                solution(where, exact);
                double off = cell_of(own, at)[m] - exact[m];
                squares += off * off;
            }
        }
    }
    return sqrt(squares / ((double)count[0] * count[1] * count[2]));
}

/* A block times its inverse is unity. */
static void check_inverse(const double *block) {
    double used[BLOCK], inverse[BLOCK] = {0}, product[BLOCK] = {0}, none[FIVE] = {0};
    memcpy(used, block, sizeof used);
    for (int m = 0; m < FIVE; m++) inverse[m * FIVE + m] = 1, product[m * FIVE + m] = 1;
    divide(used, inverse, none);
    subtract_block(product, block, inverse);
    for (int k = 0; k < BLOCK; k++) {
        if (!(fabs(product[k]) < 1e-11)) trivium_fail("appbt: a block times its inverse is not unity");
    }
}

/* Takes a line whose solution is known, and solves it. */
static void check_line(int axis, int column, int line) {
    int at[3], stride = FIVE * inner_step(axis), n = count[axis];
    start_of(axis, column, line, at);
    set_blocks(axis, column, line);
    int64_t from = kept(axis, column, line, (int)options[KEPT].value);
    const double *a = lower + from, *b = diagonal + from, *c = upper + from;
    double *r = residual + FIVE * inner(at), known[MOST + 2][FIVE] = {0};
    for (int i = 0; i < n; i++) {
        check_inverse(b + i * BLOCK);
        for (int m = 0; m < FIVE; m++) known[i + 1][m] = 1 + (i * FIVE + m) % 7;
    }
    for (int i = 0; i < n; i++) {
        for (int m = 0; m < FIVE; m++) r[i * stride + m] = 0;
        subtract_vector(r + i * stride, a + i * BLOCK, known[i]);
        subtract_vector(r + i * stride, b + i * BLOCK, known[i + 1]);
        subtract_vector(r + i * stride, c + i * BLOCK, known[i + 2]);
    }
    eliminate_line(axis, column, line, NULL, NULL);
    substitute_line(axis, column, line, NULL, NULL);
    for (int i = 0; i < n; i++) {
        for (int m = 0; m < FIVE; m++) {
            if (!(fabs(r[i * stride + m] + known[i + 1][m]) < 1e-9)) trivium_fail("appbt: a line is not solved");
        }
    }
}

/* The derivatives are those of the fluxes: as differences show it. */
static void check_derivatives(int axis, const double *cell) {
    double of[2][BLOCK], u[FIVE], flux[2][2][FIVE];
    memcpy(u, cell, sizeof u);
    derivatives(axis, u, of[0], of[1]);
    for (int k = 0; k < FIVE; k++) {
        double small = 1e-5 * (1 + fabs(u[k])), was = u[k];
        for (int way = 0; way < 2; way++) {
            u[k] = way ? was + small : was - small;
            fluxes(axis, u, flux[0][way], flux[1][way]);
        }
        u[k] = was;
        for (int which = 0; which < 2; which++) {
            for (int m = 0; m < FIVE; m++) {
                double slope = (flux[which][1][m] - flux[which][0][m]) / (2 * small), is = of[which][m * FIVE + k];
                if (!(fabs(slope - is) < 1e-6 * (1 + fabs(is)))) trivium_fail("appbt: a matrix has not the derivatives of the right-hand side");
            }
        }
    }
}

static void check_samples(void) {
    for (int axis = 0; axis < 3; axis++) {
        for (int c = 0; c < columns(axis); c += 5) {
            for (int l = c % 3; l < lines(axis); l += 7) {
                int at[3];
                start_of(axis, c, l, at);
                check_derivatives(axis, cell_of(own, at));
                check_line(axis, c, l);
            }
        }
    }
}

/* From now on this node has all cells, in private memory, and the program has no other. */
static void be_alone(void) {
    nodes = 1, self = 0;
    for (int d = 0; d < 3; d++) grid[d] = 1;
    cut();
    double *memory = malloc(bytes_of(own));
    if (!memory) trivium_fail("appbt: no memory to do everything again: leave that out (-c 0)");
    lay_out(&parts[0], memory, 0);
    allocate_private();
    initialise_cells();
    set_forcing();
}

/* Holds all cells, of the nodes that there were, against this node's. */
static void compare(const struct part *of_nodes, int node_count) {
    for (int p = 0; p < node_count; p++) {
        const struct part *part = &of_nodes[p];
        int at[3];
        for (at[2] = part->first[2]; at[2] < part->end[2]; at[2]++) {
            for (at[1] = part->first[1]; at[1] < part->end[1]; at[1]++) {
                for (at[0] = part->first[0]; at[0] < part->end[0]; at[0]++) {
                    if (memcmp(cell_of(part, at), cell_of(own, at), FIVE * sizeof(double)) == 0) continue;
                    printf("appbt: cell %d, %d, %d is not what one node makes of it\n", at[0], at[1], at[2]);
                    trivium_fail("appbt: wrong answer");
                }
            }
        }
    }
}

/* A residual falls in each step, by a part that grows smaller: by 29 % in the first step at least, 22 % in the second, and so on. Measured for cubes of 6 to 64 cells at a
 * side were 30 % and more, 26 % and more. Below this there is rounding. */
static void check_fall(int64_t iteration, double before, double now) {
    double most_left = ((double)iteration + 2.5) / ((double)iteration + 3.5);
    if (!(now < most_left * before || now < 1e-6)) trivium_fail("appbt: the residual has not fallen as it should");
}

/* The benchmarks publish what residuals and errors are after so many steps of their two smallest sizes: they are met to eight digits. */
static void check_published(void) {
    static const struct {
        int side, steps;
        double residuals[FIVE], errors[FIVE];
    } published[] = {
        {12, 60, {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02, 2.6436421275166801e-02, 1.9211784131744430e-01},
         {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05, 7.3821238632439731e-05, 8.9269630987491446e-04}},
        {24, 200, {1.125590409344e+02, 1.180007595731e+01, 2.710329767846e+01, 2.469174937669e+01, 2.638427874317e+02},
         {4.419655736008e+00, 4.638531260002e-01, 1.011551749967e+00, 9.235878729944e-01, 1.018045837718e+01}},
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        if (side != published[i].side || options[ITERATIONS].value != published[i].steps) continue;
        for (int m = 0; m < FIVE; m++) {
            double residual_off = mean_residual(m) / published[i].residuals[m] - 1, error_off = mean_error(m) / published[i].errors[m] - 1;
            if (!(fabs(residual_off) < 1e-8 && fabs(error_off) < 1e-8)) trivium_fail("appbt: not the published residual or error");
        }
        printf("appbt: residuals and errors are the published ones\n");
    }
}

/* On one node: does everything again alone, and looks at each step. */
static void check(void) {
    const struct part *of_nodes = parts;
    int node_count = nodes;
    double before = 0;
    be_alone();
    printf("appbt: energy's error %.6f, residuals", mean_error(4));
    for (int64_t iteration = 0; iteration <= options[ITERATIONS].value; iteration++) {
        take_right_hand_side();
        double now = 0;
        for (int m = 0; m < FIVE; m++) now += mean_residual(m);
        printf(" %.4f", now);
        if (iteration > 0) check_fall(iteration - 1, before, now);
        before = now;
        if (iteration == options[ITERATIONS].value) break;
        for (int axis = 0; axis < 3; axis++) sweep(axis);
        add();
    }
    printf(", then error %.6f\n", mean_error(4));
    check_published();
    compare(of_nodes, node_count);
    check_samples();
}

#endif
