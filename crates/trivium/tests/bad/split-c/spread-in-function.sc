// A spread array in a function.

int splitc_main(void) {
    int dealt[4]::;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: a spread array cannot be declared in a function
//!  --> FILE:4:9
//!   |
//! 4 |     int dealt[4]::;
//!   |         ^^^^^
//! help: declare it at file scope, or use a spread pointer and all_spread_malloc
//= 2
