/* pingpong.c: two nodes write the same word in turn, so that its block bounces between them. */
#include "options.h"

enum { ROUNDS, HOME, OPTIONS };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'n', 100, 1, 1000000000, "times that each of the two writes"},
    [HOME] = {'h', 0, 0, 255, "home of the word"},
};

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int64_t rounds = options[ROUNDS].value;
    int self = trivium_node(), nodes = trivium_nodes();
    int players = nodes < 2 ? nodes : 2;
    volatile int64_t *word = trivium_alloc_on((int)options[HOME].value % nodes, sizeof(int64_t));
    trivium_barrier();
    trivium_begin();
    int64_t start = trivium_cycles();
    if (self < players) {
        /* Player p writes when the word is p modulo the number of players. */
        for (int64_t turn = self; turn < players * rounds; turn += players) {
            for (int64_t seen = *word; seen != turn;) {
                seen = trivium_wait_until_changed64(word, seen);
            }
            *word = turn + 1;
        }
    }
    int64_t cycles = trivium_cycles() - start;
    trivium_end();
    trivium_barrier();
    if (*word != players * rounds) {
        printf("pingpong: node %d reads %lld, not %lld\n", self, (long long)*word,
               (long long)(players * rounds));
        trivium_fail("pingpong: wrong answer");
    }
    if (self == 0) {
        printf("pingpong: ok, %.1f cycles a round\n", (double)cycles / (double)rounds);
    }
    return 0;
}
