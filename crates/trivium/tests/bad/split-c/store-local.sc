// A store to this processor's own.
static int total;

int splitc_main(void) {
    int *local = &total;
    *local :- 3;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: `:-` stores through a global pointer, and this is no object that one points to
//!  --> FILE:6:5
//!   |
//! 6 |     *local :- 3;
//!   |     ^^^^^^
//! help: a plain `=` writes it; a label is parted from what follows it: `name: -value`
//= 2
