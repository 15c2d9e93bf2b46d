// A local pointer is given to a global one.
static int total;

int splitc_main(void) {
    int *global there = 0;
    there = &total;
    return *there;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:11: error: assigning 'int *' to 'int *global' changes address space of pointer
//!     6 |     there = &total;
//!       |           ^ ~~~~~~
//! 1 error generated.
//!  --> FILE:6:11
//! help: correct what the compiler names above
//= 2
