/* pages.c: 4 KB from node 0's memory to node 1's by the nodes' engines (fbcopy.h), or with -DPROCESSOR by node 0's processor, until they are there. Prints
 * the 10th, 50th and 99th percentile, in ns. */
#include "fbcopy.h"
#include "percentiles.h"

enum { PAGE = 4096, ROUNDS = 10000 };

int main(void) {
    int me = trivium_node();
    volatile char *from = trivium_alloc_on(0, PAGE), *to = trivium_alloc_on(1, PAGE);
    int64_t *times = malloc(sizeof *times * ROUNDS);
    if (!times) return 1;
    trivium_barrier();
    if (me == 0) {
        for (int i = 0; i < ROUNDS; i++) {
            from[i % PAGE] = (char)i;
            int64_t begun = now_ns();
#ifdef PROCESSOR
            fbcopy_by_processor(to, from, PAGE);
#else
            if (!fbcopy_wait(fbcopy(to, from, PAGE, NULL))) return 1;
#endif
            times[i] = now_ns() - begun;
            if (to[i % PAGE] != (char)i) return 1;
        }
        tell_percentiles(times, ROUNDS);
    }
    trivium_barrier();
    return 0;
}
