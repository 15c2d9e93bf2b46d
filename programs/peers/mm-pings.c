/* mm-pings.c: node 1 sends node 0 empty messages of the protocol mm, and has an empty answer to each; node 0 waits at a barrier meanwhile. Prints the 10th,
 * 50th and 99th percentile of round trips, in ns.
 */
#include "trivium/mm.h"
#include "percentiles.h"
#include <trivium.h>

enum { ROUNDS = 20000, NODES = 2 };

int main(void) {
    static int64_t times[ROUNDS];
    if (trivium_nodes() != NODES) trivium_fail("mm-pings: run it on 2 nodes");
    trivium_barrier();
    for (int round = 0; trivium_node() == 1 && round < ROUNDS; round++) {
        /* On a real node these are nanoseconds. */
        int64_t begun = trivium_cycles();
        mm_ping(0);
        times[round] = trivium_cycles() - begun;
    }
    if (trivium_node() == 1) tell_percentiles(times, ROUNDS);
    trivium_barrier();
    return 0;
}
