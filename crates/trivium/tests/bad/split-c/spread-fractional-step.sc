// One and a half elements further.
double dealt[4]::;

int splitc_main(void) {
    double *spread walk = dealt;
    walk += 1.5;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:10: error: invalid operands to binary expression ('double' and 'int')
//!     6 |     walk += 1.5;
//!       |          ^
//! 1 error generated.
//!  --> FILE:6:10
//! help: correct what the compiler names above
//= 2
