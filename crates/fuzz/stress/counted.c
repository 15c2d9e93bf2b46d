/* counted.c: each node has a line copied to the next one, and a word counted up that is in its own cache. */
#include <stdint.h>
#include <stdio.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

enum { ROUNDS = 50, MOST = 64 };

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes(), next = (self + 1) % nodes;
    int64_t *from[MOST], *to[MOST];
    volatile int64_t *words[MOST];
    for (int n = 0; n < nodes; n++) {
        from[n] = trivium_alloc_on(n, 64);
        to[n] = trivium_alloc_on(n, 64);
        words[n] = trivium_alloc_on(n, 64);
    }
    trivium_barrier();
    for (int64_t round = 1; round <= ROUNDS; round++) {
        *words[self] = 10 * round;
        *from[self] = round;
        int32_t job = PREFIX_copy_counted(to[next], from[self], 1, (void *)words[self], 0);
        if (job < 0 || !PREFIX_wait(job) || *words[self] != 10 * round + 1 || *to[next] != round) trivium_fail("counted: wrong answer");
        trivium_barrier();
    }
    if (self == 0) printf("counted: ok\n");
    return 0;
}
