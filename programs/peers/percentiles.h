/* percentiles.h: times of one kind of event, told as one line `p10 p50 p99` in nanoseconds. */
#ifndef PERCENTILES_H
#define PERCENTILES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void tell_percentiles(int64_t *times, int count) {
    qsort(times, (size_t)count, sizeof *times, compare_times);
    printf("%lld %lld %lld\n", (long long)times[count / 10], (long long)times[count / 2],
           (long long)times[count - 1 - count / 100]);
}

#endif
