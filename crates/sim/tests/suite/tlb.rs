//! TLBs: what is a miss and what it costs, by hand; that they change nothing else, and are the same in every build and window.

use crate::bench::{Run, machine, same_in, text_program, windows};
use crate::slow;
use trivium_sim::{Machine, SimResult};

fn with_tlb(entries: u64, more: &[(&str, &str)]) -> Machine {
    machine("typhoon", &[&[("tlb.entries", entries.to_string().as_str()), ("tlb.miss", "40")], more].concat())
}

fn tlb_stall(result: &SimResult) -> u64 {
    result.per_node.iter().map(|node| node.tlb_stall).sum()
}

/// A program of one function, which loads from the pages of private memory (a digit) and of shared memory (a letter) of 4096 bytes
/// that are named; it does so 10 times.
fn loads(pages: &str) -> Run {
    let load = |page: char| match page.to_digit(10) {
        Some(page) => format!("(drop (i32.load (i32.const {})))", 4096 * page + 1024),
        None => format!("(drop (i32.load offset={} (local.get $shared)))", 4096 * (page as u32 - 'a' as u32) + 64),
    };
    let text = format!(
        r#"(module
            (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
            (memory 1)
            (func (export "_start") (local $shared i32) (local $round i32)
                (local.set $shared (call $alloc (i64.const 65536) (i32.const 1) (i32.const 0) (i32.const 0)))
                (local.set $round (i32.const 10))
                (loop $again
                    {}
                    (br_if $again (local.tee $round (i32.sub (local.get $round) (i32.const 1)))))))"#,
        pages.chars().map(load).collect::<String>()
    );
    Run::with(text_program(&text), &[]).nodes(1)
}

/// Misses of the TLB, which cost 40 cycles each.
fn misses(pages: &str, entries: u64) -> u64 {
    let result = loads(pages).on(with_tlb(entries, &[])).right();
    assert_eq!(tlb_stall(&result) % 40, 0);
    tlb_stall(&result) / 40
}

#[test]
fn the_page_that_came_first_leaves_first() {
    assert_eq!(misses("abc", 3), 3, "each page once");
    assert_eq!(misses("abc", 2), 30, "the next page has always just left");
    assert_eq!(misses("aaabbb", 1), 20);
    assert_eq!(misses("1a", 2), 2, "private and shared pages alike");
    assert_eq!(misses("0123ab", 5), 60);
    // Of a b a c, in 2 entries: c drives a out although it has just been hit, then a drives b out and b drives c out.
    assert_eq!(misses("abac", 2), 3 + 9 * 3);
    // An entry translates 1 KiB: the lines at 64 of each page, and those at 1024, lie in different ones.
    let small = loads("0a").on(with_tlb(1, &[("tlb.page", "1024")])).right();
    assert_eq!(tlb_stall(&small), 40 * 20);
}

#[test]
fn a_miss_costs_what_the_machine_says() {
    let cycles = |miss: &str| {
        let run = loads("abcd").on(machine("typhoon", &[("tlb.entries", "2"), ("tlb.miss", miss)]));
        let result = run.right();
        (result.cycles, tlb_stall(&result))
    };
    let (free, nothing) = cycles("0");
    assert_eq!(nothing, 0);
    assert_eq!([cycles("1"), cycles("77")], [(free + 40, 40), (free + 40 * 77, 40 * 77)]);
    let without = loads("abcd").on(Machine { tlb: None, ..machine("typhoon", &[]) }).right();
    assert_eq!((without.cycles, tlb_stall(&without)), (free, 0));
}

/// A TLB whose misses cost nothing, or that has room for all pages, changes nothing but for the first access to each page.
#[test]
fn a_tlb_that_costs_nothing_changes_nothing() {
    for run in [
        Run::of("em3d", &["-n", "200", "-i", "2"]).nodes(4),
        Run::of("matmul", &["-n", "16", "-b", "4"]).nodes(4).under(&["msi"]),
        Run::of("lockbench", &["-n", "8"]).nodes(3),
        Run::of("splitphase", &["-n", "4", "-i", "2"]).nodes(4).under(&["swcc"]),
    ] {
        let without = run.clone().on(Machine { tlb: None, ..machine("typhoon", &[]) }).right();
        for entries in [1, 5, 1000] {
            let free = with_tlb(entries, &[("tlb.miss", "0")]);
            assert_eq!(run.clone().on(free).right().per_node, without.per_node, "{}", run.program.name());
        }
    }
}

/// What is known of a page's lines when it comes back is what became of them meanwhile, by handlers too.
#[test]
fn few_entries_in_every_build_and_window() {
    let few = |entries, page: &str| {
        let small = [("cache.bytes", "16384"), ("memory.page", "2048"), ("tlb.page", page), ("network.jitter", "70")];
        with_tlb(entries, &small)
    };
    let runs = [
        Run::of("em3d", &["-n", "120", "-i", "2"]).nodes(4).on(few(3, "2048")),
        Run::of("em3d", &["-n", "120", "-i", "1"]).nodes(3).on(few(6, "512")).block(128),
        Run::of("em3d-update", &["-n", "40"]).under(&["msi", "deferred-update"]).nodes(3).on(few(2, "1024")),
        Run::of("bodies-update", &["-k", "1", "-i", "3"])
            .under(&["msi", "update", "migratory"])
            .nodes(4)
            .on(few(5, "256")),
        Run::of("matmul", &["-n", "16", "-b", "4"]).nodes(4).under(&["msi"]).on(few(4, "2048")),
        Run::of("splitphase", &["-n", "4", "-i", "2"]).under(&["swcc"]).nodes(4).on(few(1, "64")),
        Run::of("lockbench", &["-n", "8"]).nodes(4).on(few(1, "2048")),
        Run::of("litmus", &["-n", "3"]).nodes(3).on(few(2, "2048")),
        Run::of("atomics", &["-n", "3"]).nodes(3).on(few(1, "32")),
        // Lines that are longer than what is told at once of other pages.
        Run::of("em3d", &["-n", "120", "-i", "1"])
            .nodes(3)
            .block(512)
            .on(with_tlb(2, &[("cache.bytes", "16384"), ("access_control.granule", "512"), ("cache.line", "512")])),
        Run::of("scatter", &["-n", "8"]).under(&["msi", "remote-write"]).nodes(3).on(few(1, "512")),
    ];
    for run in runs {
        let stalls = tlb_stall(&run.right());
        assert!(stalls > 0, "{}", run.program.name());
        let windows = windows(&run);
        same_in(&run, slow::all_or(&windows, &windows[2..3]));
        for jobs in slow::all_or(2..4, 2..3) {
            same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
        }
    }
}

/// The same where handlers run on the compute processor, where each access to shared memory is examined, and where pages are
/// given up: a page that goes leaves the TLB, too.
#[test]
fn few_entries_on_other_machines() {
    let em3d = Run::of("em3d", &["-n", "100", "-i", "1"]).nodes(4);
    let compute = with_tlb(3, &[("engine.kind", "compute"), ("engine.save", "20")]);
    let pages = with_tlb(4, &[("memory.page", "2048"), ("memory.frames", "2")]);
    for run in [
        em3d.clone().on(compute),
        em3d.clone().on(with_tlb(3, &[])).blamed(),
        em3d.clone().on(pages).under(&["stache-pages"]),
    ] {
        assert!(tlb_stall(&run.right()) > 0);
        same_in(&run, &windows(&run));
    }
}
