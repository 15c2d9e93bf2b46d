// A put to what is not to be written.
static const int total = 3;

int splitc_main(void) {
    *toglobal(0, &total) := 4;
    sync();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:5:26: error: read-only variable is not assignable
//!     5 |     *toglobal(0, &total) := 4;
//!       |                          ^
//! FILE:5:26: warning: passing 'const int *global' to parameter of type 'void *global' discards qualifiers [-Wincompatible-pointer-types-discards-qualifiers]
//!     5 |     *toglobal(0, &total) := 4;
//!       |                          ^~~~~
//! split-c.h:_:37: note: passing argument to parameter 'to' here
//! 1 warning and 1 error generated.
//!  --> FILE:5:26
//! help: correct what the compiler names above
//= 2
