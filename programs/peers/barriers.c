/* barriers.c: nodes that do nothing but meet, again and again: as a program of `trivium run` at a barrier of the protocol flash-barrier, and on the host itself
 * threads at pthread_barrier_wait, kept on processors as `trivium run --pin` keeps nodes. Node 0 prints the 10th, 50th and 99th percentile of the time of a
 * barrier, in ns: each is the mean of some in a row.
 *
 *     barriers THREADS
 */
#ifndef __wasm__
#include "ring.h"
#include <unistd.h>
#endif
#include "percentiles.h"

enum { IN_A_ROW = 50, ROWS = 400, MOST = 64 };

/* The row to which each has come: written before its barriers, and read by all behind them. */
static volatile int64_t *come[MOST];

#ifdef __wasm__
#include "trivium/flash-barrier.h"
#include <trivium.h>

/* Every node makes the barrier before it comes to it. */
static void make_barrier(void) { flash_barrier_init(0, trivium_nodes(), 4, 4, 0, 1, 0); }
static void arrive(void) { flash_barrier_arrive(0); }
static void wrong(void) { trivium_fail("barriers: the barrier released before all had arrived"); }
#else
static pthread_barrier_t barrier;
static void arrive(void) { pthread_barrier_wait(&barrier); }
static void wrong(void) { exit(1); }
#endif

static void meet(int self, int nodes) {
    static int64_t times[ROWS];
    for (int64_t row = 0; row < ROWS; row++) {
        *come[self] = row + 1;
        arrive();
        int64_t begun = self == 0 ? now_ns() : 0;
        for (int i = 0; i < IN_A_ROW; i++) arrive();
        if (self == 0) times[row] = (now_ns() - begun) / IN_A_ROW;
        for (int other = 0; other < nodes; other++) {
            if (*come[other] <= row) wrong();
        }
        arrive();
    }
    if (self == 0) tell_percentiles(times, ROWS);
}

#ifdef __wasm__
int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    if (nodes > MOST) trivium_fail("barriers: too many nodes");
    for (int node = 0; node < nodes; node++) come[node] = trivium_alloc_on(node, sizeof **come);
    make_barrier();
    trivium_barrier();
    meet(self, nodes);
    trivium_barrier();
    return 0;
}
#else
static int threads;

static void *node(void *number) {
    int self = (int)(intptr_t)number, processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    bind_to(threads > processors ? self * processors / threads : self);
    meet(self, threads);
    return NULL;
}

int main(int argc, char **argv) {
    static _Alignas(128) int64_t words[MOST][16];
    pthread_t others[MOST];
    threads = argc > 1 ? atoi(argv[1]) : 4;
    if (threads < 1 || threads > MOST || pthread_barrier_init(&barrier, NULL, (unsigned)threads) != 0) return 1;
    for (int i = 0; i < threads; i++) come[i] = words[i];
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&others[i], NULL, node, (void *)(intptr_t)i) != 0) return 1;
    }
    for (int i = 0; i < threads; i++) pthread_join(others[i], NULL);
    return 0;
}
#endif
