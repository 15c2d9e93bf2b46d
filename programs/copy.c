/* copy.c: every node copies words of the next node's memory to its own, with prefetches or without.
 *
 * With `-d D` the source's line is prefetched D lines ahead, to load, and the destination's, to store. So with two prefetches a line,
 * `-d 2` keeps four outstanding. A hint changes no answer: the copy is the same with every distance.
 */
#include "options.h"
#include "random.h"

enum { WORDS, DISTANCE, LINE, ROUNDS, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [WORDS] = {'n', 512, 1, 1000000, "words of each node's part"},
    [DISTANCE] = {'d', 4, 0, 64, "lines from a prefetch to its use; 0: no prefetches"},
    [LINE] = {'l', 16, 1, 512, "words of a line"},
    [ROUNDS] = {'r', 2, 1, 1000, "times that the source is written and copied"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the words"},
};

/* The words of `node`'s part in a round. */
static void fill(int64_t *part, int node, int round, int words) {
    uint64_t random = (uint64_t)options[SEED].value << 40 | (uint64_t)round << 20 | (uint64_t)node;
    for (int i = 0; i < words; i++) part[i] = random_below(&random, 1 << 30);
}

/* The line that begins at a word is fetched, if there is one. */
static void fetch(const int64_t *source, int64_t *target, int word, int words) {
    if (word >= words) return;
    trivium_prefetch(source + word);
    trivium_prefetch_write(target + word);
}

static void copy(const int64_t *source, int64_t *target, int words) {
    int line = (int)options[LINE].value, ahead = (int)options[DISTANCE].value * line;
    if (ahead > 0) {
        for (int at = 0; at < ahead; at += line) fetch(source, target, at, words);
    }
    for (int at = 0; at < words; at += line) {
        if (ahead > 0) fetch(source, target, at + ahead, words);
        int end = at + line < words ? at + line : words;
        for (int i = at; i < end; i++) target[i] = source[i];
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes(), words = (int)options[WORDS].value;
    int64_t **sources = malloc(sizeof *sources * nodes), **targets = malloc(sizeof *targets * nodes);
    for (int p = 0; p < nodes; p++) {
        sources[p] = trivium_alloc_on(p, (uint64_t)words * sizeof(int64_t));
        targets[p] = trivium_alloc_on(p, (uint64_t)words * sizeof(int64_t));
    }
    int next = (self + 1) % nodes;
    int64_t *ought = malloc(sizeof *ought * words);
    for (int round = 0; round < options[ROUNDS].value; round++) {
        fill(sources[self], self, round, words);
        trivium_barrier();
        trivium_begin();
        copy(sources[next], targets[self], words);
        trivium_end();
        trivium_barrier();
        fill(ought, next, round, words);
        for (int i = 0; i < words; i++) {
            if (targets[self][i] == ought[i]) continue;
            printf("copy: word %d is wrong on node %d in round %d\n", i, self, round);
            trivium_fail("copy: wrong answer");
        }
    }
    trivium_barrier();
    if (self == 0) printf("copy: ok, %d words on each of %d nodes\n", words, nodes);
    return 0;
}
