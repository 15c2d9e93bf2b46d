// A local pointer is subtracted from a global one.
static int total;

int splitc_main(void) {
    int *local = &total, *global there = toglobal(0, &total);
    return (int)(there - local);
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: a global pointer and a local pointer stand beside this operator
//!  --> FILE:6:18
//!   |
//! 6 |     return (int)(there - local);
//!   |                  ^^^^^^^^^^^^^
//! help: make one of the other: toglobal, tolocal, or a cast
//= 2
