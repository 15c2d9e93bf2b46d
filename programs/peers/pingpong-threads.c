/* pingpong-threads.c: a request of 20 bytes and an answer of 84 between two threads, through two rings in shared memory: the
 * bytes of a read miss of stache with blocks of 64 bytes. Prints the 10th, 50th and 99th percentile of round trips, in ns.
 *
 *     pingpong-threads ROUND-TRIPS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "percentiles.h"

enum { REQUEST = 20, ANSWER = 84, SLOTS = 64, SLOT = 128 };

/* A ring from one thread to the other. What one writes and what the other writes lie in different lines of the cache. */
struct ring {
    _Alignas(128) _Atomic uint64_t written;
    _Alignas(128) _Atomic uint64_t read;
    _Alignas(128) char slots[SLOTS][SLOT];
};

static struct ring there, back;
static int64_t *times;
static int rounds;

static void bind_to(int processor) {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all) && processor-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            pthread_setaffinity_np(pthread_self(), sizeof one, &one);
            return;
        }
    }
}

static void put(struct ring *ring, const char *bytes, int count) {
    uint64_t at = atomic_load_explicit(&ring->written, memory_order_relaxed);
    while (at - atomic_load_explicit(&ring->read, memory_order_acquire) == SLOTS) {}
    memcpy(ring->slots[at % SLOTS], bytes, (size_t)count);
    atomic_store_explicit(&ring->written, at + 1, memory_order_release);
}

static void take(struct ring *ring, char *bytes, int count) {
    uint64_t at = atomic_load_explicit(&ring->read, memory_order_relaxed);
    while (atomic_load_explicit(&ring->written, memory_order_acquire) == at) {}
    memcpy(bytes, ring->slots[at % SLOTS], (size_t)count);
    atomic_store_explicit(&ring->read, at + 1, memory_order_release);
}

static void *answer(void *unused) {
    char request[REQUEST], block[ANSWER] = {0};
    bind_to(0);
    for (int i = 0; i < rounds; i++) {
        take(&there, request, REQUEST);
        memcpy(block, request, REQUEST);
        put(&back, block, ANSWER);
    }
    return unused;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 100000;
    times = malloc(sizeof *times * (size_t)rounds);
    pthread_t other;
    if (!times || pthread_create(&other, NULL, answer, NULL) != 0) return 1;
    bind_to(1);
    char request[REQUEST] = {0}, block[ANSWER];
    for (int i = 0; i < rounds; i++) {
        int64_t begun = now_ns();
        memcpy(request, &i, sizeof i);
        put(&there, request, REQUEST);
        take(&back, block, ANSWER);
        times[i] = now_ns() - begun;
    }
    pthread_join(other, NULL);
    tell_percentiles(times, rounds);
    return 0;
}
