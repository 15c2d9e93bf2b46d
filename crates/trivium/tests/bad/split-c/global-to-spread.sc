// A global pointer is given to a spread one.
static double total;

int splitc_main(void) {
    double *spread walk = toglobal(0, &total);
    return *walk != 0;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:5:20: error: initializing 'double *spread' with an expression of type 'double *global' changes address space of pointer
//!     5 |     double *spread walk = toglobal(0, &total);
//!       |                    ^              ~~
//! 1 error generated.
//!  --> FILE:5:20
//! help: correct what the compiler names above
//= 2
