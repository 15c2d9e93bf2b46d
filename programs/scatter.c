/* scatter.c: every node sends words to every other through the protocol remote-write.
 *
 * Node p receives in buffer p, whose home it is: a put appends a word to it at its home, without
 * a reply. Every node finishes every buffer: that waits until all nodes have, and returns how many
 * words arrived in it.
 */
#include "options.h"
#include "random.h"
#include "trivium/remote-write.h"

enum { WORDS, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [WORDS] = {'n', 100, 1, 1000000, "words that each node sends"},
    [SEED] = {'g', 1, 0, 1000000, "seed of their destinations"},
};

/* The words that `sender` sends, one after the other: destination and word. */
static int next_word(uint64_t *random, int sender, int nodes, int64_t *word) {
    int to = (int)random_below(random, nodes);
    *word = (int64_t)sender << 32 | random_below(random, 1 << 30);
    return to;
}

static uint64_t seed_of(int sender) {
    return (uint64_t)options[SEED].value * 1000003u + (uint64_t)sender;
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes();
    int64_t words = options[WORDS].value, capacity = words * nodes, word;
    int64_t **buffers = malloc(sizeof *buffers * nodes);
    for (int p = 0; p < nodes; p++) {
        buffers[p] = trivium_alloc_on(p, capacity * sizeof(int64_t));
        remote_write_open(p, buffers[p]);
    }
    trivium_barrier();
    trivium_begin();
    uint64_t random = seed_of(self);
    for (int64_t i = 0; i < words; i++) {
        int to = next_word(&random, self, nodes, &word);
        if (!remote_write_put(to, word)) {
            trivium_fail("scatter: a buffer is full: send fewer words, or --set protocol.capacity=N");
        }
    }
    int64_t received = 0;
    for (int p = 0; p < nodes; p++) {
        int64_t count = remote_write_finish(p);
        if (p == self) received = count;
    }
    trivium_end();

    /* What ought to have arrived, in any order: the number, the sum and the exclusive or. */
    int64_t expected = 0, sum = 0, all = 0;
    for (int sender = 0; sender < nodes; sender++) {
        random = seed_of(sender);
        for (int64_t i = 0; i < words; i++) {
            if (next_word(&random, sender, nodes, &word) != self) continue;
            expected++;
            sum += word;
            all ^= word;
        }
    }
    for (int64_t i = 0; i < received; i++) {
        sum -= buffers[self][i];
        all ^= buffers[self][i];
    }
    if (received != expected || sum != 0 || all != 0) {
        printf("scatter: node %d received %lld words instead of %lld, or wrong ones\n", self,
               (long long)received, (long long)expected);
        trivium_fail("scatter: wrong answer");
    }
    trivium_barrier();
    if (self == 0) printf("scatter: ok, %lld words from each of %d nodes\n", (long long)words, nodes);
    return 0;
}
