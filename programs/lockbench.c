/* lockbench.c: nodes that contend for one lock.
 *
 * All nodes together enter the critical section -n times; they hold it for -c cycles and stay
 * away for 0 to -t cycles. The published setting is -n 3200 -c 800 -t 8000. The lock is the spin lock of
 * trivium.h; lockbench-ticket.c runs the same with its lock in order, lockbench-llsc.c and lockbench-mcs.c
 * with those of baselines.h, and lockbench-token.c with the protocol token-lock.
 */
#include "options.h"
#include "random.h"

enum { ENTRIES, HOLD, AWAY, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [ENTRIES] = {'n', 320, 1, 10000000, "entries of all nodes together"},
    [HOLD] = {'c', 100, 0, 1000000, "cycles inside the critical section"},
    [AWAY] = {'t', 1000, 0, 1000000, "longest time outside, in cycles"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the times outside"},
};

#ifndef LOCK_NAME
#define LOCK_NAME "spin"
static trivium_spin_lock_t *the_lock;
static void make_lock(void) { the_lock = trivium_alloc_on(0, sizeof *the_lock); }
static void acquire(void) { trivium_spin_lock(the_lock); }
static void release(void) { trivium_spin_unlock(the_lock); }
#endif

static void delay(int64_t cycles) {
    for (int64_t start = trivium_cycles(); trivium_cycles() - start < cycles;) {
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes();
    int64_t entries = options[ENTRIES].value;
    int64_t mine = entries / nodes + (self < entries % nodes);
    uint64_t random = (uint64_t)options[SEED].value * 1000003u + (uint64_t)self;
    make_lock();
    /* What the lock protects: two words that are equal whenever it is free. */
    volatile int64_t *first = trivium_alloc_on(nodes - 1, sizeof(int64_t));
    volatile int64_t *second = trivium_alloc_on(0, sizeof(int64_t));
    trivium_barrier();
    trivium_begin();
    int64_t start = trivium_cycles();
    for (int64_t i = 0; i < mine; i++) {
        acquire();
        int64_t entered = *first;
        if (*second != entered) trivium_fail("lockbench: two nodes were inside at once");
        *first = entered + 1;
        delay(options[HOLD].value);
        *second = entered + 1;
        release();
        delay(random_below(&random, options[AWAY].value + 1));
    }
    trivium_barrier();
    int64_t cycles = trivium_cycles() - start;
    trivium_end();
    if (*first != entries || *second != entries) {
        printf("lockbench: node %d counts %lld and %lld entries, not %lld\n", self,
               (long long)*first, (long long)*second, (long long)entries);
        trivium_fail("lockbench: wrong answer");
    }
    if (self == 0) {
        printf("lockbench: ok, %s lock, %lld cycles, %.1f an entry\n", LOCK_NAME,
               (long long)cycles, (double)cycles / (double)entries);
    }
    return 0;
}
