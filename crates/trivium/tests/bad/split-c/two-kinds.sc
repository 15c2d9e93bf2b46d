// A pointer that is global and spread.
int *global spread both;

int splitc_main(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: a pointer is either global or spread
//!  --> FILE:2:13
//!   |
//! 2 | int *global spread both;
//!   |             ^^^^^^
//! help: leave one out
//= 2
