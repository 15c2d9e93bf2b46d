/* crossed.c: two nodes write to each other's memory, so that requests and answers come to both at the same time. */
#include <stdio.h>
#include "trivium.h"
#include "trivium/mm.h"

int main(void) {
    int self = trivium_node();
    int64_t words[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    int64_t *of_node[2] = {trivium_alloc_on(0, sizeof words), trivium_alloc_on(1, sizeof words)};
    trivium_barrier();
    for (int i = 0; i < 50; i++) mm_remote_write(1 - self, of_node[1 - self], 0, words, 10);
    mm_fence();
    trivium_barrier();
    printf("%s\n", of_node[self][9] == 10 ? "whole" : "not whole");
    return 0;
}
