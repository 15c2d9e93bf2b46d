// A spread array that is filled where it is declared.
double dealt[2]:: = {1, 2};

int splitc_main(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: a spread array cannot be initialised here
//!  --> FILE:2:19
//!   |
//! 2 | double dealt[2]:: = {1, 2};
//!   |                   ^
//! help: fill it in splitc_main: each processor its own part
//= 2
