/* appbt.c: an implicit flow solver on a cube of cells, a subcube a node (Tempest 1998; NAS Parallel Benchmarks, simulated application BT).
 *
 * Five coupled equations (mass, three momenta, energy of a viscous gas) are led to the steady state of a manufactured solution: the forcing term is such that a given
 * polynomial solves the difference equations exactly. A step takes the right-hand side, a stencil of two cells to each side; solves block-tridiagonal systems with 5 x 5
 * blocks along all lines in x, then in y, then in z; and adds what comes out. Cells on the outside of the cube keep the polynomial's values.
 *
 * A node owns a subcube. A face of it consists of columns, each of so many lines as the subcube is wide: what the neighbour needs of a line is published a column at a time.
 * A sweep is a pipeline: the forward half hands on an eliminated row of each line (25 + 5 numbers), the backward half what has been solved (5 numbers). Who waits spins on
 * the column's counter, in the producer's memory, and then reads by misses. The right-hand side reads the neighbour's cells in place, when their counter allows it. There is
 * no barrier in a step. On one node there is nothing to publish: the program that speedups are held against.
 *
 * Why nothing is overwritten too early: a node writes a line's row again when it has gone through the sweep's way back, for which the next node has used the row; and it
 * changes its cells after the sweep along each axis, for which all nodes on its lines have had their right-hand sides and blocks.
 *
 * It checks itself: node 0 does everything again alone, and all cells are the same to the last bit; the residual falls in each step; 5 x 5 blocks times their inverses are
 * unity, lines are solved, and the matrices are the derivatives of what the right-hand side adds up; and after the steps of the benchmarks' two smallest sizes (-s 12 -i 60,
 * -s 24 -i 200) residuals and errors are the published ones. The answer is the same to the last bit under every protocol and on every number of nodes.
 */
#include <math.h>
#include <string.h>

#include "options.h"
#include "random.h"
#include "stache-report.h"

enum { SIDE, ITERATIONS, KEPT, TOGETHER, ARRAY, CHECK, OPTIONS };

static struct option options[OPTIONS] = {
    [SIDE] = {'s', 14, 6, 64, "cells at a side of the cube, with those on the outside (32: as published)"},
    [ITERATIONS] = {'i', 3, 1, 1000, "iterations (5: as published)"},
    [KEPT] = {'k', 0, 0, 1, "block matrices are kept 0: for a line; 1: for all cells of a node (the source does not say)"},
    [TOGETHER] = {'m', 1, 1, 64, "columns of a face that are published together, with one counter or message"},
    [ARRAY] = {'a', 0, 0, 1, "0: a node's cells lie in pages of their own; 1: in one array of all cells"},
    [CHECK] = {'c', 1, 0, 1, "0: node 0 does not do everything again"},
};

#include "appbt-equations.h"

enum { MOST = 64 }; /* cells of a line */

/* Numbers of a row that has been eliminated: its upper block, and its right-hand side. */
enum { ROW = BLOCK + FIVE };

/* What is published on a face: rows for the node above, what has been solved for the one below, and cells of two layers for both. */
enum { FORWARD, BACKWARD, UPWARD, DOWNWARD, KINDS };
enum { LAYERS = 2 };

/* The axes along which a face's columns are counted, and the lines of a column, by the axis that crosses the face. */
static const int COLUMNS[3] = {2, 2, 1}, LINES[3] = {1, 0, 0};

/* A node's subcube. */
struct part {
    int first[3], end[3]; /* its cells, along each axis */
    double *cells;        /* five numbers each */
    int step[3];          /* from a cell to the next along each axis, in numbers */
};

static struct part *parts;
static const struct part *own;
static int self, nodes, side, grid[3] /* nodes along each axis */, place[3] /* this node's in it */;

/* This node's cells inside of the cube: the first of them along each axis, and how many; then what it has of each of these, by `inner`. */
static int low[3], count[3];
static double *residual, *forcing, *lower, *diagonal, *upper;

static int is_below(int axis) { return place[axis] > 0; }
static int is_above(int axis) { return place[axis] + 1 < grid[axis]; }
static int columns(int axis) { return count[COLUMNS[axis]]; }
static int lines(int axis) { return count[LINES[axis]]; }
static int neighbour(int axis, int to) { return self + to * (axis == 0 ? 1 : axis == 1 ? grid[0] : grid[0] * grid[1]); }

