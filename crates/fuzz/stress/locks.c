/* locks.c: two locks, which odd nodes take in the other order than even ones. */
#include <stdio.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

int main(void) {
    int self = trivium_node();
    for (int round = 0; round < 300; round++) {
        PREFIX_acquire(self % 2);
        PREFIX_acquire(1 - self % 2);
        PREFIX_release(0);
        PREFIX_release(1);
    }
    trivium_barrier();
    if (self == 0) printf("locks: ok\n");
    return 0;
}
