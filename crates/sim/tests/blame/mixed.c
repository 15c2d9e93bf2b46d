/* Node 1 loads the word that node 0 stores to in every other round, else the one beside it. */
#include "trivium.h"

int main(void) {
    volatile int32_t *words = trivium_alloc_on(0, 4096);
    int32_t seen = 0;
    for (int round = 0; round < 4; round++) {
        if (trivium_node() == 0) words[0] = round;
        trivium_barrier();
        if (trivium_node() == 1) seen += words[round % 2 == 0];
        trivium_barrier();
    }
    (void)seen;
    return 0;
}
