// A get into what is not to be written.
static int total;

int splitc_main(void) {
    const int here = 3;
    here := *toglobal(0, &total);
    sync();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:10: error: read-only variable is not assignable
//!     6 |     here := *toglobal(0, &total);
//!       |          ^
//! FILE:6:10: warning: passing 'const int *' to parameter of type 'void *' discards qualifiers [-Wincompatible-pointer-types-discards-qualifiers]
//!     6 |     here := *toglobal(0, &total);
//!       |          ^~~~~~~~
//! 1 warning and 1 error generated.
//!  --> FILE:6:10
//! help: correct what the compiler names above
//= 2
