/* split-c.c: what split-c.h declares. Compiled with every Split-C program.
 *
 * Nothing of this library's own lies in a block with what programs share: another processor may hold such a block when the
 * library uses it by a plain pointer. So its state has pages for itself, and the lists of free memory lie beside the part, not in it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "split-c.h"

/* The largest block; also what trivium_share counts in. */
enum { PAGE = 65536 };

struct splitc splitc;

/* The pointers that spread arrays become begin a page. */
static char apart[1] __attribute__((section("splitc_spread"), aligned(PAGE), used)) = {1};

/* The linker's: where static data begin, and where they end. */
extern char __global_base, __heap_base;

/* Ends the program, with a format as of printf. */
__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
    static char what[512];
    va_list rest;
    va_start(rest, format);
    vsnprintf(what, sizeof what, format, rest);
    trivium_fail(what);
}

/* ---- Memory --------------------------------------------------------------------------------------
 *
 * A part is all that the program begins with, but for the stack: static data, then memory of malloc, which grows up, then spread
 * memory, which grows down. Sizes are rounded up, eight of them for each doubling, and freed memory waits for a request of its size. Spread memory is
 * asked for by all processors in the same order, so that it lies at the same local address on each. */

enum { GRAIN = 16, CLASSES = 256 };

struct arena {
    uint32_t bin[CLASSES]; /* grains that are free, by size; 0: none */
};

/* Behind the others, in pages that are not shared; by number of grain. */
static struct __attribute__((aligned(PAGE))) {
    struct arena own, spread;
    uint32_t low, high; /* between them lies what was never used, in grains from the part's beginning */
    uint32_t *next;     /* the next free one of the same size */
    uint8_t *size;      /* the class of what begins here */
    /* How many bytes this processor has stored to each, and how many stores to it were waited for. */
    int64_t *stored, waited;
    int slot;
    size_t block;    /* the bytes of a block, where the protocol has calls for split-phase accesses; else 0 */
    int under_way;   /* whether there are gets and puts that no sync() has waited for */
    char *values;    /* of puts and stores whose variables need not keep them */
    size_t used;     /* so many bytes of these may still be needed */
    int has_warned;
} memory;

enum { VALUES = PAGE };

/* What other processors write here: by global pointers, on pages for themselves. */
static struct {
    int64_t arrived;                                /* bytes that stores have brought here, where they are accesses */
    int32_t warned;                                 /* on processor 0: a warning has been told */
    int64_t sent[PAGE / sizeof(int64_t) - 2];       /* at a barrier: how many bytes this processor has stored to each, by calls */
} told __attribute__((aligned(PAGE)));
static union {
    int64_t whole;
    double real;
} slots[PAGE / sizeof(int64_t)] __attribute__((aligned(PAGE)));

/* So many grains in a class: 1 to 8, then eight sizes for each doubling. */
static uint64_t grains_of(int class) {
    return class < 8 ? (uint64_t)class + 1 : (uint64_t)(class % 8 + 9) << (class / 8 - 1);
}

static int class_of(uint64_t bytes) {
    int class = 0;
    while (class < CLASSES - 1 && grains_of(class) * GRAIN < bytes) class++;
    return class;
}

/* Memory that is not shared and nobody frees, zeroed. */
static void *beside(size_t bytes) {
    size_t pages = (bytes + PAGE - 1) / PAGE, first = __builtin_wasm_memory_grow(0, pages);
    if (first == SIZE_MAX) fail("split-c: no memory for the lists of free memory");
    return (void *)(first * PAGE);
}

