// A negative length.
static int list[4];

int splitc_main(void) {
    if (MYPROC == 1) {
        int here[4];
        bulk_read(here, toglobal(0, list), -4);
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: bulk_read of -4 bytes: a negative length
//!  --> FILE:7
//! note: node 1, cycle _ in bulk_read, called by splitc_main
//= 1
