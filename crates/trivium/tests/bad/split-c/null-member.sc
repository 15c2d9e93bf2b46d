// A member far behind null.
struct far { char before[100000]; int last; };
static struct far *global nowhere;

int splitc_main(void) {
    if (MYPROC == 1) {
        nowhere->last = 1;
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: a null global pointer is used
//!  --> FILE:7
//! note: node 1, cycle _ in splitc_main
//= 1
//$ run FILE -p stache -n 2
//! error: node 1: the program reports: split-c: a null global pointer is used
//!  --> FILE:7
//! note: node 1 in splitc_main
//= 1
