/* ring.h: a ring of bytes from one thread to another, and a processor for each: the least that two threads need to talk. */
#ifndef RING_H
#define RING_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { SLOTS = 64, SLOT = 256 };

/* What one writes and what the other writes lie in different lines of the cache. */
struct ring {
    _Alignas(128) _Atomic uint64_t written;
    _Alignas(128) _Atomic uint64_t read;
    _Alignas(128) char slots[SLOTS][SLOT];
};

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

#endif
