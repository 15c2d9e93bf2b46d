//! RTLBs: what looks tags up, what is a miss and what that costs, by hand; that they change nothing else, and are the same in every window.

use crate::bench::{Run, machine, same_in, text_program, windows};
use trivium_sim::{Counters, Machine, SimResult};

fn with_rtlb(entries: u64, miss: u64, more: &[(&str, &str)]) -> Machine {
    let rtlb = format!("{{ entries = {entries}, miss = {miss} }}");
    machine("typhoon", &[&[("rtlb", rtlb.as_str())], more].concat())
}

/// Look-ups and misses of each node.
fn looked_up(result: &SimResult) -> Vec<(u64, u64)> {
    result.rtlb.iter().map(|node| (node.lookups, node.misses)).collect()
}

/// A program whose last node loads a word of these lines of shared memory, at home at node 0: a letter is a page of 4096 bytes, the digit after
/// it a line of 32 bytes.
fn loads(lines: &[&str]) -> Run {
    let load = |line: &&str| {
        let [page, line] = *line.as_bytes() else { panic!("not a page and a line: {line}") };
        let at = 4096 * u32::from(page - b'a') + 32 * u32::from(line - b'0');
        format!("(drop (i32.load offset={at} (local.get $shared)))")
    };
    let loads = lines.iter().map(load).collect::<String>();
    let text = format!(
        r#"(module
            (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
            (import "trivium" "node" (func $node (result i32)))
            (import "trivium" "nodes" (func $nodes (result i32)))
            (memory 1)
            (func (export "_start") (local $shared i32)
                (local.set $shared (call $alloc (i64.const 65536) (i32.const 0) (i32.const 0) (i32.const 0)))
                (if (i32.eq (call $node) (i32.sub (call $nodes) (i32.const 1))) (then {loads}))))"#
    );
    Run::with(text_program(&text), &[]).nodes(1).block(32)
}

#[test]
fn a_transaction_of_the_processor_looks_its_page_up() {
    let looked = |lines: &[&str], entries| looked_up(&loads(lines).on(with_rtlb(entries, 60, &[])).right());
    assert_eq!(looked(&["a0", "b0", "a1", "b1", "a2", "b2"], 2), [(6, 2)]);
    assert_eq!(looked(&["a0", "b0", "a1", "b1", "a2", "b2"], 1), [(6, 6)]);
    assert_eq!(looked(&["a0", "a0", "a0", "a1"], 1), [(2, 1)], "what hits in the cache looks nothing up");
    // c drives a out, which came first, although it has just been looked up.
    assert_eq!(looked(&["a0", "b0", "a1", "c0", "a2", "b1"], 2), [(6, 5)]);
}

#[test]
fn handlers_look_up_the_pages_of_their_blocks() {
    let result = loads(&["a0", "a1"]).nodes(2).on(with_rtlb(4, 60, &[])).right();
    // The home sends the contents and lowers its tag. The other node's transaction misses, and its handler takes the contents in and raises the tag.
    assert_eq!(looked_up(&result), [(4, 1), (6, 1)]);
}

#[test]
fn a_miss_costs_what_the_machine_says() {
    let cycles = |nodes, lines: &[&str], miss| {
        let result = loads(lines).nodes(nodes).on(with_rtlb(1, miss, &[])).right();
        (result.cycles, result.per_node.last().map(|node| node.read_stall).unwrap_or_default())
    };
    let alone = ["a0", "b0", "a1"];
    let (free, stalled) = cycles(1, &alone, 0);
    assert_eq!(cycles(1, &alone, 77), (free + 3 * 77, stalled + 3 * 77));
    // A remote load waits for its own node's miss, and for the home's; its page is there when the contents come.
    let (free, stalled) = cycles(2, &alone, 0);
    assert_eq!(cycles(2, &alone, 50), (free + 3 * 2 * 50, stalled + 3 * 2 * 50));
}

/// An RTLB whose misses cost nothing changes nothing.
#[test]
fn one_that_costs_nothing_changes_nothing() {
    let counts = |result: SimResult| -> Vec<Counters> {
        let same = |node: &Counters| Counters { tags: Default::default(), ..node.clone() };
        result.per_node.iter().map(same).collect()
    };
    for run in [
        Run::of("em3d", &["-n", "200", "-i", "2"]).nodes(4),
        Run::of("matmul", &["-n", "16", "-b", "4"]).nodes(4).under(&["msi"]),
        Run::of("lockbench", &["-n", "8"]).nodes(3),
        Run::of("em3d-update", &["-n", "40"]).under(&["msi", "deferred-update"]).nodes(3),
    ] {
        let without = counts(run.right());
        let run = run.on(with_rtlb(2, 0, &[]));
        assert!(looked_up(&run.right()).iter().all(|(_, misses)| *misses > 0), "{}", run.program.name());
        assert_eq!(counts(run.right()), without, "{}", run.program.name());
    }
}

#[test]
fn few_entries_in_every_window() {
    let few = |entries, more: &[(&str, &str)]| with_rtlb(entries, 90, &[&[("network.jitter", "70")], more].concat());
    for run in [
        Run::of("em3d", &["-n", "120", "-i", "2"]).nodes(4).on(few(3, &[])),
        Run::of("em3d", &["-n", "100", "-i", "1"]).nodes(3).block(128).on(few(2, &[("engine.kind", "compute")])),
        Run::of("em3d", &["-n", "100", "-i", "1"])
            .nodes(4)
            .under(&["stache-pages"])
            .on(few(4, &[("memory.page", "2048"), ("memory.frames", "2")])),
        Run::of("bodies-update", &["-k", "1", "-i", "3"])
            .under(&["msi", "update", "migratory"])
            .nodes(4)
            .on(few(1, &[])),
        Run::of("lockbench", &["-n", "8"]).nodes(4).on(few(1, &[])),
    ] {
        assert!(looked_up(&run.right()).iter().any(|(_, misses)| *misses > 1), "{}", run.program.name());
        same_in(&run, &windows(&run));
        same_in(&run.clone().jobs(2), &[run.machine.lookahead()]);
    }
}
