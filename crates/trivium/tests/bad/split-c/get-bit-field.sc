// A get into a bit-field, which has no address.
static unsigned total;

int splitc_main(void) {
    struct { unsigned low : 3; } here;
    here.low := *toglobal(0, &total);
    sync();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:5: error: address of bit-field requested
//!     6 |     here.low := *toglobal(0, &total);
//!       |     ^
//! 1 error generated.
//!  --> FILE:6:5
//! help: correct what the compiler names above
//= 2
