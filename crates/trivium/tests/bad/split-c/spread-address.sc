// A pointer to a spread array.
double dealt[4]::;

int splitc_main(void) {
    return &dealt != 0;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: there are no pointers to spread arrays
//!  --> FILE:5:13
//!   |
//! 5 |     return &dealt != 0;
//!   |             ^^^^^
//! help: without `&` it is a spread pointer to the first element
//= 2
