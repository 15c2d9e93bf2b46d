/* locktime.c: how long it takes to get a lock that is free, and one for which all others wait.
 *
 * The lock is one by linked loads and conditional stores; -DMCS has Mellor-Crummey and Scott's, -DTICKET that of trivium.h (all of baselines.h); -DFLASH=flash_lock
 * that of the protocol flash-lock, whose header -DFLASH_HEADER names, and so for its variants.
 * A free lock (-m 0 to 3): node P has had it, and all is quiet; node Q asks for it. One that is waited for (-m 4): node 0 has it, and the others
 * ask one after the other, in the order of their numbers. Node 0 gives it back; each of the others gives it back as soon as it has it. Times are
 * from the return of one call to that of another, in the processor's cycles, and the mean of -r times. Or all nodes together have it -n times (-m 5),
 * for -c cycles each, and stay away for up to -t: the time of all. With -DBARS=400 it is told then how often it took how long to get a lock that was
 * free, and one that another node had: up to 1 microsecond of 400 cycles, 2 .. 10, 20 .. 100, and more.
 */
#ifndef BASELINE_LAST_BOUND
#define BASELINE_FIRST_BOUND 100
#define BASELINE_LAST_BOUND 12800
#endif
#include "baselines.h"
#include "options.h"

enum { MODE, HOME, ROUNDS, EARLIER, QUIET, APART, ENTRIES, HOLD, AWAY, SEED, OPTIONS };
enum { HOME_TO_REMOTE, REMOTE_TO_HOME, REMOTE_TO_REMOTE, SAME_NODE, CONTENDED, AT_RANDOM };

static struct option options[OPTIONS] = {
    [MODE] = {'m', 4, 0, 5, "0 the home had it and a remote node asks, 1 the other way round, 2 two remote nodes, 3 the same node again, 4 all wait, 5 at random"},
    [HOME] = {'h', 0, 0, 1, "the lock's home"},
    [ROUNDS] = {'r', 3, 1, 100, "times that are measured"},
    [EARLIER] = {'e', 2, 0, 100, "times before that"},
    [QUIET] = {'q', 10000, 1, 10000000, "cycles until all is quiet"},
    [APART] = {'a', 4000, 0, 10000000, "cycles from one node's asking to the next one's"},
    [ENTRIES] = {'n', 3200, 1, 10000000, "times that all nodes together have it"},
    [HOLD] = {'c', 800, 0, 1000000, "cycles for which a node has it"},
    [AWAY] = {'t', 8000, 0, 1000000, "longest time to the next asking, in cycles"},
    [SEED] = {'g', 1, 0, 1000000, "seed of those times"},
};

#if defined FLASH
#include FLASH_HEADER
#define FLASH_CALL_OF(protocol, call) protocol##_##call
#define FLASH_CALL(protocol, call) FLASH_CALL_OF(protocol, call)
/* A lock's home is the node of its number. */
static int32_t the_lock;
static void make_lock(int home) { the_lock = home; }
static inline void lock(void) { FLASH_CALL(FLASH, acquire)(the_lock); }
static inline void unlock(void) { FLASH_CALL(FLASH, release)(the_lock); }
#elif defined MCS
static mcs_lock_t the_lock;
static void make_lock(int home) { the_lock = mcs_lock_make(home); }
static inline void lock(void) { mcs_lock(&the_lock); }
static inline void unlock(void) { mcs_unlock(&the_lock); }
#elif defined TICKET
static trivium_lock_t *the_lock;
static void make_lock(int home) { the_lock = trivium_alloc_on(home, BASELINE_LINE); }
static inline void lock(void) { trivium_lock(the_lock); }
static inline void unlock(void) { trivium_unlock(the_lock); }
#else
static llsc_lock_t *the_lock;
static void make_lock(int home) { the_lock = llsc_lock_make(home); }
static inline void lock(void) { llsc_lock(the_lock); }
static inline void unlock(void) { llsc_unlock(the_lock); }
#endif

/* When a node's calls have begun and returned. */
typedef struct {
    int64_t asks, has, gives;
} times_t;

/* Not inlined, so that it is the same code whatever is around it. */
__attribute__((noinline)) static void acquire(times_t *times) {
    times->asks = trivium_cycles();
    lock();
    times->has = trivium_cycles();
}

__attribute__((noinline)) static void release(times_t *times) {
    unlock();
    times->gives = trivium_cycles();
}

static void wait_for(int64_t cycles) {
    for (int64_t until = trivium_cycles() + cycles; trivium_cycles() < until;) {
    }
}

static void quiet(void) {
    trivium_barrier();
    wait_for(options[QUIET].value);
}

/* P has the lock, and then Q. */
static void free_lock(int self, int p, int q, times_t *mine) {
    if (self == p) {
        acquire(mine);
        release(mine);
    }
    quiet();
    if (self == q) {
        acquire(mine);
        release(mine);
    }
}

/* Each round it is given back at another moment of the others' looking at it: who gets it first depends on that. */
static void contended_lock(int self, int nodes, int64_t round, times_t *mine) {
    if (self == 0) {
        acquire(mine);
        wait_for(options[QUIET].value + nodes * options[APART].value + 101 * round);
    } else {
        wait_for(self * options[APART].value);
        acquire(mine);
    }
    release(mine);
}

