/* units.sc: what the parts of a program's time cost, by kind: a round trip, a hit, a get by itself, one of several under way. Kinds are those of the
 * source's cost model (Krashinsky and Machnicki, SWCC-Split-C, 1999): who has the block decides. All processors do the same at
 * once, each with the next one's data, as the programs of the study do. Each word lies in a block of its own. Prints the mean times of processor 0
 * in cycles (run: nanoseconds); an access's loop is taken from the hit only. The region of interest is empty: its time is what a region costs by itself.
 */
#include <string.h>

#include "options.h"

enum { COUNT, NEW, BLOCK, APART, TILE, AGAIN, ROUNDS, OPTIONS };

static struct option options[OPTIONS] = {
    [COUNT] = {'n', 1000, 16, 20000, "words of each kind"},
    [NEW] = {'f', 1000, 1, 20000, "words, and blocks of tiles, that are fetched for the first time: the first of them cost most"},
    [BLOCK] = {'b', 256, 8, 8192, "bytes of a block"},
    [APART] = {'w', 0, 0, 8192, "bytes from one word to the next, if that is more than a block"},
    [TILE] = {'t', 128, 8, 131072, "bytes of a bulk get; sync follows each"},
    [AGAIN] = {'a', 4, 1, 100000, "how often each word is read again"},
    [ROUNDS] = {'r', 3, 1, 100, "how often words are written by their owner and read again by the other"},
};

static int count, step;

static void tell(const char *what, double cycles, double accesses) {
    if (MYPROC == 0) printf("%-14s %12.2f\n", what, cycles / accesses);
}

static void check(int is_right) {
    if (!is_right) trivium_fail("units: another value");
}

/* Reads words once: a round trip each, unless the processor has it. */
static int64_t reads(double *global words, int words_count) {
    double sum = 0;
    int64_t begun = trivium_cycles();
    for (int i = 0; i < words_count; i++) sum += words[i * step];
    int64_t took = trivium_cycles() - begun;
    check(sum == (double)words_count * (words_count - 1) / 2);
    return took;
}

/* Reads a few words that are there again and again; the same loop over private memory is taken from it. */
static int64_t hits(double *global words, volatile double *own) {
    int few = 16, again = (int)options[AGAIN].value * count / few;
    double sum = 0, same = 0;
    int64_t begun = trivium_cycles();
    for (int k = 0; k < again; k++) {
        for (int i = 0; i < few; i++) sum += words[i * step];
    }
    int64_t middle = trivium_cycles();
    for (int k = 0; k < again; k++) {
        for (int i = 0; i < few; i++) same += own[i * step];
    }
    int64_t end = trivium_cycles();
    check(sum == same);
    return (middle - begun) - (end - middle);
}

static int64_t writes(double *global words) {
    int64_t begun = trivium_cycles();
    for (int i = 0; i < count; i++) words[i * step] = i;
    return trivium_cycles() - begun;
}

/* Gets of tiles, which lie `apart` bytes from one another, one bulk get and its sync after the other. */
struct tiles {
    int count, bytes, apart;
};

static int64_t gets(struct tiles tiles, char *global from, void *to) {
    int64_t begun = trivium_cycles();
    for (int i = 0; i < tiles.count; i++) {
        bulk_get(to, from + (size_t)i * tiles.apart, tiles.bytes);
        sync();
        check(*(double *)to == i);
    }
    return trivium_cycles() - begun;
}

/* Writes a word of each block of the tiles. */
static void take(struct tiles tiles, char *global from) {
    for (int i = 0; i < tiles.count; i++) {
        char *global tile = from + (size_t)i * tiles.apart;
        for (int k = 0; k < tiles.bytes; k += 8) {
            char *global word = tile + k;
            int is_first = k == 0 || (uintptr_t)tolocal(word) / options[BLOCK].value != (uintptr_t)tolocal(word - 8) / options[BLOCK].value;
            if (is_first) *(double *global)word = i;
        }
    }
}

