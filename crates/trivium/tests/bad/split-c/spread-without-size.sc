// A spread array of nobody knows how many elements.
double dealt[]::;

int splitc_main(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: a spread array needs the sizes of all its dimensions
//!  --> FILE:2:8
//!   |
//! 2 | double dealt[]::;
//!   |        ^^^^^
//= 2
