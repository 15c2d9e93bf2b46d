// Memory for -1 elements.

int splitc_main(void) {
    all_spread_malloc(-1, 8);
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 0: the program reports: split-c: all_spread_malloc of 4294967295 elements of 8 bytes: a processor has 16187344 bytes left: give more, for example by --cc -Wl,--initial-memory=67108864
//!  --> FILE:4
//! note: node 0, cycle _ in all_spread_malloc, called by splitc_main
//= 1
