/* Node 0 waits for a word that nobody writes, the others for node 0. */
#include "trivium.h"

int main(void) {
    volatile int32_t *word = trivium_alloc_on(0, sizeof(int32_t));
    if (trivium_node() == 0) trivium_wait_until_changed(word, 0);
    trivium_barrier();
    return 0;
}
