/* fbcopy.h: memory is copied by the nodes' engines while the program goes on (the protocol fbcopy-whole).
 *
 *     int copy = fbcopy(to, from, bytes, &flag);    // from here on the program leaves both alone
 *     ..                                            // flag has been counted up when all is there
 *     fbcopy_wait(copy);                            // once for each copy: it also gives its number back
 *
 * After Heinlein 1998, 5.1 and 5.2.4. Where the ends lie otherwise in their lines, by a multiple of eight bytes, the engines collect the lines and copy
 * them by words. What the engines do not do the processor does before the call returns: parts of lines at both ends of the destination, ends that differ by
 * other numbers of bytes, and copies within a node. What the engines do not take at once goes page by page, and is there when the call returns: a source
 * whose pages are at home at several nodes, more than FBCOPY_MOST lines, a copy that finds all jobs in use or addresses held off.
 */
#ifndef FBCOPY_H
#define FBCOPY_H

#include "trivium.h"
#include "trivium/fbcopy-whole.h"

/* What protocol.page and protocol.most are: where they are set, `--cc=-DFBCOPY_PAGE=N`, `-DFBCOPY_MOST=N` say so here. */
#ifndef FBCOPY_PAGE
#define FBCOPY_PAGE 64 /* lines that the engines are asked about at a time */
#endif
#ifndef FBCOPY_MOST
#define FBCOPY_MOST 4096 /* lines of a copy */
#endif

enum {
    FBCOPY_DONE = -1,  /* all is copied, and the flag counted up */
    FBCOPY_WRONG = -2, /* nothing is done: bytes below 0, an end or a flag where no memory of the protocol has been allocated, ends that overlap,
                          a flag that is not aligned to eight bytes or lies in what is copied to */
    FBCOPY_PAGE_BYTES = 4096 /* so much lies at one home at least */
};

/* How many of these lines, of which the first one begins anywhere, lie whole on its page: one at least, and not more than the engines are asked about. */
static inline int64_t fbcopy_on_page(int64_t at, int64_t lines, int64_t line) {
    int64_t n = (FBCOPY_PAGE_BYTES - at % FBCOPY_PAGE_BYTES) / line;
    n = n < 1 ? 1 : n < lines ? n : lines;
    n = n < FBCOPY_PAGE ? n : FBCOPY_PAGE;
    return n < FBCOPY_MOST ? n : FBCOPY_MOST;
}

/* Bytes of a line if all of the memory is there; else 0. Pages that nobody has touched come to this node: a page whose home it does not know could not
 * be copied from or to. */
static inline int64_t fbcopy_line(const volatile void *memory, int64_t bytes) {
    int64_t at = (int64_t)(uintptr_t)memory, line = fbcopy_whole_line((void *)(uintptr_t)at, 1), end, n;
    if (!line || bytes > (int64_t)UINT32_MAX || (end = at + bytes) > (int64_t)UINT32_MAX + 1)
        return 0;
    for (at -= at % line; at < end; at += n * line) {
        n = fbcopy_on_page(at, (end - at + line - 1) / line, line);
        if (!fbcopy_whole_line((void *)(uintptr_t)at, n))
            return 0;
    }
    return line;
}

static inline int fbcopy_overlap(const volatile void *a, int64_t a_bytes, const volatile void *b, int64_t b_bytes) {
    int64_t x = (int64_t)(uintptr_t)a, y = (int64_t)(uintptr_t)b;
    return a_bytes && b_bytes && x - y < b_bytes && y - x < a_bytes;
}

static inline void fbcopy_by_processor(volatile void *to, const volatile void *from, int64_t bytes) {
    volatile char *t = (volatile char *)to;
    const volatile char *f = (const volatile char *)from;
    int64_t i = 0;
    if (((uintptr_t)t | (uintptr_t)f) % 8 == 0)
        for (; i + 8 <= bytes; i += 8)
            *(volatile int64_t *)(t + i) = *(const volatile int64_t *)(f + i);
    for (; i < bytes; i++)
        t[i] = f[i];
}

