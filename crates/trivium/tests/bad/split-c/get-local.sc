// Both sides of := are this processor's own.
static int total;

int splitc_main(void) {
    int here;
    here := total;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: `:=` moves a value between this processor and another, and neither side is a global object
//!  --> FILE:6:5
//!   |
//! 6 |     here := total;
//!   |     ^^^^^^^^^^^^^
//! help: a plain `=` copies it
//= 2
