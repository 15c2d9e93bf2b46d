/* locks.c: node 1 acquires locks of the protocol flash-lock that are free and whose tokens node 0 has, which is their home: so each token is fetched, by one
 * request and one answer. Node 0 waits at a barrier meanwhile. The locks are so few that the times after which a token is given up (400 microseconds) end while
 * the other node has its turn. Prints the 10th, 50th and 99th percentile of an acquire, in ns.
 */
#include "trivium/flash-lock.h"
#include "percentiles.h"
#include <trivium.h>

enum { LOCKS = 40, ROUNDS = 500, NODES = 2 };

/* A lock's home is the node of its number: these are node 0's. */
static int32_t lock(int at) { return at * NODES; }

int main(void) {
    static int64_t times[LOCKS * ROUNDS];
    int self = trivium_node(), done = 0;
    if (trivium_nodes() != NODES) trivium_fail("locks: run it on 2 nodes");
    for (int round = 0; round < ROUNDS; round++) {
        for (int who = 0; who < NODES; who++) {
            trivium_barrier();
            for (int at = 0; self == who && at < LOCKS; at++) {
                /* On a real node these are nanoseconds. */
                int64_t begun = trivium_cycles();
                flash_lock_acquire(lock(at));
                if (self == 1) times[done++] = trivium_cycles() - begun;
                flash_lock_release(lock(at));
            }
        }
    }
    if (self == 1) tell_percentiles(times, done);
    trivium_barrier();
    return 0;
}
