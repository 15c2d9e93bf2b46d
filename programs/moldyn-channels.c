/* moldyn-channels.c: moldyn.c with its forces merged through a ring of channels (Tempest's custom protocol for moldyn; protocol channel).
 *
 * A section begins at its own node with what that has, goes on to the next node, which adds what it has, and comes home when all have added. So it is added up in the same
 * order as in stages, to the same bits, and no node waits for others than the one before it. Run it with the default protocol of everything else first:
 *     trivium sim programs/moldyn-channels.c -p stache -p channel ...
 */
#include <stdint.h>

#include "trivium/channel.h"

#define OTHER_MERGE
#include "moldyn.c"

/* The most words of one `put`, and the ranges that a node may be ahead of what the next one has taken, as the protocol has them unless it is told otherwise. */
enum { MOST = 8192, AHEAD = 4 };

/* Places for a section at each node. A section comes into the place of the one AHEAD + 1 before it: when that may be put, the one after that has been taken, for
 * which this node had added to it. */
enum { PLACES = AHEAD + 1 };

static double **places; /* of each node, and one from which it sends */
static int words;       /* of a place */

static double *place(int node, int number) {
    return places[node] + (uint64_t)words * number;
}

static void open_merge(void) {
    words = 3 * most_of_a_node();
    if (words > MOST) trivium_fail("moldyn-channels: a section is longer than what a channel brings at a time: use more nodes");
    places = malloc(sizeof *places * nodes);
    for (int p = 0; p < nodes; p++) {
        places[p] = trivium_alloc_on(p, sizeof(double) * (uint64_t)words * (PLACES + 1));
        channel_open(p, places[p]);
    }
    trivium_barrier();
}

static const double *merge(void) {
    static int64_t put, taken; /* sections, since the beginning */
    if (nodes == 1) return forces;
    double *sent = place(self, PLACES), *come = NULL;
    for (int stage = 0; stage <= nodes; stage++) {
        int section = (self - stage + nodes) % nodes, first = 3 * first_of(section), count = 3 * first_of(section + 1) - first;
        if (stage > 0) {
            if (channel_take(self) != section) trivium_fail("moldyn-channels: a section is out of turn");
            come = place(self, (int)(taken++ % PLACES));
        }
        /* The last to come is this node's own, whole. */
        if (stage == nodes) break;
        for (int k = 0; k < count; k++) sent[k] = stage ? come[k] + mine[first + k] : mine[first + k];
        channel_put((self + 1) % nodes, sent, put++ % PLACES * words, count, section);
    }
    return come;
}
