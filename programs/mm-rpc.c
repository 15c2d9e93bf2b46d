/* mm-rpc.c: remote procedure calls by the M-Machine's messages (protocol mm). Node 0 starts the thread of node 1 with one message: what to do, and 8 arguments.
 *
 * Latency is from the beginning of the message until the thread has its first word, which says what to do; clocks of a simulation are one. What messages have used of the
 * processors is the result's `occupancy`.
 */
#include "options.h"
#include "trivium/mm.h"

enum { ROUNDS, OPTIONS };
enum { ARGUMENTS = 8 };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'n', 1, 1, 1000000, "calls"},
};

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    static volatile int64_t arguments[ARGUMENTS] = {0, 2, 3, 4, 5, 6, 7, 8};     /* an instruction for each to put it into the message */
    int64_t rounds = options[ROUNDS].value, least = INT64_MAX, sum = 0, wrong = 0;
    trivium_barrier();
    trivium_begin();
    for (int64_t i = 0; i < rounds; i++) {
        if (trivium_node() == 0) {
            arguments[0] = i;
            int64_t begun = trivium_cycles();
            int64_t words[1 + ARGUMENTS] = {begun};
            for (int k = 0; k < ARGUMENTS; k++) words[1 + k] = arguments[k];
            mm_fork(1, 0, words, 1 + ARGUMENTS);
            mm_fence();
        } else if (trivium_node() == 1) {
            int64_t length = mm_accept();
            int64_t begun = mm_body(0), cycles = trivium_cycles() - begun;
            wrong += length != 1 + ARGUMENTS || mm_body(1) != i || mm_body(ARGUMENTS) != ARGUMENTS;
            if (cycles < least) least = cycles;
            sum += cycles;
        }
        trivium_barrier();
    }
    trivium_end();
    if (wrong) trivium_fail("mm-rpc: a message was not whole");
    if (trivium_node() == 1) {
        printf("latency %lld cycles, %lld on average of %lld\n", (long long)least, (long long)(sum / rounds), (long long)rounds);
    }
    return 0;
}
