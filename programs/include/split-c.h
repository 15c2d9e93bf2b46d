/* split-c.h: the library of Split-C, for programs that end in .sc; they include it without being asked.
 *
 * A processor's memory (file-scope data, malloc, spread memory; not its stack) lies at two places: plain pointers reach the processor's own, and
 * global pointers reach that of any processor, by an address that means the same on all of them: the processor's part of a
 * window of shared memory (trivium_share). docs/split-c.md tells the language, and which protocol events it becomes.
 */
#ifndef SPLIT_C_H
#define SPLIT_C_H

#include <stddef.h>
#include <stdint.h>

#include "trivium.h"

/* What a global pointer points to: volatile, since other processors change it. */
#define SPLITC_GLOBAL volatile __attribute__((address_space(2)))
#define SPLITC_SPREAD volatile __attribute__((address_space(3)))

/* ---- Processors and memory -------------------------------------------------------------------- */

/* What a program knows of where it runs; on a page for itself, which no other processor takes away. */
struct __attribute__((aligned(65536))) splitc {
    int self, processors;
    uintptr_t local;  /* where a processor's part begins, by its own addresses */
    uintptr_t window; /* where processor 0's part begins, by global addresses */
    uintptr_t part;   /* bytes of a part */
};

extern struct splitc splitc;

/* The number of this processor, and how many there are. */
#define MYPROC (splitc.self + 0)
#define PROCS (splitc.processors + 0)

/* What the translation of a program calls. */
void splitc_begin(void);
void splitc_end(void);
uintptr_t splitc_spread_storage(int64_t count, size_t bytes);
__attribute__((noreturn)) void splitc_not_shared(const void *local);
__attribute__((noreturn)) void splitc_not_global(uintptr_t address);
__attribute__((noreturn)) void splitc_no_processor(int processor);

/* The global address of what lies at a local one on a processor. Null stays null. */
static inline uintptr_t splitc_address_on(int processor, uintptr_t local) {
    if (!local) return 0;
    if ((unsigned)processor >= (unsigned)splitc.processors) splitc_no_processor(processor);
    if (local - splitc.local >= splitc.part) splitc_not_shared((const void *)local);
    return splitc.window + (uintptr_t)processor * splitc.part + (local - splitc.local);
}

/* Of a cast from a local to a global pointer: it points to this processor's own. */
static inline uintptr_t splitc_global_address(uintptr_t local) { return splitc_address_on(splitc.self, local); }

/* Bytes from the beginning of the window; an address outside of it ends the program. */
static inline uintptr_t splitc_offset(uintptr_t address) {
    uintptr_t offset = address - splitc.window;
    if (offset >= splitc.part * (uintptr_t)splitc.processors) splitc_not_global(address);
    return offset;
}

/* Of a cast from a global to a local pointer: the address on the processor that it points to. */
static inline uintptr_t splitc_local_address(uintptr_t address) {
    return address ? splitc.local + splitc_offset(address) % splitc.part : 0;
}

/* Of a cast from a number to a global pointer. */
static inline uintptr_t splitc_checked_address(uintptr_t address) {
    if (address) splitc_offset(address);
    return address;
}

/* Shared memory begins here on every node; below it is the processor's own. */
#define SPLITC_SHARED UINT32_C(0x40000000)

/* Of every access through a global pointer: an address below shared memory would reach this processor's own. */
static inline uintptr_t splitc_at(uintptr_t address) {
    if (address < SPLITC_SHARED) splitc_not_global(address);
    return address;
}

static inline void splitc_check(const void SPLITC_GLOBAL *pointer) { splitc_at((uintptr_t)pointer); }

static inline int splitc_processor(uintptr_t address) { return (int)(splitc_offset(address) / splitc.part); }

/* The global pointer to what lies at the local pointer `lp` on processor `proc`. */
#define toglobal(proc, lp) \
    ((__typeof__(*(lp)) SPLITC_GLOBAL *)splitc_address_on((proc), (uintptr_t)(lp)))

/* The local part of a global or spread pointer, and the processor that it points to. */
#define tolocal(gp) ((__typeof_unqual__(*(gp)) *)splitc_local_address((uintptr_t)(gp)))
#define toproc(gp) splitc_processor((uintptr_t)(gp))

