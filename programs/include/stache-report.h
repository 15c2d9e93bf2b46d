/* stache-report.h: what nodes need of each other's data, to see which data deserve a protocol of their own (the protocol stache-counted).
 *
 *     stache_watch("bodies", all, sizeof *all * bodies, sizeof *all);   // on each node alike; calls of one name are one structure
 *     stache_forget();                                                  // collective: what has been counted so far is forgotten
 *     ..
 *     stache_report(REPORT_LINES);                                      // collective: node 0 prints so many lines of each structure at most
 *
 * These calls do nothing unless the program is compiled with --cc=-DREPORT, so that they may stay in it. It runs under stache-counted then:
 *     trivium sim PROGRAM --cc=-DREPORT -p stache-counted ..
 * What is under another protocol is not counted; the report says how many pages that are.
 *
 * A block has faults where nodes needed it that could not use it. Which nodes have read it, which have written it, and which is its home say how it is
 * shared. These rules are tried in order:
 *
 *     nobody writes it                              read only                 stache does well: a node reads it once
 *     one node writes it, and no other reads it     one node, not the home    place it there; migratory, if another had it before
 *     one writes it, and one other reads it         producer and consumer     deferred-update; in messages: channel, column
 *     one writes it, and several others read it     producer, many consumers  update; deferred-update, if the same nodes read it again and again
 *     several write it, and the home alone reads    gathered at home          remote-records; channel
 *     several write it, and nobody else reads it    migratory                 migratory; channel, if it goes round in a fixed order
 *     others read it: twice as often or more        written in turn           update
 *     others read it: less often                    mixed                     see what lies in it
 *
 * A page, a block of a record and a structure have several patterns; the one with most faults is told first, or alone.
 *
 * A block knows its nodes and not its bytes: several variables of different nodes in one block look like one that goes from node to node. Smaller
 * blocks (--block 32) tell them apart, and trivium sim --blame tells false sharing. Nor is it known who used a block without a fault, as its home may.
 * Whoever has a copy when counts are forgotten is a reader or a writer, though it has had no fault since. trivium_bind and trivium_parallel_start
 * forget all counts of what they place anew. A page that nobody has touched is left alone. A count stays at protocol.most, a thousand million.
 */
#ifndef STACHE_REPORT_H
#define STACHE_REPORT_H

#ifndef REPORT_LINES
#define REPORT_LINES 20
#endif

#ifndef REPORT
#define stache_watch(name, memory, bytes, record) ((void)0)
#define stache_forget() ((void)0)
#define stache_report(lines) ((void)0)
#else

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trivium.h"
#include "trivium/stache-counted.h"

enum {
    STACHE_PAGE = 4096,
    STACHE_WORST = 2,   /* blocks of a page that are told of */
    STACHE_SLICES = 16, /* blocks of a record */
    STACHE_NODES = 1024
};

/* What tally is asked for. */
enum { STACHE_READS, STACHE_WRITES, STACHE_UPGRADES, STACHE_INVALIDATIONS, STACHE_COUNTS, STACHE_READERS = STACHE_COUNTS, STACHE_WRITERS };

enum {
    STACHE_READ_ONLY, STACHE_ONE_NODE, STACHE_PAIR, STACHE_BY_ONE, STACHE_GATHERED, STACHE_MIGRATORY, STACHE_IN_TURN, STACHE_MIXED,
    STACHE_PATTERNS
};

static const char *const stache_patterns[STACHE_PATTERNS][2] = {
    {"read only", "stache"},
    {"one node, not the home", "place it there, or migratory"},
    {"producer and consumer", "deferred-update, channel, column"},
    {"producer, many consumers", "update, deferred-update"},
    {"gathered at home", "remote-records, channel"},
    {"migratory", "migratory, channel"},
    {"written in turn", "update"},
    {"mixed", "smaller blocks?"},
};

/* Of a block, or of several. */
struct stache_sum {
    int64_t blocks, counts[STACHE_COUNTS];
    int64_t readers, writers; /* of a page: different nodes; of a pattern: of each block, added up */
};

