/* jobs.c: each node gives every other one jobs, and does those that it gets. */
#include <stdio.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    for (int round = 0; round < 20; round++) {
        for (int n = 0; n < nodes; n++)
            if (n != self) PREFIX_put(n);
        for (int n = 0; n < nodes; n++)
            if (n != self) PREFIX_take(n);
    }
    trivium_barrier();
    if (self == 0) printf("jobs: ok\n");
    return 0;
}
