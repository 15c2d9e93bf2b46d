/* mm-life.c: Conway's Game of Life on a torus by the M-Machine's messages (protocol mm; M-Machine 1999, our specification 6.3).
 *
 * Each node has a rectangle of cells, and a copy of each cell around it. As soon as a cell has its new value, the node writes value and generation, two words, to the copies that
 * other nodes have: one message for each of these nodes. A generation begins when all copies of the last one are there, which the node counts; there is no barrier. Even and
 * odd generations have places of their own, since a neighbour may be one ahead. Run it with `-p stache -p mm`: the copies lie in shared memory at their node, where its handlers write.
 *
 * Node 0 plays the same game alone afterwards, and compares. The cycles of a generation are node 0's, without the first quarter of the generations.
 */
#include "options.h"
#include "random.h"
#include "trivium/mm.h"

enum { WIDTH, HEIGHT, GENERATIONS, SEED, OPTIONS };
enum { MOST_CELLS = 64, MOST_COPIES = 36, NEIGHBOURS = 8 };

static struct option options[OPTIONS] = {
    [WIDTH] = {'x', 4, 1, 8, "cells of a node in a row"},
    [HEIGHT] = {'y', 4, 1, 8, "rows of a node"},
    [GENERATIONS] = {'g', 20, 1, 1000000, "generations"},
    [SEED] = {'r', 2, 0, 1000000, "seed of the first generation"},
};

/* What an update brings. */
struct cell {
    int64_t value, generation;
};

/* Where another node has its copy of a cell: in even and in odd generations. */
struct update {
    int64_t node;
    struct cell *to[2];
};

static int width, height;  /* cells of a node */
static int across, down;   /* nodes */
static int row;            /* places in a row of a node's cells and copies */
static struct cell **home; /* of each node: its cells, and around them the copies; even generations, then odd ones */

static int waited[MOST_COPIES], waits;             /* places of copies that others write */
static int same[MOST_COPIES][2], sames;            /* a place that another place of this node has the value of: on a small torus */
static struct update updates[MOST_CELLS * NEIGHBOURS]; /* those of the first cell, then of the second .. */
static int first_update[MOST_CELLS + 1];

static int places(void) {
    return row * (height + 2);
}

/* The place of column x of row y; -1 is before the node's own. */
static int place(int x, int y) {
    return (y + 1) * row + x + 1;
}

static int is_own(int x, int y) {
    return x >= 0 && x < width && y >= 0 && y < height;
}

static int around(int at, int cells) {
    return (at + cells) % cells;
}

/* The cell of the torus, and its node, at a place of a node. */
static int64_t cell_at(int node, int x, int y) {
    int column = around(node % across * width + x, across * width);
    return (int64_t)around(node / across * height + y, down * height) * (across * width) + column;
}

static int node_of(int64_t cell) {
    int column = (int)(cell % (across * width)), line = (int)(cell / (across * width));
    return line / height * across + column / width;
}

/* Where a node has the first copy of a cell of another one. */
static int copy_of(int node, int64_t cell) {
    for (int y = -1; y <= height; y++) {
        for (int x = -1; x <= width; x++) {
            if (!is_own(x, y) && cell_at(node, x, y) == cell) return place(x, y);
        }
    }
    return -1;
}

/* Cells that live at first: three of eight. */
static int64_t at_first(int64_t cell) {
    uint64_t state = (uint64_t)options[SEED].value << 32 ^ (uint64_t)cell;
    return random_below(&state, 8) < 3;
}

static int64_t next(int64_t value, int64_t living) {
    return (living == 3) | ((living == 2) & value);
}

/* Nodes are a rectangle, as square as their number allows. */
static void lay_out(void) {
    int nodes = trivium_nodes();
    width = (int)options[WIDTH].value, height = (int)options[HEIGHT].value, row = width + 2;
    for (int n = 1; n * n <= nodes; n++) {
        if (nodes % n == 0) down = n;
    }
    across = nodes / down;
    home = malloc(nodes * sizeof *home);
    for (int p = 0; p < nodes; p++) home[p] = trivium_alloc_on(p, 2 * places() * sizeof(struct cell));
}

/* What this node waits for, and what it has twice. */
static void list_copies(int self) {
    for (int y = -1; y <= height; y++) {
        for (int x = -1; x <= width; x++) {
            int64_t cell = cell_at(self, x, y);
            int node = node_of(cell), here = place(x, y);
            home[self][here].value = at_first(cell);
            if (is_own(x, y)) continue;
            int from = copy_of(self, cell);
            if (node == self) from = place((int)(cell % (across * width)) % width, (int)(cell / (across * width)) % height);
            if (from == here) waited[waits++] = here;
            else same[sames][0] = from, same[sames++][1] = here;
        }
    }
}

