// splitc_main has one argument.
int splitc_main(int argc) { return argc; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: splitc_main takes no arguments, or two
//!  --> FILE:2:5
//!   |
//! 2 | int splitc_main(int argc) { return argc; }
//!   |     ^^^^^^^^^^^
//! help: write: int splitc_main(int argc, char **argv)
//= 2
