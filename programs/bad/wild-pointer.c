/* Writes between private and shared memory. */
#include <stdint.h>

__attribute__((noinline)) static void write_wild(uintptr_t address) {
    *(volatile int64_t *)address = 1;
}

int main(void) {
    write_wild(0x30000000);
    return 0;
}
