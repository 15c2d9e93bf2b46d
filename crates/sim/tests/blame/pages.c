/* Node 1 loads from a page, from another one, and from the first again. */
#include "trivium.h"

int main(void) {
    volatile int32_t *words = trivium_alloc_on(0, 8192);
    int32_t seen = 0;
    if (trivium_node() == 1) seen = words[0] + words[1024] + words[0];
    (void)seen;
    return 0;
}