/* Where a line starts: its cell inside of the cube, at this node. */
static void start_of(int axis, int column, int line, int at[3]) {
    at[axis] = low[axis];
    at[COLUMNS[axis]] = low[COLUMNS[axis]] + column;
    at[LINES[axis]] = low[LINES[axis]] + line;
}

/* The number of a cell among this node's inside of the cube, and the way to the next along an axis. */
static int inner(const int at[3]) { return ((at[2] - low[2]) * count[1] + at[1] - low[1]) * count[0] + at[0] - low[0]; }
static int inner_step(int axis) { return axis == 0 ? 1 : axis == 1 ? count[0] : count[0] * count[1]; }

static double *cell_of(const struct part *part, const int at[3]) {
    double *to = part->cells;
    for (int d = 0; d < 3; d++) to += (int64_t)(at[d] - part->first[d]) * part->step[d];
    return to;
}

/* ---- Faces ------------------------------------------------------------------------------------- */

/* How columns go to the neighbours: before the first time, collective; the place where a column's lines are written before they are published; the lines of a neighbour's
 * column when they have been, for which it waits; and a cell that lies so many layers beyond this node's, on a line whose column has been published. */
static void open_faces(void);
static double *lines_out(int kind, int axis, int column);
static void publish(int kind, int axis, int column);
static const double *lines_in(int kind, int axis, int column);
static const double *cell_beyond(int kind, int axis, int column, int line, int layer);
static void give_back(int kind, int axis); /* all columns that have come are used */
static void publish_cells(void);           /* tells the neighbours this node's cells of a step, or that they are there */

/* The way that a kind goes, and how many numbers a line has of it. */
static const int WAY[KINDS] = {1, -1, 1, -1}, NUMBERS[KINDS] = {ROW, FIVE, LAYERS * FIVE, LAYERS * FIVE};

static int is_last_together(int axis, int column) {
    return (column + 1) % options[TOGETHER].value == 0 || column + 1 == columns(axis);
}

#ifndef OTHER_FACES
/* Of each node, kind and axis, in that node's memory: lines column by column, and how often columns have been published. */
struct face {
    double *lines;
    volatile int32_t *times;
};

static struct face (*faces)[KINDS][3];
static int32_t steps; /* of this node, the present one included */

static void open_faces(void) {
    faces = calloc((size_t)nodes, sizeof *faces);
    if (!faces) trivium_fail("appbt: no memory");
    for (int p = 0; p < nodes; p++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int axis = 0; axis < 3; axis++) {
                if (grid[axis] == 1) continue;
                const struct part *part = &parts[p];
                uint64_t high = (uint64_t)(part->end[COLUMNS[axis]] - part->first[COLUMNS[axis]]);
                uint64_t wide = (uint64_t)(part->end[LINES[axis]] - part->first[LINES[axis]]);
                struct face *face = &faces[p][kind][axis];
                face->times = trivium_alloc_on(p, sizeof *face->times * high);
                /* Cells are read where they are. */
                if (kind < UPWARD) face->lines = trivium_alloc_on(p, sizeof(double) * high * wide * (uint64_t)NUMBERS[kind]);
                trivium_name(face->times, "counters");
                stache_watch("counters", face->times, sizeof *face->times * high, 0);
                if (kind < UPWARD) trivium_name(face->lines, "faces");
                if (kind < UPWARD) stache_watch("faces", face->lines, sizeof(double) * high * wide * (uint64_t)NUMBERS[kind], 0);
            }
        }
    }
}

static double *lines_out(int kind, int axis, int column) {
    return faces[self][kind][axis].lines + (int64_t)column * lines(axis) * NUMBERS[kind];
}

static void publish(int kind, int axis, int column) {
    if (!is_last_together(axis, column)) return;
    __asm__ volatile("" ::: "memory"); /* what has been written stays before this */
    trivium_fence();
    faces[self][kind][axis].times[column / options[TOGETHER].value] = steps;
}

