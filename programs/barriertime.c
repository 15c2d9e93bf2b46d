/* barriertime.c: how long a barrier takes from the last arrival to the first release, and from that to the last.
 *
 * The barrier is one by a counter; -DMCS has Mellor-Crummey and Scott's tree (-DJOIN=4, -DRELEASE=2), -DTOURNAMENT a tournament (-DRADIX=2), -DMASTER one
 * master (all of baselines.h); -DFLASH that of the protocol flash-barrier (-DJOIN=4, -DRELEASE=2), with -DTWICE two of them, one after the other, of which the first is
 * for the master, with -DFLAG one, after which all wait for a word that the master writes, and with -DCUSTOM one from which the master goes on alone, and lets the others go. Node 0, the root of all trees, comes long after the others (-m 0), or all come in the same cycle (-m 1); or barriers follow each
 * other at once (-m 2), where a master releases the others as soon as it may go on. Times are in the processor's cycles, and the mean of -r barriers.
 */
#include "baselines.h"
#include "options.h"

#ifndef JOIN
#define JOIN 4
#endif
#ifndef RELEASE
#define RELEASE 2
#endif
#ifndef RADIX
#define RADIX 2
#endif

enum { MODE, HOME, LOOKS, ROUNDS, EARLIER, QUIET, OPTIONS };
enum { LATE, SIMULTANEOUS, LOOP };

static struct option options[OPTIONS] = {
    [MODE] = {'m', 0, 0, 2, "0 node 0 comes late, 1 all come together, 2 one barrier after the other"},
    [HOME] = {'h', 0, 0, 1, "the home of the counter, or of what the master and the others share"},
    [LOOKS] = {'l', 0, 0, 1, "1: before node 0 comes late it looks at what the others have written for it"},
    [ROUNDS] = {'r', 3, 1, 1000, "barriers that are measured"},
    [EARLIER] = {'e', 2, 0, 100, "barriers before that"},
    [QUIET] = {'q', 10000, 1, 100000000, "cycles until all is quiet"},
};

#if defined FLASH
#include "trivium/flash-barrier.h"
static void init(int has_master) { flash_barrier_init(0, trivium_nodes(), JOIN, RELEASE, 0, 1, has_master); }
#if defined FLAG
static volatile int32_t *go;
static int32_t turn;
static void make_barrier(void) {
    init(0);
    go = trivium_alloc_on((int)options[HOME].value, BASELINE_LINE);
}
static inline void meet(void) {
    flash_barrier_arrive(0);
    turn += 1;
    if (trivium_node() == 0) *go = turn;
    else spin_until(go, turn);
}
#elif defined CUSTOM
static void make_barrier(void) { init(1); }
static inline void meet(void) {
    flash_barrier_arrive(0);
    if (trivium_node() == 0) flash_barrier_let_go(0);
}
#elif defined TWICE
static void make_barrier(void) { init(0); }
static inline void meet(void) {
    flash_barrier_arrive(0);
    flash_barrier_arrive(0);
}
#else
static void make_barrier(void) { init(0); }
static inline void meet(void) { flash_barrier_arrive(0); }
#endif
static int32_t look(void) { return 0; } /* nothing that others have written is in memory */
#elif defined MCS
static mcs_barrier_t the_barrier;
static void make_barrier(void) { the_barrier = mcs_barrier_make(JOIN, RELEASE); }
static inline void meet(void) { mcs_barrier(&the_barrier); }
static int32_t look(void) { return the_barrier.tree[0]->missing[0]; }
#elif defined TOURNAMENT
static tournament_barrier_t the_barrier;
static void make_barrier(void) { the_barrier = tournament_barrier_make(RADIX); }
static inline void meet(void) { tournament_barrier(&the_barrier); }
static int32_t look(void) {
    int32_t sum = 0;
    for (int level = 0; level < TOURNAMENT_LEVELS; level++) sum += the_barrier.join[level]->flag;
    return sum;
}
#elif defined MASTER
static master_barrier_t the_barrier;
static void make_barrier(void) { the_barrier = master_barrier_make((int)options[HOME].value); }
static inline void meet(void) { master_barrier(&the_barrier); }
static int32_t look(void) { return the_barrier.entered[0]; }
#else
static llsc_barrier_t the_barrier;
static void make_barrier(void) { the_barrier = llsc_barrier_make((int)options[HOME].value); }
static inline void meet(void) { llsc_barrier(&the_barrier); }
static int32_t look(void) { return *the_barrier.count; }
#endif

static volatile int32_t seen;

typedef struct {
    int64_t comes, goes;
} times_t;

/* Not inlined, so that it is the same code whatever is around it. */
__attribute__((noinline)) static void arrive(times_t *times) {
    times->comes = trivium_cycles();
    meet();
    times->goes = trivium_cycles();
}

static void wait_until(int64_t cycle) {
    while (trivium_cycles() < cycle) {
    }
}

/* All nodes leave it in the same cycle. */
static void quiet(void) {
    trivium_barrier();
    int64_t unit = options[QUIET].value;
    wait_until((trivium_cycles() / unit + 2) * unit);
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes(), mode = (int)options[MODE].value;
    int64_t rounds = options[ROUNDS].value;
    make_barrier();
    times_t mine = {0, 0};
    times_t **all = malloc(sizeof *all * (size_t)nodes);
    for (int p = 0; p < nodes; p++) all[p] = trivium_alloc_on(p, BASELINE_LINE);
    if (mode == LOOP) {
        for (int64_t i = 0; i < options[EARLIER].value; i++) arrive(&mine);
        quiet();
        int64_t start = trivium_cycles();
        for (int64_t i = 0; i < rounds; i++) arrive(&mine);
        if (self == 0) printf("iteration: %.2f cycles\n", (double)(mine.goes - start) / (double)rounds);
        trivium_barrier();
        return 0;
    }
    int64_t through = 0, release = 0;
    for (int64_t round = -options[EARLIER].value; round < rounds; round++) {
        quiet();
        if (mode == LATE && self == 0) {
            wait_until(trivium_cycles() + options[QUIET].value * nodes);
            if (options[LOOKS].value) seen += look();
        }
        arrive(&mine);
        quiet();
        *all[self] = mine;
        quiet();
        if (self != 0 || round < 0) continue;
        int64_t comes = 0, first = INT64_MAX, last = 0;
        for (int p = 0; p < nodes; p++) {
            if (all[p]->comes > comes) comes = all[p]->comes;
            if (all[p]->goes < first) first = all[p]->goes;
            if (all[p]->goes > last) last = all[p]->goes;
        }
        if (first < comes) trivium_fail("barriertime: the barrier released before all had arrived");
        through += first - comes;
        release += last - first;
    }
    if (self == 0)
        printf("fall-through: %.2f cycles\nrelease: %.2f cycles\n", (double)through / (double)rounds, (double)release / (double)rounds);
    return 0;
}
