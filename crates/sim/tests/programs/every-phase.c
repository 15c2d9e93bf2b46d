/* A word that is stored and loaded in every phase: it is loaded in two phases of the period of deferred-update, and must be pushed
 * for both. */
#include <stdio.h>

#include "trivium.h"
#include "trivium/deferred-update.h"

int main(void) {
    int self = trivium_node();
    volatile int64_t *word = trivium_alloc_on_under("deferred-update", 0, 64);
    if (self == 0) *word = 0;
    trivium_barrier();
    deferred_update_join(self);
    for (int64_t phase = 1; phase < 12; phase++) {
        if (self == 0) *word = phase;
        /* What was stored in the last phase, or already what is stored in this one. */
        if (self != 0 && *word < phase - 1) trivium_fail("every-phase: too old");
        deferred_update_flush();
    }
    return 0;
}
