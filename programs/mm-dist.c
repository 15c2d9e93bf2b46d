/* mm-dist.c: one node starts a thread on each of the others by the M-Machine's messages (protocol mm): what to do, and 8 arguments, 4 of which are the same for all.
 *
 * Latency is from the first message until the last thread has its first word; clocks of a simulation are one. It takes `-p stache -p mm`: when each thread has begun, all
 * can read in the end.
 */
#include "options.h"
#include "trivium/mm.h"

enum { ROUNDS, OPTIONS };
enum { COMMON = 4, DIFFERENT = 4, WORDS = 1 + COMMON + DIFFERENT };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'n', 1, 1, 1000000, "distributions"},
};

/* Node 0 sends the messages, and gives the time of the first. */
static int64_t distribute(int nodes) {
    int64_t words[WORDS] = {1, 2, 3, 4, 5}, begun = trivium_cycles();
    for (int to = 1; to < nodes; to++) {
        for (int i = 0; i < DIFFERENT; i++) words[1 + COMMON + i] = to + i;
        mm_fork(to, 0, words, WORDS);
    }
    mm_fence();
    return begun;
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes();
    int64_t rounds = options[ROUNDS].value, least = INT64_MAX, sum = 0, wrong = 0;
    int64_t *started = trivium_alloc_on(0, nodes * rounds * sizeof(int64_t)), *mine = malloc(rounds * sizeof(int64_t));
    trivium_barrier();
    trivium_begin();
    for (int64_t round = 0; round < rounds; round++) {
        if (self == 0) mine[round] = distribute(nodes);
        else {
            wrong += mm_accept() != WORDS || mm_body(0) != 1;
            mine[round] = trivium_cycles();
            wrong += mm_body(COMMON) != 5 || mm_body(WORDS - 1) != self + DIFFERENT - 1;
        }
        trivium_barrier();
    }
    trivium_end();
    for (int64_t round = 0; round < rounds; round++) started[self * rounds + round] = mine[round];
    trivium_barrier();
    for (int64_t round = 0; round < rounds && self == 0; round++) {
        int64_t last = 0;
        for (int n = 1; n < nodes; n++) if (started[n * rounds + round] > last) last = started[n * rounds + round];
        if (last - mine[round] < least) least = last - mine[round];
        sum += last - mine[round];
    }
    if (wrong) trivium_fail("mm-dist: a message was not whole");
    if (self == 0 && nodes > 1) {
        printf("latency %lld cycles, %lld on average of %lld\n", (long long)least, (long long)(sum / rounds), (long long)rounds);
    }
    return 0;
}
