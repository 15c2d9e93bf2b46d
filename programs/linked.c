/* linked.c: linked loads and conditional stores. All nodes count one word up; and a word that another node has changed and changed back is not stored.
 *
 * -x asks for the block as a store does.
 */
#include "baselines.h"
#include "options.h"

enum { TIMES, EXCLUSIVE, OPTIONS };

static struct option options[OPTIONS] = {
    [TIMES] = {'n', 20, 1, 1000000, "times that each node counts"},
    [EXCLUSIVE] = {'x', 0, 0, 1, "1: the load asks as a store does"},
};

static int32_t load(int32_t *word) {
    return options[EXCLUSIVE].value ? trivium_load_linked_exclusive32(word) : trivium_load_linked32(word);
}

static void count(int32_t *word, int64_t times) {
    for (int64_t i = 0; i < times; i++) {
        backoff_t backoff = backoff_begin();
        while (!trivium_store_conditional32(word, load(word) + 1)) backoff_wait(&backoff);
    }
}

/* Node 0 has loaded the word when node 1 changes it, and changes it back. */
static void change_back(int32_t *word, int32_t *turn) {
    if (trivium_node() == 0) {
        int32_t seen = load(word);
        BASELINE_FENCE;
        *(volatile int32_t *)turn = 1;
        spin_until(turn, 2);
        if (trivium_store_conditional32(word, seen + 1)) trivium_fail("linked: what was changed back is stored over");
    } else if (trivium_node() == 1) {
        volatile int32_t *now = word;
        spin_until(turn, 1);
        int32_t seen = *now;
        *now = seen + 7;
        *now = seen;
        BASELINE_FENCE;
        *(volatile int32_t *)turn = 2;
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int nodes = trivium_nodes();
    int32_t *word = trivium_alloc_on(0, BASELINE_LINE), *other = trivium_alloc_on(nodes - 1, BASELINE_LINE);
    int32_t *turn = trivium_alloc_on(nodes - 1, BASELINE_LINE);
    int64_t times = options[TIMES].value;
    trivium_barrier();
    count(word, times);
    count(other, times);
    BASELINE_FENCE;
    trivium_barrier();
    if (*(volatile int32_t *)word != times * nodes || *(volatile int32_t *)other != times * nodes)
        trivium_fail("linked: something was counted twice, or not at all");
    trivium_barrier();
    if (nodes > 1) change_back(word, turn);
    trivium_barrier();
    if (trivium_node() == 0) {
        /* Without a linked load before it, or of another word, none is stored. */
        if (trivium_store_conditional32(word, 1)) trivium_fail("linked: a store without its load");
        load(word);
        if (trivium_store_conditional32(other, 1)) trivium_fail("linked: a store of another word");
        printf("linked: ok, %lld\n", (long long)times * nodes);
    }
    return 0;
}