struct stache_block {
    uint64_t at;
    int32_t home, pattern;
    struct stache_sum sum;
};

struct stache_page {
    struct stache_block all;
    struct stache_block worst[STACHE_WORST]; /* the worst first; one without faults is none */
};

/* What a node says of a structure, of pages that it is the home of; and what all have said. */
struct stache_part {
    int64_t block, pages, page_faults, elsewhere; /* bytes of a block; pages with faults, and faults; pages under another protocol */
    struct stache_sum patterns[STACHE_PATTERNS], slices[STACHE_SLICES][STACHE_PATTERNS];
    int64_t listed;
    struct stache_page page[]; /* with the most faults */
};

struct stache_range {
    const char *name;
    char *memory;
    uint64_t bytes, record;
};

struct stache_nodes {
    uint64_t bits[STACHE_NODES / 64];
};

static struct stache_range *stache_ranges;
static int stache_watched, stache_lines_left;

/* Adds memory to the structure of that name. `record` is the size of its elements, or 0: then the blocks of a record are told apart, if they are
 * the same of each. */
static inline void stache_watch(const char *name, const volatile void *memory, uint64_t bytes, uint64_t record) {
    stache_ranges = (struct stache_range *)realloc(stache_ranges, sizeof *stache_ranges * (size_t)(stache_watched + 1));
    if (!stache_ranges) trivium_fail("stache_watch: no memory");
    stache_ranges[stache_watched++] = (struct stache_range){name, (char *)(uintptr_t)memory, bytes, record};
}

/* ---- At the home ---------------------------------------------------------------------------------- */

static inline int64_t stache_faults(const struct stache_sum *sum) {
    return sum->counts[STACHE_READS] + sum->counts[STACHE_WRITES] + sum->counts[STACHE_UPGRADES];
}

static inline void stache_add(struct stache_sum *to, const struct stache_sum *sum) {
    to->blocks += sum->blocks, to->readers += sum->readers, to->writers += sum->writers;
    for (int c = 0; c < STACHE_COUNTS; c++) to->counts[c] += sum->counts[c];
}

static inline int stache_pattern(const struct stache_sum *sum, int only_readers, int home_reads) {
    int64_t writers = sum->writers, reads = sum->counts[STACHE_READS], writes = sum->counts[STACHE_WRITES] + sum->counts[STACHE_UPGRADES];
    if (writes == 0) return STACHE_READ_ONLY;
    if (writers == 1) return only_readers == 0 ? STACHE_ONE_NODE : only_readers == 1 ? STACHE_PAIR : STACHE_BY_ONE;
    if (home_reads && sum->readers == 1) return STACHE_GATHERED;
    if (only_readers == 0) return STACHE_MIGRATORY;
    return reads >= 2 * writes ? STACHE_IN_TURN : STACHE_MIXED;
}

/* A block that is at home here. Gives whether it has had faults. */
static inline int stache_look(char *at, struct stache_block *block, struct stache_nodes *readers, struct stache_nodes *writers) {
    struct stache_sum *sum = &block->sum;
    memset(block, 0, sizeof *block);
    for (int c = 0; c < STACHE_COUNTS; c++) sum->counts[c] = stache_counted_tally(at, c);
    if (stache_faults(sum) <= 0) return 0;
    block->at = (uint64_t)(uintptr_t)at, block->home = trivium_node();
    sum->blocks = 1;
    int64_t left = stache_counted_tally(at, STACHE_READERS) + stache_counted_tally(at, STACHE_WRITERS);
    int only_readers = 0, home_reads = 0;
    for (int32_t node = 0; left > 0 && node < trivium_nodes(); node++) {
        int64_t use = stache_counted_users(at, node), reads = use & 1, writes = use >> 1;
        left -= reads + writes;
        sum->readers += reads, sum->writers += writes;
        only_readers += reads && !writes;
        home_reads += reads && node == block->home;
        readers->bits[node / 64] |= (uint64_t)reads << node % 64;
        writers->bits[node / 64] |= (uint64_t)writes << node % 64;
    }
    block->pattern = stache_pattern(sum, only_readers, home_reads);
    return 1;
}

