// A get into an array on the stack.
static int total[4];

int splitc_main(void) {
    int here[4];
    here := *toglobal(0, &total);
    sync();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: `:=` moves one value, and this is an array
//!  --> FILE:6:5
//!   |
//! 6 |     here := *toglobal(0, &total);
//!   |     ^^^^
//! help: use bulk_get, bulk_put or bulk_store
//= 2