__attribute__((constructor(150))) static void share(void) {
    splitc.self = trivium_node();
    splitc.processors = trivium_nodes();
    splitc.local = (uintptr_t)&__global_base / PAGE * PAGE;
    splitc.part = __builtin_wasm_memory_size(0) * PAGE - splitc.local;
    uint64_t most = UINT64_C(1) << 30, all = (uint64_t)splitc.part * (uint64_t)splitc.processors;
    if (all > most) {
        fail("split-c: %d processors with %llu bytes each: shared memory has %llu in all: lower it, for example by --cc -Wl,--initial-memory=5242880",
             splitc.processors, (unsigned long long)splitc.part, (unsigned long long)most);
    }
    memory.low = (uint32_t)(((uintptr_t)&__heap_base - splitc.local + PAGE - 1) / PAGE * PAGE / GRAIN);
    /* A pointer behind the last element of an array is on no other processor: a page stays free. */
    memory.high = (uint32_t)(splitc.part / GRAIN - PAGE / GRAIN);
    memory.next = beside(splitc.part / GRAIN * sizeof *memory.next);
    memory.size = beside(splitc.part / GRAIN);
    memory.stored = beside((size_t)splitc.processors * sizeof(int64_t));
    splitc.window = (uintptr_t)trivium_share((void *)splitc.local, splitc.part, 0);
    if (splitc.window < SPLITC_SHARED) fail("split-c: shared memory does not begin where split-c.h says");
    memory.block = (size_t)trivium_split_phase(TRIVIUM_SPLIT_BLOCK, (void *)splitc.window, 0, 0);
    if (memory.block) memory.values = beside(VALUES);
    trivium_name((void *)splitc.window, "split-c");
}

/* Memory of an arena; null if there is none left. Never grain 0, where static data are. */
static void *take(struct arena *arena, uint64_t bytes, int downwards) {
    int class = class_of(bytes);
    uint32_t grain = arena->bin[class];
    if (grain) {
        arena->bin[class] = memory.next[grain];
    } else {
        uint64_t grains = grains_of(class);
        if (bytes > splitc.part || grains > memory.high - memory.low) return 0;
        grain = downwards ? (memory.high -= (uint32_t)grains) : memory.low;
        if (!downwards) memory.low += (uint32_t)grains;
    }
    memory.size[grain] = (uint8_t)class;
    return (void *)(splitc.local + (uintptr_t)grain * GRAIN);
}

static uint32_t grain_of(const void *local) { return (uint32_t)(((uintptr_t)local - splitc.local) / GRAIN); }

static void give(struct arena *arena, void *local) {
    uint32_t grain = grain_of(local), *bin = &arena->bin[memory.size[grain]];
    memory.next[grain] = *bin;
    *bin = grain;
}

void *malloc(size_t bytes) {
    void *local = take(&memory.own, bytes, 0);
    if (!local) errno = ENOMEM;
    return local;
}

void free(void *local) {
    if (local) give(&memory.own, local);
}

void *calloc(size_t count, size_t bytes) {
    size_t all;
    void *local = __builtin_mul_overflow(count, bytes, &all) ? 0 : malloc(all);
    return local ? memset(local, 0, all) : 0;
}

void *realloc(void *old, size_t bytes) {
    if (!old) return malloc(bytes);
    uint64_t had = grains_of(memory.size[grain_of(old)]) * GRAIN;
    if (bytes <= had) return old;
    void *local = malloc(bytes);
    if (!local) return 0;
    memcpy(local, old, had);
    free(old);
    return local;
}

/* More than a grain's alignment is had by room before it, which does not come back. */
void *aligned_alloc(size_t alignment, size_t bytes) {
    if (alignment <= GRAIN) return malloc(bytes);
    int class = class_of(bytes);
    void *local = malloc(grains_of(class) * GRAIN + alignment);
    if (!local) return 0;
    uintptr_t aligned = ((uintptr_t)local + alignment - 1) / alignment * alignment;
    memory.size[grain_of((void *)aligned)] = (uint8_t)class;
    return (void *)aligned;
}

int posix_memalign(void **local, size_t alignment, size_t bytes) {
    void *room = aligned_alloc(alignment, bytes);
    if (!room) return ENOMEM;
    *local = room;
    return 0;
}

static void meet(void) {
    __asm__ volatile("" ::: "memory");
    trivium_barrier();
}

/* How many of `count` elements lie on a processor at most. */
static int64_t dealt(int64_t count) { return count / splitc.processors + (count % splitc.processors != 0); }

/* As malloc of the study's machines, it takes 8 bytes before what it gives: an array does not begin a block, and an array as large as
 * whole blocks lies in one more. */
enum { BEFORE = 8 };