/* Which has more faults, or the lower address. */
static inline int stache_is_worse(const struct stache_block *a, const struct stache_block *b) {
    int64_t of_a = stache_faults(&a->sum), of_b = stache_faults(&b->sum);
    return of_a != of_b ? of_a > of_b : a->at < b->at;
}

static inline int64_t stache_size_of(const struct stache_nodes *nodes) {
    int64_t size = 0;
    for (int i = 0; i < STACHE_NODES / 64; i++) size += __builtin_popcountll(nodes->bits[i]);
    return size;
}

/* Which of the patterns has most faults; the first of equal ones. */
static inline int stache_most(const struct stache_sum *patterns) {
    int most = 0;
    for (int p = 1; p < STACHE_PATTERNS; p++) {
        if (stache_faults(&patterns[p]) > stache_faults(&patterns[most])) most = p;
    }
    return most;
}

/* Which block of a record begins at an address, or -1 where blocks are not the same of each record. */
static inline int stache_slice(const struct stache_range *range, const char *at, int64_t block) {
    if (!range->record || range->record % (uint64_t)block || (uintptr_t)range->memory % (uint64_t)block) return -1;
    uint64_t slice = (uint64_t)(at - range->memory) % range->record / (uint64_t)block;
    return range->record / (uint64_t)block <= STACHE_SLICES ? (int)slice : -1;
}

/* The block that begins first from an address on; of a range's own beginning, the block in which it lies. */
static inline char *stache_first_block(const struct stache_range *range, char *from, int64_t size) {
    uint64_t inside = (uintptr_t)from % (uint64_t)size;
    return inside && from != range->memory ? from + (uint64_t)size - inside : from - inside;
}

/* What a range has of a page that is at home here. A block that is larger than a page belongs to the page in which it begins. */
static inline void stache_look_at_page(const struct stache_range *range, char *from, char *end, struct stache_part *part, struct stache_page *page) {
    int64_t size = stache_counted_block_bytes(from);
    memset(page, 0, sizeof *page);
    if (!size) {
        part->elsewhere++;
        return;
    }
    part->block = size;
    struct stache_nodes readers = {0}, writers = {0};
    struct stache_sum patterns[STACHE_PATTERNS] = {0};
    for (char *at = stache_first_block(range, from, size); at < end; at += size) {
        struct stache_block block;
        if (!stache_look(at, &block, &readers, &writers)) continue;
        int slice = stache_slice(range, at, size), place = STACHE_WORST;
        stache_add(&page->all.sum, &block.sum);
        stache_add(&patterns[block.pattern], &block.sum);
        stache_add(&part->patterns[block.pattern], &block.sum);
        if (slice >= 0) stache_add(&part->slices[slice][block.pattern], &block.sum);
        while (place > 0 && stache_is_worse(&block, &page->worst[place - 1])) place--;
        for (int w = STACHE_WORST - 1; w > place; w--) page->worst[w] = page->worst[w - 1];
        if (place < STACHE_WORST) page->worst[place] = block;
    }
    page->all.at = (uint64_t)(uintptr_t)from / STACHE_PAGE * STACHE_PAGE, page->all.home = trivium_node();
    page->all.pattern = stache_most(patterns);
    page->all.sum.readers = stache_size_of(&readers), page->all.sum.writers = stache_size_of(&writers);
}

static inline char *stache_next_page(char *at) { return at + (STACHE_PAGE - (uintptr_t)at % STACHE_PAGE); }

/* Lists a page among those with most faults, for which there is so much room. */
static inline void stache_list(struct stache_part *part, const struct stache_page *page, int64_t room) {
    int64_t place = part->listed;
    for (; place > 0 && stache_is_worse(&page->all, &part->page[place - 1].all); place--) {
        if (place < room) part->page[place] = part->page[place - 1];
    }
    if (place < room) part->page[place] = *page;
    if (part->listed < room) part->listed++;
}

