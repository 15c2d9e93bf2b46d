// main is made from splitc_main.
int splitc_main(void) { return 0; }

int main(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: the program begins with `main` or with `splitc_main`, and both are here
//!  --> FILE:4:5
//!   |
//! 4 | int main(void) { return 0; }
//!   |     ^^^^
//! help: leave one out: `main` is made of `splitc_main`
//= 2
