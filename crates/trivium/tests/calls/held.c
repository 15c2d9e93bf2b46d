/* held.c: node 0 writes 8 times to node 1, and says for how long its program has to do with that. */
#include <stdio.h>
#include "trivium.h"
#include "trivium/mm.h"

int main(void) {
    int64_t words[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    int64_t *there = trivium_alloc_on(1, sizeof words);
    trivium_barrier();
    if (trivium_node() == 0) {
        int64_t begun = trivium_cycles();
        for (int i = 0; i < 8; i++) mm_remote_write(1, there, 0, words, 10);
        int64_t given_away = trivium_cycles() - begun;
        mm_fence();
        printf("%lld %lld\n", (long long)given_away, (long long)(trivium_cycles() - begun));
    }
    trivium_barrier();
    return 0;
}
