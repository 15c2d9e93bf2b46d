// The size of a spread array on one processor.
double dealt[4]::;

int splitc_main(void) {
    return (int)sizeof dealt;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: a spread array has no size on one processor
//!  --> FILE:5:24
//!   |
//! 5 |     return (int)sizeof dealt;
//!   |                        ^^^^^
//! help: multiply the sizes of its dimensions
//= 2
