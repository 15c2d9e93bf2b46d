// A put of a text into an int.
static int total;

int splitc_main(void) {
    *toglobal(0, &total) := "text";
    sync();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:5:26: error: incompatible pointer to integer conversion initializing 'int' with an expression of type 'char[5]' [-Wint-conversion]
//!     5 |     *toglobal(0, &total) := "text";
//!       |                          ^
//! 1 error generated.
//!  --> FILE:5:26
//! help: correct what the compiler names above
//= 2