/* What this node is the home of, of all ranges of a name. */
static inline void stache_look_at_all(const char *name, struct stache_part *part, int64_t room) {
    memset(part, 0, sizeof *part);
    for (int r = 0; r < stache_watched; r++) {
        const struct stache_range *range = &stache_ranges[r];
        if (strcmp(range->name, name)) continue;
        char *end = range->memory + range->bytes;
        for (char *from = range->memory, *next; from < end; from = next) {
            next = stache_next_page(from);
            if (!trivium_is_home(from)) continue;
            struct stache_page page;
            stache_look_at_page(range, from, next < end ? next : end, part, &page);
            int64_t faults = stache_faults(&page.all.sum);
            if (!faults) continue;
            part->pages++, part->page_faults += faults;
            stache_list(part, &page, room);
        }
    }
}

/* Adds what a node says; whichever comes first, the sums and the list are the same. */
static inline void stache_hear(struct stache_part *all, const struct stache_part *part, int64_t room) {
    if (part->block) all->block = part->block;
    all->pages += part->pages, all->page_faults += part->page_faults, all->elsewhere += part->elsewhere;
    for (int p = 0; p < STACHE_PATTERNS; p++) {
        stache_add(&all->patterns[p], &part->patterns[p]);
        for (int s = 0; s < STACHE_SLICES; s++) stache_add(&all->slices[s][p], &part->slices[s][p]);
    }
    for (int64_t i = 0; i < part->listed; i++) stache_list(all, &part->page[i], room);
}

/* ---- Node 0 prints -------------------------------------------------------------------------------- */

static inline int stache_may_print(void) {
    if (stache_lines_left <= 0) return 0;
    stache_lines_left--;
    return 1;
}

static inline void stache_print_sum(const struct stache_sum *sum) {
    for (int c = 0; c < STACHE_COUNTS; c++) printf(" %8" PRId64, sum->counts[c]);
}

static inline void stache_print_block(const char *what, const struct stache_block *block) {
    if (!stache_may_print()) return;
    printf("stache: %s 0x%08" PRIx64 " %5d %6" PRId64 " %7" PRId64 " %7" PRId64, what, block->at, block->home, block->sum.blocks, block->sum.readers,
           block->sum.writers);
    stache_print_sum(&block->sum);
    printf("  %s\n", stache_patterns[block->pattern][0]);
}

/* Patterns, the one with most faults first, with means of readers and writers. */
static inline void stache_print_patterns(struct stache_sum *patterns, int64_t faults) {
    for (int p; stache_faults(&patterns[p = stache_most(patterns)]); memset(&patterns[p], 0, sizeof patterns[p])) {
        const struct stache_sum *sum = &patterns[p];
        double blocks = (double)sum->blocks;
        if (!stache_may_print()) return;
        printf("stache:   %3.0f %% of faults    %6" PRId64 " %7.1f %7.1f", 100.0 * (double)stache_faults(sum) / (double)faults, sum->blocks,
               (double)sum->readers / blocks, (double)sum->writers / blocks);
        stache_print_sum(sum);
        printf("  %s: %s\n", stache_patterns[p][0], stache_patterns[p][1]);
    }
}

static inline void stache_print_slices(struct stache_sum (*slices)[STACHE_PATTERNS], int64_t block) {
    for (int s = 0; s < STACHE_SLICES; s++) {
        struct stache_sum all = {0};
        for (int p = 0; p < STACHE_PATTERNS; p++) stache_add(&all, &slices[s][p]);
        int64_t faults = stache_faults(&all);
        if (!faults || !stache_may_print()) continue;
        int most = stache_most(slices[s]);
        char bytes[32];
        snprintf(bytes, sizeof bytes, "%d to %d", (int)(s * block), (int)((s + 1) * block - 1));
        printf("stache:   bytes %-12s %6" PRId64 " %7.1f %7.1f", bytes, all.blocks, (double)all.readers / (double)all.blocks,
               (double)all.writers / (double)all.blocks);
        stache_print_sum(&all);
        printf("  %s: %.0f %%\n", stache_patterns[most][0], 100.0 * (double)stache_faults(&slices[s][most]) / (double)faults);
    }
}