static const double *lines_in(int kind, int axis, int column) {
    const struct face *face = &faces[neighbour(axis, -WAY[kind])][kind][axis];
    volatile int32_t *times = &face->times[column / options[TOGETHER].value];
    if (column % options[TOGETHER].value == 0) {
        for (int32_t now = *times; now < steps;) now = trivium_wait_until_changed(times, now);
        __asm__ volatile("" ::: "memory");
    }
    return kind < UPWARD ? face->lines + (int64_t)column * lines(axis) * NUMBERS[kind] : NULL;
}

static const double *cell_beyond(int kind, int axis, int column, int line, int layer) {
    int at[3];
    start_of(axis, column, line, at);
    at[axis] = WAY[kind] > 0 ? own->first[axis] - 1 - layer : own->end[axis] + layer;
    return cell_of(&parts[neighbour(axis, -WAY[kind])], at);
}

static void give_back(int kind, int axis) { (void)kind, (void)axis; }

static void publish_cells(void) {
    steps++;
    for (int axis = 0; axis < 3; axis++) {
        for (int c = 0; c < columns(axis); c++) {
            if (is_above(axis)) publish(UPWARD, axis, c);
            if (is_below(axis)) publish(DOWNWARD, axis, c);
        }
    }
}
#endif

/* ---- A step ------------------------------------------------------------------------------------ */

/* Takes the cells of a line, and so many beyond this node's, to `on_line`, where they are by their numbers along the axis. */
static double on_line[MOST][FIVE];
static void take_line(int axis, int column, int line, int reach) {
    int at[3];
    start_of(axis, column, line, at);
    at[axis] = own->first[axis];
    const double *from = cell_of(own, at);
    for (int i = own->first[axis]; i < own->end[axis]; i++, from += own->step[axis]) memcpy(on_line[i], from, sizeof on_line[i]);
    for (int k = 0; k < reach; k++) {
        if (is_below(axis)) memcpy(on_line[own->first[axis] - 1 - k], cell_beyond(UPWARD, axis, column, line, k), sizeof on_line[0]);
        if (is_above(axis)) memcpy(on_line[own->end[axis] + k], cell_beyond(DOWNWARD, axis, column, line, k), sizeof on_line[0]);
    }
}

/* Adds a sign times what the differences along a line make of the cells `on_line`. */
static void add_differences(int axis, double sign, double *to, int stride) {
    static double convected[MOST][FIVE], diffused[MOST][FIVE];
    int first = low[axis], end = low[axis] + count[axis];
    double h = 1.0 / (side - 1), one = sign * time_step / (2 * h), two = sign * time_step / (h * h), four = sign * time_step * DISSIPATION;
    for (int i = first - 1; i <= end; i++) fluxes(axis, on_line[i], convected[i], diffused[i]);
    for (int i = first; i < end; i++, to += stride) {
        for (int m = 0; m < FIVE; m++) {
            double fourth = 6 * on_line[i][m] - 4 * (on_line[i - 1][m] + on_line[i + 1][m]);
            /* Next to the outside there is one cell less. */
            if (i == 1) fourth = 5 * on_line[i][m] - 4 * on_line[i + 1][m] + on_line[i + 2][m];
            else if (i == side - 2) fourth = 5 * on_line[i][m] - 4 * on_line[i - 1][m] + on_line[i - 2][m];
            else fourth += (i > 2 ? on_line[i - 2][m] : 0) + (i < side - 3 ? on_line[i + 2][m] : 0);
            to[m] += two * (diffused[i + 1][m] - 2 * diffused[i][m] + diffused[i - 1][m]) - one * (convected[i + 1][m] - convected[i - 1][m]) - four * fourth;
        }
    }
}

static void take_right_hand_side(void) {
    memcpy(residual, forcing, sizeof *residual * FIVE * (size_t)count[0] * (size_t)count[1] * (size_t)count[2]);
    for (int axis = 0; axis < 3; axis++) {
        for (int c = 0; c < columns(axis); c++) {
            if (is_below(axis)) lines_in(UPWARD, axis, c);
            if (is_above(axis)) lines_in(DOWNWARD, axis, c);
            for (int l = 0; l < lines(axis); l++) {
                int at[3];
                start_of(axis, c, l, at);
                take_line(axis, c, l, LAYERS);
                add_differences(axis, 1, residual + FIVE * inner(at), FIVE * inner_step(axis));
            }
        }
    }
}

