// A spread pointer in brackets.
double dealt[4]::;
static int list[4];

int splitc_main(void) {
    return list[dealt];
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: a spread pointer cannot be an index
//!  --> FILE:6:17
//!   |
//! 6 |     return list[dealt];
//!   |                 ^^^^^
//! help: write the pointer before the brackets
//= 2
