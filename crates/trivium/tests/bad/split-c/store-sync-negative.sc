// Fewer bytes than none.

int splitc_main(void) {
    if (MYPROC == 1) {
        store_sync(-1);
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: store_sync of -1 bytes: a negative number
//!  --> FILE:5
//! note: node 1, cycle _ in store_sync, called by splitc_main
//= 1