/* The first of a line's blocks that are kept: for all lines of a node, or one after the other in the same place. Upper blocks are needed on the way back. */
static int64_t kept(int axis, int column, int line, int is_for_all) {
    return is_for_all ? ((int64_t)column * lines(axis) + line) * count[axis] * BLOCK : 0;
}

/* The blocks of a line: of one time step, unity less the derivatives of what the right-hand side adds up. */
static void set_blocks(int axis, int column, int line) {
    static double convection[MOST][BLOCK], diffusion[MOST][BLOCK];
    int first = low[axis], end = low[axis] + count[axis];
    int64_t at = kept(axis, column, line, (int)options[KEPT].value);
    double *a = lower + at, *b = diagonal + at, *c = upper + kept(axis, column, line, options[KEPT].value || is_above(axis));
    double h = 1.0 / (side - 1), one = time_step / (2 * h), two = time_step / (h * h);
    take_line(axis, column, line, 1);
    for (int i = first - 1; i <= end; i++) derivatives(axis, on_line[i], convection[i], diffusion[i]);
    for (int i = first; i < end; i++, a += BLOCK, b += BLOCK, c += BLOCK) {
        for (int k = 0; k < BLOCK; k++) {
            a[k] = -one * convection[i - 1][k] - two * diffusion[i - 1][k];
            b[k] = 2 * two * diffusion[i][k];
            c[k] = one * convection[i + 1][k] - two * diffusion[i + 1][k];
        }
        for (int m = 0; m < FIVE; m++) b[m * FIVE + m] += 1;
    }
}

/* Eliminates a line's lower blocks, from the row before it on; rows then begin with unity. Gives its last row. */
static void eliminate_line(int axis, int column, int line, const double *in, double *out) {
    int at[3], stride = FIVE * inner_step(axis);
    start_of(axis, column, line, at);
    int64_t from = kept(axis, column, line, (int)options[KEPT].value);
    double *a = lower + from, *b = diagonal + from, *c = upper + kept(axis, column, line, options[KEPT].value || is_above(axis));
    double *r = residual + FIVE * inner(at);
    const double *c_before = in, *r_before = in ? in + BLOCK : NULL;
    for (int i = 0; i < count[axis]; i++, a += BLOCK, b += BLOCK, c += BLOCK, r += stride) {
        if (c_before) {
            subtract_block(b, a, c_before);
            subtract_vector(r, a, r_before);
        }
        divide(b, c, r);
        c_before = c, r_before = r;
    }
    if (!out) return;
    memcpy(out, c_before, sizeof *out * BLOCK);
    memcpy(out + BLOCK, r_before, sizeof *out * FIVE);
}

/* The way back along a line, from what the next cell after it has. Gives its first cell's. */
static void substitute_line(int axis, int column, int line, const double *in, double *out) {
    int at[3], stride = FIVE * inner_step(axis), last = count[axis] - 1;
    start_of(axis, column, line, at);
    const double *c = upper + kept(axis, column, line, options[KEPT].value || is_above(axis)) + (int64_t)last * BLOCK, *next = in;
    double *r = residual + FIVE * inner(at) + (int64_t)last * stride;
    for (int i = last; i >= 0; i--, c -= BLOCK, r -= stride) {
        if (next) subtract_vector(r, c, next);
        next = r;
    }
    if (out) memcpy(out, next, sizeof *out * FIVE);
}

static void go_forward(int axis, int column) {
    const double *in = is_below(axis) ? lines_in(FORWARD, axis, column) : NULL;
    double *out = is_above(axis) ? lines_out(FORWARD, axis, column) : NULL;
    for (int l = 0; l < lines(axis); l++) {
        if (!options[KEPT].value) set_blocks(axis, column, l);
        eliminate_line(axis, column, l, in ? in + l * ROW : NULL, out ? out + l * ROW : NULL);
        /* Above there is nobody to wait for, and the blocks of the line may be forgotten. */
        if (!out) substitute_line(axis, column, l, NULL, is_below(axis) ? lines_out(BACKWARD, axis, column) + l * FIVE : NULL);
    }
    if (out) publish(FORWARD, axis, column);
    else if (in) publish(BACKWARD, axis, column);
}