static void SPLITC_SPREAD *spread(int64_t count, size_t bytes, const char *what) {
    if (count < 0) {
        fail("split-c: %s of %lld elements: a size below zero, or too large", what, (long long)count);
    }
    int64_t each = dealt(count), all;
    each += bytes > PAGE; /* room for a pointer behind the last */
    if (__builtin_mul_overflow(each, (int64_t)bytes, &all) || all > (int64_t)splitc.part) all = (int64_t)splitc.part;
    char *local = take(&memory.spread, (uint64_t)all + BEFORE, 1);
    if (!local) {
        fail("split-c: %s of %lld elements of %zu bytes: a processor has %zu bytes left: give more, for example by --cc -Wl,--initial-memory=67108864",
             what, (long long)count, bytes, (size_t)(memory.high - memory.low) * GRAIN);
    }
    return (void SPLITC_SPREAD *)splitc_address_on(0, (uintptr_t)(local + BEFORE));
}

/* A negative count is a very large one here, and there is no memory for it. */
void SPLITC_SPREAD *all_spread_malloc(size_t count, size_t bytes) {
    return spread((int64_t)count, bytes, "all_spread_malloc");
}

void SPLITC_SPREAD *all_spread_calloc(size_t count, size_t bytes) {
    void SPLITC_SPREAD *all = spread((int64_t)count, bytes, "all_spread_calloc");
    /* By the global address: others may have had the memory before. */
    char *own = (char *)splitc_address_on(splitc.self, splitc_local_address((uintptr_t)all));
    memset(own, 0, (size_t)dealt((int64_t)count) * bytes);
    meet();
    return all;
}

uintptr_t splitc_spread_storage(int64_t count, size_t bytes) {
    return (uintptr_t)spread(count, bytes, "a spread array");
}

void spread_free(void SPLITC_SPREAD *spread) {
    if (spread) give(&memory.spread, (void *)(splitc_local_address((uintptr_t)spread) - BEFORE));
}

/* ---- Wrong pointers ------------------------------------------------------------------------------ */

void splitc_not_shared(const void *local) {
    if ((uintptr_t)local < splitc.local)
        fail("split-c: %p is made a global pointer: a stack variable has no global address: make it static, or use malloc", local);
    fail("split-c: %p is made a global pointer: it is not this processor's to share: it lies outside of its static data, malloc and spread memory",
         local);
}

void splitc_not_global(uintptr_t address) {
    if (!address) fail("split-c: a null global pointer is used");
    fail("split-c: the global pointer %p is used, and points to no processor's memory: null with an offset, one that was never set, or a wrong number",
         (void *)address);
}

void splitc_no_processor(int processor) {
    fail("split-c: toglobal names processor %d, which does not exist: there are %d", processor, splitc.processors);
}

/* ---- Split-phase and bulk accesses --------------------------------------------------------------- */

static void check(uintptr_t global, intptr_t bytes, const char *what) {
    if (bytes < 0) {
        fail("split-c: %s of %lld bytes: a negative length", what, (long long)bytes);
    }
    uintptr_t offset = splitc_offset(global);
    if ((uintptr_t)bytes > splitc.part - offset % splitc.part) {
        fail("split-c: %s of %lld bytes at %p: these bytes do not lie on one processor", what, (long long)bytes, (void *)global);
    }
}

typedef uint64_t word __attribute__((may_alias));
typedef uint32_t half __attribute__((may_alias));
typedef uint16_t quarter __attribute__((may_alias));

/* In the widest pieces that both places allow. */
#define COPY_AS(type, to_space, from_space) \
    for (; bytes >= sizeof(type); bytes -= sizeof(type), to += sizeof(type), from += sizeof(type)) \
    *(type to_space *)to = *(const type from_space *)from

#define COPY(to_space, from_space) \
    uintptr_t low = to | from; \
    if (low % 8 == 0) COPY_AS(word, to_space, from_space); \
    if (low % 4 == 0) COPY_AS(half, to_space, from_space); \
    if (low % 2 == 0) COPY_AS(quarter, to_space, from_space); \
    COPY_AS(char, to_space, from_space);

static void copy_in(uintptr_t to, uintptr_t from, size_t bytes) { COPY(, SPLITC_GLOBAL) }
static void copy_out(uintptr_t to, uintptr_t from, size_t bytes) { COPY(SPLITC_GLOBAL, ) }

/* The protocol's calls. Each is about bytes of one block, and refused while too many are under way. */
static int64_t ask(int what, uintptr_t global, size_t bytes, uintptr_t local) {
    return trivium_split_phase(what, (void *)global, bytes, (void *)local);
}

