// A type that is a spread array.
typedef int dealt[8]::;

int splitc_main(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: a type cannot be a spread array
//!  --> FILE:2:13
//!   |
//! 2 | typedef int dealt[8]::;
//!   |             ^^^^^
//! help: name the type of its elements instead
//= 2
