// A write to what is not to be written.
static const int total = 3;

int splitc_main(void) {
    const int *global there = toglobal(0, &total);
    *there = 4;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:12: error: read-only variable is not assignable
//!     6 |     *there = 4;
//!       |      ~     ^
//! 1 error generated.
//!  --> FILE:6:12
//! help: correct what the compiler names above
//= 2