static void move(int what, uintptr_t global, uintptr_t local, size_t bytes) {
    while (bytes) {
        size_t rest = memory.block - global % memory.block, now = bytes < rest ? bytes : rest;
        while (!ask(what, global, now, local)) ask(TRIVIUM_SPLIT_SYNC, splitc.window, 0, 0);
        global += now;
        local += now;
        bytes -= now;
    }
}

static void get(uintptr_t local, uintptr_t global, size_t bytes) {
#ifdef SPLITC_POISON
    memset((void *)local, 0xa5, bytes); /* whoever looks before `sync` sees it */
#endif
    if (!memory.block) return copy_in(local, global, bytes);
    memory.under_way = 1;
    move(TRIVIUM_SPLIT_GET, global, local, bytes);
}

static void put(uintptr_t global, uintptr_t local, size_t bytes) {
    if (!memory.block) return copy_out(global, local, bytes);
    memory.under_way = 1;
    move(TRIVIUM_SPLIT_PUT, global, local, bytes);
}

/* What has been stored, then how much: the receiver looks at the second. The protocol's own calls count by themselves. */
static void store(uintptr_t global, uintptr_t local, size_t bytes) {
    int receiver = splitc_processor(global);
    memory.stored[receiver] += (int64_t)bytes;
    if (memory.block) return move(TRIVIUM_SPLIT_STORE, global, local, bytes);
    copy_out(global, local, bytes);
    trivium_fetch_add64((volatile int64_t *)splitc_address_on(receiver, (uintptr_t)&told.arrived), (int64_t)bytes);
}

void sync(void) {
    if (memory.under_way || memory.used) ask(TRIVIUM_SPLIT_SYNC, splitc.window, 0, 0);
    memory.under_way = 0;
    memory.used = 0;
    __asm__ volatile("" ::: "memory");
}

int is_sync(void) {
    if (memory.under_way && !ask(TRIVIUM_SPLIT_IS_SYNC, splitc.window, 0, 0)) return 0;
    memory.under_way = 0;
    __asm__ volatile("" ::: "memory");
    return 1;
}

/* Where a value stays until it has been moved. What has no place there is moved at once, by `sync`. */
static uintptr_t kept(const void *value, size_t bytes) {
    size_t room = (bytes + 7) / 8 * 8;
    if (!memory.block || room > VALUES) return (uintptr_t)value;
    if (memory.used + room > VALUES) sync();
    void *place = memory.values + memory.used;
    memory.used += room;
    return (uintptr_t)memcpy(place, value, bytes);
}

static int is_kept(uintptr_t value) { return value - (uintptr_t)memory.values < VALUES; }

void splitc_get(void *to, const void SPLITC_GLOBAL *from, size_t bytes) {
    splitc_offset((uintptr_t)from);
    get((uintptr_t)to, (uintptr_t)from, bytes);
}

void splitc_put(void SPLITC_GLOBAL *to, const void *from, size_t bytes) {
    splitc_offset((uintptr_t)to);
    uintptr_t value = kept(from, bytes);
    put((uintptr_t)to, value, bytes);
    if (memory.block && !is_kept(value)) sync();
}

void splitc_store(void SPLITC_GLOBAL *to, const void *from, size_t bytes) {
    check((uintptr_t)to, (intptr_t)bytes, "a store");
    uintptr_t value = kept(from, bytes);
    store((uintptr_t)to, value, bytes);
    if (memory.block && !is_kept(value)) {
        ask(TRIVIUM_SPLIT_SYNC, splitc.window, 0, 0);
    }
}

void bulk_get(void *to, const void SPLITC_GLOBAL *from, intptr_t bytes) {
    if (!bytes) return;
    check((uintptr_t)from, bytes, "bulk_get");
    get((uintptr_t)to, (uintptr_t)from, (size_t)bytes);
}

void bulk_put(void SPLITC_GLOBAL *to, const void *from, intptr_t bytes) {
    if (!bytes) return;
    check((uintptr_t)to, bytes, "bulk_put");
    put((uintptr_t)to, (uintptr_t)from, (size_t)bytes);
}

void bulk_read(void *to, const void SPLITC_GLOBAL *from, intptr_t bytes) {
    if (!bytes) return;
    check((uintptr_t)from, bytes, "bulk_read");
    get((uintptr_t)to, (uintptr_t)from, (size_t)bytes);
    sync();
}

