//! Prefetches: a hint changes no answer, hides the latency of misses, and is the same by every way of simulating.

use crate::bench::{Run, machine, same_in, source, windows};
use crate::slow;
use trivium_sim::SimResult;

/// `copy`: lines of 16 words, of 128 bytes.
fn copy(ahead: &str, words: &str) -> Run {
    Run::of("copy", &["-n", words, "-d", ahead]).nodes(4).block(128)
}

fn on_flash(ahead: &str, set: &[(&str, &str)]) -> Run {
    copy(ahead, "512").under(&["flash-prefetch"]).on(machine("flash", set))
}

fn prefetched(result: &SimResult) -> u64 {
    result.per_node.iter().map(|node| node.prefetches).sum()
}

/// Two rounds on four nodes copy 32 lines each, from another node to this one. What is there already is not fetched again: the source's
/// line never is, since it is written anew in each round, and the destination's is the node's own, and exclusive, after the first.
#[test]
fn each_line_is_fetched_once() {
    let with = on_flash("4", &[]).right();
    let without = on_flash("0", &[]).right();
    assert_eq!((prefetched(&without), prefetched(&with)), (0, 4 * (2 * 32 + 32)));
    let faults = |result: &SimResult| result.per_node.iter().map(|node| node.read_faults).sum::<u64>();
    assert_eq!(faults(&without), 4 * 2 * 32);
    assert!(faults(&with) < faults(&without) / 8, "{} accesses still wait", faults(&with));
    assert_eq!(with.messages, without.messages);
}

/// Four requests at once hide most of a miss; with room for one, an access or a prefetch waits for the answer to the one before.
#[test]
fn time_falls_with_the_requests_that_may_be_outstanding() {
    let cycles = |ahead: &str, most: &str| on_flash(ahead, &[("processor.outstanding", most)]).right().cycles;
    let (none, one, two, four) = (cycles("0", "4"), cycles("4", "1"), cycles("4", "2"), cycles("4", "4"));
    assert!(four < two && two < one, "{four}, {two}, {one} cycles");
    assert!(4 * four < 3 * none, "{four} cycles with prefetches, {none} without");
}

/// Where nothing answers a prefetch, it costs its instructions and nothing else.
#[test]
fn other_protocols_ignore_prefetches() {
    for protocol in ["flash-coherence", "swcc", "msi"] {
        let result = copy("4", "100").under(&[protocol]).on(machine("typhoon", &[])).right();
        assert_eq!(prefetched(&result), 0, "{protocol}");
    }
    let priced = |cycles: &str| on_flash("4", &[("processor.prefetch", cycles)]).right().cycles;
    assert!(priced("100") > priced("0"));
}

/// A load that comes while a prefetch is under way is held, and goes on with its answer. The block is recalled at once, before the load that was
/// held would be raised again: it has been performed, and asks for nothing.
#[test]
fn a_load_that_was_held_asks_once() {
    let protocol = "protocol taken\nlane main fifo buffered\nmessage Get, Recall on main\nmessage Data on main with block\n\
        role cache of block {\n otherwise impossible\n state Away {\n on read, prefetch { send Get to home; await Data { install; goto Here; resume } }\n\
        on write impossible\n }\n state Here: read { on write impossible on Recall { goto Away } }\n }\n\
        role home of block { state Home: write { on Get { send Data to sender; send Recall to sender } } }";
    let protocol =
        trivium_lang::compile("taken.tri", protocol, &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    const LOADS: &str = r#"
#include <trivium.h>
int main(void) {
    volatile int *far = trivium_alloc_on(1, 64);
    if (trivium_node() > 0) return 0;
    trivium_prefetch(far);
    return *far;
}
"#;
    for name in ["typhoon", "simple-coma", "flash"] {
        let mut run = Run::with(source(LOADS), &[]).on(machine(name, &[])).block(128);
        run.protocols = vec![std::sync::Arc::new(protocol.clone())];
        let result = run.right();
        assert_eq!((prefetched(&result), result.messages["taken.Get"]), (1, 1), "{name}");
    }
}

/// In all windows, and on several host threads: where lines drive each other out of small caches while requests are outstanding, too.
#[test]
fn the_same_by_every_way_of_simulating() {
    let jitter = ("network.jitter", "90");
    let first = |bytes| format!("{{ bytes = {bytes}, line = 64, associativity = 1, miss = 7 }}");
    let (two_ways, one_way) = (first(256), first(128));
    let small = [("cache.first", two_ways.as_str()), ("cache.bytes", "1024"), jitter];
    let direct = [("cache.first", one_way.as_str()), ("cache.bytes", "512"), ("cache.associativity", "1"), jitter];
    let mut runs = vec![
        on_flash("2", &[]),
        on_flash("5", &[jitter, ("processor.outstanding", "3")]),
        on_flash("3", &small),
        on_flash("8", &small),
        on_flash("4", &direct),
        on_flash("3", &[("processor.outstanding", "1"), jitter]),
    ];
    for name in ["typhoon", "typhoon-1", "typhoon-0", "simple-coma", "now"] {
        let run = Run::of("copy", &["-n", "100", "-d", "3", "-l", "8"]).nodes(3).under(&["stache-prefetch"]);
        runs.push(run.on(machine(name, &[jitter, ("processor.outstanding", "2")])));
    }
    let frames = machine("typhoon", &[("memory.page", "2048"), jitter]);
    runs.push(Run::of("copy", &["-n", "600", "-d", "2", "-l", "8"]).nodes(3).under(&["stache-prefetch"]).on(frames));
    for run in slow::one_in(2, runs) {
        run.right();
        let windows = windows(&run);
        same_in(&run, slow::all_or(&windows, &windows[2..4]));
        for jobs in slow::all_or(2..4, 2..3) {
            same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
        }
    }
}
