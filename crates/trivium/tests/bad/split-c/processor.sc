// There is no processor 2.
static int total;

int splitc_main(void) {
    if (MYPROC == 1) {
        *toglobal(PROCS, &total) = 1;
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: toglobal names processor 2, which does not exist: there are 2
//!  --> FILE:6
//! note: node 1, cycle _ in splitc_main
//= 1
//$ run FILE -p stache -n 2
//! error: node 1: the program reports: split-c: toglobal names processor 2, which does not exist: there are 2
//!  --> FILE:6
//! note: node 1 in splitc_main
//= 1
