// A number is no address of this processor's memory.
#include <stdint.h>

int splitc_main(void) {
    if (MYPROC == 1) {
        *toglobal(0, (int *)(uintptr_t)0x30000000) = 1;
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: 0x30000000 is made a global pointer: it is not this processor's to share: it lies outside of its static data, malloc and spread memory
//!  --> FILE:6
//! note: node 1, cycle _ in splitc_main
//= 1
