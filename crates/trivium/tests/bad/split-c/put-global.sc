// Both sides of := are global objects.
static int total, other;

int splitc_main(void) {
    *toglobal(0, &total) := *toglobal(1, &other);
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: both sides of `:=` are global objects
//!  --> FILE:5:5
//!   |
//! 5 |     *toglobal(0, &total) := *toglobal(1, &other);
//!   |     ^
//! help: get it into a variable, sync(), and put it from there
//= 2
