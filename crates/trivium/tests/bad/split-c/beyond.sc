// An index leads behind the end of shared memory.
static int list[4];

int splitc_main(void) {
    if (MYPROC == 1) {
        toglobal(0, list)[100000000] = 1;
    }
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 1: a store of 4 bytes at 0x57db8440 is out of bounds (private memory is 0x400..0x1610000, shared memory 0x40000000..0x42000000)
//!  --> FILE:6
//! note: node 1, cycle _ in splitc_main
//= 1
//$ run FILE -p stache -n 2
//! error: node 1: a store of 4 bytes at 0x57db8440 is out of bounds (private memory is 0x400..0x1610000, shared memory 0x40000000..0x42000000)
//!  --> FILE:6
//! note: node 1 in splitc_main
//= 1
