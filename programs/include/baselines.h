/* baselines.h: locks and barriers by shared memory alone, with which those of a protocol are compared.
 *
 * After Heinlein 1998, chapter 6: locks by linked loads and conditional stores and by Mellor-Crummey and Scott's queue; barriers by a counter, as a tournament,
 * by Mellor-Crummey and Scott's tree, and by one master. An atomic update that fails is tried again after a time at random, whose bound doubles. All makers
 * are collective. Under `flash-fenced`, where a program goes on before others see its stores, -DBASELINE_FENCED waits for them where it matters.
 */
#ifndef BASELINES_H
#define BASELINES_H

#include "random.h"
#include "trivium.h"
#include <stdlib.h>

#ifdef BASELINE_FENCED
#include "trivium/flash-fenced.h"
#define BASELINE_FENCE flash_fenced_fence()
#else
#define BASELINE_FENCE __asm__ volatile("" ::: "memory") /* the compiler keeps the order, and the protocol */
#endif

enum { BASELINE_LINE = 128 }; /* what is apart is in lines of its own: bytes */

/* The longest first time after an update that failed, in cycles, and the longest ever. With a last bound of nothing it is tried again at once. */
#ifndef BASELINE_FIRST_BOUND
#define BASELINE_FIRST_BOUND 64
#endif
#ifndef BASELINE_LAST_BOUND
#define BASELINE_LAST_BOUND 65536
#endif

/* ---- Atomic updates -------------------------------------------------------------------------- */

typedef struct {
    int64_t bound;
    uint64_t random;
} backoff_t;

static inline backoff_t backoff_begin(void) {
    return (backoff_t){BASELINE_FIRST_BOUND, (uint64_t)trivium_cycles() * 1000003u + (uint64_t)trivium_node()};
}

static inline void backoff_wait(backoff_t *backoff) {
    if (BASELINE_LAST_BOUND == 0) return;
    int64_t until = trivium_cycles() + random_below(&backoff->random, backoff->bound) + 1;
    while (trivium_cycles() < until) {
    }
    if (backoff->bound < BASELINE_LAST_BOUND) backoff->bound *= 2;
}

/* A linked load, which fetches a shared copy, or with -DBASELINE_EXCLUSIVE the block as for a store: which of them the source does not say. */
static inline int32_t linked(int32_t *word) {
#ifdef BASELINE_EXCLUSIVE
    return trivium_load_linked_exclusive32(word);
#else
    return trivium_load_linked32(word);
#endif
}

/* Replaces a word, and returns what it was. */
static inline int32_t llsc_swap(volatile int32_t *word, int32_t value) {
    backoff_t backoff = backoff_begin();
    for (;;) {
        int32_t old = linked((int32_t *)word);
        if (trivium_store_conditional32((int32_t *)word, value)) return old;
        backoff_wait(&backoff);
    }
}

/* Replaces a word if it is `expected`: whether it was. */
static inline int llsc_compare_swap(volatile int32_t *word, int32_t expected, int32_t value) {
    backoff_t backoff = backoff_begin();
    while (linked((int32_t *)word) == expected) {
        if (trivium_store_conditional32((int32_t *)word, value)) return 1;
        backoff_wait(&backoff);
    }
    return 0;
}

/* Waits until a word is this. */
static inline void spin_until(volatile int32_t *word, int32_t value) {
    for (int32_t now = *word; now != value;) now = trivium_wait_until_changed((int32_t *)word, now);
}

/* ---- A lock by linked loads and conditional stores --------------------------------------------- */

typedef struct {
    volatile int32_t held;
} llsc_lock_t;

static inline llsc_lock_t *llsc_lock_make(int node) { return trivium_alloc_on(node, BASELINE_LINE); }

static inline void llsc_lock(llsc_lock_t *lock) {
    backoff_t backoff = backoff_begin();
    for (;;) {
        if (linked((int32_t *)&lock->held) != 0) {
            spin_until(&lock->held, 0); /* in its own cache, without a time between */
        } else if (trivium_store_conditional32((int32_t *)&lock->held, 1)) {
            return;
        } else {
            backoff_wait(&backoff);
        }
    }
}

static inline void llsc_unlock(llsc_lock_t *lock) {
    BASELINE_FENCE;
    lock->held = 0;
}

/* ---- Mellor-Crummey and Scott's lock ------------------------------------------------------------ */

/* In one line, so that a node that links itself misses once. */
typedef struct {
    volatile int32_t next; /* the record of who comes next, by its node plus one; 0: nobody */
    volatile int32_t locked;
} mcs_record_t;

