// A function lies on no processor.

int splitc_main(void) {
    void (*global work)(int);
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: a function lies nowhere that a global pointer could point to
//!  --> FILE:4:11
//!   |
//! 4 |     void (*global work)(int);
//!   |           ^
//! help: a plain pointer to a function means the same function on every processor
//= 2
