// What a spread pointer points to, before there are any processors.
double *spread walk;
double first = *walk;

int splitc_main(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: spread pointers are followed and moved in functions only
//!  --> FILE:3:17
//!   |
//! 3 | double first = *walk;
//!   |                 ^^^^
//! help: do it in splitc_main
//= 2
