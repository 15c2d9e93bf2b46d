// A stack variable's address becomes a global pointer.

int splitc_main(void) {
    if (MYPROC == 1) {
        int here = 3;
        *(int *global)&here = 1;
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: 0xfffec is made a global pointer: a stack variable has no global address: make it static, or use malloc
//!  --> FILE:6
//! note: node 1, cycle _ in splitc_main
//= 1
