/* gtlb.c: node 0 sends by objects of two regions in turn; all are at home on node 1. Node 1 takes what is a Fork. */
#include <stdio.h>
#include "trivium.h"
#include "trivium/mm.h"

static int64_t ping(int thing) {
    int64_t begun = trivium_cycles();
    mm_ping(thing);
    return trivium_cycles() - begun;
}

/* How long a program is held up by a message of one word. */
static int64_t fork_to(int thing, int ordered) {
    int64_t word = 7, begun = trivium_cycles();
    mm_fork(thing, ordered, &word, 1);
    return trivium_cycles() - begun;
}

int main(void) {
    int node = trivium_node();
    trivium_barrier();
    trivium_begin();
    if (node == 0) {
        int64_t none = trivium_cycles();
        none = trivium_cycles() - none;
        int64_t at_start = ping(1) - none, other = ping(3) - none, again = ping(3) - none;
        int64_t miss = fork_to(1, 0) - none, free = fork_to(1, 0) - none, held = fork_to(1, 1) - none;
        mm_fence();
        printf("ping %d %d %d, fork %d %d %d\n", (int)at_start, (int)other, (int)again, (int)miss, (int)free, (int)held);
    } else {
        for (int i = 0; i < 3; i++) mm_accept();
    }
    trivium_barrier();
    trivium_end();
    return 0;
}
