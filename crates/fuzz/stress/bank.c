/* bank.c: every node takes the same row again and again, and gives it back. */
#include <stdio.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

int main(void) {
    int self = trivium_node();
    for (int round = 0; round < 200; round++) {
        PREFIX_take(0);
        PREFIX_give(0, round % 2);
    }
    trivium_barrier();
    if (self == 0) printf("bank: ok\n");
    return 0;
}