void bulk_write(void SPLITC_GLOBAL *to, const void *from, intptr_t bytes) {
    if (!bytes) return;
    check((uintptr_t)to, bytes, "bulk_write");
    put((uintptr_t)to, (uintptr_t)from, (size_t)bytes);
    sync();
}

void bulk_store(void SPLITC_GLOBAL *to, const void *from, intptr_t bytes) {
    if (!bytes) return;
    check((uintptr_t)to, bytes, "bulk_store");
    store((uintptr_t)to, (uintptr_t)from, (size_t)bytes);
}

/* This processor's own count of what stores have brought, as others change it. */
static volatile int64_t *arrived(void) {
    return (volatile int64_t *)splitc_address_on(splitc.self, (uintptr_t)&told.arrived);
}

void store_sync(intptr_t bytes) {
    if (bytes < 0) fail("split-c: store_sync of %lld bytes: a negative number", (long long)bytes);
    if (!bytes) return;
    memory.waited += bytes;
    if (memory.block) {
        ask(TRIVIUM_SPLIT_STORE_SYNC, splitc.window, (size_t)bytes, 0);
    } else {
        for (int64_t now; (now = *arrived()) < memory.waited;) trivium_wait_until_changed64(arrived(), now);
    }
    __asm__ volatile("" ::: "memory");
}

/* The first processor that comes here tells it. */
static void warn(const char *file, int line) {
    memory.has_warned = 1;
    if (trivium_swap32((volatile int32_t *)splitc_address_on(0, (uintptr_t)&told.warned), 1)) return;
    fprintf(stderr,
            "split-c: warning: %s:%d: a barrier while gets or puts are under way, for which it does not wait: call sync() before "
            "what they bring is used\n",
            file, line);
}

void splitc_barrier(const char *file, int line) {
    if (memory.under_way && !memory.has_warned) warn(file, line);
    meet();
}

/* Each tells all how many bytes it has stored to them, and waits for those that were stored to it. */
static void await_stores(void) {
    for (int p = 0; p < splitc.processors; p++) *toglobal(splitc.self, &told.sent[p]) = memory.stored[p];
    meet();
    int64_t all = 0;
    for (int p = 0; p < splitc.processors; p++) all += *toglobal(p, &told.sent[splitc.self]);
    if (all > memory.waited) store_sync((intptr_t)(all - memory.waited));
}

void all_store_sync(void) {
    if (memory.block) {
        await_stores();
    } else {
        meet();
        memory.waited = *arrived();
    }
    meet();
}

void splitc_begin(void) { meet(); }
void splitc_end(void) { meet(); }

void splitc_exit(int code) {
    splitc_end();
    exit(code);
}

/* ---- All processors together --------------------------------------------------------------------- */

/* Each processor writes its own slot, and reads the others behind a barrier. The next time it is another slot, so that nobody
 * has to wait until all have read. */
static int slot(void) {
    memory.slot ^= 1;
    return memory.slot;
}

#define TOGETHER(name, type, member, combine) \
    static type name(type x, int processors) { \
        int at = slot(); \
        toglobal(splitc.self, &slots[at])->member = x; \
        meet(); \
        type all = 0; \
        for (int p = 0; p < processors; p++) { \
            type y = toglobal(p, &slots[at])->member; \
            all = p == 0 ? y : (combine); \
        } \
        return all; \
    }

TOGETHER(add, int64_t, whole, all + y)
TOGETHER(max, int64_t, whole, y > all ? y : all)
TOGETHER(min, int64_t, whole, y < all ? y : all)
TOGETHER(dadd, double, real, all + y)
TOGETHER(dmax, double, real, y > all ? y : all)
TOGETHER(dmin, double, real, y < all ? y : all)

#define REDUCTIONS(type, name) \
    type all_reduce_to_all_##name(type x) { return (type)name(x, splitc.processors); } \
    type all_reduce_to_one_##name(type x) { return (type)name(x, splitc.self == 0 ? splitc.processors : 0); }

REDUCTIONS(int, add)
REDUCTIONS(int, max)
REDUCTIONS(int, min)
REDUCTIONS(double, dadd)
REDUCTIONS(double, dmax)
REDUCTIONS(double, dmin)

int all_scan_add(int x) { return (int)add(x, splitc.self + 1); }
double all_scan_dadd(double x) { return dadd(x, splitc.self + 1); }

int all_bcast(int x) { return (int)add(x, 1); }
double all_dbcast(double x) { return dadd(x, 1); }
