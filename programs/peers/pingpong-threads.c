/* pingpong-threads.c: a request of 20 bytes and an answer of 84 between two threads, through two rings in shared memory: the
 * bytes of a read miss of stache with blocks of 64 bytes. Prints the 10th, 50th and 99th percentile of round trips, in ns.
 *
 *     pingpong-threads ROUND-TRIPS
 */
#include "ring.h"

#include "percentiles.h"

enum { REQUEST = 20, ANSWER = 84 };

static struct ring there, back;
static int64_t *times;
static int rounds;

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