typedef struct {
    volatile int32_t *tail; /* the last of the queue, by its node plus one; 0: the lock is free */
    mcs_record_t **records; /* of each node, in its own memory */
} mcs_lock_t;

static inline mcs_lock_t mcs_lock_make(int node) {
    int nodes = trivium_nodes();
    mcs_lock_t lock = {trivium_alloc_on(node, BASELINE_LINE), malloc(sizeof(mcs_record_t *) * (size_t)nodes)};
    for (int i = 0; i < nodes; i++) lock.records[i] = trivium_alloc_on(i, BASELINE_LINE);
    return lock;
}

static inline void mcs_lock(mcs_lock_t *lock) {
    int self = trivium_node();
    mcs_record_t *mine = lock->records[self];
    mine->next = 0;
    int32_t before = llsc_swap(lock->tail, self + 1);
    if (before == 0) return;
    mine->locked = 1;
    BASELINE_FENCE;
    lock->records[before - 1]->next = self + 1;
    spin_until(&mine->locked, 0);
}

static inline void mcs_unlock(mcs_lock_t *lock) {
    int self = trivium_node();
    mcs_record_t *mine = lock->records[self];
    BASELINE_FENCE;
    if (mine->next == 0) {
        if (llsc_compare_swap(lock->tail, self + 1, 0)) return;
        while (mine->next == 0) trivium_wait_until_changed((int32_t *)&mine->next, 0); /* somebody is about to link itself */
    }
    lock->records[mine->next - 1]->locked = 0;
}

/* ---- A barrier by a counter ----------------------------------------------------------------------- */

typedef struct {
    volatile int32_t *count, *generation; /* in two lines */
} llsc_barrier_t;

static inline llsc_barrier_t llsc_barrier_make(int node) {
    llsc_barrier_t barrier;
    barrier.count = trivium_alloc_on(node, BASELINE_LINE);
    barrier.generation = trivium_alloc_on(node, BASELINE_LINE);
    return barrier;
}

/* Without a time between: as published. */
static inline void llsc_barrier(llsc_barrier_t *barrier) {
    int32_t generation = *barrier->generation, count;
    BASELINE_FENCE;
    do {
        count = linked((int32_t *)barrier->count) + 1;
        if (count == trivium_nodes()) count = 0;
    } while (!trivium_store_conditional32((int32_t *)barrier->count, count));
    if (count == 0) {
        BASELINE_FENCE;
        *barrier->generation = generation + 1;
    } else {
        spin_until(barrier->generation, generation + 1);
    }
}

/* ---- A tournament --------------------------------------------------------------------------------- */

/* Every flag is counted up under a lock of its own, those with one writer, too: as published. */
typedef struct {
    llsc_lock_t lock;
    volatile int32_t flag;
} tournament_flag_t;

enum { TOURNAMENT_LEVELS = 8 };

typedef struct {
    int radix;
    tournament_flag_t **join;    /* of each node and level */
    tournament_flag_t **release; /* of each node */
} tournament_barrier_t;

static inline tournament_barrier_t tournament_barrier_make(int radix) {
    int nodes = trivium_nodes();
    size_t pointer = sizeof(tournament_flag_t *), all = (size_t)nodes;
    tournament_barrier_t barrier = {radix, malloc(pointer * all * TOURNAMENT_LEVELS), malloc(pointer * all)};
    for (int i = 0; i < nodes; i++) {
        for (int level = 0; level < TOURNAMENT_LEVELS; level++)
            barrier.join[i * TOURNAMENT_LEVELS + level] = trivium_alloc_on(i, BASELINE_LINE);
        barrier.release[i] = trivium_alloc_on(i, BASELINE_LINE);
    }
    return barrier;
}

static inline void tournament_count(tournament_flag_t *at) {
    llsc_lock(&at->lock);
    at->flag += 1;
    llsc_unlock(&at->lock);
}

static inline void tournament_await(tournament_flag_t *at, int32_t count) {
    for (int32_t now = at->flag; now < count;) now = trivium_wait_until_changed((int32_t *)&at->flag, now);
    at->flag = 0;
}

/* The lowest of each group wins a level; who loses counts at the winner, and waits. Winners release those whom they have beaten, from the lowest level on. */
static inline void tournament_barrier(tournament_barrier_t *barrier) {
    int self = trivium_node(), nodes = trivium_nodes(), radix = barrier->radix, level = 0, stride = 1;
    BASELINE_FENCE;
    for (; stride < nodes && self % (stride * radix) == 0; level++, stride *= radix) {
        int losers = 0;
        for (int j = 1; j < radix; j++) losers += self + j * stride < nodes;
        if (losers) tournament_await(barrier->join[self * TOURNAMENT_LEVELS + level], losers);
    }
    if (self != 0) {
        tournament_count(barrier->join[(self - self % (stride * radix)) * TOURNAMENT_LEVELS + level]);
        tournament_await(barrier->release[self], 1);
    }
    for (int low = 0, apart = 1; low < level; low++, apart *= radix)
        for (int j = 1; j < radix && self + j * apart < nodes; j++) tournament_count(barrier->release[self + j * apart]);
}

