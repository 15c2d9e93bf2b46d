/* units.sc: what the parts of a program's time cost: a round trip, a hit, a get, a store that takes a copy back. All processors do the same at once, each
 * with the next one's words, as the programs of the study do. Every word lies in a block of its own. Prints the mean times of processor 0, in cycles
 * (run: nanoseconds), and takes the loop around an access from none but the hit.
 */
#include "options.h"

enum { COUNT, STRIDE, AGAIN, OPTIONS };

static struct option options[OPTIONS] = {
    [COUNT] = {'n', 1000, 16, 20000, "words of each kind"},
    [STRIDE] = {'b', 256, 8, 8192, "bytes from one word to the next: at least a block's"},
    [AGAIN] = {'a', 4, 1, 100000, "how often each word is read again"},
};

static int count, step;

static void tell(const char *what, int64_t cycles, double accesses) {
    if (MYPROC == 0) printf("%-10s %12.2f\n", what, cycles / accesses);
}

static void check(int is_right) {
    if (!is_right) trivium_fail("units: another value");
}

/* Reads each word once: a round trip, unless the processor has it. */
static int64_t reads(double *global words) {
    double sum = 0;
    int64_t begun = trivium_cycles();
    for (int i = 0; i < count; i++) sum += words[i * step];
    int64_t took = trivium_cycles() - begun;
    check(sum == (double)count * (count - 1) / 2);
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

/* Gets each word: many are under way at once. */
static int64_t gets(double *global words, double *to) {
    int64_t begun = trivium_cycles();
    for (int i = 0; i < count; i++) bulk_get(to + i, words + i * step, sizeof(double));
    sync();
    int64_t took = trivium_cycles() - begun;
    for (int i = 0; i < count; i++) check(to[i] == i);
    return took;
}

static int64_t writes(double *global words) {
    int64_t begun = trivium_cycles();
    for (int i = 0; i < count; i++) words[i * step] = i;
    return trivium_cycles() - begun;
}

int splitc_main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    count = (int)options[COUNT].value, step = (int)(options[STRIDE].value / sizeof(double));
    size_t bytes = (size_t)count * options[STRIDE].value;
    double *cells[3], *to = malloc(count * sizeof *to), *own = malloc(16 * options[STRIDE].value);
    for (int k = 0; k < 3; k++) {
        cells[k] = tolocal(all_spread_malloc(PROCS, bytes + options[STRIDE].value));
        cells[k] = (double *)(((uintptr_t)cells[k] + options[STRIDE].value - 1) / options[STRIDE].value * options[STRIDE].value);
        for (int i = 0; i < count; i++) toglobal(MYPROC, cells[k])[i * step] = i;
    }
    for (int i = 0; i < 16; i++) own[i * step] = i;
    int next = (MYPROC + 1) % PROCS;
    barrier();
    tell("read", reads(toglobal(next, cells[0])), count);
    barrier();
    tell("hit", hits(toglobal(next, cells[0]), own), (double)(options[AGAIN].value * count / 16) * 16);
    barrier();
    tell("upgrade", writes(toglobal(MYPROC, cells[0])), count);
    barrier();
    tell("write", writes(toglobal(next, cells[1])), count);
    barrier();
    tell("get", gets(toglobal(next, cells[2]), to), count);
    barrier();
    tell("get again", gets(toglobal(next, cells[2]), to), count);
    barrier();
    if (MYPROC == 0) printf("units: ok\n");
    return 0;
}
