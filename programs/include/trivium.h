/* trivium.h: shared memory and synchronisation for programs that run under Trivium.
 *
 * A program is SPMD: every node runs `main` with the same arguments. Globals, the stack and
 * `malloc` are private to a node. What nodes share lies in memory from the trivium_alloc family,
 * at the same address on every node, and is used through plain C pointers: each access is
 * checked, and the protocol that the memory is under brings the data.
 *
 * The compiler may keep a value in a register between two calls of this header, as with threads:
 * declare as `volatile` what another node changes while this one looks at it. C's `_Atomic` and
 * <stdatomic.h> work on shared memory too, in sequential order if the protocol keeps it.
 *
 * A pointer to private memory means something on its own node only: if it is stored in shared
 * memory, and another node follows it, that node reads its own private memory.
 */
#ifndef TRIVIUM_H
#define TRIVIUM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRIVIUM_IMPORT(module, name) \
    __attribute__((import_module(module), import_name(name)))

/* ---- Nodes ---------------------------------------------------------------------------------- */

/* This node's number: 0, 1, ... */
TRIVIUM_IMPORT("trivium", "node") int32_t trivium_node(void);

/* How many nodes there are. */
TRIVIUM_IMPORT("trivium", "nodes") int32_t trivium_nodes(void);

/* ---- Shared memory -------------------------------------------------------------------------- */

/* Where the home of each block of an allocation is. */
enum {
    TRIVIUM_ON_NODE = 0,     /* all of it at one node */
    TRIVIUM_ROUND_ROBIN = 1, /* page by page over all nodes */
    TRIVIUM_FIRST_TOUCH = 2  /* page by page at the node that first touches it; see trivium_parallel_start */
};

/* Allocates shared memory, zeroed. Collective: every node makes the same allocations in the same
 * order, and the k-th gives the same address on all of them. It never returns NULL: a program
 * that exhausts shared memory ends with an error. `node` matters for TRIVIUM_ON_NODE only;
 * `protocol` names the protocol that the memory is under, NULL the default one. */
TRIVIUM_IMPORT("trivium", "alloc")
void *trivium_alloc(uint64_t bytes, int32_t placement, int32_t node, const char *protocol);

static inline void *trivium_alloc_on_under(const char *protocol, int32_t node, uint64_t bytes) {
    return trivium_alloc(bytes, TRIVIUM_ON_NODE, node, protocol);
}

static inline void *trivium_alloc_round_robin_under(const char *protocol, uint64_t bytes) {
    return trivium_alloc(bytes, TRIVIUM_ROUND_ROBIN, 0, protocol);
}

static inline void *trivium_alloc_first_touch_under(const char *protocol, uint64_t bytes) {
    return trivium_alloc(bytes, TRIVIUM_FIRST_TOUCH, 0, protocol);
}

static inline void *trivium_alloc_on(int32_t node, uint64_t bytes) {
    return trivium_alloc_on_under(0, node, bytes);
}

static inline void *trivium_alloc_round_robin(uint64_t bytes) {
    return trivium_alloc_round_robin_under(0, bytes);
}

static inline void *trivium_alloc_first_touch(uint64_t bytes) {
    return trivium_alloc_first_touch_under(0, bytes);
}

TRIVIUM_IMPORT("trivium", "freeing") uint64_t trivium_freeing(void *memory);
TRIVIUM_IMPORT("trivium", "is_home") int32_t trivium_is_home(void *memory);
TRIVIUM_IMPORT("trivium", "free") void trivium_free_now(void *memory);
TRIVIUM_IMPORT("trivium", "barrier") void trivium_barrier(void);

/* Gives an allocation back; `memory` is what trivium_alloc returned, or NULL. Collective, and a barrier: every node makes the same call, at the same place
 * among its allocations, and uses the memory no more. It is cleared, each page by its home, and given to a later allocation of the same placement, node and protocol
 * that it is large enough for; first-touched pages keep their homes. To free twice, or what was not allocated, is an error. */
