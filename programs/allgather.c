/* allgather.c: every node ends with the parts of all, which go round a ring of channels (protocol channel).
 *
 * Node p receives in channel p. In each step a node puts the part that it received last into the channel of the next node, and
 * takes one from the node before. A part has its place in the whole, so none is written twice.
 */
#include "options.h"
#include "random.h"
#include "trivium/channel.h"

enum { WORDS, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [WORDS] = {'n', 100, 1, 100000, "words of each node's part"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the words"},
};

/* The most words of one `put`, as the protocol has it unless it is told otherwise. */
enum { MOST = 8192 };

/* The words of `node`'s part. */
static void fill(int64_t *part, int node, int words) {
    uint64_t random = (uint64_t)options[SEED].value << 32 | (uint64_t)node;
    for (int i = 0; i < words; i++) part[i] = random_below(&random, 1 << 30);
}

/* Passes a part on to the next node and takes another one, of the same size: range by range, since the next node has room for a few
 * only. The tag of a range is the number of its part. */
static int pass_on(int self, int next, int64_t *whole, int part, int words) {
    int64_t tag = 0;
    for (int done = 0; done < words; done += MOST) {
        int64_t first = (int64_t)part * words + done;
        channel_put(next, whole + first, first, words - done < MOST ? words - done : MOST, part);
        tag = channel_take(self);
        channel_used(self); /* nothing else comes to its place */
    }
    return (int)tag;
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes(), words = (int)options[WORDS].value;
    int64_t **wholes = malloc(sizeof *wholes * nodes);
    for (int p = 0; p < nodes; p++) {
        wholes[p] = trivium_alloc_on(p, (uint64_t)words * nodes * sizeof(int64_t));
        channel_open(p, wholes[p], (int64_t)words * nodes);
    }
    int64_t *whole = wholes[self];
    fill(whole + (int64_t)self * words, self, words);
    trivium_barrier();
    trivium_begin();
    for (int step = 0; step < nodes - 1; step++) {
        int expected = (self - step - 1 + nodes) % nodes;
        int part = pass_on(self, (self + 1) % nodes, whole, (self - step + nodes) % nodes, words);
        if (part != expected) {
            printf("allgather: node %d took part %d, not %d\n", self, part, expected);
            trivium_fail("allgather: wrong order");
        }
    }
    trivium_end();

    int64_t *ought = malloc(sizeof *ought * words);
    for (int p = 0; p < nodes; p++) {
        fill(ought, p, words);
        for (int i = 0; i < words; i++) {
            if (whole[(int64_t)p * words + i] == ought[i]) continue;
            printf("allgather: word %d of part %d is wrong on node %d\n", i, p, self);
            trivium_fail("allgather: wrong answer");
        }
    }
    trivium_barrier();
    if (self == 0) printf("allgather: ok, %d words from each of %d nodes\n", words, nodes);
    return 0;
}
