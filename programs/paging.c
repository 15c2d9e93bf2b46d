/* paging.c: C = A * B of square matrices that are larger than a node's memory for other nodes' pages.
 *
 * A matrix is cut into tiles, of which each begins a page and lies at its home: all at node 0 (-h 0), or dealt out over the nodes. A node computes rows of
 * tiles of C. For each step, C(i,j) += A(i,k) * B(k,j), it needs three tiles. With -m 0 it just uses them, and page faults bring them. With -m 1 it maps
 * them: it knows in which step it needs each tile again. If no frame is free it unmaps the tile that it needs latest (Belady 1966), and it maps the tiles
 * of later steps (-a) while it computes. Each fault and fetch of a node is counted. Another node compares each tile of C, to the last bit, with what it
 * computes by itself. (In `trivium run` a cycle is a nanosecond.)
 *
 * It needs the protocol mapped, for its data and for its calls:
 *     trivium sim programs/paging.c -p mapped -m typhoon -n 4 --block 1024 --set protocol.frames=200 -- -n 256 -s 16 -m 1
 */
#include <string.h>

#include "options.h"
#include "trivium/mapped.h"

enum { SIZE, SIDE, MAPPED, AHEAD, HOMES, CHECK, OPTIONS };

static struct option options[OPTIONS] = {
    [SIZE] = {'n', 64, 1, 4096, "rows and columns of a matrix"},
    [SIDE] = {'s', 0, 0, 512, "rows and columns of a tile; 0: the largest power of two whose tile fits a page"},
    [MAPPED] = {'m', 1, 0, 1, "0: page faults bring tiles; 1: the program maps and unmaps them"},
    [AHEAD] = {'a', 1, 0, 64, "steps that it maps ahead (-m 1)"},
    [HOMES] = {'h', 1, 0, 1, "0: all tiles live at node 0; 1: they are dealt out over the nodes"},
    [CHECK] = {'c', 1, 0, 1, "0: do not check the answer"},
};

enum { A, B, C, MATRICES };
enum { NEVER = INT32_MAX, MOST_ACROSS = 128 };

struct counts { int64_t faults, fetches; };

static int self, nodes, size, side, across; /* across: tiles in a row of tiles */
static int page, pages;                     /* bytes of a page; pages of a tile */
static char **tiles;                        /* by number */

static int tile_number(int matrix, int row, int column) { return (matrix * across + row) * across + column; }
static int home_of(int tile) { return options[HOMES].value ? tile % nodes : 0; }
static float *elements(int tile) { return (float *)tiles[tile]; }
static int least(int x, int y) { return x < y ? x : y; }
static int used_of(int tile_row) { return least(side, size - tile_row * side); } /* rows, or columns, that are not padding */

static float a_element(int i, int k) { return 1.0f / (float)(1 + (i * 7 + k * 3) % 13); }
static float b_element(int k, int j) { return 1.0f / (float)(2 + (k * 5 + j * 11) % 17); }

/* What the program has mapped, and when it needs each tile. */

static int *uses, *next_use;    /* tiles in the order in which they are used, three a step; where the same tile is used again */
static int steps;
static int *needed;             /* of a tile that is mapped: when it is used next; -1 of others */
static int *mapped, mapped_now; /* the tiles that are mapped */
static int room;                /* tiles that may be mapped at a time */

static void make_plan(void) {
    int rows = self < across ? (across - 1 - self) / nodes + 1 : 0, all = MATRICES * across * across, at = 0;
    steps = rows * across * across;
    uses = malloc(sizeof(int) * (3 * (size_t)steps + 1));
    next_use = malloc(sizeof(int) * (3 * (size_t)steps + 1));
    needed = malloc(sizeof(int) * (size_t)all);
    mapped = malloc(sizeof(int) * (size_t)all);
    for (int i = self; i < across; i += nodes) {
        for (int j = 0; j < across; j++) {
            for (int k = 0; k < across; k++) {
                uses[at++] = tile_number(A, i, k);
                uses[at++] = tile_number(B, k, j);
                uses[at++] = tile_number(C, i, j);
            }
        }
    }
    for (int tile = 0; tile < all; tile++) needed[tile] = NEVER;
    while (at-- > 0) {
        next_use[at] = needed[uses[at]];
        needed[uses[at]] = at;
    }
    for (int tile = 0; tile < all; tile++) needed[tile] = -1;
}

