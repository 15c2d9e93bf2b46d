/* Divides by zero. */
#include <stdio.h>

__attribute__((noinline)) static int divide(volatile int *by) { return 100 / *by; }

int main(void) {
    volatile int zero = 0;
    printf("%d\n", divide(&zero));
    return 0;
}
