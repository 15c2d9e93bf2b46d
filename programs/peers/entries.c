/* entries.c: nodes that enter one critical section as fast as they can: as a program of `trivium run` by a lock of the protocol flash-lock, and on the host
 * itself threads by a mutex of pthread, kept on processors as `trivium run --pin` keeps nodes. What the lock protects is two words that are equal whenever
 * it is free. Node 0 prints the 10th, 50th and 99th percentile of the time of an entry, in ns: each is the mean of a row in which every node enters as often.
 *
 *     entries THREADS
 */
#ifndef __wasm__
#include "ring.h"
#include <unistd.h>
#endif
#include "percentiles.h"

/* On the host a row is as long in time as other rows are: who holds the mutex keeps it for many entries, and then waits for many. */
#ifdef __wasm__
enum { IN_A_ROW = 1000, ROWS = 40 };
#else
enum { IN_A_ROW = 2000000, ROWS = 10 };
#endif
enum { MOST = 64 };

static volatile int64_t *first, *second;

#ifdef __wasm__
#include "trivium/flash-lock.h"
#include <trivium.h>

static void acquire(void) { flash_lock_acquire(0); }
static void release(void) { flash_lock_release(0); }
static void meet(void) { trivium_barrier(); }
static void wrong(void) { trivium_fail("entries: two nodes were inside at once"); }
#else
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static void acquire(void) { pthread_mutex_lock(&mutex); }
static void release(void) { pthread_mutex_unlock(&mutex); }
static void meet(void) { pthread_barrier_wait(&barrier); }
static void wrong(void) { exit(1); }
#endif

static void enter(int self, int nodes) {
    static int64_t times[ROWS];
    meet();
    int64_t begun = now_ns();
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < IN_A_ROW; i++) {
            acquire();
            int64_t entered = *first;
            if (*second != entered) wrong();
            *first = entered + 1;
            *second = entered + 1;
            release();
        }
        meet();
        /* A row begins where the one before it ends: node 0 may go on long after others have. */
        int64_t ended = now_ns();
        times[row] = (ended - begun) / ((int64_t)IN_A_ROW * nodes);
        begun = ended;
    }
    if (*first != (int64_t)ROWS * IN_A_ROW * nodes) wrong();
    if (self == 0) tell_percentiles(times, ROWS);
    meet();
}

#ifdef __wasm__
int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    first = trivium_alloc_on(nodes - 1, sizeof *first);
    second = trivium_alloc_on(0, sizeof *second);
    enter(self, nodes);
    return 0;
}
#else
static int threads;

static void *node(void *number) {
    int self = (int)(intptr_t)number, processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    bind_to(threads > processors ? self * processors / threads : self);
    enter(self, threads);
    return NULL;
}

int main(int argc, char **argv) {
    static _Alignas(128) int64_t words[2][16];
    pthread_t others[MOST];
    threads = argc > 1 ? atoi(argv[1]) : 4;
    first = words[0];
    second = words[1];
    if (threads < 1 || threads > MOST || pthread_barrier_init(&barrier, NULL, (unsigned)threads) != 0) return 1;
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&others[i], NULL, node, (void *)(intptr_t)i) != 0) return 1;
    }
    for (int i = 0; i < threads; i++) pthread_join(others[i], NULL);
    return 0;
}
#endif
