/* pagecopy.c: what it takes to copy a page from one node's memory to another's, whatever caches hold of either end.
 *
 * Node 0 has the source and copies; node 1 has the destination. Its processor copies word by word, with prefetches (-p) or without; compiled
 * with -DENGINES, the nodes' engines do (protocol fbcopy-relaxed; with -DFORWARD besides fbcopy, with -DCOLLECT fbcopy-collect, with -DDELEGATE fbcopy-delegate, where
 * with -DASKER=2 another node asks for the copy, and with -DFLAG fbcopy-flag, where node 0 looks at a word until it is counted up). Before that it is copied once for the engines' own caches (-e), node 0's cache is filled, half of it dirty, and the lines of either end
 * come into one state. Afterwards node 1 reads what it has got, and node 0 what was in its cache (with -DREFILL each word of the displaced lines). Times are in the processor's cycles.
 */
#include "options.h"
#if defined COLLECT
#include "trivium/fbcopy-collect.h"
#define ENGINE(call) fbcopy_collect_##call
#elif defined DELEGATE
#include "trivium/fbcopy-delegate.h"
#define ENGINE(call) fbcopy_delegate_##call
#elif defined FLAG
#include "trivium/fbcopy-flag.h"
#define ENGINE(call) fbcopy_flag_##call
#elif defined FORWARD
#include "trivium/fbcopy.h"
#define ENGINE(call) fbcopy_##call
#elif defined ENGINES
#include "trivium/fbcopy-relaxed.h"
#define ENGINE(call) fbcopy_relaxed_##call
#endif

enum { SOURCE, DESTINATION, LINES, LINE, AHEAD, WARM, PART, EARLIER, OPTIONS };
enum { COPY, READING };              /* regions of interest */
enum { NOWHERE, DIRTY_HOME, DIRTY_THIRD };
enum { HOME_SHARES = 1, ONE_SHARER, TWO_SHARERS, THREE_SHARERS, HOME_DIRTY, THIRD_DIRTY };
enum { FROM, TO, THIRD, SHARERS };  /* nodes; sharers are those from SHARERS on */
#ifndef ASKER
#define ASKER FROM                  /* who copies, or has the engines copy */
#endif

static struct option options[OPTIONS] = {
    [SOURCE] = {'s', 0, 0, 2, "the source is 0 uncached, 1 dirty at its home, 2 dirty in a third node"},
    [DESTINATION] = {'d', 0, 0, 6, "the destination is 0 uncached, 1 shared by its home, 2 to 4 by that many others less one, 5 dirty at its home, 6 in a third node"},
    [LINES] = {'n', 32, 1, 64, "lines of the page"},
    [LINE] = {'l', 16, 1, 512, "words of a line, which must be a block"},
    [AHEAD] = {'p', 0, 0, 16, "lines from a prefetch to its use; 0: no prefetches"},
    [WARM] = {'w', 2048, 0, 65536, "KB that are read and written before, a line each in turn"},
    [EARLIER] = {'e', 1, 0, 1000, "times that the page is copied before, so that the engines' own caches have what they need"},
    [PART] = {'m', 0, 0, 2, "the region of interest is 0 the copy, 1 reading it afterwards, 2 both"},
};

static int64_t sum;

/* A word of each line is read, or written. */
static void read_lines(const volatile int64_t *lines, int words) {
    for (int i = 0; i < words; i += (int)options[LINE].value) sum += lines[i];
}

static void write_lines(volatile int64_t *lines, int words, int64_t first) {
    for (int i = 0; i < words; i++) lines[i] = first + i;
}

/* Node 0's cache holds nothing of either end any more, and is full. */
static void warm(volatile int64_t *lines, int words) {
    int line = (int)options[LINE].value;
    for (int i = 0; i < words; i += line) {
        if (i / line % 2) lines[i] = i; else sum += lines[i];
    }
}

static void into_state(int me, int64_t *source, int64_t *target, int words, int64_t first) {
    int from = (int)options[SOURCE].value, to = (int)options[DESTINATION].value;
    if ((me == FROM && from == DIRTY_HOME) || (me == THIRD && from == DIRTY_THIRD)) write_lines(source, words, first);
    if (me == TO && to == HOME_SHARES) read_lines(target, words);
    if (to >= ONE_SHARER && to <= THREE_SHARERS && me >= SHARERS && me <= SHARERS + to - ONE_SHARER) read_lines(target, words);
    if ((me == TO && to == HOME_DIRTY) || (me == SHARERS && to == THIRD_DIRTY)) write_lines(target, words, -1);
}

/* Copies; says after how long the processor could have gone on. Not inlined, so that it is the same code whatever is around it. */
#ifdef FLAG
static volatile int64_t *flag;

