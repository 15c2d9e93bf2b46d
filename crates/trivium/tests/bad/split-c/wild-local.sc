// The local part of a number.

int splitc_main(void) {
    if (MYPROC == 1) {
        *tolocal((int *global)(unsigned)(MYPROC + 77777)) = 1;
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: the global pointer 0x12fd2 is used, and points to no processor's memory: null with an offset, one that was never set, or a wrong number
//!  --> FILE:5
//! note: node 1, cycle _ in splitc_main
//= 1
