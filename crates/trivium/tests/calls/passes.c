#include <stdio.h>
#include <trivium.h>
#include <trivium/mailbox.h>
int main(int argc, char **argv) {
    int me = trivium_node();
    int64_t words[] = {7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 200};
    int64_t first[] = {1, 2, 3}, then[] = {-4, 0, 4}, items[] = {3, -1, 1, me};
    if (argc > 1 && argv[1][0] == 'l') mailbox_post(0, 0, words, 13);
    if (argc > 1 && argv[1][0] == 'n') mailbox_post(0, 0, words, -1);
    if (argc > 1 && argv[1][0] == 'e') { words[2] = 300; mailbox_post(0, 0, words, 5); }
    if (argc > 1 && argv[1][0] == 'a') { first[1] = 9; mailbox_swap(0, first, items, 2); }
    if (argc > 1 && argv[1][0] == 'x') { items[0] = 0; items[1] = -1; mailbox_name(0, items, 2); }
    trivium_barrier();
    if (me == 0) {
        printf("%d %d\n", (int)mailbox_post(0, 1, words, 0), (int)mailbox_post(0, 1, words, 12));
        printf("%d %d\n", (int)mailbox_swap(0, first, items, 2), (int)mailbox_swap(0, then, items, 1));
        printf("%d\n", (int)mailbox_swap(0, first, 0, 0));
    }
    trivium_barrier();
    if (me == 1) printf("%d\n", (int)mailbox_sum(0));
    return 0;
}
