// A store to a variable, or a label and a minus: nobody knows.
static int total;

int splitc_main(void) {
    int k = 3;
    total :-k;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: `:-` stores through a global pointer, and this is no object that one points to
//!  --> FILE:6:5
//!   |
//! 6 |     total :-k;
//!   |     ^^^^^
//! help: a plain `=` writes it; a label is parted from what follows it: `name: -value`
//= 2
