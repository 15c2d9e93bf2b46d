/* samplesort.sc: every processor has numbers; afterwards all are in order over the processors. Splitters are chosen from samples, each processor
 * sends its numbers to where they belong by bulk stores, and sorts what it was sent. For teaching. */
#include "options.h"
#include "random.h"

enum { COUNT, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [COUNT] = {'n', 200, 1, 20000, "numbers of each processor"},
    [SEED] = {'g', 1, 0, 1000000, "seed"},
};

enum { SAMPLES = 16 };

static int by_value(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static void fill(long *numbers, int processor, int n) {
    uint64_t random = (uint64_t)options[SEED].value << 32 | (uint64_t)processor;
    for (int i = 0; i < n; i++) numbers[i] = (long)random_below(&random, 1000000);
}

/* Where each processor's numbers go to: how many, and from which place on. The place of row `from` and column `to`. */
static int place(int from, int to) { return from * PROCS + to; }

int splitc_main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int n = (int)options[COUNT].value, me = MYPROC, all = PROCS;
    long *own = malloc(n * sizeof *own);
    fill(own, me, n);
    qsort(own, n, sizeof *own, by_value);

    /* Samples lie on processor 0, which chooses the splitters. */
    long *spread table = all_spread_malloc(all, (SAMPLES * all + all) * sizeof(long));
    long *global samples = toglobal(0, (long *)tolocal(table)), *global splitters = samples + SAMPLES * all;
    int *spread counts = all_spread_malloc(all, all * all * sizeof(int));
    int *global count = toglobal(0, (int *)tolocal(counts));
    for (int i = 0; i < SAMPLES; i++) samples[me * SAMPLES + i] := own[(long)i * n / SAMPLES];
    sync();
    barrier();
    if (me == 0) {
        long *chosen = malloc(SAMPLES * all * sizeof *chosen);
        bulk_read(chosen, samples, SAMPLES * all * sizeof(long));
        qsort(chosen, SAMPLES * all, sizeof *chosen, by_value);
        for (int p = 1; p < all; p++) splitters[p] = chosen[p * SAMPLES];
    }
    barrier();

    /* Which of the own numbers go where, and where there. */
    int *first = malloc((all + 1) * sizeof *first);
    for (int p = 0, i = 0; p <= all; p++) {
        long to = p > 0 && p < all ? splitters[p] : 0;
        while (p > 0 && i < n && (p == all || own[i] < to)) i++;
        first[p] = i;
    }
    for (int p = 0; p < all; p++) count[place(me, p)] = first[p + 1] - first[p];
    barrier();
    long *spread room = all_spread_malloc(all, (size_t)n * all * sizeof(long));
    long *rooms = tolocal(room);
    int got = 0;
    for (int from = 0; from < all; from++) got += count[place(from, me)];
    for (int p = 0; p < all; p++) {
        int at = 0;
        for (int from = 0; from < me; from++) at += count[place(from, p)];
        bulk_store(toglobal(p, rooms + at), own + first[p], (first[p + 1] - first[p]) * sizeof(long));
    }
    all_store_sync();
    long *sorted = malloc((got + 1) * sizeof *sorted);
    bulk_read(sorted, toglobal(me, rooms), got * sizeof(long));
    qsort(sorted, got, sizeof *sorted, by_value);
    bulk_write(toglobal(me, rooms), sorted, got * sizeof(long));
    int sum = all_reduce_to_all_add(got);
    barrier();

    if (me == 0) {
        long *ought = malloc((size_t)n * all * sizeof *ought), at = 0;
        for (int p = 0; p < all; p++) fill(ought + (size_t)p * n, p, n);
        qsort(ought, (size_t)n * all, sizeof *ought, by_value);
        for (int p = 0; p < all; p++) {
            int has = 0;
            for (int from = 0; from < all; from++) has += count[place(from, p)];
            for (int i = 0; i < has; i++, at++) {
                long is = toglobal(p, rooms)[i];
                if (is == ought[at]) continue;
                printf("samplesort: number %ld is %ld, not %ld\n", at, is, ought[at]);
                trivium_fail("samplesort: wrong answer");
            }
        }
        if (sum != n * all) trivium_fail("samplesort: numbers are lost");
        printf("samplesort: ok, %d numbers of %d processors\n", sum, all);
    }
    barrier();
    return 0;
}
