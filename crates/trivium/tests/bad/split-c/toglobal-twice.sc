// The global pointer to a global pointer's object.
static int total;

int splitc_main(void) {
    int *global there = toglobal(0, &total);
    return *toglobal(1, there);
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! FILE:6:22: warning: multiple identical address spaces specified for type [-Wduplicate-decl-specifier]
//!     6 |     return *toglobal(1, there);
//!       |                      ^
//! 1 warning generated.
//! error: node 0: the program reports: split-c: 0x40040040 is made a global pointer: it is not this processor's to share: it lies outside of its static data, malloc and spread memory
//!  --> FILE:6
//! note: node 0, cycle _ in splitc_main
//= 1