static inline void trivium_free(void *memory) {
    enum { TRIVIUM_PIECE = 2048 };
    if (!memory) return;
    uint64_t bytes = trivium_freeing(memory);
    trivium_barrier();
    for (uint64_t at = 0; at < bytes; at += TRIVIUM_PIECE) {
        char *piece = (char *)memory + at;
        if (trivium_is_home(piece)) __builtin_memset(piece, 0, bytes - at < TRIVIUM_PIECE ? bytes - at : TRIVIUM_PIECE);
    }
    trivium_barrier();
    trivium_free_now(memory);
}

/* Shares the `bytes` bytes of private memory at `memory`, which every node has there: both are multiples of 65,536. The result is shared
 * memory with a part of that size for each node, node 0's first: part i is node i's private memory, and has its contents. Accesses to the parts are
 * checked, as all to shared memory, at home too. A node's accesses by its private address are not: they cost nothing, and the node must
 * have access to the block then, which the simulator and `trivium run` look at. Collective, and a barrier. */
TRIVIUM_IMPORT("trivium", "share")
void *trivium_share(void *memory, uint64_t bytes, const char *protocol);

/* Binds an allocation to another protocol, NULL for the default one; `memory` is what the
 * allocation returned. Collective, and a barrier: every node makes the same call. The blocks must be
 * at home by then: the home's own copy is current, and no other node may still write it. The
 * contents stay. */
TRIVIUM_IMPORT("trivium", "bind") void trivium_bind(void *memory, const char *protocol);

/* Says that the program has initialised its data, and that its parallel phase starts: each page that was placed by first
 * touch so far is placed again, at the node that next touches it, and moves there with its contents. Collective, and a
 * barrier: every node makes the call once. The blocks of these pages must be at home by then, as for trivium_bind. */
TRIVIUM_IMPORT("trivium", "parallel_start") void trivium_parallel_start(void);

/* Says where an object that is no block is at home: object `object` of a kind of a protocol, as lock 3 of flash-lock, which is else at node
 * 3 % trivium_nodes(). Collective, and a barrier: every node makes the same call, before any of them makes a call about the object. */
TRIVIUM_IMPORT("trivium", "place")
void trivium_place(const char *protocol, const char *kind, uint32_t object, int node);

/* Waits until all earlier stores of this node have been performed everywhere: under a protocol that promises
 * release_consistency(f) it calls f, under all others it returns at once, since their stores have been performed when the
 * program goes on. The bodies of a protocol's calls say it, before they let others see what was stored. */
TRIVIUM_IMPORT("trivium", "fence") void trivium_fence(void);

/* Names the allocation that `memory` lies in, for messages and reports; without this call it is named by the variable
 * that it was assigned to, or by the line that made it. It costs nothing and waits for nobody. */
TRIVIUM_IMPORT("trivium", "name") void trivium_name(const volatile void *memory, const char *name);

/* ---- Accesses that go on while the program does --------------------------------------------------- */

/* Operations of trivium_split_phase. */
enum {
    TRIVIUM_SPLIT_BLOCK = 0, /* gives the bytes of a block; 0 if the protocol has no calls for the others */
    TRIVIUM_SPLIT_GET = 1,   /* bytes go from shared to private memory; 0 if too many are under way */
    TRIVIUM_SPLIT_PUT = 2,   /* .. and from private to shared memory */
    TRIVIUM_SPLIT_STORE = 3, /* the same; only the bytes' home hears when they have come */
    TRIVIUM_SPLIT_SYNC = 4,  /* waits for this node's gets and puts; private memory that was named is free again, of stores too */
    TRIVIUM_SPLIT_IS_SYNC = 5,
    TRIVIUM_SPLIT_STORE_SYNC = 6 /* waits until stores have brought so many bytes more to this node, as their home */
};

/* Makes a call of the protocol that the memory at `shared` is under: get, put, store, sync, is_sync or store_sync, if it has all of
 * them with the signatures of docs/split-c.md. The bytes lie in one block. */
TRIVIUM_IMPORT("trivium", "split_phase")
int64_t trivium_split_phase(int32_t operation, const volatile void *shared, uint64_t bytes, void *own);

/* ---- Atomic operations on shared memory ------------------------------------------------------ */

