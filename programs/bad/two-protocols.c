/* two-protocols.c: handlers of one protocol use memory that another keeps coherent. Argument 1 says how: 0 stores where another node
 * has a copy, 1 sends what another node has stored, 2 copies to where another node has a copy, 4 sends another node's memory; 3 is right. */
#include <stdlib.h>

#include "../include/trivium.h"
#include "trivium/mover.h"

int main(int argc, char **argv) {
    int self = trivium_node(), why = argc > 1 ? atoi(argv[1]) : 0;
    volatile int64_t *to = trivium_alloc_on(1, 4096), *from = trivium_alloc_on(1, 4096);
    if (self == 0 && (why == 0 || why == 2) && to[0] != 0) return 1; /* node 0 has a copy of `to` */
    if (self == 0 && why == 1) from[0] = 5;                          /* node 0 alone has `from` */
    trivium_barrier();
    if (self == 1 && why != 1) from[0] = 5;
    if (self == 1 && why == 0) mover_put(1, (void *)to, 5);
    if (self == 1 && why == 1) mover_give(2, (void *)from);
    if (self == 1 && why == 2) mover_move(1, (void *)from, (void *)to);
    if (self == 1 && why == 3) mover_move(1, (void *)from, (void *)to);
    if (self == 2 && why == 4) mover_give(1, (void *)from); /* whose home is node 1 */
    trivium_barrier();
    if (why == 3 && to[0] != 5) trivium_fail("two-protocols: another value");
    return 0;
}
