//! Copies by the nodes' engines (`fbcopy`), in simulations and for real: every pair of states of source and destination, one call for
//! all lines and a call for each, with short queues and messages at any time. Over ranks it is
//! one of the programs of `tests/mpi`.

use crate::harness::trivium;
use crate::slow;

#[test]
fn copies_are_right_whatever_caches_hold() {
    let short = ["--set", "protocol.requests=2", "--set", "protocol.replies=2"];
    let early = ["--set", "machine.network.jitter=700", "--seed", "7"];
    let ways = [
        [&["sim", "-m", "flash"][..], &short].concat(),
        [&["sim", "-m", "flash"][..], &early].concat(),
        [&["sim", "-m", "typhoon"][..], &early, &short].concat(),
        [&["run", "--delays", "5"][..], &short].concat(),
        ["sim", "-m", "flash", "--set", "protocol.chunk=1"].to_vec(),
    ];
    for (turn, nodes) in ["3", "1", "2", "5"].into_iter().enumerate() {
        for way in slow::in_turn(5, turn, &ways) {
            let run = trivium(
                &[way, &["programs/fbcopy.c", "-p", "fbcopy", "-n", nodes, "--block", "128", "--", "-w", "16"][..]]
                    .concat(),
            );
            assert!(run.code == Some(0) && run.out.contains("\nok\n"), "{way:?}, {nodes} nodes: {run:?}");
        }
    }
}
