/* Reads behind the end of shared memory. */
#include <stdio.h>

#include "trivium.h"

__attribute__((noinline)) static int read_behind(volatile int *array, int length) {
    return array[length];
}

int main(void) {
    volatile int *array = trivium_alloc_on(0, 100 * sizeof(int));
    printf("%d\n", read_behind(array, 100));
    return 0;
}