static void map_pages(int tile, int to_write) {
    for (int i = 0; i < pages; i++) {
        void *at = tiles[tile] + i * page;
        if (!(to_write ? mapped_map_write(at) : mapped_map_read(at))) trivium_fail("paging: a frame is missing");
    }
}

static void unmap_pages(int tile) {
    for (int i = 0; i < pages; i++) {
        volatile char *at = tiles[tile] + i * page;
        while (!mapped_unmap((void *)at)) (void)*at; /* it is on its way: a load waits until it has come */
    }
}

static void unmap(int place) {
    unmap_pages(mapped[place]);
    needed[mapped[place]] = -1;
    mapped[place] = mapped[--mapped_now];
}

/* Maps a tile that is used next at `when`. If it must, it unmaps the tile that is used latest; not if that is used before `when`. */
static void map(int tile, int when) {
    if (needed[tile] >= 0 || home_of(tile) == self) return;
    if (mapped_now == room) {
        int latest = 0;
        for (int i = 1; i < room; i++) {
            if (needed[mapped[i]] > needed[mapped[latest]]) latest = i;
        }
        if (needed[mapped[latest]] < when) return;
        unmap(latest);
    }
    map_pages(tile, tile >= tile_number(C, 0, 0));
    needed[tile] = when;
    mapped[mapped_now++] = tile;
}

static void map_for(int step) {
    int end = least(steps, step + 1 + (int)options[AHEAD].value);
    for (int use = 3 * step; use < 3 * end; use++) map(uses[use], use);
}

static void unmap_used(int step) {
    for (int use = 3 * step; use < 3 * step + 3; use++) {
        int tile = uses[use], place = 0;
        if (needed[tile] < 0) continue;
        needed[tile] = next_use[use];
        if (next_use[use] != NEVER) continue;
        while (mapped[place] != tile) place++;
        unmap(place);
    }
}

/* C(i,j) += A(i,k) * B(k,j). Each element is added to in the order of k, whatever the tiles are. */
static void multiply(int i, int j, int k) {
    const float *a = elements(tile_number(A, i, k)), *b = elements(tile_number(B, k, j));
    float *c = elements(tile_number(C, i, j));
    for (int row = 0; row < used_of(i); row++) {
        for (int inner = 0; inner < used_of(k); inner++) {
            float factor = a[row * side + inner];
            for (int column = 0; column < used_of(j); column++) c[row * side + column] += factor * b[inner * side + column];
        }
    }
}

static void compute(void) {
    int step = 0;
    for (int i = self; i < across; i += nodes) {
        for (int j = 0; j < across; j++) {
            for (int k = 0; k < across; k++, step++) {
                if (options[MAPPED].value) map_for(step);
                multiply(i, j, k);
                if (options[MAPPED].value) unmap_used(step);
            }
        }
    }
}

/* Each node's tiles of A and B, by itself: they are at home here, where no frame is needed. C is zero. */
static void fill(void) {
    for (int row = 0; row < size; row++) {
        for (int column = 0; column < size; column++) {
            int at = row % side * side + column % side;
            int a = tile_number(A, row / side, column / side), b = tile_number(B, row / side, column / side);
            if (home_of(a) == self) elements(a)[at] = a_element(row, column);
            if (home_of(b) == self) elements(b)[at] = b_element(row, column);
        }
    }
}

/* The tiles of the next node are computed again, in private memory, row by row. */
static void check(void) {
    float *expected = malloc(sizeof(float) * (size_t)side * (size_t)size);
    for (int i = (self + 1) % nodes; i < across; i += nodes) {
        memset(expected, 0, sizeof(float) * (size_t)side * (size_t)size);
        for (int row = 0; row < used_of(i); row++) {
            for (int k = 0; k < size; k++) {
                float factor = a_element(i * side + row, k);
                for (int column = 0; column < size; column++) expected[row * size + column] += factor * b_element(k, column);
            }
        }
        for (int j = 0; j < across; j++) {
            int tile = tile_number(C, i, j);
            if (options[MAPPED].value) map_pages(tile, 0);
            for (int row = 0; row < used_of(i); row++) {
                if (memcmp(elements(tile) + row * side, expected + row * size + j * side, sizeof(float) * (size_t)used_of(j))) {
                    trivium_fail("paging: the product is wrong");
                }
            }
            if (options[MAPPED].value) unmap_pages(tile);
        }
    }
}

