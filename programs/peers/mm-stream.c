/* mm-stream.c: node 1 writes words to the memory of node 0, one in a message of the protocol mm, as fast as it may; node 0 waits at a barrier meanwhile. Prints
 * the 10th, 50th and 99th percentile of a message's time, in ns; each is the mean of some in a row, until all of them have been taken.
 */
#include "trivium/mm.h"
#include "percentiles.h"
#include <trivium.h>

enum { SERIES = 200, MESSAGES = 200, NODES = 2 };

int main(void) {
    static int64_t times[SERIES];
    int64_t *to = trivium_alloc_on(0, MESSAGES * sizeof(int64_t));
    if (trivium_nodes() != NODES) trivium_fail("mm-stream: run it on 2 nodes");
    trivium_barrier();
    for (int64_t at = 0; trivium_node() == 1 && at < SERIES; at++) {
        int64_t begun = trivium_cycles();
        for (int64_t i = 0; i < MESSAGES; i++) {
            int64_t word = at + i;
            mm_remote_write(0, to + i, 0, &word, 1);
        }
        mm_fence();
        times[at] = (trivium_cycles() - begun) / MESSAGES;
    }
    if (trivium_node() == 1) tell_percentiles(times, SERIES);
    trivium_barrier();
    for (int64_t i = 0; trivium_node() == 0 && i < MESSAGES; i++) {
        if (to[i] != SERIES - 1 + i) trivium_fail("mm-stream: a word is missing");
    }
    trivium_barrier();
    return 0;
}
