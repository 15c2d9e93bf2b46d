/* puts.c: each node puts a word to the next node, waits by `sync`, and reads it back. */
#include <stdint.h>
#include <stdio.h>
#include "trivium.h"
#include <trivium/PROTOCOL.h>

enum { ROUNDS = 300 };

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes(), next = (self + 1) % nodes;
    int64_t *words[16];
    for (int node = 0; node < nodes; node++) words[node] = trivium_alloc_on(node, 64);
    trivium_barrier();
    for (int64_t round = 1; round <= ROUNDS; round++) {
        int64_t sent = round;
        while (!PREFIX_put(words[next], words[next], sizeof sent, (int64_t)(uintptr_t)&sent)) PREFIX_sync();
        PREFIX_sync();
        if (*(volatile int64_t *)words[next] != round) trivium_fail("puts: a put is not done after sync");
    }
    trivium_barrier();
    if (self == 0) printf("puts: ok\n");
    return 0;
}
