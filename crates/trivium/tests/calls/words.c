/* words.c: node 1 sends node 0 messages of all of 0 to 10 words, and after each another one; node 0 reads some of the words, and looks whether the
 * message after it is whole. With an argument `p` it reads one word too many, with `l` node 1 sends 11 words, with `s` it names a node, with `a` an address
 * that nobody has allocated, with `o` no object; with `n` and a number it sends one message of so many words. */
#include <stdio.h>
#include <stdlib.h>
#include "trivium.h"
#include "trivium/mm.h"

int main(int argc, char **argv) {
    char wrong = argc > 1 ? argv[1][0] : 0;
    int64_t words[11] = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, after[2] = {71, 72};
    if (wrong == 'n') {
        if (trivium_node() == 1) {
            mm_fork(0, 1, words, atoi(argv[2]));
            mm_fence();
        } else mm_accept();
        return 0;
    }
    if (trivium_node() == 1) {
        if (wrong == 'l') mm_fork(0, 1, words, 11);
        if (wrong == 's') mm_fork_at(0, 1, words, 1);
        if (wrong == 'a') mm_remote_write(0, words, 1, words, 1);
        if (wrong == 'o') mm_ping(-1);
        for (int length = 0; length <= 10; length++)
            for (int reads = 0; reads <= length; reads++) {
                mm_fork(0, 1, words, length);
                mm_fork(0, 1, after, 2);
            }
        mm_fence();
    } else {
        int whole = 0;
        for (int length = 0; length <= 10; length++)
            for (int reads = 0; reads <= length; reads++) {
                int is_whole = mm_accept() == length;
                for (int i = 0; i < reads; i++) is_whole &= mm_body(i) == 10 + i;
                if (wrong == 'p' && length == 10 && reads == 7) { mm_accept(); mm_body(2); }
                is_whole &= mm_accept() == 2 && mm_body(0) == 71 && mm_body(1) == 72;
                whole += is_whole;
            }
        printf("%d of 66 whole\n", whole);
    }
    trivium_barrier();
    printf("nowhere: %d\n", mm_fork(-1, 0, words, 1));
    return 0;
}
