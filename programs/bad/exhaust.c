/* Allocates shared memory until there is none left. */
#include "trivium.h"

int main(void) {
    for (;;) {
        trivium_alloc_round_robin(64 << 20);
    }
}
