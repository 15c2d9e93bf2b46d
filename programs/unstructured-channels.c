/* unstructured-channels.c: unstructured.c with its sums merged through channels (Tempest's first custom protocol for unstructured; protocol channel).
 *
 * A processor sends each other one what it adds to the mesh nodes of that one which its edges and triangles touch, and nothing of the rest. Which these are never
 * changes: their indices are sent once, at the beginning. The owner adds what has come in the order of unstructured.c, to the same bits. Run it with the default
 * protocol of everything else first:
 *     trivium sim programs/unstructured-channels.c -p stache -p channel ...
 */
#include <stdint.h>

#include "trivium/channel.h"

#define OTHER_MERGE
#include "unstructured.c"

/* The most words of one `put`, and of all that comes by a channel, as the protocol has them unless it is told otherwise; and those of a mesh node's sums. */
enum { MOST = 8192, SPAN = 1048576, WORDS = sizeof(node_t) / sizeof(int64_t) };

/* Mesh nodes, by their places. */
struct list {
    int count, *places;
};

static struct list *touched; /* of each processor, those that this one adds to */
static struct list *added;   /* of this one, those that each processor adds to */
static int64_t **buffers;    /* of each processor: room for what comes of each other, and for what it sends */
static int room, senders;    /* words for each; processors that add to this one's mesh nodes */

/* What a processor sends to this one comes here. What it sends next waits until this one has said that it has used what is here. */
static int64_t *from(int processor) {
    return buffers[self] + (int64_t)room * processor;
}

/* Lists the mesh nodes of others that this processor's edges and triangles touch. */
static void list_touched(void) {
    char *is_touched = allocate((size_t)sections[processors], 1);
    for (int e = 0; e < mine.edge_count; e++) {
        for (int end = 0; end < 2; end++) is_touched[mine.edges[e].ends[end]] = 1;
    }
    for (int t = 0; t < mine.triangle_count; t++) {
        for (int c = 0; c < 3; c++) is_touched[mine.triangles[t].corners[c]] = 1;
    }
    for (int p = 0; p < processors; p++) {
        touched[p].places = allocate((size_t)count_of(p), sizeof(int));
        for (int n = sections[p]; n < sections[p] + count_of(p) && p != self; n++) {
            if (is_touched[n]) touched[p].places[touched[p].count++] = n;
        }
    }
    free(is_touched);
}

/* Tells all how many mesh nodes each adds to of each other, and makes room for them. */
static void make_room(void) {
    int32_t *counts = trivium_alloc_on(0, sizeof *counts * (uint64_t)(processors * processors));
    int most = 1;
    for (int p = 0; p < processors; p++) counts[self * processors + p] = touched[p].count;
    trivium_barrier();
    for (int i = 0; i < processors * processors; i++) most = counts[i] > most ? counts[i] : most;
    for (int p = 0; p < processors; p++) {
        added[p].count = counts[p * processors + self];
        added[p].places = allocate((size_t)added[p].count, sizeof(int));
        senders += added[p].count > 0;
    }
    room = most * WORDS;
    if (room > MOST) {
        trivium_fail(sentence("unstructured-channels: a processor adds to %d mesh nodes of another, and a channel brings %d at a time: more processors, or a smaller mesh (-x, -y, -z)",
                              most, MOST / (int)WORDS));
    }
    if ((int64_t)room * processors > SPAN) {
        trivium_fail(sentence("unstructured-channels: a channel needs room for %lld words, and has %d: fewer processors, or a smaller mesh (-x, -y, -z)",
                              (long long)room * processors, SPAN));
    }
    for (int p = 0; p < processors; p++) {
        buffers[p] = trivium_alloc_on(p, sizeof(int64_t) * (uint64_t)room * (processors + 1));
        channel_open(p, buffers[p], (int64_t)room * processors);
    }
    trivium_barrier();
}

/* Sends a range to a processor; the next may be written as soon as this has left. */
static void send(int to, int words) {
    channel_put(to, from(processors), (int64_t)room * self, words, self);
}

/* Waits until all have sent: who comes first is of no matter. */
static void take_all(void) {
    for (int taken = 0; taken < senders; taken++) channel_take(self);
}

static void give_all_back(void) {
    for (int used = 0; used < senders; used++) channel_used(self);
}

/* The place of a mesh node to which a processor says that it adds: one of this processor's. */
static int own_place(int processor, int64_t place) {
    if (place < sections[self] || place >= sections[self + 1]) {
        trivium_fail(sentence("unstructured-channels: processor %d adds to the mesh node at place %lld, and processor %d has those from %d to %d", processor, (long long)place, self,
                              sections[self], sections[self + 1] - 1));
    }
    return (int)place;
}

static void open_merge(void) {
    if (options[MERGE].value) trivium_fail("unstructured-channels: sums are merged through channels: -m is for unstructured alone");
    if (processors == 1) return;
    touched = allocate((size_t)processors, sizeof *touched), added = allocate((size_t)processors, sizeof *added);
    buffers = allocate((size_t)processors, sizeof *buffers);
    list_touched();
    make_room();
    for (int p = 0; p < processors; p++) {
        for (int i = 0; i < touched[p].count; i++) from(processors)[i] = touched[p].places[i];
        if (touched[p].count) send(p, touched[p].count);
    }
    take_all();
    for (int p = 0; p < processors; p++) {
        for (int i = 0; i < added[p].count; i++) added[p].places[i] = own_place(p, from(p)[i]);
    }
    give_all_back();
    trivium_barrier();
}

static void clear_sums(void) {
    memset(sums + sections[self], 0, sizeof *sums * count_of(self));
    for (int p = 0; p < processors && processors > 1; p++) {
        for (int i = 0; i < touched[p].count; i++) memset(sums[touched[p].places[i]], 0, sizeof *sums);
    }
}

static node_t *merge(void) {
    for (int next = 1; next < processors; next++) {
        int to = (self + next) % processors;
        for (int i = 0; i < touched[to].count; i++) memcpy(from(processors) + i * WORDS, sums[touched[to].places[i]], sizeof *sums);
        if (touched[to].count) send(to, touched[to].count * WORDS);
    }
    take_all();
    for (int next = 1; next < processors; next++) {
        int p = (self + next) % processors;
        const node_t *come = (const node_t *)from(p);
        for (int i = 0; i < added[p].count; i++) {
            for (int k = 0; k < WIDTH; k++) sums[added[p].places[i]][k] += come[i][k];
        }
    }
    give_all_back();
    return sums + sections[self];
}
