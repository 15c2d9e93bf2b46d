// An atomic operation far behind null.
#include <stdatomic.h>
static _Atomic int *global nowhere;

int splitc_main(void) {
    if (MYPROC == 1) {
        atomic_fetch_add(nowhere + 5000, 1);
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: the global pointer 0x4e20 is used, and points to no processor's memory: null with an offset, one that was never set, or a wrong number
//!  --> FILE:7
//! note: node 1, cycle _ in splitc_main
//= 1
