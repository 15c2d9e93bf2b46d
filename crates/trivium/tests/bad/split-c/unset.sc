// A pointer that was never set.
#include <stdlib.h>
#include <string.h>
struct far { char before[100000]; int last; };

int splitc_main(void) {
    if (MYPROC == 1) {
        struct far *global *pointers = malloc(sizeof *pointers);
        memset(pointers, 0x11, sizeof *pointers);
        (*pointers)->last = 1;
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: the global pointer 0x11111111 is used, and points to no processor's memory: null with an offset, one that was never set, or a wrong number
//!  --> FILE:10
//! note: node 1, cycle _ in splitc_main
//= 1
//$ run FILE -p stache -n 2
//! error: node 1: the program reports: split-c: the global pointer 0x11111111 is used, and points to no processor's memory: null with an offset, one that was never set, or a wrong number
//!  --> FILE:10
//! note: node 1 in splitc_main
//= 1
