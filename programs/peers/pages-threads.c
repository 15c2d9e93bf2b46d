/* pages-threads.c: 4 KB from one thread to another through a ring in shared memory, in lines of 128 bytes with 16 bytes beside each, an
 * envelope before and an answer after each end, which is what the engines of `fbcopy` send. Prints the 10th, 50th and 99th percentile, in ns.
 *
 *     pages-threads PAGES
 */
#include "ring.h"

#include "percentiles.h"

enum { ENVELOPE = 24, LINE = 128, HEAD = 16, LINES = 32 };

static struct ring there, back;
static char from[LINES][LINE], to[LINES][LINE];
static int rounds;

static void *receiver(void *unused) {
    char message[HEAD + LINE];
    bind_to(0);
    for (int i = 0; i < rounds; i++) {
        take(&there, message, ENVELOPE);
        put(&back, message, HEAD);
        for (int k = 0; k < LINES; k++) {
            take(&there, message, HEAD + LINE);
            memcpy(to[(unsigned char)message[0]], message + HEAD, LINE);
        }
        put(&back, message, HEAD);
    }
    return unused;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 10000;
    int64_t *times = malloc(sizeof *times * (size_t)rounds);
    pthread_t other;
    if (!times || pthread_create(&other, NULL, receiver, NULL) != 0) return 1;
    bind_to(1);
    char message[HEAD + LINE] = {0};
    for (int i = 0; i < rounds; i++) {
        from[i % LINES][0] = (char)i;
        int64_t begun = now_ns();
        put(&there, message, ENVELOPE);
        take(&back, message, HEAD);
        for (int k = 0; k < LINES; k++) {
            message[0] = (char)k;
            memcpy(message + HEAD, from[k], LINE);
            put(&there, message, HEAD + LINE);
        }
        take(&back, message, HEAD);
        times[i] = now_ns() - begun;
        if (to[i % LINES][0] != (char)i) return 1;
    }
    pthread_join(other, NULL);
    tell_percentiles(times, rounds);
    return 0;
}
