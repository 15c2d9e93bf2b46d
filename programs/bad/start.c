/* start.c: a parallel phase that cannot start: argument 1 says why. */
#include <stdlib.h>

#include "../include/trivium.h"

int main(int argc, char **argv) {
    int self = trivium_node(), nodes = trivium_nodes(), why = argc > 1 ? atoi(argv[1]) : 0;
    enum { PAGE = 4096 / sizeof(int) };
    const char *protocol = why == 2 ? "flash-coherence" : 0;
    volatile int *pages = trivium_alloc_first_touch_under(protocol, (uint64_t)(nodes + 1) * 4096);
    volatile int *fixed = trivium_alloc_on(0, 64);
    for (int i = 0; i < nodes && self == 0; i++) pages[i * PAGE] = i + 1;
    if (self == 0) *fixed = 5;
    trivium_barrier();
    if (why == 0) { /* a block is away: the last to write it was node 1 */
        if (self == 1) pages[PAGE] = 7;
        trivium_barrier();
        trivium_parallel_start();
    }
    if (why == 1) { /* a page moves once */
        trivium_parallel_start();
        trivium_parallel_start();
    }
    if (why == 2) trivium_parallel_start();
    if (why == 3) { /* not all do the same */
        if (self == 0) trivium_barrier();
        else trivium_parallel_start();
    }
    if (why == 4) { /* fine: others may have read, and what is placed otherwise may be anywhere */
        if (pages[0] != 1) trivium_fail("start: another value before");
        if (self == 1) *fixed = 6;
        trivium_barrier();
        trivium_parallel_start();
        /* All but the last page, which nobody has touched, had their home on node 0. */
        int mine = (self + 1) % nodes;
        if (pages[mine * PAGE] != mine + 1) trivium_fail("start: another value");
        pages[mine * PAGE + 1] = 10 + self;
        if (self == nodes - 1) pages[nodes * PAGE] = 99;
        trivium_barrier();
        for (int i = 0; i < nodes; i++) {
            int first = pages[i * PAGE], second = pages[i * PAGE + 1];
            if (first != i + 1 || second != 10 + (i + nodes - 1) % nodes) trivium_fail("start: another value elsewhere");
        }
        if (pages[nodes * PAGE] != 99 || *fixed != 6) trivium_fail("start: another value of what has not moved");
    }
    if (why == 5) { /* whatever a load has begun, and does not wait for, is still under way */
        if (self == 1 && pages[0] != 1) trivium_fail("start: another value before");
        trivium_parallel_start();
        if (pages[0] != 1) trivium_fail("start: another value"); /* takes longer than what is under way */
    }
    return 0;
}
