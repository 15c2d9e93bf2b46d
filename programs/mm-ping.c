/* mm-ping.c: null round trips by the M-Machine's messages (protocol mm). Node 0 sends node 1 an empty message, whose handler answers with an empty one.
 *
 * Latency is from the beginning of the message until node 0 has the answer, without what looking at the clock takes: the least of as many looks. A host may take
 * its processor away between any two instructions; of a look in each round that would be taken off the round, and the least round came out as less than nothing. What messages have used of the processors is the result's `occupancy`.
 */
#include "options.h"
#include "trivium/mm.h"

enum { ROUNDS, OPTIONS };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'n', 1, 1, 1000000, "round trips"},
};

/* What two looks at the clock take by themselves, and one instruction between them, as a message has one for its argument: the compiler is not to leave it out. */
static int64_t looking(void) {
    int64_t begun = -trivium_cycles();
    __asm__ volatile("" : "+r"(begun));
    return trivium_cycles() + begun;
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int64_t rounds = options[ROUNDS].value, least = INT64_MAX, look = INT64_MAX, sum = 0;
    trivium_barrier();
    trivium_begin();
    if (trivium_node() == 0) {
        for (int64_t i = 0; i < rounds; i++) {
            int64_t begun = trivium_cycles();
            mm_ping(1);
            int64_t cycles = trivium_cycles() - begun, looked = looking();
            sum += cycles;
            if (cycles < least) least = cycles;
            if (looked < look) look = looked;
        }
    }
    trivium_barrier();
    trivium_end();
    if (trivium_node() == 0) {
        printf("latency %lld cycles, %lld on average of %lld\n", (long long)(least - look), (long long)(sum / rounds - look), (long long)rounds);
    }
    return 0;
}
