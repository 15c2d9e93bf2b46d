/* Ranges that all go to the same place of a channel: the receiver adds them up, slowly, and says when it has used one. With -DFORGETS it never says so. With -DLATE it opens the
 * channel late, and nobody waits for that. */
#include <stdio.h>
#include <trivium.h>

#include "trivium/channel.h"

enum { RANGES = 9, WORDS = 40 };

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    volatile int64_t *first = trivium_alloc_on(0, WORDS * sizeof *first);
    int64_t *place = trivium_alloc_on(0, WORDS * sizeof *place);
    if (self == 0) *first = 77;
#ifdef LATE
    for (volatile int i = 0; self == 0 && i < 20000; i++) {}
    channel_open(0, place, WORDS);
#else
    channel_open(0, place, WORDS);
    trivium_barrier();
#endif
    if (self == 1) {
        int64_t *range = trivium_alloc_on(1, WORDS * sizeof *range);
        for (int n = 0; n < RANGES; n++) {
            for (int k = 0; k < WORDS; k++) range[k] = n;
            /* The first half overlaps all others, and so does the whole. */
            channel_put(0, range, n % 2 ? WORDS / 2 - 1 : 0, n % 2 ? WORDS / 2 : WORDS, n);
        }
    }
    if (self == 0 && nodes > 1) {
        for (int n = 0; n < RANGES; n++) {
            if (channel_take(0) != n) trivium_fail("places: a range is out of turn");
            int64_t sum = 0;
            for (int k = 0; k < WORDS / 2; k++) sum += ((volatile int64_t *)place)[(n % 2 ? WORDS / 2 - 1 : 0) + k];
            if (sum != WORDS / 2 * n) trivium_fail("places: a range was overwritten before it was used");
#ifndef FORGETS
            channel_used(0);
#endif
        }
        if (*first != 77) trivium_fail("places: a range went elsewhere");
        printf("places: ok\n");
    }
    trivium_barrier();
    return 0;
}