/* Who has copies of this node's cells: each other node once. */
static void list_updates(int self) {
    int count = 0;
    for (int cell = 0; cell < width * height; cell++) {
        int x = cell % width, y = cell / width;
        first_update[cell] = count;
        for (int i = 0; i < 9; i++) {
            int to = node_of(cell_at(self, x + i % 3 - 1, y + i / 3 - 1)), had = to == self;
            for (int k = first_update[cell]; k < count; k++) had |= updates[k].node == to;
            if (had) continue;
            struct cell *copy = home[to] + copy_of(to, cell_at(self, x, y));
            updates[count++] = (struct update){to, {copy, copy + places()}};
        }
    }
    first_update[width * height] = count;
}

/* Waits until all copies are of this generation. */
static void await(struct cell *now, int64_t generation) {
    for (int i = 0; i < waits; i++) {
        volatile int64_t *of = &now[waited[i]].generation;
        for (int64_t seen; (seen = *of) != generation;) trivium_wait_until_changed64(of, seen);
    }
    for (int i = 0; i < sames; i++) now[same[i][1]].value = now[same[i][0]].value;
}

/* Makes a generation of the one before it, and tells the neighbours. */
static void make(const struct cell *before, struct cell *now, int64_t generation) {
    const struct update *update = updates, *until;
    for (int y = 0, cell = 0; y < height; y++) {
        const struct cell *above = before + place(0, y - 1), *mine = above + row, *below = mine + row;
        struct cell *own = now + place(0, y);
        for (int x = 0; x < width; x++, above++, mine++, below++, own++) {
            int64_t living = above[-1].value + above[0].value + above[1].value + mine[-1].value + mine[1].value + below[-1].value + below[0].value + below[1].value;
            int64_t words[2] = {next(mine->value, living), generation};
            own->value = words[0];
            for (until = updates + first_update[++cell]; update < until; update++) mm_remote_write(update->node, update->to[generation & 1], 0, words, 2);
        }
    }
}

/* The same game on one node, without messages: the cells after all generations. */
static int64_t *alone(void) {
    int columns = across * width, lines = down * height;
    int64_t *now = malloc(columns * lines * sizeof *now), *then = malloc(columns * lines * sizeof *then);
    for (int cell = 0; cell < columns * lines; cell++) now[cell] = at_first(cell);
    for (int64_t generation = 0; generation < options[GENERATIONS].value; generation++) {
        for (int y = 0; y < lines; y++) {
            const int64_t *rows[3] = {now + around(y - 1, lines) * columns, now + y * columns, now + around(y + 1, lines) * columns};
            for (int x = 0; x < columns; x++) {
                int64_t living = -rows[1][x];
                for (int i = 0; i < 9; i++) living += rows[i / 3][around(x + i % 3 - 1, columns)];
                then[y * columns + x] = next(rows[1][x], living);
            }
        }
        int64_t *other = now;
        now = then, then = other;
    }
    free(then);
    return now;
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes();
    int64_t generations = options[GENERATIONS].value, begun = 0;
    lay_out();
    int cells = width * height;
    int64_t *all = trivium_alloc_on(0, (uint64_t)nodes * cells * sizeof *all);
    list_copies(self);
    list_updates(self);
    trivium_barrier();
    trivium_begin();
    struct cell *half[2] = {home[self], home[self] + places()};
    for (int64_t generation = 0; generation < generations; generation++) {
        if (generation == generations / 4) begun = trivium_cycles();
        await(half[generation & 1], generation);
        make(half[generation & 1], half[~generation & 1], generation + 1);
    }
    int64_t cycles = trivium_cycles() - begun;
    mm_fence();
    trivium_barrier();
    trivium_end();

    for (int cell = 0; cell < cells; cell++) all[self * cells + cell] = half[generations & 1][place(cell % width, cell / width)].value;
    trivium_barrier();
    if (self != 0) return 0;
    int64_t *right = alone(), living = 0;
    for (int i = 0; i < nodes * cells; i++) {
        int64_t value = all[i];
        if (value != right[cell_at(i / cells, i % cells % width, i % cells / width)]) trivium_fail("mm-life: a cell is not what one node alone makes of it");
        living += value;
    }
    printf("mm-life: ok, %d cells, %lld of them alive\n", nodes * cells, (long long)living);
    printf("a generation: %.2f cycles\n", (double)cycles / (double)(generations - generations / 4));
    return 0;
}
