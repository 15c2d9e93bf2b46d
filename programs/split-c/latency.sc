/* latency.sc: what a read and a write of a word cost, by where it lies and who has its block (Krashinsky and Machnicki, SWCC-Split-C, 1999, tables of
 * reads and writes). Each row has blocks of its own; helpers bring them into the row's state, and then processor 0 measures one access of
 * each. Without helpers (fewer processors) a row is left out. With a protocol without copies, rows differ by the place only.
 */
#include "options.h"

enum { COUNT, STRIDE, OPTIONS };

static struct option options[OPTIONS] = {
    [COUNT] = {'n', 16, 1, 64, "accesses of each row"},
    [STRIDE] = {'b', 64, 8, 1024, "bytes from one word to the next: at least a block's"},
};

enum { HOME_HERE = 0, HOME_THERE = 1, NOBODY = 0, LOADS, STORES };

/* What processors do before the measurement, in this order: `other` is processor 2, `third` 3. */
struct row {
    const char *what;
    int is_write, home;
    int other, owner, third, self; /* NOBODY, LOADS or STORES; `owner` is the home, if that is not the one who measures */
};

static const struct row rows[] = {
    {"read  local,  owner self", 0, 0, STORES, 0, 0, STORES},
    {"read  local,  owner other", 0, 0, STORES, 0, 0, 0},
    {"read  local,  shared", 0, 0, LOADS, 0, 0, 0},
    {"read  local,  not present", 0, 0, 0, 0, 0, 0},
    {"read  remote, modified here", 0, 1, 0, 0, 0, STORES},
    {"read  remote, shared here", 0, 1, 0, 0, 0, LOADS},
    {"read  remote, home owns it", 0, 1, STORES, STORES, 0, 0},
    {"read  remote, other owns it", 0, 1, STORES, 0, 0, 0},
    {"read  remote, home shares it", 0, 1, LOADS, 0, 0, 0},
    {"read  remote, not present", 0, 1, 0, 0, 0, 0},
    {"write local,  owner self", 1, 0, STORES, 0, 0, STORES},
    {"write local,  owner other", 1, 0, STORES, 0, 0, 0},
    {"write local,  shared, one reader", 1, 0, LOADS, 0, 0, 0},
    {"write local,  not present", 1, 0, 0, 0, 0, 0},
    {"write remote, modified here", 1, 1, 0, 0, 0, STORES},
    {"write remote, shared here, no other reader", 1, 1, 0, 0, 0, LOADS},
    {"write remote, shared here, 1 other reader", 1, 1, LOADS, 0, 0, LOADS},
    {"write remote, shared here, 2 other readers", 1, 1, LOADS, 0, LOADS, LOADS},
    {"write remote, home owns it", 1, 1, STORES, STORES, 0, 0},
    {"write remote, other owns it", 1, 1, STORES, 0, 0, 0},
    {"write remote, home shares it, one reader", 1, 1, LOADS, 0, 0, 0},
    {"write remote, home not present", 1, 1, 0, 0, 0, 0},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* The words of a row, on its home. */
static int *global words_of(int row, int *cells) {
    return toglobal(rows[row].home, cells + row * options[COUNT].value * options[STRIDE].value / (int)sizeof(int));
}

/* Does what a row wants before it, to all of its words; a store leaves the number of the word. */
static void prepare(int *global words, int does) {
    int step = (int)options[STRIDE].value / (int)sizeof(int);
    for (int i = 0; i < options[COUNT].value; i++) {
        if (does == LOADS && words[i * step] != 0) trivium_fail("latency: a word is not zero at first");
        if (does == STORES) words[i * step] = i;
    }
}

static void measure(int row, int *global words) {
    int step = (int)options[STRIDE].value / (int)sizeof(int), count = (int)options[COUNT].value;
    int stored = rows[row].other == STORES || rows[row].owner == STORES || rows[row].self == STORES;
    int64_t begun = trivium_cycles();
    for (int i = 0; i < count; i++) {
        if (rows[row].is_write) {
            words[i * step] = -i;
        } else if (words[i * step] != (stored ? i : 0)) {
            trivium_fail("latency: another value");
        }
    }
    int64_t took = trivium_cycles() - begun;
    printf("%-44s %8.1f\n", rows[row].what, (double)took / count);
}

int splitc_main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    size_t bytes = (size_t)ROWS * options[COUNT].value * options[STRIDE].value;
    int *cells = tolocal(all_spread_malloc(PROCS, bytes + options[STRIDE].value));
    /* So that no two words share a block. */
    cells = (int *)(((uintptr_t)cells + options[STRIDE].value - 1) / options[STRIDE].value * options[STRIDE].value);
    if (MYPROC == 0) printf("an access of processor 0, in cycles (run: nanoseconds), with the loop around it\n");
    for (int row = 0; row < ROWS; row++) {
        const struct row *r = &rows[row];
        int needs = r->third ? 4 : r->other ? 3 : r->home + 1;
        int *global words = words_of(row, cells);
        int does[4] = {r->self, r->owner, r->other, r->third}, order[4] = {2, 1, 3, 0};
        for (int step = 0; step < 4; step++) {
            barrier();
            int who = order[step];
            if (PROCS >= needs && MYPROC == who) prepare(words, does[who]);
        }
        barrier();
        if (MYPROC == 0 && PROCS >= needs) measure(row, words);
        barrier();
        /* What was written is there for all. */
        if (r->is_write && MYPROC == PROCS - 1 && PROCS >= needs) {
            int step = (int)options[STRIDE].value / (int)sizeof(int);
            for (int i = 0; i < options[COUNT].value; i++) {
                if (words[i * step] != -i) trivium_fail("latency: a write is lost");
            }
        }
        barrier();
    }
    if (MYPROC == 0) printf("latency: ok\n");
    return 0;
}
