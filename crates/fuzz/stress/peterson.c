/* peterson.c: Peterson's algorithm for nodes 0 and 1, which give the turn away before they say that they want to enter. */
#include <stdint.h>
#include <stdio.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

enum { ROUNDS = 100, WORDS = 64 };

static void pause(int64_t cycles) {
    for (int64_t start = trivium_cycles(); trivium_cycles() - start < cycles;) {
    }
}

int main(void) {
    int self = trivium_node();
    volatile int64_t *words = trivium_alloc_on(0, 4 * WORDS * sizeof *words);
    volatile int64_t *mine = words + self * WORDS, *other = words + (1 - self) * WORDS;
    volatile int64_t *turn = words + 2 * WORDS, *inside = words + 3 * WORDS;
    for (int round = 0; self < 2 && round < ROUNDS; round++) {
        *turn = 1 - self;
        pause((round * 793193 + self * 1500021) % 4000000);
        *mine = 1;
        while (*other == 1 && *turn != self) {
        }
        *inside = self;
        pause(500000);
        if (*inside != self) trivium_fail("peterson: two nodes were inside at once");
        *mine = 0;
    }
    trivium_barrier();
    if (self == 0) printf("peterson: ok\n");
    return 0;
}
