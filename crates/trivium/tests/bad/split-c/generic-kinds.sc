// The compiler chooses among two kinds of pointers.
static int total;

int splitc_main(void) {
    int *local = &total, *global there = toglobal(0, &total);
    return *_Generic(1, int: there, default: local);
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: among what is chosen here are pointers of several kinds
//!  --> FILE:6:46
//!   |
//! 6 |     return *_Generic(1, int: there, default: local);
//!   |                                              ^^^^^
//! help: choose among pointers of one kind, or let `?:` decide while the program runs
//= 2
