// A processor that goes home without the others.

int splitc_main(void) {
    if (MYPROC == 1) return 0;
    barrier();
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: deadlock: nothing can happen any more, and not all nodes have finished
//! note: node 0, since cycle _: waits at the barrier, which nodes 1 cannot reach: they have left main; at FILE:6 in splitc_main
//! help: `trivium check` on the protocol finds the shortest counterexample that ends in a deadlock; if it finds none, look at the program's locks and barriers
//= 1
