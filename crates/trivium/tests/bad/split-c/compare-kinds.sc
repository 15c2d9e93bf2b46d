// A local pointer is compared with a global one.
static int total;

int splitc_main(void) {
    int *local = &total, *global there = toglobal(0, &total);
    if (there == local) return 1;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: a global pointer and a local pointer are compared
//!  --> FILE:6:9
//!   |
//! 6 |     if (there == local) return 1;
//!   |         ^^^^^^^^^^^^^^
//! help: make one of the other: toglobal, tolocal, or a cast
//= 2
