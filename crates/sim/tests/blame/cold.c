/* Only cold misses: node 1 loads a word of each of four blocks of 64 bytes, for the first time. */
#include "trivium.h"

int main(void) {
    volatile int32_t *words = trivium_alloc_on(0, 4096);
    int32_t seen = 0;
    if (trivium_node() == 1) {
        for (int block = 0; block < 4; block++) seen += words[16 * block];
    }
    (void)seen;
    return 0;
}
