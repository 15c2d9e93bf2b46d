// The arguments of toglobal, the wrong way round.
static int total;

int splitc_main(void) {
    int *global there = toglobal(&total, 0);
    return *there;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:5:34: error: indirection requires pointer operand ('int' invalid)
//!     5 |     int *global there = toglobal(&total, 0);
//!       |                                  ^
//! FILE:5:34: error: incompatible pointer to integer conversion passing 'int *' to parameter of type 'int'; dereference with * [-Wint-conversion]
//!     5 |     int *global there = toglobal(&total, 0);
//!       |                                  ^
//!       |                                  *
//! 2 errors generated.
//!  --> FILE:5:34
//!  --> FILE:5:34
//! help: correct what the compiler names above
//= 2
