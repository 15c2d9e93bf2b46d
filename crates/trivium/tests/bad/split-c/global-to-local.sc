// A global pointer is given to a local one.
static int total;

int splitc_main(void) {
    int *local = toglobal(0, &total);
    return *local;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:5:10: error: initializing 'int *' with an expression of type 'int *global' changes address space of pointer
//!     5 |     int *local = toglobal(0, &total);
//!       |          ^               ~~
//! 1 error generated.
//!  --> FILE:5:10
//! help: correct what the compiler names above
//= 2