/* Operations of trivium_rmw. */
enum {
    TRIVIUM_ADD = 0,
    TRIVIUM_AND = 1,
    TRIVIUM_OR = 2,
    TRIVIUM_XOR = 3,
    TRIVIUM_SWAP = 4,
    TRIVIUM_COMPARE_SWAP = 5,
    TRIVIUM_MIN = 6, /* of signed numbers */
    TRIVIUM_MAX = 7,
    TRIVIUM_ADD_FLOAT = 8, /* of float or double, by its bits; what is no number becomes the canonical one */
    TRIVIUM_MIN_FLOAT = 9, /* of a number and what is none: the number */
    TRIVIUM_MAX_FLOAT = 10
};

/* Atomically replaces the word of `size` (4 or 8) bytes at `word`, naturally aligned, and returns
 * the old one. Atomic operations, locks and waits on private memory end the program with an error. `expected` matters for TRIVIUM_COMPARE_SWAP only. */
TRIVIUM_IMPORT("trivium", "rmw")
int64_t trivium_rmw(volatile void *word, int32_t size, int32_t op, int64_t operand,
                    int64_t expected);

/* Each returns the old value. */
static inline int32_t trivium_fetch_add32(volatile int32_t *word, int32_t value) {
    return (int32_t)trivium_rmw(word, 4, TRIVIUM_ADD, value, 0);
}

static inline int64_t trivium_fetch_add64(volatile int64_t *word, int64_t value) {
    return trivium_rmw(word, 8, TRIVIUM_ADD, value, 0);
}

static inline int32_t trivium_swap32(volatile int32_t *word, int32_t value) {
    return (int32_t)trivium_rmw(word, 4, TRIVIUM_SWAP, value, 0);
}

static inline int64_t trivium_swap64(volatile int64_t *word, int64_t value) {
    return trivium_rmw(word, 8, TRIVIUM_SWAP, value, 0);
}

/* Writes `value` if the word is `expected`. */
static inline int32_t trivium_compare_swap32(volatile int32_t *word, int32_t expected,
                                             int32_t value) {
    return (int32_t)trivium_rmw(word, 4, TRIVIUM_COMPARE_SWAP, value, expected);
}

static inline int64_t trivium_compare_swap64(volatile int64_t *word, int64_t expected,
                                             int64_t value) {
    return trivium_rmw(word, 8, TRIVIUM_COMPARE_SWAP, value, expected);
}

static inline int32_t trivium_fetch_min32(volatile int32_t *word, int32_t value) {
    return (int32_t)trivium_rmw(word, 4, TRIVIUM_MIN, value, 0);
}

static inline int64_t trivium_fetch_min64(volatile int64_t *word, int64_t value) {
    return trivium_rmw(word, 8, TRIVIUM_MIN, value, 0);
}

static inline int32_t trivium_fetch_max32(volatile int32_t *word, int32_t value) {
    return (int32_t)trivium_rmw(word, 4, TRIVIUM_MAX, value, 0);
}

static inline int64_t trivium_fetch_max64(volatile int64_t *word, int64_t value) {
    return trivium_rmw(word, 8, TRIVIUM_MAX, value, 0);
}

/* The same with `op` TRIVIUM_ADD_FLOAT, TRIVIUM_MIN_FLOAT or TRIVIUM_MAX_FLOAT. The order in which nodes add is the order in which they come, and a sum of
 * floating-point numbers hangs on it. */
