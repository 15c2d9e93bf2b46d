//! Pages that were placed by first touch move once, when the parallel phase starts (`docs/semantics.md`, section 1).

use crate::bench::{Run, machine, source};
use trivium_sim::SimResult;

fn misses(result: &SimResult) -> u64 {
    result.misses.read + result.misses.write + result.misses.upgrade
}

/// Where processor 0 initialises, all pages are its own, and everybody else's accesses to its own values are remote. Pages that move
/// make of that what explicit placement does.
#[test]
fn what_one_node_has_initialised_gets_its_home_where_it_is_used() {
    let run = |touch: &str, iterations: &str| {
        Run::of("em3d", &["-n", "2000", "-i", iterations, "-z", "1", "-f", touch]).nodes(4).right()
    };
    // Behind the first iteration copies are where they are used, whatever the homes: misses come from sharing alone.
    let [placed, touched, moved] = ["0", "1", "2"].map(|touch| run(touch, "4"));
    assert_eq!((&touched.output, &moved.output), (&placed.output, &placed.output));
    assert_eq!((&moved.misses, &moved.messages), (&placed.misses, &placed.messages), "the same homes");
    let sent = |result: &SimResult| result.messages.values().sum::<u64>();
    assert!(8 * sent(&moved) < 7 * sent(&touched), "{} and {}", sent(&moved), sent(&touched));
    assert!(8 * moved.cycles < 7 * touched.cycles, "{} and {}", moved.cycles, touched.cycles);
    // In the first, a node whose values are at home elsewhere misses on its own.
    let [touched, moved] = ["1", "2"].map(|touch| misses(&run(touch, "1")));
    assert!(4 * moved < 3 * touched, "{moved} and {touched}");
    let custom = |touch: &str| {
        let run = Run::of("em3d-update", &["-n", "2000", "-i", "4", "-z", "1", "-f", touch]).nodes(4);
        run.under(&["stache", "deferred-update"])
    };
    assert_eq!(custom("2").right().output, placed.output);
    for touch in ["0", "1"] {
        let error = custom(touch).error();
        assert!(
            error.diagnostic.message.contains("only a value's home may")
                && error.diagnostic.message.contains("add -f 2"),
            "{error}"
        );
    }
}

/// A page that node 1 takes from node 0: from the manager's to the old home, and from there with the contents. Each later access of others
/// takes what it takes where the page has always been.
#[test]
fn a_page_takes_the_network_and_its_contents() {
    let text = r#"#include <trivium.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
            int self = trivium_node(), page = atoi(argv[1]) * 512;
            volatile long long *words = trivium_alloc_first_touch(4 * 4096);
            if (self == 0) words[page] = 7;
            trivium_parallel_start();
            if (self == 1) {
                trivium_begin();
                if (words[page] != 7) trivium_fail("it had another value");
                trivium_end();
            }
            trivium_barrier();
            if (self == 2 && words[page] != 7) trivium_fail("elsewhere it has another value");
            return 0;
        }"#;
    let (program, machine) = (source(text), machine("typhoon", &[("tlb.miss", "0")]));
    let granule = machine.prices.fetch.keep.cycles + machine.prices.install.keep.cycles;
    let contents = machine.granules(4096) * granule;
    assert!(contents > 100, "{contents}");
    // The manager of page p is node p. A claim takes 100 cycles, a page from its old home 100, and what the manager tells the old
    // home 100 unless they are one. The access is then a local miss.
    for (page, hops) in [("0", 2), ("1", 3), ("2", 3)] {
        let result = Run::with(program.clone(), &[page]).on(machine.clone()).nodes(4).right();
        let node = &result.per_node[1];
        assert_eq!((node.read_stall, node.read_faults), (hops * 100 + contents + 41, 0), "page {page}: {node:?}");
    }
}

/// A page is claimed as soon as it is allocated, of a manager whose host thread may have heard of the allocation from nobody yet: that
/// was a panic now and then.
#[test]
fn who_is_asked_for_a_page_knows_of_its_allocation() {
    let text = r#"#include <trivium.h>
        int main(void) {
            int self = trivium_node(), nodes = trivium_nodes();
            for (int i = 0; i < 24; i++) {
                volatile int *page = trivium_alloc_first_touch(4096);
                if ((self + i) % nodes < 2) page[self] = i;
            }
            trivium_barrier();
            return 0;
        }"#;
    let run = Run::with(source(text), &[]).nodes(6);
    let alone = run.right().cycles;
    for jobs in 0..30 {
        assert_eq!(run.clone().jobs(3 + jobs % 4).right().cycles, alone);
    }
}
