// An operand is missing.
int splitc_main(void) {
    int *global there = 0;
    return *there + ;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: an expression is expected here, not `;`
//!  --> FILE:4:21
//!   |
//! 4 |     return *there + ;
//!   |                     ^
//= 2
