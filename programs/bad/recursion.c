/* Recurses without end. */
#include <stdio.h>

__attribute__((noinline)) static int descend(volatile int *depth) {
    *depth = *depth + 1;
    return descend(depth) + *depth;
}

int main(void) {
    volatile int depth = 0;
    printf("%d\n", descend(&depth));
    return 0;
}
