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

/// From any node's memory to any other's, at any distance and at each one in doublewords, across lines, pages and homes, with words that are counted
/// up, and with nonsense.
#[test]
fn copies_of_any_bytes_are_right() {
    let short = ["--set", "protocol.requests=2", "--set", "protocol.replies=2"];
    let few = ["--set", "protocol.jobs=2", "--set", "protocol.receivers=1"];
    let ways = [
        [&["sim", "-m", "flash", "--set", "machine.network.jitter=700"][..], &short].concat(),
        [&["run", "--delays", "5"][..], &short, &few].concat(),
        [&["sim", "-m", "typhoon"][..], &few].concat(),
        ["run", "--set", "protocol.page=4", "--cc=-DFBCOPY_PAGE=4"].to_vec(),
        ["sim", "-m", "flash", "--set", "protocol.requests=1"].to_vec(),
        ["sim", "-m", "flash", "--set", "protocol.most=8", "--cc=-DFBCOPY_MOST=8"].to_vec(),
    ];
    for (turn, nodes) in slow::one_in(3, ["3", "2", "1", "5"].into_iter().enumerate()) {
        for (seed, way) in slow::in_turn(6, turn, &ways).enumerate() {
            let seed = format!("{}", 10 * turn + seed);
            let run = trivium(
                &[
                    way,
                    &["programs/anycopy.c", "-p", "fbcopy-whole", "-n", nodes, "--block", "128"][..],
                    &["--", "-r", "4", "-s", &seed],
                ]
                .concat(),
            );
            assert!(run.code == Some(0) && run.out.contains("\nok\n"), "{way:?}, {nodes} nodes: {run:?}");
        }
    }
}

/// Nodes refuse at random whatever may be refused, where queues have two places: requests for lines, envelopes, lines that are to be sent or collected,
/// landings, words that are to be counted up, copies for other nodes.
#[test]
fn copies_are_right_whatever_is_refused() {
    let short = ["--set", "protocol.requests=2", "--set", "protocol.replies=2"];
    let ways = [
        [&["sim", "-m", "flash", "--set", "machine.network.jitter=700", "--set", "protocol.often=2"][..], &short]
            .concat(),
        [&["run", "--delays", "5"][..], &short].concat(),
        [&["sim", "-m", "typhoon"][..], &short].concat(),
        [&["run", "--set", "protocol.often=2"][..], &short].concat(),
    ];
    for (turn, nodes) in slow::one_in(2, ["3", "2", "4"].into_iter().enumerate()) {
        for (seed, way) in slow::in_turn(4, turn, &ways).enumerate() {
            let seed = format!("{}", 10 * turn + seed + 1);
            let seeded = format!("protocol.seed={seed}");
            for (program, protocol, args) in
                [("fbcopy", "fbcopy", &["-w", "16"][..]), ("anycopy", "fbcopy-whole", &["-r", "2", "-s", &seed])]
            {
                let program = format!("programs/{program}.c");
                let protocol = format!("crates/trivium/tests/refusing/{protocol}.tri");
                let with = [&program, "-p", &protocol, "-n", nodes, "--block", "128", "--set", &seeded, "--"];
                let run = trivium(&[way, &with[..], args].concat());
                assert!(run.code == Some(0) && run.out.contains("\nok\n"), "{way:?}, {nodes} nodes, {seed}: {run:?}");
            }
        }
    }
}

/// Requests that wait at their receiver for room took all credits of the interface, and replies, which would have made room, waited for one.
#[test]
fn replies_are_not_kept_back_by_requests_that_wait_for_room() {
    let text = "#include \"trivium.h\"\n#include <stdio.h>\nint main(void) {
    int me = trivium_node(), nodes = trivium_nodes(), next = (me + 1) % nodes;
    static volatile int64_t *lines[8];
    for (int n = 0; n < nodes; n++)
        lines[n] = trivium_alloc_on(n, 8192);
    trivium_barrier();
    for (int i = 0; i < 96; i += 8)
        trivium_prefetch((void *)&lines[next][i]);
    trivium_barrier();
    for (int i = 0; i < 1024; i += 8)
        lines[me][i] = i;
    trivium_barrier();
    if (me == 0)
        puts(\"ok\");
}\n";
    let with = ["-p", "flash-prefetch", "-m", "typhoon", "-n", "2"];
    gets_through(text, &with);
    // Both lanes in one short queue: what waits in memory for a credit has left it.
    for places in ["protocol.outgoing=2", "protocol.outgoing=3"] {
        gets_through(text, &[&with[..], &["--set", places]].concat());
    }
}

/// With one place for requests, two nodes that copy onto each other's dirty lines refused each other's lines in step, for ever.
#[test]
fn copies_that_cross_get_through_one_place() {
    let text = "#include \"trivium.h\"\n#include \"trivium/fbcopy.h\"\n#include <stdio.h>\nint main(void) {
    int me = trivium_node(), nodes = trivium_nodes(), to = (me + 1) % nodes, bad = 0;
    int64_t *from[4], *at[4];
    for (int n = 0; n < nodes; n++) {
        from[n] = trivium_alloc_on(n, 1024);
        at[n] = trivium_alloc_on(n, 1024);
    }
    trivium_barrier();
    for (int i = 0; i < 128; i++) {
        from[me][i] = i + 1;
        at[to][i] = 5;
    }
    trivium_barrier();
    if (!fbcopy_wait(fbcopy_copy(at[to], from[me], 8)))
        bad = 1;
    trivium_barrier();
    for (int i = 0; i < 128; i++)
        bad += at[me][i] != i + 1;
    if (bad)
        trivium_fail(\"words are not what was copied\");
    trivium_barrier();
    if (me == 0)
        puts(\"ok\");
}\n";
    for nodes in ["2", "4"] {
        let with = ["-p", "fbcopy", "-m", "flash", "-n", nodes, "--block", "128", "--set", "protocol.requests=1"];
        gets_through(text, &with);
        gets_through(text, &[&with[..8], &["--set", "protocol.outgoing=3"]].concat());
    }
}

/// A program that says ok at its end does so, and nothing stands still for long.
fn gets_through(text: &str, with: &[&str]) {
    let folder = crate::harness::folder();
    let program = folder.path().join("program.c");
    std::fs::write(&program, text).unwrap();
    let run = trivium(&[&["sim", program.to_str().unwrap(), "--stall-limit", "1000000"], with].concat());
    assert!(run.code == Some(0) && run.out.contains("ok\n"), "{with:?}: {run:?}");
}
