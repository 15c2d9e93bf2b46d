// Element one and a half.
double dealt[4]::;

int splitc_main(void) {
    return (int)dealt[1.5];
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:5:23: error: invalid operands to binary expression ('double' and 'int')
//!     5 |     return (int)dealt[1.5];
//!       |                       ^
//! 1 error generated.
//!  --> FILE:5:23
//! help: correct what the compiler names above
//= 2
