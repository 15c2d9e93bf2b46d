// Under a protocol whose home refuses every request, so that it is made again for ever.
static int total;

int splitc_main(void) {
    if (MYPROC == 1) *toglobal(0, &total) = 7;
    barrier();
    return 0;
}
//$ sim FILE -p crates/trivium/tests/bad/split-c/refuses.tri -m typhoon -n 2
//! error: no progress: for 10000000 cycles handlers ran, and no access and no call came to its end
//! note: node 0, since cycle _: waits at the barrier; at FILE:6 in splitc_main, in a call of barrier
//! note: node 1, since cycle _: waits for access to block 4097, a store of 0x40040040, byte 262208 of `split-c`, which is 0 here; far at node 1: Pausing; home at node 0: Here; at FILE:5 in splitc_main
//! help: the protocol may refuse a request and be asked again for ever; or finite lanes are too short. `trivium check` looks for both (starvation, deadlock). --stall-limit sets another number of cycles; 0: none
//= 1
