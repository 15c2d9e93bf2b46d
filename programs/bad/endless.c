/* Never ends. */
#include "trivium.h"

int main(void) {
    volatile int64_t *word = trivium_alloc_on(0, sizeof(int64_t));
    while (*word == 0) {
    }
    return 0;
}
