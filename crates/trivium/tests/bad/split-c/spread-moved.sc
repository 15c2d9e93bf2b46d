// A spread array is no variable.
double dealt[4]::;

int splitc_main(void) {
    dealt++;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: a spread array stays where it is
//!  --> FILE:5:5
//!   |
//! 5 |     dealt++;
//!   |     ^^^^^
//! help: use a spread pointer that points to its first element
//= 2