/* ---- Mellor-Crummey and Scott's tree ----------------------------------------------------------------- */

enum { MCS_BARRIER_RADIX = 8 };

/* Of a node, in its own memory: one record, as published. With -DBASELINE_SENSE_APART what it is released by is in another line than what others join at. */
typedef struct {
    volatile int32_t sense;
#ifdef BASELINE_SENSE_APART
    char apart[BASELINE_LINE - 4];
#endif
    volatile int32_t missing[MCS_BARRIER_RADIX]; /* those below that have not come: in one line on purpose */
} mcs_node_t;

typedef struct {
    int join, release; /* how many join at a node, and how many it releases */
    mcs_node_t **tree; /* of each node */
    int32_t sense;
} mcs_barrier_t;

static inline int mcs_has_child(int self, int radix, int j) { return radix * self + j + 1 < trivium_nodes(); }

static inline mcs_barrier_t mcs_barrier_make(int join, int release) {
    int self = trivium_node(), nodes = trivium_nodes();
    mcs_barrier_t barrier = {join, release, malloc(sizeof(mcs_node_t *) * (size_t)nodes), 1};
    if (join < 1 || join > MCS_BARRIER_RADIX || release < 1) trivium_fail("mcs_barrier_make: a radix is 1 to 8");
    for (int i = 0; i < nodes; i++) barrier.tree[i] = trivium_alloc_on(i, sizeof(mcs_node_t));
    for (int j = 0; j < join; j++) barrier.tree[self]->missing[j] = mcs_has_child(self, join, j);
    trivium_barrier();
    return barrier;
}

static inline void mcs_barrier_join(mcs_barrier_t *barrier) {
    int self = trivium_node(), join = barrier->join;
    mcs_node_t *mine = barrier->tree[self];
    for (int j = 0; j < join; j++) spin_until(&mine->missing[j], 0);
    for (int j = 0; j < join; j++) mine->missing[j] = mcs_has_child(self, join, j);
    BASELINE_FENCE;
    if (self == 0) return;
    barrier->tree[(self - 1) / join]->missing[(self - 1) % join] = 0;
    spin_until(&mine->sense, barrier->sense);
}

static inline void mcs_barrier_release(mcs_barrier_t *barrier) {
    int self = trivium_node();
    for (int j = 0; j < barrier->release && mcs_has_child(self, barrier->release, j); j++)
        barrier->tree[barrier->release * self + j + 1]->sense = barrier->sense;
    barrier->sense = 1 - barrier->sense;
}

static inline void mcs_barrier(mcs_barrier_t *barrier) {
    mcs_barrier_join(barrier);
    mcs_barrier_release(barrier);
}

/* ---- One master ----------------------------------------------------------------------------------------- */

typedef struct {
    volatile int32_t *entered; /* of each node, side by side */
    volatile int32_t *generation, *copy;
} master_barrier_t;

static inline master_barrier_t master_barrier_make(int node) {
    master_barrier_t barrier;
    barrier.entered = trivium_alloc_on(node, sizeof(int32_t) * (uint64_t)trivium_nodes());
    barrier.generation = trivium_alloc_on(node, BASELINE_LINE);
    barrier.copy = trivium_alloc_on(node, BASELINE_LINE);
    return barrier;
}

/* Node 0 waits for all others, and then runs alone until it releases them. */
static inline void master_barrier_enter(master_barrier_t *barrier) {
    for (int i = 1; i < trivium_nodes(); i++) spin_until(&barrier->entered[i], 1);
    for (int i = 1; i < trivium_nodes(); i++) barrier->entered[i] = 0;
}

static inline void master_barrier_release(master_barrier_t *barrier) {
    BASELINE_FENCE;
    *barrier->copy += 1; /* its own: what all others look at is not read */
    *barrier->generation = *barrier->copy;
}

static inline void master_barrier(master_barrier_t *barrier) {
    int self = trivium_node();
    if (self == 0) {
        master_barrier_enter(barrier);
        master_barrier_release(barrier);
        return;
    }
    int32_t generation = *barrier->generation;
    BASELINE_FENCE;
    barrier->entered[self] = 1;
    for (int32_t now = *barrier->generation; now == generation;)
        now = trivium_wait_until_changed((int32_t *)barrier->generation, now);
}

#endif