static int side_of_a_page(void) {
    int fits = 1;
    while (4 * fits * fits * (int)sizeof(float) <= page) fits *= 2;
    return fits;
}

/* Allocates the tiles, each at its home and at the beginning of a page. */
static void make_tiles(void) {
    int all = MATRICES * across * across, *before = calloc((size_t)nodes, sizeof(int));
    char **parts = calloc((size_t)nodes, sizeof(char *));
    tiles = malloc(sizeof(char *) * (size_t)all);
    for (int tile = 0; tile < all; tile++) before[home_of(tile)]++;
    for (int p = 0; p < nodes; p++) {
        if (before[p] > 0) parts[p] = trivium_alloc_on_under("mapped", p, (uint64_t)before[p] * (uint64_t)pages * (uint64_t)page);
        if (before[p] > 0) trivium_name(parts[p], "tiles");
        before[p] = 0;
    }
    for (int tile = 0; tile < all; tile++) {
        int p = home_of(tile);
        tiles[tile] = parts[p] + (int64_t)before[p]++ * pages * page;
    }
}

/* Says on one node why it cannot go on, and ends the program on all. */
static void refuse(const char *why, int there, int wanted) {
    if (self == 0) fprintf(stderr, why, there, wanted);
    exit(2);
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    self = trivium_node();
    nodes = trivium_nodes();
    size = (int)options[SIZE].value;

    /* What each node has counted, in a page of its own. */
    struct counts **counts = malloc(sizeof(struct counts *) * (size_t)nodes);
    for (int p = 0; p < nodes; p++) counts[p] = trivium_alloc_on_under("mapped", p, sizeof(struct counts));
    page = (int)mapped_page_bytes(counts[0]);
    side = options[SIDE].value ? (int)options[SIDE].value : side_of_a_page();
    across = (size - 1) / side + 1;
    if (across > MOST_ACROSS) refuse("paging: a matrix has %d tiles in a row, and may have %d: make them larger (-s)\n", across, MOST_ACROSS);
    pages = (side * side * (int)sizeof(float) - 1) / page + 1;
    int frames = (int)mapped_free_frames();
    room = frames / pages;
    if (options[MAPPED].value && room < 3) refuse("paging: a node has %d frames, and three tiles need %d\n", frames, 3 * pages);

    make_tiles();
    fill();
    trivium_barrier();

    trivium_begin();
    int64_t begun = trivium_cycles();
    if (options[MAPPED].value) make_plan();
    compute();
    *counts[self] = (struct counts){mapped_faults(), mapped_fetches()};
    trivium_barrier();
    int64_t ended = trivium_cycles();
    trivium_end();

    if (options[CHECK].value) check();
    trivium_barrier();
    if (self == 0) {
        struct counts all = {0, 0};
        for (int p = 0; p < nodes; p++) {
            int mapped_here = options[MAPPED].value && mapped_map_read(counts[p]);
            all.faults += counts[p]->faults;
            all.fetches += counts[p]->fetches;
            if (mapped_here) mapped_unmap(counts[p]);
        }
        printf("paging: %d x %d elements, %d tiles of a matrix, %d page%s of %d bytes a tile, %d frames of a node\n", size, size, across * across, pages,
               pages == 1 ? "" : "s", page, frames);
        printf("paging: %s, %lld page faults, %lld pages fetched, %lld cycles\n", options[MAPPED].value ? "mapped by the program" : "left to page faults",
               (long long)all.faults, (long long)all.fetches, (long long)(ended - begun));
        printf("paging: ok%s\n", options[CHECK].value ? "" : ", not checked");
    }
    return 0;
}