static void go_back(int axis, int column) {
    const double *in = lines_in(BACKWARD, axis, column);
    double *out = is_below(axis) ? lines_out(BACKWARD, axis, column) : NULL;
    for (int l = 0; l < lines(axis); l++) substitute_line(axis, column, l, in + l * FIVE, out ? out + l * FIVE : NULL);
    if (out) publish(BACKWARD, axis, column);
}

static void sweep(int axis) {
    for (int c = 0; c < columns(axis) && options[KEPT].value; c++) {
        for (int l = 0; l < lines(axis); l++) set_blocks(axis, c, l);
    }
    for (int c = 0; c < columns(axis); c++) go_forward(axis, c);
    if (is_below(axis)) give_back(FORWARD, axis), give_back(UPWARD, axis);
    if (!is_above(axis)) return;
    give_back(DOWNWARD, axis);
    for (int c = 0; c < columns(axis); c++) go_back(axis, c);
    give_back(BACKWARD, axis);
}

/* Adds what has been solved to this node's cells inside of the cube. */
static void add(void) {
    const double *change = residual;
    int at[3];
    for (at[2] = low[2]; at[2] < low[2] + count[2]; at[2]++) {
        for (at[1] = low[1]; at[1] < low[1] + count[1]; at[1]++) {
            at[0] = low[0];
            double *to = cell_of(own, at);
            for (int i = 0; i < count[0]; i++, to += own->step[0], change += FIVE) {
                for (int m = 0; m < FIVE; m++) to[m] += change[m];
            }
        }
    }
}

/* ---- Before the first step --------------------------------------------------------------------- */

/* As many nodes along each axis as evenly as possible: those whose sum is least, most of them in x. */
static void arrange_nodes(void) {
    int least = nodes + 3;
    for (int z = 1; z * z * z <= nodes; z++) {
        for (int y = z; z * y * y <= nodes; y++) {
            int x = nodes / z / y;
            if (x * y * z != nodes || x + y + z >= least) continue;
            least = x + y + z;
            grid[0] = x, grid[1] = y, grid[2] = z;
        }
    }
    if (side >= 2 * grid[0]) return;
    static char why[160];
    snprintf(why, sizeof why,
             "appbt: %d nodes are %d x %d x %d, and of %d cells at a side each needs two: more cells (-s), or another number of nodes", nodes, grid[0], grid[1], grid[2], side);
    trivium_fail(why);
}

/* The subcubes of a grid of nodes. */
static void cut(void) {
    parts = calloc((size_t)nodes, sizeof *parts);
    if (!parts) trivium_fail("appbt: no memory");
    for (int p = 0; p < nodes; p++) {
        const int at[3] = {p % grid[0], p / grid[0] % grid[1], p / grid[0] / grid[1]};
        for (int d = 0; d < 3; d++) {
            parts[p].first[d] = side * at[d] / grid[d];
            parts[p].end[d] = side * (at[d] + 1) / grid[d];
        }
        for (int d = 0; d < 3 && p == self; d++) {
            place[d] = at[d];
            low[d] = parts[p].first[d] > 0 ? parts[p].first[d] : 1;
            count[d] = (parts[p].end[d] < side ? parts[p].end[d] : side - 1) - low[d];
        }
    }
    own = &parts[self];
}

/* Gives a subcube its memory: its own, or its piece of the memory of all cells. */
static void lay_out(struct part *part, double *memory, int is_array) {
    int x = is_array ? side : part->end[0] - part->first[0], y = is_array ? side : part->end[1] - part->first[1];
    part->step[0] = FIVE, part->step[1] = FIVE * x, part->step[2] = FIVE * x * y;
    part->cells = memory;
    for (int d = 0; d < 3 && is_array; d++) part->cells += (int64_t)part->first[d] * part->step[d];
}

static uint64_t bytes_of(const struct part *part) {
    uint64_t cells = 1;
    for (int d = 0; d < 3; d++) cells *= (uint64_t)(part->end[d] - part->first[d]);
    return cells * FIVE * sizeof(double);
}

