// global has no star before it.

int splitc_main(void) {
    global int *early;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: `global` has no pointer before it
//!  --> FILE:4:5
//!   |
//! 4 |     global int *early;
//!   |     ^^^^^^
//! help: write it behind the star: int *global p
//= 2
