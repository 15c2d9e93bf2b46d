// A semicolon is missing.
int splitc_main(void) {
    int *global there = 0
    return !there;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: `;` is expected here, not `return`
//!  --> FILE:4:5
//!   |
//! 4 |     return !there;
//!   |     ^^^^^^
//= 2