static void allocate_cells(void) {
    int is_array = (int)options[ARRAY].value;
    uint64_t all = (uint64_t)side * (uint64_t)side * (uint64_t)side * FIVE * sizeof(double);
    double *memory = is_array ? trivium_alloc_first_touch(all) : NULL;
    for (int p = 0; p < nodes; p++) {
        if (!is_array) memory = trivium_alloc_first_touch(bytes_of(&parts[p]));
        lay_out(&parts[p], memory, is_array);
        trivium_name(memory, "cells");
        if (!is_array || p == 0) stache_watch("cells", memory, is_array ? all : bytes_of(&parts[p]), 0);
    }
}

/* What only its own node uses. */
static void allocate_private(void) {
    size_t cells = (size_t)count[0] * (size_t)count[1] * (size_t)count[2], blocks = options[KEPT].value ? cells : MOST, uppers = blocks;
    for (int axis = 0; axis < 3; axis++) uppers = is_above(axis) ? cells > blocks ? cells : blocks : uppers;
    residual = malloc(sizeof(double) * FIVE * cells), forcing = calloc(FIVE * cells, sizeof(double));
    lower = malloc(sizeof(double) * BLOCK * blocks), diagonal = malloc(sizeof(double) * BLOCK * blocks), upper = malloc(sizeof(double) * BLOCK * uppers);
    if (!residual || !forcing || !lower || !diagonal || !upper) trivium_fail("appbt: no memory: a smaller cube (-s), or blocks of a line only (-k 0)");
}

/* The values of the first step: on the outside the polynomial's; inside what is between them (Gordon and Hall's interpolation between six faces). */
static void initialise_cells(void) {
    int at[3];
    for (at[2] = own->first[2]; at[2] < own->end[2]; at[2]++) {
        for (at[1] = own->first[1]; at[1] < own->end[1]; at[1]++) {
            for (at[0] = own->first[0]; at[0] < own->end[0]; at[0]++) {
                const double where[3] = {(double)at[0] / (side - 1), (double)at[1] / (side - 1), (double)at[2] / (side - 1)};
                int is_outside = 0;
                for (int d = 0; d < 3; d++) is_outside |= at[d] == 0 || at[d] == side - 1;
                if (is_outside) solution(where, cell_of(own, at));
                else interpolate(where, cell_of(own, at));
            }
        }
    }
}

/* What makes the polynomial a solution of the difference equations: the opposite of what they make of it. */
static void set_forcing(void) {
    for (int axis = 0; axis < 3; axis++) {
        for (int c = 0; c < columns(axis); c++) {
            for (int l = 0; l < lines(axis); l++) {
                int at[3];
                start_of(axis, c, l, at);
                double *to = forcing + FIVE * inner(at);
                for (int i = 0; i < side; i++) {
                    at[axis] = i;
                    const double where[3] = {(double)at[0] / (side - 1), (double)at[1] / (side - 1), (double)at[2] / (side - 1)};
                    solution(where, on_line[i]);
                }
                add_differences(axis, -1, to, FIVE * inner_step(axis));
            }
        }
    }
}

#include "appbt-check.h"

/* ---- The program ------------------------------------------------------------------------------- */

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    self = trivium_node(), nodes = trivium_nodes();
    side = (int)options[SIDE].value, time_step = side > 18 ? 0.0008 : 0.01;
    arrange_nodes();
    cut();
    allocate_cells();
    allocate_private();
    open_faces();
    initialise_cells();
    set_forcing();
    trivium_barrier();

    int64_t iterations = options[ITERATIONS].value;
    for (int64_t iteration = 0; iteration < iterations; iteration++) {
        if (iteration == (iterations > 1)) {
            trivium_barrier();
            stache_forget();
            trivium_begin();
        }
        if (nodes > 1) publish_cells();
        take_right_hand_side();
        for (int axis = 0; axis < 3; axis++) sweep(axis);
        add();
    }
    trivium_barrier();
    trivium_end();
    stache_report(REPORT_LINES);
    uint64_t digest = digest_of_all();
    if (self == 0 && options[CHECK].value) check();
    if (self == 0) printf("appbt: ok, %d cells, digest %016llx\n", side * side * side, (unsigned long long)digest);
    return 0;
}