/* Memory of each processor, which begins where a block does, and which its owner has written. */
static char *aligned(size_t bytes) {
    size_t block = options[BLOCK].value;
    uintptr_t at = (uintptr_t)tolocal(all_spread_malloc(PROCS, bytes + block));
    return memset((char *)((at + block - 1) / block * block), 0, bytes);
}

/* Words of each processor, in which their numbers are. */
static double *numbered(int words_count) {
    double *cells = (double *)aligned((size_t)words_count * step * sizeof(double));
    for (int i = 0; i < words_count; i++) toglobal(MYPROC, cells)[i * step] = i;
    return cells;
}

static void accesses(int next) {
    int new = (int)options[NEW].value;
    double *first = numbered(new), *cells = numbered(count), *own = malloc(16 * step * sizeof(double));
    double *global mine = toglobal(MYPROC, cells), *global others = toglobal(next, cells);
    for (int i = 0; i < 16; i++) own[i * step] = i;
    barrier();
    tell("read new", reads(toglobal(next, first), new), new);
    barrier();
    reads(others, count);
    barrier();
    tell("hit", hits(others, own), (double)(options[AGAIN].value * count / 16) * 16);
    barrier();
    int64_t upgrade = 0, read = 0;
    for (int k = 0; k < options[ROUNDS].value; k++) {
        upgrade += writes(mine);
        barrier();
        read += reads(others, count);
        barrier();
    }
    tell("upgrade", upgrade, (double)count * options[ROUNDS].value);
    tell("read", read, (double)count * options[ROUNDS].value);
    tell("write", writes(others), count);
    barrier();
    tell("read lent", reads(mine, count), count);
    barrier();
}

static int at_least(int least, size_t number) { return number > (size_t)least ? (int)number : least; }

/* Memory for tiles, in which their numbers are. */
static char *tiles_of(struct tiles tiles) {
    int begin = options[BLOCK].value > 8 ? 8 : 0;
    char *cells = aligned((size_t)tiles.count * tiles.apart);
    for (int i = 0; i < tiles.count; i++) *(double *global)toglobal(MYPROC, cells + begin + (size_t)i * tiles.apart) = i;
    return cells;
}

/* A tile begins 8 bytes behind a multiple of 16, as spread data do, and lies in blocks of its own. Times are of one of its blocks. */
static void bulk(int next) {
    int block = (int)options[BLOCK].value, bytes = (int)options[TILE].value, begin = block > 8 ? 8 : 0;
    struct tiles tiles = {.bytes = bytes, .apart = (begin + bytes + block - 1) / block * block};
    struct tiles new = tiles;
    tiles.count = at_least(1, (size_t)count * block / tiles.apart), new.count = at_least(1, (size_t)options[NEW].value * block / tiles.apart);
    double in_tile = tiles.apart / block, blocks = tiles.count * in_tile;
    char *first = tiles_of(new) + begin, *cells = tiles_of(tiles) + begin, *to = memset(malloc(bytes), 0, bytes);
    char *global mine = toglobal(MYPROC, cells), *global others = toglobal(next, cells);
    barrier();
    tell("get home", gets(tiles, mine, to), blocks);
    barrier();
    tell("get new", gets(new, toglobal(next, first), to), new.count * in_tile);
    barrier();
    gets(tiles, others, to);
    barrier();
    tell("get hit", gets(tiles, others, to), blocks);
    barrier();
    take(tiles, mine);
    barrier();
    tell("get", gets(tiles, others, to), blocks);
    barrier();
    take(tiles, others);
    barrier();
    tell("get lent", gets(tiles, mine, to), blocks);
    barrier();
}

int splitc_main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    count = (int)options[COUNT].value, step = (int)((options[APART].value > options[BLOCK].value ? options[APART].value : options[BLOCK].value) / sizeof(double));
    int next = (MYPROC + 1) % PROCS;
    barrier();
    trivium_begin();
    trivium_end();
    accesses(next);
    bulk(next);
    if (MYPROC == 0) printf("units: ok\n");
    return 0;
}