static inline void stache_print(const char *name, struct stache_part *all, int lines) {
    /* One line is for the name, and one for what is left over. */
    stache_lines_left = lines - 2;
    if (!all->block && !all->elsewhere) {
        printf("stache: %s: nothing there: it is no shared memory, or nobody has touched it\n", name);
        return;
    }
    printf("stache: %s: faults %" PRId64 ", pages with faults %" PRId64 ", bytes of a block %" PRId64, name, all->page_faults, all->pages, all->block);
    if (all->elsewhere) printf(", pages under another protocol (not counted) %" PRId64, all->elsewhere);
    printf("\n");
    if (all->pages && stache_may_print()) printf("stache:          address  home blocks readers writers    reads   writes upgrades invalid.\n");
    stache_print_patterns(all->patterns, all->page_faults);
    stache_print_slices(all->slices, all->block);
    int64_t told = 0, faults = 0;
    for (; told < all->listed && stache_lines_left > 0; told++) {
        const struct stache_page *page = &all->page[told];
        faults += stache_faults(&page->all.sum);
        stache_print_block("  page ", &page->all);
        for (int w = 0; w < STACHE_WORST && page->worst[w].sum.blocks; w++) stache_print_block("  block", &page->worst[w]);
    }
    stache_lines_left = lines > 1;
    if (told + 1 == all->pages) stache_print_block("  page ", &all->page[told].all);
    else if (told < all->pages && stache_may_print()) printf("stache:   and %" PRId64 " pages more, with %" PRId64 " faults\n", all->pages - told, all->page_faults - faults);
}

/* ---- All nodes together --------------------------------------------------------------------------- */

/* Forgets what has been counted of all that is watched. Collective, and a barrier. */
static inline void stache_forget(void) {
    trivium_barrier();
    for (int r = 0; r < stache_watched; r++) {
        char *end = stache_ranges[r].memory + stache_ranges[r].bytes;
        for (char *from = stache_ranges[r].memory, *next; from < end; from = next) {
            next = stache_next_page(from);
            int64_t size = trivium_is_home(from) ? stache_counted_block_bytes(from) : 0;
            if (!size) continue;
            for (char *at = stache_first_block(&stache_ranges[r], from, size); at < next && at < end; at += size) stache_counted_forget(at);
        }
    }
    trivium_barrier();
}

/* Prints so many lines of each structure at most, in the order in which they are watched first: its patterns, the one with most faults first; the
 * blocks of its records; its pages, the worst first, each with its worst blocks. Collective, and a barrier. What has been counted stays. */
static inline void stache_report(int lines) {
    int32_t self = trivium_node();
    if (lines < 1) lines = 1;
    size_t size = sizeof(struct stache_part) + sizeof(struct stache_page) * (size_t)lines;
    struct stache_part *part = (struct stache_part *)malloc(size);
    /* A page for a lock, and what all say behind it. */
    trivium_lock_t *lock = (trivium_lock_t *)trivium_alloc_on_under("stache-counted", 0, STACHE_PAGE + size);
    struct stache_part *all = (struct stache_part *)((char *)lock + STACHE_PAGE);
    trivium_name(lock, "stache_report");
    if (!part) trivium_fail("stache_report: no memory");
    for (int r = 0; r < stache_watched; r++) {
        const char *name = stache_ranges[r].name;
        int is_first = 1;
        for (int before = 0; before < r; before++) is_first &= strcmp(stache_ranges[before].name, name) != 0;
        if (!is_first) continue;
        trivium_barrier(); /* nobody has an access under way */
        stache_look_at_all(name, part, lines);
        if (part->block || part->elsewhere) {
            trivium_lock(lock);
            stache_hear(all, part, lines);
            trivium_unlock(lock);
        }
        trivium_barrier();
        if (self != 0) continue;
        memcpy(part, all, size);
        memset(all, 0, sizeof *all);
        stache_print(name, part, lines);
    }
    free(part);
    trivium_free(lock);
}

#endif
#endif
