// One of two kinds of pointers.
static int total;
double dealt[4]::;

int splitc_main(void) {
    double *spread walk = MYPROC ? dealt : toglobal(0, &dealt[0]);
    (void)walk, (void)total;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: a spread pointer and a global pointer are the two results of a conditional expression
//!  --> FILE:6:36
//!   |
//! 6 |     double *spread walk = MYPROC ? dealt : toglobal(0, &dealt[0]);
//!   |                                    ^^^^^
//! help: make one of the other: toglobal, tolocal, or a cast
//= 2
