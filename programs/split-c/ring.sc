/* ring.sc: a number goes round the processors, and each adds its own: split-phase puts, and the signalling store. For teaching. */
#include "options.h"

enum { ROUNDS, OPTIONS };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'r', 5, 1, 100000, "rounds"},
};

/* What a processor is handed: each on its own, at the same local address. */
static long token;
static long copy;

int splitc_main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    long rounds = options[ROUNDS].value;
    int next = (MYPROC + 1) % PROCS;
    long *global there = toglobal(next, &token);
    long *global here = toglobal(MYPROC, &token);
    barrier();
    for (long round = 0; round < rounds; round++) {
        /* Processor 0 begins each round; the others wait until they are handed the number. */
        if (MYPROC > 0 || round > 0) store_sync(sizeof(long));
        long with_mine = *here + MYPROC + 1;
        *there :- with_mine;
    }
    if (MYPROC == 0) store_sync(sizeof(long));
    all_store_sync();
    long sum = rounds * PROCS * (PROCS + 1) / 2;
    if (MYPROC == 0) {
        if (*here != sum) {
            printf("ring: the number is %ld, not %ld\n", *here, sum);
            trivium_fail("ring: wrong answer");
        }
        /* Now everybody gets it, without waiting for each put. */
        for (int p = 0; p < PROCS; p++) {
            long *global theirs = toglobal(p, &copy);
            *theirs := sum;
        }
        sync();
    }
    barrier();
    long seen;
    seen := *toglobal(MYPROC, &copy);
    sync();
    if (all_reduce_to_all_add(seen == sum) != PROCS) trivium_fail("ring: not everybody has the sum");
    if (MYPROC == 0) printf("ring: ok, %ld after %ld rounds of %d processors\n", sum, rounds, PROCS);
    return 0;
}
