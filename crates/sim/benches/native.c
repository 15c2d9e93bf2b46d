/* trivium.h for one node, natively: what the same C takes without a simulator. The seconds between the beginning and
 * the end of the region of interest go to standard error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double begun;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int32_t trivium_node(void) { return 0; }
int32_t trivium_nodes(void) { return 1; }
void *trivium_alloc(uint64_t bytes, int32_t placement, int32_t node, const char *protocol) {
    (void)placement, (void)node, (void)protocol;
    return calloc(1, bytes);
}
void trivium_barrier(void) { __asm__ volatile("" ::: "memory"); }
int64_t trivium_cycles(void) { return (int64_t)(now() * 1e9); }
void trivium_begin(void) { begun = now(); }
void trivium_end(void) { fprintf(stderr, "%.9f\n", now() - begun); }
void trivium_fail(const char *message) {
    fprintf(stderr, "%s\n", message);
    abort();
}
