// A bulk read by a null global pointer.
static char *global nowhere;

int splitc_main(void) {
    if (MYPROC == 1) {
        char here[4];
        bulk_read(here, nowhere, 4);
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: the program reports: split-c: a null global pointer is used
//!  --> FILE:7
//! note: node 1, cycle _ in bulk_read, called by splitc_main
//= 1
