/* forks.c: each node writes to the next one; then all but one send it ordered messages, more than they have buffers, and it takes one at a time. */
#include <stdio.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes(), next = (self + 1) % nodes, whole = 1;
    int64_t last[64] = {0}, words[3] = {self, 0, 7};
    int64_t *there = 0;
    for (int n = 0; n < nodes; n++) {
        int64_t *part = trivium_alloc_on(n, sizeof words);
        if (n == next) there = part;
    }
    trivium_barrier();
    for (int i = 1; i <= 30; i++) PREFIX_remote_write(next, there, i % 2, words, 3);
    PREFIX_fence();
    whole &= PREFIX_remote_read(next, there + 2) == 7;
    trivium_barrier();
    if (self != 0) {
        for (int i = 1; i <= 30; i++) {
            words[1] = i;
            PREFIX_fork(0, 1, words, 3);
        }
        PREFIX_fence();
    } else for (int i = 0; i < 30 * (nodes - 1); i++) {
        whole &= PREFIX_accept() == 3;
        int from = (int)PREFIX_body(0);
        whole &= PREFIX_body(1) == last[from] + 1;
        last[from]++;
    }
    trivium_barrier();
    if (self == 0) printf("forks: %s\n", whole ? "ok" : "out of turn");
    return whole ? 0 : 1;
}
