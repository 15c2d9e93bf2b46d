/* splitphase.c: accesses that do not wait, in the manner of Split-C, under the protocol swcc.
 *
 * Each processor owns a table of words. In each round it gets words that it does not own, all under
 * way at once, and after a `sync` puts what it has made of them into its own column of the tables of
 * all processors, and stores one into its neighbour's mailbox. Every processor computes what the
 * rounds must come to alone, in private memory, and compares.
 */
#include "options.h"
#include "random.h"

#include <string.h>

#include <trivium/swcc.h>

enum { WORDS, ROUNDS, GETS, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [WORDS] = {'n', 16, 1, 4096, "words in each processor's column of a table"},
    [ROUNDS] = {'i', 4, 1, 1000, "rounds"},
    [GETS] = {'k', 24, 1, 4096, "words that a processor gets in a round"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the choices"},
};

static int processors, words;

/* Word `i` of `writer`'s column in a table. */
static int64_t *column(int64_t *table, int writer, int64_t i) { return table + writer * words + i; }

static void get(int64_t *from, int64_t *to) {
    while (!swcc_get(from, from, sizeof *from, (int64_t)(uintptr_t)to)) swcc_sync();
}

/* The word at `from` stays as it is until the next `swcc_sync`. */
static void put(int64_t *to, const int64_t *from) {
    while (!swcc_put(to, to, sizeof *to, (int64_t)(uintptr_t)from)) swcc_sync();
}

static void store(int64_t *to, const int64_t *from) {
    while (!swcc_store(to, to, sizeof *to, (int64_t)(uintptr_t)from)) swcc_sync();
}

/* Where a processor's k-th word of a round comes from. */
static void choose(uint64_t *random, int *owner, int *writer, int64_t *i) {
    *owner = (int)random_below(random, processors);
    *writer = (int)random_below(random, processors);
    *i = random_below(random, words);
}

static uint64_t seed_of(int self, int round) {
    return ((uint64_t)options[SEED].value * 1009 + (uint64_t)round) * 65537 + (uint64_t)self;
}

/* What a processor makes of what it got. */
static int64_t mix(const int64_t *got, int64_t count, int self, int round) {
    uint64_t all = (uint64_t)(self * 31 + round + 1);
    for (int64_t k = 0; k < count; k++) all = all * 6364136223846793005u + (uint64_t)got[k];
    return (int64_t)(all >> 1);
}

/* The rounds on one processor alone. */
static void check(int64_t **tables, int64_t *mailboxes) {
    int64_t size = (int64_t)processors * words, gets = options[GETS].value;
    int64_t *now = calloc(size * processors, sizeof *now), *next = malloc(size * processors * sizeof *next);
    int64_t *mail = calloc(processors, sizeof *mail), *got = malloc(gets * sizeof *got);
    if (!now || !next || !mail || !got) trivium_fail("splitphase: out of private memory: lower -n");
    for (int round = 0; round < options[ROUNDS].value; round++) {
        memcpy(next, now, size * processors * sizeof *next);
        for (int p = 0; p < processors; p++) {
            uint64_t random = seed_of(p, round);
            for (int64_t k = 0; k < gets; k++) {
                int owner, writer;
                int64_t i;
                choose(&random, &owner, &writer, &i);
                got[k] = now[owner * size + writer * words + i];
            }
            int64_t made = mix(got, gets, p, round);
            for (int owner = 0; owner < processors; owner++) {
                for (int64_t i = 0; i < words; i++) next[owner * size + p * words + i] = made + owner + i;
            }
            mail[(p + 1) % processors] = made;
        }
        memcpy(now, next, size * processors * sizeof *now);
    }
    for (int owner = 0; owner < processors; owner++) {
        for (int64_t i = 0; i < size; i++) {
            if (tables[owner][i] != now[owner * size + i]) {
                printf("splitphase: word %lld of table %d is %lld, not %lld\n", (long long)i, owner,
                       (long long)tables[owner][i], (long long)now[owner * size + i]);
                trivium_fail("splitphase: wrong answer");
            }
        }
        if (mailboxes[owner] != mail[owner]) {
            printf("splitphase: mail of %d is %lld, not %lld\n", owner, (long long)mailboxes[owner],
                   (long long)mail[owner]);
            trivium_fail("splitphase: wrong answer");
        }
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node();
    processors = trivium_nodes();
    words = (int)options[WORDS].value;
    int64_t gets = options[GETS].value, *got = calloc(gets, sizeof *got);
    int64_t **tables = malloc(sizeof *tables * processors);
    int64_t *sent = malloc(sizeof *sent * processors * words);
    if (!got || !tables || !sent) trivium_fail("splitphase: out of private memory: lower -k or -n");
    for (int p = 0; p < processors; p++) {
        tables[p] = trivium_alloc_on(p, (uint64_t)processors * words * sizeof(int64_t));
    }
    /* Words of different processors in one block: they are stored to at the same time. */
    int64_t *mailboxes = trivium_alloc_on(0, processors * sizeof(int64_t));
    trivium_barrier();
    trivium_begin();
    for (int round = 0; round < options[ROUNDS].value; round++) {
        uint64_t random = seed_of(self, round);
        for (int64_t k = 0; k < gets; k++) {
            int owner, writer;
            int64_t i;
            choose(&random, &owner, &writer, &i);
            get(column(tables[owner], writer, i), &got[k]);
        }
        swcc_sync();
        trivium_barrier();
        __asm__ volatile("" ::: "memory"); /* the gets have changed `got` */
        int64_t made = mix(got, gets, self, round);
        for (int64_t k = 0; k < (int64_t)processors * words; k++) sent[k] = made + k / words + k % words;
        __asm__ volatile("" ::: "memory"); /* the puts look at `sent` */
        for (int owner = 0; owner < processors; owner++) {
            for (int64_t i = 0; i < words; i++) put(column(tables[owner], self, i), &sent[owner * words + i]);
        }
        store(&mailboxes[(self + 1) % processors], &sent[0]);
        swcc_sync();
        trivium_barrier();
    }
    trivium_end();
    check(tables, mailboxes);
    trivium_barrier();
    if (self == 0) printf("splitphase: ok, %lld rounds\n", (long long)options[ROUNDS].value);
    return 0;
}
