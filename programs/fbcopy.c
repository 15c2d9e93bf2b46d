/* fbcopy.c: copies by the nodes' engines (protocol fbcopy), whatever caches hold of either end.
 *
 * Each node has the lines of its part copied to the next node, all nodes at once: first all lines with one call, then one by one in
 * another order, then each with a call of its own before any of them is waited for, as far as there are jobs. Before that a line of the source is dirty at its home or in a third node, or shared; one of the destination is untouched,
 * dirty at its home, at the source's or in a third node, or shared by all. */
#include "trivium.h"
#include "trivium/fbcopy.h"
#include "options.h"
#include <stdio.h>
#include <string.h>

enum { SOURCES = 4, DESTINATIONS = 5, LINES = SOURCES * DESTINATIONS, MOST_NODES = 64 };
enum { ROUNDS, WORDS, OPTIONS };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'r', 3, 1, 1000, "times that all is copied"},
    [WORDS] = {'w', 8, 1, 512, "words of a block, which is a line"},
};
static int64_t *from[MOST_NODES], *to[MOST_NODES];
static int me, nodes, words, bad;

static int64_t value(int owner, int round, int i, int word) { return 10000000 * owner + 100000 * round + 1000 * i + word; }

static void set(int64_t *lines, int owner, int round, int i) {
    for (int word = 0; word < words; word++)
        lines[i * words + word] = value(owner, round, i, word);
}

static void look(int64_t *lines, int owner, int round, int i) {
    for (int word = 0; word < words; word++)
        bad += lines[i * words + word] != value(owner, round, i, word);
}

static int64_t touch(int64_t *lines, int i) { return *(volatile int64_t *)&lines[i * words + i % words]; }

/* Each line of both ends comes into a state of its own. */
static void prepare(int round) {
    int third = (me + nodes - 2) % nodes; /* whose third node this one is */
    for (int i = 0; i < LINES; i++)
        switch (i / DESTINATIONS) {
        case 0: case 2: set(from[me], me, round, i); break;
        default: set(from[third], third, round, i);
        }
    for (int i = 0; i < LINES; i++)
        switch (i % DESTINATIONS) {
        case 1: set(to[me], 99, round, i); break;
        case 2: set(to[(me + 1) % nodes], 99, round, i); break;
        case 3: set(to[(third + 1) % nodes], 99, round, i); break;
        }
    trivium_barrier();
    for (int i = 0; i < LINES; i++) {
        if (i / DESTINATIONS == 2)
            touch(from[third], i);
        if (i / DESTINATIONS == 3)
            touch(from[me], i);
        if (i % DESTINATIONS == 4)
            for (int n = 0; n < nodes; n++)
                touch(to[n], i);
    }
    trivium_barrier();
}

/* The program copies for itself where the engine does not: with one node, source and destination are at home together. */
static void copied(int64_t *t, int64_t *f, int lines) {
    int32_t job = fbcopy_copy(t, f, lines);
    if (job >= 0)
        bad += !fbcopy_wait(job) + fbcopy_wait(job); /* once: then there is no such copy any more */
    else if (nodes == 1)
        memcpy(t, f, (size_t)lines * words * sizeof *t);
    else
        bad++;
}

/* All lines are on their way at once; where all jobs are in use, the oldest is waited for. */
static void copied_together(int64_t *t, int64_t *f) {
    int32_t jobs[LINES];
    int begun = 0, done = 0;
    for (int i = 0; i < LINES; i++) {
        int32_t job = fbcopy_copy(t + i * words, f + i * words, 1);
        for (; job < 0 && done < begun; job = fbcopy_copy(t + i * words, f + i * words, 1))
            bad += !fbcopy_wait(jobs[done++]);
        if (job >= 0)
            jobs[begun++] = job;
        else
            copied(t + i * words, f + i * words, 1);
    }
    while (done < begun)
        bad += !fbcopy_wait(jobs[done++]);
}

static int is_refused(void *t, void *f) { return fbcopy_copy(t, f, 1) < 0; }

static void refused(void) {
    int next = (me + 1) % nodes;
    bad += !is_refused(NULL, from[me]) + !is_refused(to[next], NULL) + !is_refused(to[next], &bad);
    bad += !is_refused(to[me], from[me]);             /* the destination is at home here */
    if (nodes > 1)
        bad += !is_refused(to[next], from[next]);     /* the source is at home elsewhere */
    bad += !is_refused((char *)to[next] + (1 << 28), from[me]);
    for (int job = -1; job < 2 * nodes; job++)
        bad += fbcopy_wait(job);                      /* there is no copy */
    bad += fbcopy_wait(9999999);
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    words = (int)options[WORDS].value;
    me = trivium_node();
    nodes = trivium_nodes();
    int next = (me + 1) % nodes, last = (me + nodes - 1) % nodes;
    for (int n = 0; n < nodes; n++) {
        from[n] = trivium_alloc_on(n, (uint64_t)LINES * words * sizeof(int64_t));
        to[n] = trivium_alloc_on(n, (uint64_t)LINES * words * sizeof(int64_t));
    }
    trivium_barrier();
    trivium_begin();
    refused();
    for (int round = 0; round < options[ROUNDS].value; round++) {
        prepare(round);
        if (round % 3 == 0)
            copied(to[next], from[me], LINES);
        else if (round % 3 == 2)
            copied_together(to[next], from[me]);
        else
            for (int i = 0; i < LINES; i++) {
                int line = (7 * i + round) % LINES;
                copied(to[next] + line * words, from[me] + line * words, 1);
            }
        for (int i = 0; i < LINES; i++)
            look(to[next], me, round, i), look(from[me], me, round, i);
        trivium_barrier();
        for (int i = 0; i < LINES; i++)
            look(to[me], last, round, i);
        trivium_barrier();
    }
    trivium_end();
    if (bad)
        trivium_fail("a line is not what was copied, or a call has said the wrong thing");
    if (me == 0)
        printf("ok\n");
    return 0;
}
