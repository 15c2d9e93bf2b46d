// A get of a double into an int.
static double total;

int splitc_main(void) {
    int here;
    here := *toglobal(0, &total);
    sync();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:10: error: static assertion failed due to requirement '__builtin_types_compatible_p(int, double)': the two sides of := are of different types
//!     6 |     here := *toglobal(0, &total);
//!       |          ^~~~~~~~~~~~~~~~~~~~~~~~
//! 1 error generated.
//!  --> FILE:6:10
//! help: correct what the compiler names above
//= 2
