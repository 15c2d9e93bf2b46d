// A spread array in a structure.
struct record {
    int n;
    int list[3]::;
};

int splitc_main(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: a member of a structure cannot be a spread array
//!  --> FILE:4:9
//!   |
//! 4 |     int list[3]::;
//!   |         ^^^^
//! help: make it a spread pointer, and give it memory of all_spread_malloc
//= 2