/* Lines of the destination whose words begin anywhere in lines of the source; -1: not all is at homes where the engines can copy it, or no job is free. */
static inline int32_t fbcopy_begin(char *to, char *from, int64_t lines, int64_t line, volatile int64_t *flag) {
    int64_t skip = (int64_t)((uintptr_t)from % line / 8), at = (int64_t)((uintptr_t)flag % line / 8);
    if (lines > FBCOPY_MOST)
        return -1;
    if (skip)
        return flag ? fbcopy_whole_copy_words_counted(to, from, lines, skip, (void *)flag, at) : fbcopy_whole_copy_words(to, from, lines, skip);
    return flag ? fbcopy_whole_copy_counted(to, from, lines, (void *)flag, at) : fbcopy_whole_copy(to, from, lines);
}

/* Whole lines of the destination, by pages of the source: by the engines where they can, else by the processor. */
static inline void fbcopy_pages(char *to, char *from, int64_t lines, int64_t line) {
    for (int64_t i = 0, n; i < lines; i += n) {
        n = fbcopy_on_page((int64_t)(uintptr_t)(from + i * line), lines - i, line);
        int32_t job = fbcopy_begin(to + i * line, from + i * line, n, line, 0);
        if (job < 0)
            fbcopy_by_processor(to + i * line, from + i * line, n * line);
        else
            fbcopy_whole_wait(job);
    }
}

/* Copies `bytes` bytes, and adds one to *flag, a word of any node, when all are there; NULL: there is no flag. The result is FBCOPY_DONE, FBCOPY_WRONG
 * or the number of a copy that is under way. Until its end the program may neither store to the source nor use the destination. */
static inline int fbcopy(volatile void *to, const volatile void *from, int64_t bytes, volatile int64_t *flag) {
    static int64_t line; /* all have the same size */
    if (bytes < 0 || fbcopy_overlap(to, bytes, from, bytes) || (flag && ((uintptr_t)flag % 8 || fbcopy_overlap(flag, 8, to, bytes))))
        return FBCOPY_WRONG;
    if (bytes && !line && !(line = fbcopy_whole_line((void *)to, 1)))
        return FBCOPY_WRONG;
    char *t = (char *)(uintptr_t)to, *f = (char *)(uintptr_t)from;
    int64_t before = bytes ? (int64_t)(-(uintptr_t)t % line) : 0;
    int64_t lines = bytes > before && ((uintptr_t)t - (uintptr_t)f) % 8 == 0 ? (bytes - before) / line : 0;
    int32_t copy = -1;
    /* The engines look whether all is there. If the processor has a part in it, it has to look before it stores anything. */
    if (lines && lines * line == bytes)
        copy = fbcopy_begin(t, f, lines, line, flag);
    if (copy >= 0)
        return copy;
    if ((flag && !fbcopy_line(flag, 8)) || (bytes && !(fbcopy_line(to, bytes) && fbcopy_line(from, bytes))))
        return FBCOPY_WRONG;
    if (lines * line != bytes) {
        int64_t done = before + lines * line;
        fbcopy_by_processor(t, f, lines ? before : bytes);
        if (lines) {
            fbcopy_by_processor(t + done, f + done, bytes - done);
            copy = fbcopy_begin(t + before, f + before, lines, line, flag);
        }
        if (copy >= 0)
            return copy;
    }
    fbcopy_pages(t + before, f + before, lines, line);
    if (flag)
        trivium_fetch_add64(flag, 1);
    return FBCOPY_DONE;
}

/* Returns when the copy is there: 1, or 0 if there is none of this number. Afterwards the number may be another copy's. */
static inline int fbcopy_wait(int copy) { return copy >= 0 ? fbcopy_whole_wait(copy) : copy == FBCOPY_DONE; }

#endif
