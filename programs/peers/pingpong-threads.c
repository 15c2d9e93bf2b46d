/* pingpong-threads.c: a request of 20 bytes and an answer of 84 between two threads, through two rings in shared memory: the
 * bytes of a read miss of stache with blocks of 64 bytes. Prints the 10th, 50th and 99th percentile of round trips, in ns.
 *
 *     pingpong-threads ROUND-TRIPS [BYTES OF A REQUEST, BYTES OF AN ANSWER]
 */
#include "ring.h"

#include "percentiles.h"

static int request_bytes = 20, answer_bytes = 84;

static struct ring there, back;
static int64_t *times;
static int rounds;

static void *answer(void *unused) {
    char request[SLOT], block[SLOT] = {0};
    bind_to(0);
    for (int i = 0; i < rounds; i++) {
        take(&there, request, request_bytes);
        memcpy(block, request, sizeof(int));
        put(&back, block, answer_bytes);
    }
    return unused;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 100000;
    if (argc > 3) request_bytes = atoi(argv[2]), answer_bytes = atoi(argv[3]);
    if (request_bytes < (int)sizeof(int) || request_bytes > SLOT || answer_bytes < (int)sizeof(int) || answer_bytes > SLOT) return 1;
    times = malloc(sizeof *times * (size_t)rounds);
    pthread_t other;
    if (!times || pthread_create(&other, NULL, answer, NULL) != 0) return 1;
    bind_to(1);
    char request[SLOT] = {0}, block[SLOT];
    for (int i = 0; i < rounds; i++) {
        int64_t begun = now_ns();
        memcpy(request, &i, sizeof i);
        put(&there, request, request_bytes);
        take(&back, block, answer_bytes);
        times[i] = now_ns() - begun;
    }
    pthread_join(other, NULL);
    tell_percentiles(times, rounds);
    return 0;
}
