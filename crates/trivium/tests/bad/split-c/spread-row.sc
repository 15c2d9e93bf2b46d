// A row of a spread array has no place of its own.
double dealt[4][4]::;

int splitc_main(void) {
    return dealt[1] != 0;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: this spread array has 2 dimensions left of `::`, and 1 of them stand here
//!  --> FILE:5:12
//!   |
//! 5 |     return dealt[1] != 0;
//!   |            ^^^^^^^^
//! help: a part of a spread array is one element: name the place in each dimension
//= 2
