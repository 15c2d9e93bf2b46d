// A get by a null global pointer.

int splitc_main(void) {
    if (MYPROC == 1) {
        int here;
        here := *(int *global)0;
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: a null global pointer is used
//!  --> FILE:6
//! note: node 1, cycle _ in splitc_main
//= 1
