// Another processor has written what is read by a plain pointer.
static int total;

int splitc_main(void) {
    if (MYPROC == 1) *toglobal(0, &total) = 7;
    barrier();
    if (MYPROC == 0) return total;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 0 loads 0x140040 by its private address, where it has no access to block 4097 now: another node may have a copy that is newer, or that this store would make old; and under some protocols a home has to ask for its own blocks, too
//!  --> FILE:7
//! note: node 0, cycle _ in splitc_main
//! note: 0x140040 is `total`
//! help: go through the shared address (in Split-C, `*toglobal(MYPROC, &x)`), or let the accesses of other nodes to this block end first, and make one through the shared address; the block may also hold other data (--block says how large it is)
//= 1
//$ run FILE -p stache -n 2
//! error: node 0 loads 0x140040 by its private address, where it has no access to block 4097 now: another node may have a copy that is newer, or that this store would make old; and under some protocols a home has to ask for its own blocks, too
//!  --> FILE:7
//! note: node 0 in splitc_main
//! note: 0x140040 is `total`
//! help: go through the shared address (in Split-C, `*toglobal(MYPROC, &x)`), or let the accesses of other nodes to this block end first, and make one through the shared address; the block may also hold other data (--block says how large it is)
//= 1
