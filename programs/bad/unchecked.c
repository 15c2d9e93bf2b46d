/* unchecked.c: private memory that is shared, and used as it must not be: argument 1 says how. */
#include <stdlib.h>

#include "../include/trivium.h"

static volatile int heap[131072 / 4] __attribute__((aligned(65536)));

int main(int argc, char **argv) {
    int self = trivium_node(), why = argc > 1 ? atoi(argv[1]) : 0;
    heap[40] = 5 + self;
    if (why == 3) trivium_share((void *)(heap + 4), 65536, 0);
    if (why == 4) trivium_share((void *)heap, 100, 0);
    if (why == 5) trivium_share((void *)heap, 1u << 30, 0);
    volatile int *parts = trivium_share((void *)heap, sizeof heap, why == 7 ? "msi" : 0);
    if (why == 6) trivium_share((void *)(heap + 65536 / 4), 65536, 0);
    if (self == 1 && why == 0) parts[40] = 9;              /* node 0's copy is old now */
    if (self == 1 && why == 1 && parts[40] != 5) return 1; /* node 1 has a copy, which a store would make old */
    trivium_barrier();
    if (self == 0 && why == 0) return heap[40] == 9 ? 0 : 1;
    if (self == 0 && why == 1) heap[40] = 10;
    if (self == 0 && why == 2) heap[40] = heap[41] + 10; /* fine: nobody else has looked at it */
    trivium_barrier();
    if (why == 2 && parts[40] != 10) trivium_fail("unchecked: another value");
    return 0;
}
