/* bind.c: regions that cannot be bound to another protocol: argument 1 says why. */
#include <stdlib.h>

#include "../include/trivium.h"

int main(int argc, char **argv) {
    int self = trivium_node(), why = argc > 1 ? atoi(argv[1]) : 0;
    volatile int *word = trivium_alloc_on(0, 64);
    if (why == 0) { /* a block is away: the last to write it was node 1 */
        if (self == 1) *word = 7;
        trivium_barrier();
        trivium_bind((void *)word, "msi");
    }
    if (why == 1) trivium_bind((void *)word, "misi");
    if (why == 2) { /* not all do the same */
        if (self == 0) trivium_barrier();
        else trivium_bind((void *)word, "msi");
    }
    if (why == 3) trivium_bind((void *)(word + 4), "msi");
    if (why == 4) { /* fine: copies that are only read may stay where they are */
        if (self == 0) *word = 7;
        trivium_barrier();
        if (*word != 7) trivium_fail("bind: another value before");
        trivium_barrier();
        for (int i = 0; i < 3; i++) {
            trivium_bind((void *)word, i % 2 ? 0 : "msi");
            if (*word != 7 + i) trivium_fail("bind: another value");
            trivium_barrier();
            if (self == i % trivium_nodes()) *word = 8 + i;
            trivium_barrier();
            if (self == 0 && *word != 8 + i) trivium_fail("bind: another value at home");
            trivium_barrier();
        }
    }
    if (why == 5) trivium_bind((void *)word, "flash-coherence");
    if (why == 6) { /* whatever a load has begun, and does not wait for, is still under way */
        if (self == 1 && *word != 0) trivium_fail("bind: new memory is not zero");
        trivium_bind((void *)word, "msi");
        if (*word != 0) trivium_fail("bind: another value"); /* takes longer than what is under way */
    }
    return 0;
}
