/* mm-ping.c: null round trips by the M-Machine's messages (protocol mm). Node 0 sends node 1 an empty message, whose handler answers with an empty one.
 *
 * Latency is from the beginning of the message until node 0 has the answer. What messages have used of the processors is the result's `occupancy`.
 */
#include "options.h"
#include "trivium/mm.h"

enum { ROUNDS, OPTIONS };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'n', 1, 1, 1000000, "round trips"},
};

/* What two looks at the clock take by themselves. */
static int64_t looking(void) {
    int64_t begun = trivium_cycles();
    return trivium_cycles() - begun;
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int64_t rounds = options[ROUNDS].value, least = INT64_MAX, sum = 0;
    trivium_barrier();
    trivium_begin();
    if (trivium_node() == 0) {
        for (int64_t i = 0; i < rounds; i++) {
            int64_t begun = trivium_cycles();
            mm_ping(1);
            int64_t cycles = trivium_cycles() - begun - looking();
            if (cycles < least) least = cycles;
            sum += cycles;
        }
    }
    trivium_barrier();
    trivium_end();
    if (trivium_node() == 0) {
        printf("latency %lld cycles, %lld on average of %lld\n", (long long)least, (long long)(sum / rounds), (long long)rounds);
    }
    return 0;
}