static inline float trivium_fetch_float(volatile float *word, int32_t op, float value) {
    int32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    bits = (int32_t)trivium_rmw(word, 4, op, bits, 0);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double trivium_fetch_double(volatile double *word, int32_t op, double value) {
    int64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    bits = trivium_rmw(word, 8, op, bits, 0);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

TRIVIUM_IMPORT("trivium", "load_linked")
int64_t trivium_load_linked(const volatile void *word, int32_t size, int32_t exclusive);
TRIVIUM_IMPORT("trivium", "store_conditional")
int32_t trivium_store_conditional(volatile void *word, int32_t size, int64_t value);

/* Loads the word, naturally aligned, and remembers its block until this node loses its copy: another node's store or an eviction takes it away. */
static inline int32_t trivium_load_linked32(const volatile int32_t *word) {
    return (int32_t)trivium_load_linked(word, 4, 0);
}

static inline int64_t trivium_load_linked64(const volatile int64_t *word) {
    return trivium_load_linked(word, 8, 0);
}

/* The same, asking for the block as a store does, so that the store after it needs no more. */
static inline int32_t trivium_load_linked_exclusive32(volatile int32_t *word) {
    return (int32_t)trivium_load_linked(word, 4, 1);
}

static inline int64_t trivium_load_linked_exclusive64(volatile int64_t *word) {
    return trivium_load_linked(word, 8, 1);
}

/* Stores the word that this node has last loaded by a linked load, and returns 1; or returns 0, and stores nothing, if the copy has been lost since. To be
 * tried again after another linked load. An error where the protocol performs accesses without a copy of the block (docs/programs.md). */
static inline int32_t trivium_store_conditional32(volatile int32_t *word, int32_t value) {
    return trivium_store_conditional(word, 4, value);
}

static inline int32_t trivium_store_conditional64(volatile int64_t *word, int64_t value) {
    return trivium_store_conditional(word, 8, value);
}

/* ---- Prefetching ----------------------------------------------------------------------------- */

TRIVIUM_IMPORT("trivium", "prefetch")
void trivium_prefetch_for(const volatile void *place, int32_t write);

/* Hints that this node will soon load from, or store to, the block that `place` lies in: the
 * protocol may fetch it while the program goes on. A hint changes no answer. Where it brings nothing
 * (private memory, a block that is there, a protocol without prefetches), nothing happens.
 * The compiler drops __builtin_prefetch: WebAssembly has no such instruction. */
static inline void trivium_prefetch(const volatile void *place) {
    trivium_prefetch_for(place, 0);
}

static inline void trivium_prefetch_write(volatile void *place) {
    trivium_prefetch_for(place, 1);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

TRIVIUM_IMPORT("trivium", "wait_until_changed")
int64_t trivium_wait_word(const volatile void *word, int32_t size, int64_t old);

/* Spins until the word is no longer `old`, and returns what it is then. The spinning is charged
 * as if it were executed, but not executed. */
static inline int32_t trivium_wait_until_changed(const volatile int32_t *word, int32_t old) {
    return (int32_t)trivium_wait_word(word, 4, old);
}

static inline int64_t trivium_wait_until_changed64(const volatile int64_t *word, int64_t old) {
    return trivium_wait_word(word, 8, old);
}

/* Waits until every node has arrived: the machine's own barrier. */
TRIVIUM_IMPORT("trivium", "barrier") void trivium_barrier(void);

/* A lock, for shared memory; all zeros is free. Nodes get it in the order in which they asked: each draws a ticket, and waits until it is served.
 * Both halves are one word, so that a node that finds the lock free has it with one atomic operation. */
typedef union {
    volatile int64_t word;
    struct {
        volatile int32_t serving; /* the ticket whose turn it is */
        volatile int32_t next;    /* the ticket that is drawn next */
    };
} trivium_lock_t;

static inline void trivium_lock(trivium_lock_t *lock) {
    int64_t drawn = trivium_fetch_add64(&lock->word, (int64_t)1 << 32);
    int32_t ticket = (int32_t)(drawn >> 32), serving = (int32_t)drawn;
    while (serving != ticket) serving = trivium_wait_until_changed(&lock->serving, serving);
}

static inline void trivium_unlock(trivium_lock_t *lock) {
    __asm__ volatile("" ::: "memory"); /* what was written under the lock stays before this */
    lock->serving = (int32_t)((uint32_t)lock->serving + 1);
}

/* A test-and-test-and-set lock; 0 is free. It is in no order: whoever has the block has the lock, so that a node that takes it again at once may
 * keep others out for ever. */
typedef struct {
    volatile int32_t held;
} trivium_spin_lock_t;

static inline void trivium_spin_lock(trivium_spin_lock_t *lock) {
    while (trivium_swap32(&lock->held, 1) != 0) {
        trivium_wait_until_changed(&lock->held, 1);
    }
}

static inline void trivium_spin_unlock(trivium_spin_lock_t *lock) {
    __asm__ volatile("" ::: "memory"); /* what was written under the lock stays before this */
    lock->held = 0;
}

/* ---- Waiting for each other ------------------------------------------------------------------ */

/* A condition, for shared memory, with a lock of its user's; all zeros at first. Whoever waits, signals or broadcasts holds the lock. Nodes go on in
 * the order in which they began to wait, and test again what they waited for. */
typedef struct {
    volatile int32_t next;  /* the ticket that is drawn next */
    volatile int32_t woken; /* tickets before this may go on */
} trivium_condition_t;

static inline void trivium_condition_wait(trivium_condition_t *condition, trivium_lock_t *lock) {
    uint32_t ticket = (uint32_t)condition->next;
    int32_t woken = condition->woken;
    condition->next = (int32_t)(ticket + 1);
    trivium_unlock(lock);
    while ((int32_t)((uint32_t)woken - ticket) <= 0) woken = trivium_wait_until_changed(&condition->woken, woken);
    trivium_lock(lock);
}

/* One that waits goes on, if there is one. */
static inline void trivium_condition_signal(trivium_condition_t *condition) {
    int32_t woken = condition->woken;
    if (woken != condition->next) condition->woken = (int32_t)((uint32_t)woken + 1);
}

/* All that wait go on. */
static inline void trivium_condition_broadcast(trivium_condition_t *condition) {
    int32_t next = condition->next;
    if (condition->woken != next) condition->woken = next;
}

/* A semaphore, for shared memory; all zeros is a count of 0. Nodes pass in the order in which they came. */
typedef struct {
    volatile int32_t posted; /* how many may have passed in all */
    volatile int32_t drawn;  /* how many have come */
} trivium_semaphore_t;

/* A semaphore with a count, before anybody uses it. */
static inline void trivium_semaphore_begin(trivium_semaphore_t *semaphore, int32_t count) {
    semaphore->posted = count;
    semaphore->drawn = 0;
}

static inline void trivium_semaphore_post(trivium_semaphore_t *semaphore) {
    trivium_fetch_add32(&semaphore->posted, 1);
}

static inline void trivium_semaphore_wait(trivium_semaphore_t *semaphore) {
    uint32_t ticket = (uint32_t)trivium_fetch_add32(&semaphore->drawn, 1);
    int32_t posted = semaphore->posted;
    while ((int32_t)((uint32_t)posted - ticket) <= 0) posted = trivium_wait_until_changed(&semaphore->posted, posted);
    __asm__ volatile("" ::: "memory");
}

/* Whether it has passed; it does not wait. */
static inline int trivium_semaphore_try(trivium_semaphore_t *semaphore) {
    for (;;) {
        int32_t drawn = semaphore->drawn;
        if ((int32_t)((uint32_t)semaphore->posted - (uint32_t)drawn) <= 0) return 0;
        if (trivium_compare_swap32(&semaphore->drawn, drawn, (int32_t)((uint32_t)drawn + 1)) == drawn) return 1;
    }
}

/* A lock for one writer or several readers, for shared memory; all zeros is free. In the order in which they came, so that readers that come after
 * a writer wait for it. */
typedef struct {
    volatile int32_t next;   /* the ticket that is drawn next */
    volatile int32_t reads;  /* whose turn it is to read */
    volatile int32_t writes; /* whose turn it is to write: so many have ended */
} trivium_read_write_lock_t;

static inline int32_t trivium_turn(trivium_read_write_lock_t *lock, const volatile int32_t *turn) {
    int32_t ticket = trivium_fetch_add32(&lock->next, 1), now = *turn;
    while (now != ticket) now = trivium_wait_until_changed(turn, now);
    __asm__ volatile("" ::: "memory");
    return ticket;
}

static inline void trivium_read_lock(trivium_read_write_lock_t *lock) {
    lock->reads = (int32_t)((uint32_t)trivium_turn(lock, &lock->reads) + 1);
}

static inline void trivium_read_unlock(trivium_read_write_lock_t *lock) {
    __asm__ volatile("" ::: "memory");
    trivium_fetch_add32(&lock->writes, 1);
}

static inline void trivium_write_lock(trivium_read_write_lock_t *lock) { trivium_turn(lock, &lock->writes); }

static inline void trivium_write_unlock(trivium_read_write_lock_t *lock) {
    __asm__ volatile("" ::: "memory");
    lock->reads = (int32_t)((uint32_t)lock->reads + 1);
    trivium_fetch_add32(&lock->writes, 1);
}

/* ---- All nodes together ---------------------------------------------------------------------- */

/* Collective: all nodes make the same calls, in the same order; each is a barrier. Sums are made in the order of nodes, so that those of doubles
 * are the same in every run. */

/* What a node gives, on a page that it is the home of. Two words take turns: nobody has to wait until all have read. */
static inline volatile int64_t *trivium_given(int32_t node, int turn) {
    enum { TRIVIUM_PAGE = 4096 };
    static char *pages;
    if (!pages) {
        pages = (char *)trivium_alloc_round_robin((uint64_t)trivium_nodes() * TRIVIUM_PAGE);
        trivium_name(pages, "what nodes give");
    }
    return (volatile int64_t *)(pages + (uint64_t)node * TRIVIUM_PAGE) + turn;
}

static inline int trivium_give(int64_t value) {
    static int turn;
    turn ^= 1;
    *trivium_given(trivium_node(), turn) = value;
    trivium_fence();
    trivium_barrier();
    return turn;
}

/* The bits of a double as a number, and back. */
static inline int64_t trivium_bits(double value) {
    int64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double trivium_double(int64_t bits) {
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

#define TRIVIUM_REDUCTION(name, type, bits, back, combined) \
    static inline type name(type value) { \
        int turn = trivium_give(bits(value)); \
        type all = back(*trivium_given(0, turn)); \
        for (int32_t node = 1; node < trivium_nodes(); node++) { \
            type next = back(*trivium_given(node, turn)); \
            all = (combined); \
        } \
        return all; \
    }

/* The sum, the least and the largest of what nodes give, to all. The sum of whole numbers wraps around. */
TRIVIUM_REDUCTION(trivium_reduce_sum, double, trivium_bits, trivium_double, all + next)
TRIVIUM_REDUCTION(trivium_reduce_min, double, trivium_bits, trivium_double, next < all ? next : all)
TRIVIUM_REDUCTION(trivium_reduce_max, double, trivium_bits, trivium_double, next > all ? next : all)
TRIVIUM_REDUCTION(trivium_reduce_sum64, int64_t, , , (int64_t)((uint64_t)all + (uint64_t)next))
TRIVIUM_REDUCTION(trivium_reduce_min64, int64_t, , , next < all ? next : all)
TRIVIUM_REDUCTION(trivium_reduce_max64, int64_t, , , next > all ? next : all)
#undef TRIVIUM_REDUCTION

/* What one node gives, to all. What the others give is not looked at. */
static inline int64_t trivium_broadcast64(int64_t value, int32_t from) {
    return *trivium_given(from, trivium_give(value));
}

static inline double trivium_broadcast(double value, int32_t from) {
    return trivium_double(trivium_broadcast64(trivium_bits(value), from));
}

/* The sum of what the nodes before this one give: 0 on node 0. */
static inline int64_t trivium_scan_sum64(int64_t value) {
    int turn = trivium_give(value);
    uint64_t sum = 0;
    for (int32_t node = 0; node < trivium_node(); node++) sum += (uint64_t)*trivium_given(node, turn);
    return (int64_t)sum;
}

static inline double trivium_scan_sum(double value) {
    int turn = trivium_give(trivium_bits(value));
    double sum = 0;
    for (int32_t node = 0; node < trivium_node(); node++) sum += trivium_double(*trivium_given(node, turn));
    return sum;
}

/* Says of a static variable, in any function that runs, that each node is to have a value of its own which only it reads: no warning tells of that. */
#define TRIVIUM_PRIVATE(variable) __asm__ volatile("" : : "r"(&(variable)))

/* ---- Measuring ------------------------------------------------------------------------------- */

/* The region of interest: what is counted begins and ends here, on this node. Without these calls
 * the whole program is counted. */
TRIVIUM_IMPORT("trivium", "begin") void trivium_begin(void);
TRIVIUM_IMPORT("trivium", "end") void trivium_end(void);

/* This node's clock, in cycles of its processor. */
TRIVIUM_IMPORT("trivium", "cycles") int64_t trivium_cycles(void);

/* ---- Failing --------------------------------------------------------------------------------- */

/* Ends the run: the program's own check of its answer has failed. */
TRIVIUM_IMPORT("trivium", "fail") __attribute__((noreturn)) void trivium_fail(const char *message);

#ifdef __cplusplus
}
#endif

#endif