#ifdef BARS
enum { BAR_COUNT = 20 };

static int bar_of(int64_t cycles) {
    int64_t up_to = cycles <= 0 ? 1 : (cycles + BARS - 1) / BARS;
    if (up_to <= 10) return (int)up_to - 1;
    return up_to > 100 ? BAR_COUNT - 1 : (int)(up_to + 9) / 10 + 8;
}

static int in_order(const void *a, const void *b) {
    const times_t *first = a, *second = b;
    return (first->has > second->has) - (first->has < second->has);
}

static void tell_bars(const char *what, const int64_t *bars) {
    printf("%s:", what);
    for (int i = 0; i < BAR_COUNT; i++) printf(" %lld", (long long)bars[i]);
    printf("\n");
}

/* Each node's times come to node 0, in the order in which they had the lock. */
static void tell_all(int self, int nodes, const times_t *mine, int64_t count) {
    int64_t entries = options[ENTRIES].value, free_bars[BAR_COUNT] = {0}, waited_bars[BAR_COUNT] = {0};
    times_t *all = trivium_alloc_on(0, sizeof *all * (size_t)entries);
    int64_t first = 0;
    for (int p = 0; p < self; p++) first += entries / nodes + (p < entries % nodes);
    for (int64_t i = 0; i < count; i++) all[first + i] = mine[i];
    trivium_barrier();
    if (self != 0) return;
    times_t *sorted = malloc(sizeof *sorted * (size_t)entries);
    for (int64_t i = 0; i < entries; i++) sorted[i] = all[i];
    qsort(sorted, (size_t)entries, sizeof *sorted, in_order);
    for (int64_t i = 0; i < entries; i++) {
        int was_free = i == 0 || sorted[i - 1].gives <= sorted[i].asks;
        if (was_free) free_bars[bar_of(sorted[i].has - sorted[i].asks)]++;
        else waited_bars[bar_of(sorted[i].has - sorted[i - 1].gives)]++;
    }
    tell_bars("non-contended", free_bars);
    tell_bars("contended", waited_bars);
}
#endif

static void at_random(int self, int nodes) {
    int64_t entries = options[ENTRIES].value, mine = entries / nodes + (self < entries % nodes);
    uint64_t random = (uint64_t)options[SEED].value * 1000003u + (uint64_t)self;
#ifdef BARS
    times_t *times = malloc(sizeof *times * (size_t)(mine + 1));
#endif
    quiet();
    int64_t start = trivium_cycles();
    for (int64_t i = 0; i < mine; i++) {
#ifdef BARS
        acquire(&times[i]);
        wait_for(options[HOLD].value);
        release(&times[i]);
#else
        lock();
        wait_for(options[HOLD].value);
        unlock();
#endif
        wait_for(random_below(&random, options[AWAY].value + 1));
    }
    trivium_barrier();
    if (self == 0) printf("total: %lld cycles\n", (long long)(trivium_cycles() - start));
#ifdef BARS
    tell_all(self, nodes, times, mine);
#endif
}

int main(int argc, char **argv) {
    static const int nodes_of[][2] = {{0, 1}, {1, 0}, {1, 2}, {1, 1}};
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes(), mode = (int)options[MODE].value;
    if (nodes < 2 + (mode == REMOTE_TO_REMOTE)) trivium_fail("locktime: too few nodes");
    make_lock((int)options[HOME].value);
    if (mode == AT_RANDOM) {
        at_random(self, nodes);
        return 0;
    }
    times_t mine = {0, 0, 0};
    times_t **all = malloc(sizeof *all * (size_t)nodes);
    for (int p = 0; p < nodes; p++) all[p] = trivium_alloc_on(p, BASELINE_LINE);
    int64_t first = 0, last = 0;
    for (int64_t round = -options[EARLIER].value; round < options[ROUNDS].value; round++) {
        quiet();
        if (mode == CONTENDED) contended_lock(self, nodes, round, &mine);
        else free_lock(self, nodes_of[mode][0], nodes_of[mode][1], &mine);
        quiet();
        *all[self] = mine;
        quiet();
        if (self != 0 || round < 0) continue;
        if (mode != CONTENDED) {
            first += all[nodes_of[mode][1]]->has - all[nodes_of[mode][1]]->asks;
            continue;
        }
        int64_t has = INT64_MAX, gives = 0;
        for (int p = 1; p < nodes; p++) {
            if (all[p]->has < has) has = all[p]->has;
            if (all[p]->gives > gives) gives = all[p]->gives;
        }
        first += has - all[0]->gives;
        last += gives - all[0]->gives;
    }
    if (self == 0) {
        double rounds = (double)options[ROUNDS].value;
        if (mode != CONTENDED) printf("acquire: %.2f cycles\n", (double)first / rounds);
        else
            printf("hand-off: %.2f cycles\nall-acquire: %.2f cycles\na lock: %.2f cycles\n", (double)first / rounds,
                   (double)last / rounds, (double)last / rounds / (nodes - 1));
    }
    return 0;
}
