// A pointer further.
double dealt[4]::;

int splitc_main(void) {
    double *spread walk = dealt, *spread end = &dealt[3];
    walk = walk + end;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:17: error: invalid operands to binary expression ('double *spread' and 'int')
//!     6 |     walk = walk + end;
//!       |                 ^
//! 1 error generated.
//!  --> FILE:6:17
//! help: correct what the compiler names above
//= 2
