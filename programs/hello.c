/* hello.c: each node says who it is. */
#include <stdio.h>

#include "trivium.h"

int main(void) {
    printf("hello from node %d of %d\n", trivium_node(), trivium_nodes());
    return 0;
}
