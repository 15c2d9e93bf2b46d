/* stream-threads.c: messages of some bytes from one thread to another through a ring in shared memory, as fast as they are taken, and one back when all of a
 * series are there. Prints the 10th, 50th and 99th percentile of a message's time, in ns; each is the mean of a series.
 *
 *     stream-threads SERIES MESSAGES BYTES
 */
#include "ring.h"

#include "percentiles.h"

static struct ring there, back;
static int series, messages, bytes;

static void *receiver(void *unused) {
    char message[SLOT] = {0};
    bind_to(0);
    for (int at = 0; at < series; at++) {
        for (int i = 0; i < messages; i++) take(&there, message, bytes);
        put(&back, message, bytes);
    }
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 4) return 1;
    series = atoi(argv[1]), messages = atoi(argv[2]), bytes = atoi(argv[3]);
    if (series < 1 || messages < 1 || bytes < 1 || bytes > SLOT) return 1;
    int64_t *times = malloc(sizeof *times * (size_t)series);
    pthread_t other;
    if (!times || pthread_create(&other, NULL, receiver, NULL) != 0) return 1;
    bind_to(1);
    char message[SLOT] = {0};
    for (int at = 0; at < series; at++) {
        int64_t begun = now_ns();
        for (int i = 0; i < messages; i++) {
            message[0] = (char)i;
            put(&there, message, bytes);
        }
        take(&back, message, bytes);
        times[at] = (now_ns() - begun) / messages;
    }
    pthread_join(other, NULL);
    tell_percentiles(times, series);
    return 0;
}
