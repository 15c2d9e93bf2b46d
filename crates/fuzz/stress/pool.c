/* pool.c: never more units are lent than there are. What is lent is counted in memory of another protocol. */
#include <stdio.h>
#include <unistd.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

int main(void) {
    int self = trivium_node();
    int *lent = trivium_alloc_on(0, 64);
    trivium_barrier();
    for (int round = 0; round < 100; round++) {
        int units = 1 + (round * 7 + self * 5) % 16;
        if (!PREFIX_claim(0, units)) continue;
        int before = __atomic_fetch_add(lent, units, __ATOMIC_SEQ_CST);
        if (before + units > 16) trivium_fail("pool: more is lent than there is");
        usleep(20);
        __atomic_fetch_sub(lent, units, __ATOMIC_SEQ_CST);
        PREFIX_give_back(0, units);
    }
    trivium_barrier();
    if (self == 0) printf("pool: ok\n");
    return 0;
}
