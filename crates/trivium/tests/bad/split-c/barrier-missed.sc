// A processor that goes home without the others.

int splitc_main(void) {
    if (MYPROC == 1) return 0;
    barrier();
    barrier();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: deadlock: nothing can happen any more, and not all nodes have finished
//! note: node 0, since cycle _: waits at the barrier, which node 1 cannot reach: it has left main; at FILE:6 in splitc_main, in a call of barrier
//! help: a node that leaves main early comes to no barrier and releases no lock any more: let every node do what the others wait for, also where it fails; trivium_fail ends the run for all
//= 1
