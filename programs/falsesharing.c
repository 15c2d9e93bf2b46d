/* Counters of all nodes side by side, 32 bytes each: with blocks of 32 bytes each node has its own, with larger blocks
 * several nodes want different words of the same block, which is false sharing.
 *
 * -n N  how often each node counts
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trivium.h"

struct counter {
    volatile int64_t count;
    char unused[24];
};

int main(int argc, char **argv) {
    int times = argc == 3 && strcmp(argv[1], "-n") == 0 ? atoi(argv[2]) : 1000;
    struct counter *counters = trivium_alloc_on(0, sizeof(struct counter) * (uint64_t)trivium_nodes());
    struct counter *mine = &counters[trivium_node()];
    trivium_barrier();
    trivium_begin();
    for (int i = 0; i < times; i++) mine->count++;
    trivium_end();
    trivium_barrier();
    if (mine->count != times) trivium_fail("a count is lost");
    if (trivium_node() == 0) printf("each node has counted to %d\n", times);
    return 0;
}