__attribute__((noinline)) static int64_t copy(int64_t *source, int64_t *target, int words) {
    int64_t before = *flag;
    int32_t job = ENGINE(copy_counted)(target, source, words / (int)options[LINE].value, (int64_t *)flag, 0);
    int64_t may_go_on = trivium_cycles();
    if (job < 0) trivium_fail("pagecopy: the engine does not copy this page");
    while (*flag == before) {}
    if (!ENGINE(wait)(job)) trivium_fail("pagecopy: there is no such copy");
    return may_go_on;
}
#elif defined ENGINES
__attribute__((noinline)) static int64_t copy(int64_t *source, int64_t *target, int words) {
    int32_t job = ENGINE(copy)(target, source, words / (int)options[LINE].value);
    int64_t may_go_on = trivium_cycles();
    if (job < 0) trivium_fail("pagecopy: the engine does not copy this page");
    if (!ENGINE(wait)(job)) trivium_fail("pagecopy: there is no such copy");
    return may_go_on;
}
#else
static void fetch(const int64_t *source, int64_t *target, int word, int words) {
    if (word >= words) return;
    trivium_prefetch(source + word);
    trivium_prefetch_write(target + word);
}

__attribute__((noinline)) static int64_t copy(int64_t *source, int64_t *target, int words) {
    int line = (int)options[LINE].value, ahead = (int)options[AHEAD].value * line;
    for (int at = 0; at < ahead; at += line) fetch(source, target, at, words);
    for (int at = 0; at < words; at += line) {
        if (ahead > 0) fetch(source, target, at + ahead, words);
        for (int i = at; i < at + line; i++) target[i] = source[i];
    }
    return trivium_cycles();
}
#endif

#ifdef REFILL
/* Of two ways of a cache of so many bytes, the way that was filled first has given up the lines that a copy of these words displaces. */
enum { WAY = 512 * 1024 };

static void read_displaced(const int64_t *other, const int64_t *copied, int words) {
    const char *begin = (const char *)other;
    for (int i = 0; i < words; i++) sum += *(const volatile int64_t *)(begin + (uintptr_t)((const char *)(copied + i) - begin) % WAY);
}
#endif

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int me = trivium_node(), words = (int)(options[LINES].value * options[LINE].value), bad = 0;
    int warm_words = (int)options[WARM].value * 128;
    if (trivium_nodes() < SHARERS + 3) {
        if (me == 0) fprintf(stderr, "pagecopy: it needs at least %d nodes\n", SHARERS + 3);
        exit(2);
    }
    int64_t *source = trivium_alloc_on(FROM, (uint64_t)words * sizeof(int64_t));
    int64_t *target = trivium_alloc_on(TO, (uint64_t)words * sizeof(int64_t));
    int64_t *other = warm_words ? trivium_alloc_on(FROM, (uint64_t)warm_words * sizeof(int64_t)) : NULL;
    int64_t first = 1000;
#ifdef FLAG
    flag = trivium_alloc_on(FROM, options[LINE].value * sizeof(int64_t));
#endif
    trivium_barrier();
    for (int i = 0; me == ASKER && i < options[EARLIER].value; i++) copy(source, target, words);
    if (me == FROM) {
        write_lines(source, words, first);
        warm(other, warm_words);
    }
    trivium_barrier();
    into_state(me, source, target, words, first);
    trivium_barrier();

    int part = (int)options[PART].value;
    int64_t begun = 0, may_go_on = 0, ended = 0;
    if (part != READING) trivium_begin();
    if (me == ASKER) {
        begun = trivium_cycles();
        may_go_on = copy(source, target, words);
        ended = trivium_cycles();
        if (part == COPY) trivium_end();
    }
    trivium_barrier();
    if (part == COPY && me != ASKER) trivium_end();
    if (me == ASKER) {
        printf("the processor is free after %lld cycles\n", (long long)(may_go_on - begun));
        printf("copied after %lld cycles\n", (long long)(ended - begun));
    }

    if (part == READING) trivium_begin();
    if (me == TO) {
        for (int i = 0; i < words; i++) bad += target[i] != first + i;
        if (part != COPY) trivium_end();
    }
    trivium_barrier();
    if (part != COPY && me != TO) trivium_end();

#ifdef REFILL
    if (me == FROM) {
        begun = trivium_cycles();
        read_displaced(other, source, words);
        read_displaced(other, target, words);
        printf("the displaced lines are read after %lld cycles\n", (long long)(trivium_cycles() - begun));
    }
#endif
    if (me == FROM && warm_words) {
        begun = trivium_cycles();
        read_lines(other, warm_words);
        int64_t once = trivium_cycles() - begun;
        read_lines(other, warm_words);
        int64_t again = trivium_cycles() - begun - once;
        printf("what the copy has displaced is back after %lld cycles\n", (long long)(once - again));
    }
    if (bad) trivium_fail("pagecopy: words are not what was copied (has a block as many words as -l says?)");
    trivium_barrier();
    if (me == FROM) printf("pagecopy: ok\n");
    return sum == 1;
}