/* A product of sizes of a spread array; less than zero if it is none. */
static inline int64_t splitc_times(int64_t a, int64_t b) {
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

/* ---- Spread pointers ---------------------------------------------------------------------------- */

/* `by` elements of so many bytes further: the next processor first, then the next element on each. */
static inline uintptr_t splitc_spread_add(uintptr_t address, intptr_t by, size_t bytes) {
    uintptr_t offset = splitc_offset(address);
    int64_t processor = (int64_t)(offset / splitc.part) + by, processors = splitc.processors;
    int64_t rounds = processor / processors, rest = processor % processors;
    if (rest < 0) {
        rest += processors;
        rounds--;
    }
    return splitc.window + (uintptr_t)rest * splitc.part + offset % splitc.part + (uintptr_t)(rounds * (int64_t)bytes);
}

/* How many elements lie between two places. */
static inline intptr_t splitc_spread_difference(uintptr_t to, uintptr_t from, size_t bytes) {
    intptr_t a = (intptr_t)splitc_offset(to), b = (intptr_t)splitc_offset(from), part = (intptr_t)splitc.part;
    return (a % part - b % part) / (intptr_t)bytes * splitc.processors + (a / part - b / part);
}

/* Memory for `count` elements of `bytes` bytes, dealt to the processors one by one, from processor 0 on; not zeroed. Collective: all
 * processors make the same calls in the same order. It never returns null. spread_free takes it back, collectively. */
void SPLITC_SPREAD *all_spread_malloc(size_t count, size_t bytes);
void spread_free(void SPLITC_SPREAD *memory);

/* The same, zeroed. */
void SPLITC_SPREAD *all_spread_calloc(size_t count, size_t bytes);

#define for_my_1D(i, n) for ((i) = MYPROC; (i) < (n); (i) += PROCS)
#define for_my_2D(i, j, l, n, m) \
    for ((l) = MYPROC; (l) < (n) * (m) && ((i) = (l) / (m), (j) = (l) % (m), 1); (l) += PROCS)

/* ---- Split-phase accesses ------------------------------------------------------------------------ */

/* What `x := *gp`, `*gp := x` and `*gp :- x` become: calls of the protocol if it has them, else accesses that end before these return. */
void splitc_get(void *to, const void SPLITC_GLOBAL *from, size_t bytes);
void splitc_put(void SPLITC_GLOBAL *to, const void *from, size_t bytes);
void splitc_store(void SPLITC_GLOBAL *to, const void *from, size_t bytes);

/* Waits until all gets and puts of this processor have ended. */
void sync(void);
/* Whether they have. */
int is_sync(void);
/* The same for bulk_get and bulk_put: one count is kept of all. */
static inline void bulk_sync(void) { sync(); }
/* Waits until stores to this processor have brought `bytes` bytes that no earlier call has waited for. */
void store_sync(intptr_t bytes);
/* Waits until all stores of all processors have ended. Collective. */
void all_store_sync(void);
/* Waits for all processors. It does not wait for gets and puts; if there are any, a warning says where, once. */
void splitc_barrier(const char *file, int line);
#define barrier() splitc_barrier(__FILE__, __LINE__)

/* Of `bytes` bytes, 0 or more, which lie on one processor. The local bytes of a bulk_put and a bulk_store stay as they are until sync() or, of
 * a bulk_store, all_store_sync(). */
void bulk_read(void *to, const void SPLITC_GLOBAL *from, intptr_t bytes);
void bulk_write(void SPLITC_GLOBAL *to, const void *from, intptr_t bytes);
void bulk_get(void *to, const void SPLITC_GLOBAL *from, intptr_t bytes);
void bulk_put(void SPLITC_GLOBAL *to, const void *from, intptr_t bytes);
void bulk_store(void SPLITC_GLOBAL *to, const void *from, intptr_t bytes);

/* ---- Atomic operations --------------------------------------------------------------------------- */

/* Each gives what was there before. `compare_and_swap` writes `value` if that was `expected`; `test_and_set` writes 1. */
static inline int fetch_and_add(int SPLITC_GLOBAL *at, int value) {
    return trivium_fetch_add32((volatile int32_t *)splitc_at((uintptr_t)at), value);
}

static inline int exchange(int SPLITC_GLOBAL *at, int value) {
    return trivium_swap32((volatile int32_t *)splitc_at((uintptr_t)at), value);
}

static inline int test_and_set(int SPLITC_GLOBAL *at) { return exchange(at, 1); }

static inline int compare_and_swap(int SPLITC_GLOBAL *at, int expected, int value) {
    return trivium_compare_swap32((volatile int32_t *)splitc_at((uintptr_t)at), expected, value);
}

/* ---- All processors together --------------------------------------------------------------------- */

/* Each processor gives a number. `_to_all_`: all get the result. `_to_one_`: processor 0 does, the others get 0. In the order of processors,
 * so that sums of doubles are the same in every run. */
int all_reduce_to_all_add(int x);
int all_reduce_to_all_max(int x);
int all_reduce_to_all_min(int x);
double all_reduce_to_all_dadd(double x);
double all_reduce_to_all_dmax(double x);
double all_reduce_to_all_dmin(double x);
int all_reduce_to_one_add(int x);
int all_reduce_to_one_max(int x);
int all_reduce_to_one_min(int x);
double all_reduce_to_one_dadd(double x);
double all_reduce_to_one_dmax(double x);
double all_reduce_to_one_dmin(double x);

/* The sum of the numbers of the processors up to this one. */
int all_scan_add(int x);
double all_scan_dadd(double x);

/* Processor 0's number. */
int all_bcast(int x);
double all_dbcast(double x);

/* What follows is done by processor 0 alone. */
#define on_one if (MYPROC == 0)

/* Ends the program, as a return from splitc_main does. Collective. */
__attribute__((noreturn)) void splitc_exit(int code);

#endif
