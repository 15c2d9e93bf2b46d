/* words.c: each node has the words behind the first one of a line copied to the next node, when the node before it has just stored them. */
#include <stdint.h>
#include <stdio.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

enum { ROUNDS = 20, MOST = 64, BYTES = 4096 };

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes(), next = (self + 1) % nodes;
    int64_t *from[MOST], *to[MOST];
    for (int n = 0; n < nodes; n++) {
        from[n] = trivium_alloc_on(n, BYTES);
        to[n] = trivium_alloc_on(n, BYTES);
    }
    trivium_barrier();
    int64_t words = PREFIX_line(from[self], 1) / 8;
    for (int64_t round = 1; round <= ROUNDS; round++) {
        for (int64_t i = 0; i < 2 * words; i++) from[next][i] = 1000 * round + i;
        trivium_barrier();
        int64_t skip = 1 + round % (words - 1);
        int32_t job = PREFIX_copy_words(to[next], from[self], 1, skip);
        if (job < 0 || !PREFIX_wait(job)) trivium_fail("words: no copy");
        for (int64_t i = 0; i < words; i++)
            if (to[next][i] != 1000 * round + skip + i) trivium_fail("words: wrong answer");
        trivium_barrier();
    }
    if (self == 0) printf("words: ok\n");
    return 0;
}
