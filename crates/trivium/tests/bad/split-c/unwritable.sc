// Another processor may have a copy of what is written by a plain pointer.
static int total;

int splitc_main(void) {
    int here = 0;
    if (MYPROC == 1) here = *toglobal(0, &total);
    barrier();
    if (MYPROC == 0) total = here + 1;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: node 0 stores to 0x140040 by its private address, where it has read access to block 4097 now: another node may have a copy that is newer, or that this store would make old; and under some protocols a home has to ask for its own blocks, too
//!  --> FILE:8
//! note: node 0, cycle _ in splitc_main
//! note: 0x140040 is `total`
//! help: go through the shared address (in Split-C, `*toglobal(MYPROC, &x)`), or let the accesses of other nodes to this block end first, and make one through the shared address; the block may also hold other data (--block says how large it is)
//= 1
