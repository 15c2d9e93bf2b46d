// More bytes than there are behind the pointer.
static int list[4];

int splitc_main(void) {
    if (MYPROC == 1) {
        bulk_store(toglobal(0, list), list, 1 << 27);
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: bulk_store of 134217728 bytes at 0x40040040: these bytes do not lie on one processor
//!  --> FILE:6
//! note: node 1, cycle _ in bulk_store, called by splitc_main
//= 1
