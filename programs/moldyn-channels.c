/* moldyn-channels.c: moldyn.c with its forces merged through a ring of channels (Tempest's custom protocol for moldyn; protocol channel).
 *
 * A section begins at its own node with what that has, goes on to the next node, which adds what it has, and comes home when all have added. So it is added up in the same
 * order as in stages, to the same bits, and no node waits for others than the one before it. Run it with the default protocol of everything else first:
 *     trivium sim programs/moldyn-channels.c -p stache -p channel ...
 */
#include <stdint.h>

#include "trivium/channel.h"

#ifdef FORCE
#error "moldyn-channels: channels bring words of 8 bytes: leave out -DFORCE"
#endif
#define OTHER_MERGE
#include "moldyn.c"

/* The most words of one `put`, as the protocol has it unless it is told otherwise. */
enum { MOST = 8192 };

/* Places for a section at each node: one comes while the other is used. A node that is further ahead waits, in `put`. */
enum { PLACES = 2 };

static double **places; /* of each node, and one from which it sends */
static int words;       /* of a place */
static double *merged;  /* this node's section */

static double *place(int node, int number) {
    return places[node] + (uint64_t)words * number;
}

/* The section that comes next, which is the one expected. */
static const double *take(int section, int64_t number) {
    if (channel_take(self) != section) trivium_fail("moldyn-channels: a section is out of turn");
    return place(self, (int)(number % PLACES));
}

static void open_merge(void) {
    words = 3 * most_of_a_node();
    if (options[MERGE].value != IN_STAGES) trivium_fail("moldyn-channels: forces are merged through channels: leave out -m");
    if (nodes == 1) return;
    if (words > MOST) trivium_fail(sentence("moldyn-channels: a section has %d words, and a channel brings %d at a time: more nodes, or fewer cells (-b)", words, MOST));
    places = malloc(sizeof *places * nodes), merged = malloc(sizeof *merged * words);
    if (!places || !merged) trivium_fail("moldyn-channels: no memory");
    for (int p = 0; p < nodes; p++) {
        places[p] = trivium_alloc_on(p, sizeof(double) * (uint64_t)words * (PLACES + 1));
        channel_open(p, places[p], (int64_t)words * PLACES);
    }
    trivium_barrier();
}

static const double *merge(void) {
    static int64_t put, taken; /* sections, since the beginning */
    if (nodes == 1) return mine;
    double *sent = place(self, PLACES);
    for (int stage = 0; stage < nodes; stage++) {
        int section = (self - stage + nodes) % nodes, first = 3 * first_of(section), count = 3 * first_of(section + 1) - first;
        const double *come = stage ? take(section, taken++) : NULL;
        for (int k = 0; k < count; k++) sent[k] = come ? come[k] + mine[first + k] : mine[first + k];
        if (come) channel_used(self);
        channel_put((self + 1) % nodes, sent, put++ % PLACES * words, count, section);
    }
    /* The last to come is this node's own, whole. */
    memcpy(merged, take(self, taken++), sizeof *merged * 3 * (first_of(self + 1) - first_of(self)));
    channel_used(self);
    return merged;
}
