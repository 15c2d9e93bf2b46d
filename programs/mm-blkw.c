/* mm-blkw.c: node 0 writes words to the memory of node 1 by the M-Machine's messages (protocol mm), 10 words a message.
 *
 * Latency is from the beginning of the first message until the last word is in memory, as node 1 sees it; clocks of a simulation are one. It takes `-p stache -p mm`:
 * the words go to memory whose home is node 1.
 */
#include "options.h"
#include "trivium/mm.h"

enum { WORDS, OPTIONS };
enum { MESSAGE = 10 };

struct packet {
    int64_t word[MESSAGE];
};

static struct option options[OPTIONS] = {
    [WORDS] = {'w', 1024, 1, 100000, "words"},
};

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node();
    int64_t words = options[WORDS].value, wrong = 0;
    volatile int64_t *to = trivium_alloc_on(1, words * sizeof(int64_t));
    int64_t *began = trivium_alloc_on(0, sizeof(int64_t)), *ended = trivium_alloc_on(0, sizeof(int64_t)), *from = malloc(words * sizeof(int64_t));
    for (int64_t i = 0; i < words; i++) {
        from[i] = 3 * i + 1;
        if (self == 1) to[i] = 0;
    }
    trivium_barrier();
    trivium_begin();
    int64_t time = 0;
    if (self == 0) {
        time = trivium_cycles();
        struct packet *end = (struct packet *)to + words / MESSAGE;
        const struct packet *next = (const struct packet *)from;
        for (struct packet *at = (struct packet *)to; at != end; at++, next++) mm_remote_write(1, at, 1, next->word, MESSAGE);
        if (words % MESSAGE) mm_remote_write(1, (void *)(to + words - words % MESSAGE), 1, from + words - words % MESSAGE, words % MESSAGE);
    } else if (self == 1) {
        while (to[words - 1] == 0) { }
        time = trivium_cycles();
    }
    if (self == 0) mm_fence();
    trivium_barrier();
    trivium_end();
    if (self == 1) {
        for (int64_t i = 0; i < words; i++) wrong += to[i] != 3 * i + 1;
        if (wrong) trivium_fail("mm-blkw: words are missing");
    }
    trivium_barrier();
    if (self == 0) *began = time;
    if (self == 1) *ended = time;
    trivium_barrier();
    if (self == 0) printf("latency %lld cycles\n", (long long)(*ended - *began));
    return 0;
}
