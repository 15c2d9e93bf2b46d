//! The fast build gives the same bytes as the reference: same results and same errors, for every window, on programs
//! of the repository and on random ones.

use crate::bench::{Run, machine, same_in, source, text_program, windows};
use crate::mutant::config;
use crate::random;
use crate::slow;
use proptest::prelude::*;
use trivium_sim::Machine;

const MACHINES: [&str; 5] = ["simple-coma", "typhoon", "typhoon-1", "typhoon-0", "typhoon-0-prototype"];

/// In all windows, and the program is content.
fn same_and_right(run: Run) {
    run.right();
    same_in(&run, &windows(&run));
}

#[test]
fn programs_on_all_machines() {
    for name in MACHINES {
        same_and_right(Run::of("em3d", &["-n", "24", "-i", "2"]).on(machine(name, &[])).nodes(5));
        same_and_right(Run::of("matmul", &["-n", "16", "-b", "4"]).on(machine(name, &[])).nodes(4).under(&["msi"]));
    }
}

/// Which messages stall, and for how long, does not depend on when a node looks.
#[test]
fn messages_that_stall() {
    let few = machine("typhoon", &[("network.jitter", "90")]);
    let run = Run::of("em3d", &["-n", "120", "-i", "2"]).under(&["mshr"]).nodes(4).on(few);
    same_and_right(run.clone());
    for jobs in 2..4 {
        same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
    }
}

/// What a node gives up, and when, depends on its own events only.
#[test]
fn little_memory_for_pages() {
    let few = |frames: &str| machine("typhoon", &[("memory.frames", frames), ("network.jitter", "90")]);
    let runs = [
        Run::of("em3d", &["-n", "150", "-i", "1"]).nodes(4).on(few("2")),
        Run::of("matmul", &["-n", "16", "-b", "4"]).nodes(4).on(few("1")),
        Run::of("lockbench", &["-n", "6"]).nodes(3).on(few("1")),
        Run::of("em3d", &["-n", "600", "-i", "1", "-z", "1", "-f", "2"]).nodes(4).on(few("2")),
    ];
    for run in runs.map(|run| run.under(&["stache-pages"])) {
        same_and_right(run.clone());
        for jobs in slow::all_or(2..5, 3..4) {
            same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
        }
    }
}

/// Pages lie over each other in the cache: which do so depends on the order in which the node's own program comes to them, and on nothing
/// else. Pages that come and go get each other's frames.
#[test]
fn caches_of_few_pages() {
    let small = |bytes: &str, more: &[(&str, &str)]| {
        machine("typhoon", &[&[("cache.bytes", bytes), ("memory.page", "2048")], more].concat())
    };
    let runs = [
        Run::of("em3d", &["-n", "150", "-i", "2"]).nodes(4).on(small("8192", &[])),
        Run::of("em3d-update", &["-n", "60"]).under(&["msi", "deferred-update"]).nodes(4).on(small("4096", &[])),
        Run::of("matmul", &["-n", "16", "-b", "4"]).nodes(4).under(&["msi"]).on(small("2048", &[])),
        Run::of("splitphase", &["-n", "4", "-i", "2"]).under(&["swcc"]).nodes(4).on(small("1024", &[])),
        Run::of("em3d", &["-n", "150", "-i", "1"])
            .under(&["stache-pages"])
            .nodes(4)
            .on(small("8192", &[("memory.frames", "2"), ("network.jitter", "90")])),
    ];
    for run in runs {
        same_and_right(run.clone());
        for jobs in 2..4 {
            same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
        }
    }
}

/// The same with other timings, machines, blocks and numbers of host threads.
#[test]
#[ignore = "a quarter of a minute: many timings of programs with little memory for pages"]
fn little_memory_for_pages_in_many_timings() {
    let programs = [("em3d", ["-n", "120", "-i", "1"]), ("matmul", ["-n", "12", "-b", "4"])];
    for seed in 0..24 {
        let (frames, jitter) = ((1 + seed % 3).to_string(), (37 * (seed % 5)).to_string());
        let name = MACHINES[(seed % 4) as usize];
        let few = machine(name, &[("memory.frames", &frames), ("network.jitter", &jitter), ("memory.page", "2048")]);
        for (program, args) in programs {
            let run = Run::of(program, &args).on(few.clone()).nodes(4).seed(seed).block(32 << (seed % 4));
            let run = run.under(&["stache-pages"]);
            same_and_right(run.clone());
            same_in(&run.clone().jobs(2 + (seed % 3) as u32), &[run.machine.lookahead()]);
        }
        same_and_right(Run::of("litmus", &["-n", "3"]).on(few).nodes(3).seed(seed).under(&["stache-pages"]));
    }
}

#[test]
fn locks_barriers_and_messages() {
    let mut runs = vec![
        Run::of("lockbench", &["-n", "20"]).nodes(5),
        Run::of("lockbench-token", &["-n", "12"]).under(&["stache", "token-lock"]).nodes(4),
        Run::of("barrierbench", &["-n", "4"]).nodes(6),
        Run::of("barrierbench-tree", &["-n", "4"]).under(&["stache", "tree-barrier"]).nodes(6),
        Run::of("lockbench-flash", &["-n", "12"]).under(&["stache", "flash-lock"]).nodes(4),
        Run::of("barrierbench-flash", &["-n", "4"]).under(&["stache", "flash-barrier"]).nodes(6),
        Run::of("em3d-update", &["-n", "30"]).under(&["msi", "deferred-update"]).nodes(3),
        Run::of("bodies-update", &[]).under(&["stache", "update", "migratory"]).nodes(4),
        Run::of("scatter", &["-n", "20"]).under(&["msi", "remote-write"]).nodes(3),
        Run::of("mm-life", &["-g", "6"]).under(&["stache", "mm"]).nodes(6).on(machine("m-machine", &[])),
        Run::of("em3d", &["-n", "600", "-i", "1", "-z", "1", "-f", "2"]).nodes(4).on(machine("typhoon-0", &[])),
        Run::of("allgather", &["-n", "40"]).under(&["msi", "channel"]).nodes(3),
        Run::of("paging", &["-n", "16", "-m", "0"]).under(&["mapped"]).nodes(3),
        Run::of("paging", &["-n", "16"]).under(&["mapped"]).nodes(3),
        Run::of("moldyn-channels", &["-b", "2", "-i", "2"]).under(&["msi", "channel"]).nodes(3),
        Run::of("unstructured-update", &["-z", "2", "-i", "3"]).under(&["msi", "channel", "deferred-update"]).nodes(3),
        Run::of("appbt", &["-s", "6", "-i", "2"]).nodes(3),
        Run::of("appbt-columns", &["-s", "6", "-i", "2"]).under(&["msi", "column"]).nodes(3),
        Run::of("dsmc-write", &["-n", "300", "-i", "3"]).under(&["msi", "remote-records"]).nodes(3),
        Run::of("barnes-update", &["-n", "60", "-i", "2"]).under(&["stache", "update", "migratory"]).nodes(3),
        Run::of("splitphase", &["-n", "4", "-i", "2"]).under(&["swcc"]).nodes(4),
        Run::of("pingpong", &["-n", "20"]),
        Run::of("atomics", &["-n", "6"]).nodes(3),
        Run::of("symmetric", &["-n", "100"]).nodes(4),
        Run::of("symmetric", &["-n", "100"]).under(&["swcc"]).nodes(3),
        Run::of("fetchadd", &["-n", "3"]).under(&["uncached"]).nodes(3),
        Run::of("atomics", &["-n", "3"]).under(&["swcc"]).nodes(3),
        Run::of("atomics", &["-n", "3"]).under(&["uncached"]).nodes(3),
    ];
    for set in [&[][..], &[("network.latency", "0")], &[("network.jitter", "90"), ("network.data_latency", "300")]] {
        runs.push(Run::of("bad/start", &["4"]).nodes(5).on(machine("typhoon", set)));
    }
    for protocol in ["stache", "msi", "uncached"] {
        runs.push(Run::of("together", &["-n", "6"]).under(&[protocol]).nodes(4));
    }
    slow::one_in(2, runs).for_each(same_and_right);
}

/// Handlers that a machine prices as a whole, on engines whose prices are folded and on one that lays them out.
#[test]
fn handlers_with_prices_of_their_own() {
    let stache = [
        (
            "handlers.stache.home.Shared.GetRead",
            r#"{ fixed = 91, per = { send = 7, element = 3 }, after = 33, id = "X-1" }"#,
        ),
        ("handlers.stache.cache.Invalid.read", r#"{ fixed = 0, source = "calibration" }"#),
        (
            "handlers.stache.home.Lent.GetWrite",
            r#"{ fixed = 12, per = { record = 5, step = 1, send = 40 }, id = "X-2" }"#,
        ),
        ("handlers.stache.cache.ReadOnly.Invalidate", r#"{ source = "calibration" }"#),
    ];
    let flash = [
        (
            "handlers.flash-coherence.home.Idle.GET",
            r#"{ fixed = 64, per = { probe = 24, send = 8 }, after = 40, id = "X-3" }"#,
        ),
        ("handlers.flash-coherence.cache.Only.PUT", r#"{ fixed = 20, id = "X-4" }"#),
    ];
    let jitter = ("network.jitter", "90");
    let mut runs = Vec::new();
    for name in ["typhoon", "typhoon-0", "simple-coma"] {
        let set: Vec<_> = stache.into_iter().chain([jitter]).collect();
        runs.push(Run::of("em3d", &["-n", "24", "-i", "2"]).on(machine(name, &set)).nodes(5));
        runs.push(Run::of("lockbench", &["-n", "12"]).on(machine(name, &stache)).nodes(4));
    }
    let slow: Vec<_> = stache.into_iter().chain([("engine.kind", "compute"), ("engine.slowdown", "5/2")]).collect();
    runs.push(Run::of("em3d", &["-n", "24", "-i", "2"]).on(machine("typhoon", &slow)).nodes(4));
    for program in [("em3d", &["-n", "24", "-i", "2"][..]), ("lockbench", &["-n", "12"])] {
        let run = Run::of(program.0, program.1).under(&["flash-coherence"]).on(machine("flash", &flash));
        runs.push(run.nodes(5).block(128));
    }
    for run in runs {
        same_and_right(run.clone());
        for jobs in 2..4 {
            same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
        }
    }
}

/// Handlers run in the library's calls: where these come in time must not depend on the order in which nodes are simulated.
#[test]
fn accesses_that_a_library_checks() {
    for set in [&[][..], &[("network.jitter", "900"), ("network.self", "0")]] {
        let now = || machine("now", set);
        let runs = [
            Run::of("em3d", &["-n", "16", "-i", "1"]).under(&["swcc"]).nodes(5).block(64),
            Run::of("em3d", &["-n", "16", "-i", "1"]).under(&["uncached"]).nodes(3).block(8),
            Run::of("matmul", &["-n", "8", "-b", "4"]).under(&["swcc"]).nodes(4).block(8),
            Run::of("splitphase", &["-n", "4", "-i", "2"]).under(&["swcc"]).nodes(4),
            Run::of("atomics", &["-n", "2"]).under(&["swcc"]).nodes(3),
            Run::of("fetchadd", &["-n", "2"]).under(&["uncached"]).nodes(4),
            Run::of("symmetric", &["-n", "60"]).under(&["swcc"]).nodes(3),
        ];
        for run in runs.map(|run| run.on(now())) {
            same_and_right(run.clone());
            for jobs in slow::all_or(2..4, 3..4) {
                same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
            }
        }
    }
}

/// All programs that wait for each other in some way, on 1 to 4 host threads; windows of all lengths, though a short
/// one on several threads is for tests only: they meet at the end of each.
#[test]
fn any_number_of_host_threads() {
    let runs = [
        Run::of("em3d", &["-n", "16", "-i", "1"]).nodes(5),
        Run::of("em3d", &["-n", "12", "-i", "1"]).nodes(4).on(machine("typhoon-1", &[("network.jitter", "177")])),
        Run::of("matmul", &["-n", "8", "-b", "4"]).nodes(4).under(&["msi"]),
        Run::of("lockbench", &["-n", "6"]).nodes(4),
        Run::of("lockbench-token", &["-n", "4"]).under(&["stache", "token-lock"]).nodes(4),
        Run::of("barrierbench", &["-n", "3"]).nodes(4),
        Run::of("barrierbench-tree", &["-n", "2"]).under(&["stache", "tree-barrier"]).nodes(5),
        Run::of("scatter", &["-n", "6"]).under(&["msi", "remote-write"]).nodes(3),
        Run::of("em3d-update", &["-n", "20", "-i", "2"]).under(&["stache", "deferred-update"]).nodes(4),
        Run::of("bodies-update", &["-k", "1", "-i", "3"]).under(&["msi", "update", "migratory"]).nodes(4),
        Run::of("bad/bind", &["4"]).under(&["stache", "msi"]).nodes(4),
        Run::of("bad/start", &["4"]).nodes(5),
        Run::of("em3d", &["-n", "600", "-i", "1", "-z", "1", "-f", "2"]).nodes(4),
        Run::of("em3d-update", &["-n", "600", "-i", "2", "-z", "1", "-f", "2"])
            .under(&["stache", "deferred-update"])
            .nodes(4),
        Run::of("litmus", &["-n", "3"]).nodes(4),
        Run::of("atomics", &["-n", "3"]).nodes(3),
        Run::of("atomics", &["-n", "2"]).under(&["swcc"]).nodes(3),
        Run::of("fetchadd", &["-n", "2"]).under(&["uncached"]).nodes(4),
    ];
    for run in runs {
        run.right();
        let lookahead = run.machine.lookahead();
        for jobs in slow::all_or(2..5, 3..4) {
            same_in(&run.clone().jobs(jobs), &[lookahead]);
        }
        if slow::is_asked_for() {
            same_in(&run.clone().jobs(2), &[lookahead / 2]);
        }
    }
    let short = Run::of("pingpong", &["-n", "4"]).jobs(2);
    same_in(&short, slow::all_or(&[0, 1, 7, short.machine.lookahead() / 2][..], &[0, 7]));
}

/// What is still on its way when the last program ends: cached processors give lines up until then, and nobody waits
/// for the messages. There is no region of interest.
#[test]
fn messages_on_their_way_at_the_end() {
    let text = r#"(module (import "trivium" "node" (func $node (result i32)))
        (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
        (memory 1)
        (func (export "_start") (local $base i32) (local $i i32)
            (local.set $base (call $alloc (i64.const 65536) (i32.const 1) (i32.const 0) (i32.const 0)))
            (loop $all
                (drop (i32.load (i32.add (local.get $base) (i32.add (i32.mul (call $node) (i32.const 4096)) (local.get $i)))))
                (br_if $all (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 64))) (i32.const 16384))))))"#;
    let small = machine("typhoon", &[("cache.bytes", "1024")]);
    for nodes in 4..6 {
        let run = Run::with(text_program(text), &[]).nodes(nodes).on(small.clone()).under(&["flash-coherence"]);
        same_and_right(run.clone());
        for jobs in 2..5 {
            same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
        }
    }
}

/// Tags that nobody needs any more are taken back by the host: more memory is gone over than the host keeps tags for, and the cache
/// is small, so that both happen several times.
#[test]
fn tags_are_taken_back() {
    let program = source(
        r#"#include "trivium.h"
        #include <stdio.h>
        int main(void) {
            const long bytes = 12 << 20;
            char *shared = trivium_alloc_round_robin(bytes);
            long sum = 0;
            for (int round = 0; round < 2; round++) {
                for (long i = 0; i < bytes; i += 2048) { shared[i + trivium_node()] += 1; sum += shared[i]; }
                for (long i = 0; i < bytes; i += 65536) sum += shared[i];
                trivium_barrier();
            }
            printf("%ld\n", sum);
            return 0;
        }"#,
    );
    let small = machine("typhoon", &[("cache.bytes", "8192")]);
    let run = Run::with(program.clone(), &[]).nodes(2).on(small.clone());
    let reference = Run::with(program.by_reference(), &[]).nodes(2).on(small);
    let told = |run: &Run| {
        let result = run.right();
        (result.output, result.per_node, result.messages)
    };
    assert_eq!(told(&run), told(&reference));
}

/// The part of a node that ends early, or never, is no reason to wait for ever, or to tell something else.
#[test]
fn errors_and_limits_on_several_host_threads() {
    let run = random_run(7465666268394017349, true, 2, 3, 0).jobs(2);
    same_in(&run, &[run.machine.lookahead()]);
    let endless = text_program(r#"(module (memory 1) (func (export "_start") (loop $again (br $again))))"#);
    for jobs in 1..4 {
        let run = Run::with(endless.clone(), &[]).nodes(3).max_cycles(20_000).jobs(jobs);
        let expected = same_in(&run, &[run.machine.lookahead()]);
        assert!(expected.contains("the limit of 20000 cycles"), "{expected}");
    }
    let stuck = text_program(
        r#"(module (import "trivium" "node" (func $node (result i32))) (import "trivium" "barrier" (func $barrier))
            (memory 1) (func (export "_start") (if (call $node) (then (call $barrier)))))"#,
    );
    let run = Run::with(stuck, &[]).nodes(4).jobs(2);
    let expected = same_in(&run, &[run.machine.lookahead()]);
    assert!(expected.contains("deadlock"), "{expected}");
}

#[test]
fn jitter_and_seeds() {
    for seed in 0..slow::all_or(6, 1) {
        for name in ["typhoon", "typhoon-1"] {
            let noisy = machine(name, &[("network.jitter", "177")]);
            same_and_right(
                Run::of("litmus", &["-n", "4", "-g", &seed.to_string()]).on(noisy.clone()).nodes(4).seed(seed),
            );
            for protocol in ["msi", "swcc", "flash-coherence"] {
                let em3d = Run::of("em3d", &["-n", "16", "-i", "1"]).on(noisy.clone());
                same_and_right(em3d.nodes(3).seed(seed).under(&[protocol]));
            }
        }
    }
}

#[test]
fn small_caches_of_all_shapes() {
    for (bytes, line) in [("64", "8"), ("64", "32"), ("256", "16"), ("1024", "64"), ("4096", "32"), ("2048", "2048")] {
        let set = [
            ("access_control.granule", if line.len() < 2 || line == "16" { "32" } else { line }),
            ("cache.bytes", bytes),
            ("cache.line", line),
        ];
        let run = Run::of("em3d", &["-n", "10", "-i", "1"]).on(machine("typhoon", &set)).nodes(3);
        same_and_right(run.block(line.parse::<u64>().unwrap().max(32)));
    }
}

/// Sets of several ways, where the line leaves that came first, and a level before the cache, which alone compiled code sees.
#[test]
fn caches_of_several_ways_and_levels() {
    let first = "{ bytes = 256, line = 16, associativity = 2, miss = 7 }";
    let shapes: [&[(&str, &str)]; 3] = [
        &[("cache.bytes", "1024"), ("cache.associativity", "2"), ("network.jitter", "90")],
        &[("cache.bytes", "4096"), ("cache.first", first), ("memory.page", "2048")],
        &[("cache.bytes", "2048"), ("cache.associativity", "8"), ("cache.first", first), ("network.jitter", "177")],
    ];
    for shape in shapes {
        let small = machine("typhoon", shape);
        let of = |program: &str, args: &[&str], protocol: &str| {
            Run::of(program, args).under(&[protocol]).on(small.clone()).nodes(4)
        };
        for run in [
            of("em3d", &["-n", "60", "-i", "2"], "stache"),
            of("em3d", &["-n", "12", "-i", "1", "-r", "50"], "flash-coherence"),
            of("lockbench", &["-n", "8"], "flash-coherence"),
            of("matmul", &["-n", "16", "-b", "4"], "msi"),
        ] {
            same_and_right(run.clone());
            same_in(&run.clone().jobs(3), &[run.machine.lookahead()]);
        }
    }
}

/// Under a protocol that hears of each line that leaves the cache.
#[test]
fn small_caches_of_cached_processors() {
    for (seed, bytes, jitter) in [(1, "256", "0"), (2, "256", "177"), (3, "1024", "177")] {
        let noisy = machine("typhoon", &[("cache.bytes", bytes), ("network.jitter", jitter)]);
        for (program, args) in [("em3d", &["-n", "12", "-i", "1", "-r", "50"][..]), ("lockbench", &["-n", "8"])] {
            let run = Run::of(program, args).under(&["flash-coherence"]).on(noisy.clone()).nodes(4).seed(seed);
            same_and_right(run.clone());
            same_in(&run.clone().jobs(3), &[run.machine.lookahead()]);
        }
    }
}

/// Accesses near to each other, at all distances from the end of a line, that share a tag; between them others that
/// take the line away, in small caches.
#[test]
fn near_accesses_share_what_is_still_right() {
    let accesses = [
        "(drop (i32.load (local.get $p)))",
        "(drop (f64.load offset=8 (local.get $p)))",
        "(drop (i64.load (i32.add (local.get $p) (i32.const 4))))",
        "(i32.store offset=12 (local.get $p) (local.get $i))",
        "(drop (i64.load offset=16 (local.get $p)))",
        "(drop (i32.load8_u offset=15 (local.get $p)))",
        "(drop (i32.load16_u offset=3 (local.get $p)))",
        "(f64.store (local.get $p) (f64.const 1))",
        "(drop (i32.load offset=1024 (local.get $p)))",
        "(drop (i32.load (local.tee $p (i32.add (local.get $p) (i32.const 4)))))",
        "(drop (i64.load (i32.add (i32.const -4) (local.get $p))))",
        "(br_if $out (i32.gt_u (local.get $i) (i32.const 90)))",
        "(if (i32.and (local.get $i) (i32.const 1)) (then (i64.store offset=4 (local.get $p) (i64.const 3))))",
    ];
    let mut random = random::Random(1);
    for round in 0..24 {
        let body: String = (0..10).map(|_| random.one(&accesses)).collect::<Vec<_>>().join("\n");
        let text = format!(
            r#"(module
            (import "trivium" "node" (func $node (result i32)))
            (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
            (memory 1)
            (func (export "_start") (local $base i32) (local $p i32) (local $i i32)
                (local.set $base (i32.add (i32.const 64) (call $alloc (i64.const 4096) (i32.const 0) (i32.const 0) (i32.const 0))))
                (if (i32.and (i32.const {round}) (i32.const 1)) (then (local.set $base (i32.const 2048))))
                (block $out (loop $again
                    (local.set $p (i32.add (local.get $base) (i32.mul (local.get $i) (i32.const {step}))))
                    {body}
                    (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 100)))))))"#,
            step = [4, 8, 1, 12][round % 4],
        );
        let lines = [2, 4, 32][round % 3];
        let line = [32, 8, 16, 64][round / 3 % 4];
        let set = [
            ("access_control.granule", line.max(32).to_string()),
            ("cache.bytes", (lines * line).max(64).to_string()),
            ("cache.line", line.to_string()),
            ("cache.associativity", [1, 2][round % 5 % 2].to_string()),
            ("cache.first", "{ bytes = 64, line = 8, associativity = 1, miss = 3 }".to_string()),
        ];
        let set = &set[..4 + round / 12];
        let set: Vec<_> = set.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let run = Run::with(text_program(&text), &[]).on(machine("typhoon", &set)).nodes(2);
        same_and_right(run.block(line.max(32)));
    }
}

#[test]
fn cycles_per_instruction_of_all_kinds() {
    for cpi in ["1", "0.7", "1/3", "3", "7/5"] {
        let run = Run::of("em3d", &["-n", "10", "-i", "1"]).on(machine("typhoon", &[("processor.cpi", cpi)])).nodes(3);
        same_and_right(run);
    }
}

/// Operators that differ in what they cost, each from all others.
fn costly(name: &str, more: &[(&str, &str)]) -> Machine {
    let costs = [
        ("processor.operators.multiply", "17"),
        ("processor.operators.divide", "37/2"),
        ("processor.operators.float_add", "1"),
        ("processor.operators.float_multiply", "1.5"),
        ("processor.operators.float_divide", "12"),
        ("processor.operators.square_root", "17"),
        ("processor.operators.conversion", "2"),
        ("processor.operators.branch", "0.6"),
        ("processor.operators.call", "3"),
        ("processor.operators.memory", "0.9"),
        ("processor.operators.other", "1.1"),
    ];
    machine(name, &[&costs, more].concat())
}

#[test]
fn costs_of_operators_of_all_kinds() {
    for (turn, name) in MACHINES.into_iter().enumerate() {
        let runs = [
            Run::of("em3d", &["-n", "24", "-i", "2"]).on(costly(name, &[("network.jitter", "90")])).nodes(5),
            Run::of("matmul", &["-n", "16", "-b", "4"]).on(costly(name, &[])).nodes(4).under(&["msi"]),
        ];
        for run in slow::in_turn(2, turn, runs) {
            same_and_right(run.clone());
            same_in(&run.clone().jobs(3), &[run.machine.lookahead()]);
        }
    }
    for cpi in ["1", "1/3", "7/5"] {
        let set = [("processor.cpi", cpi), ("engine.kind", "compute"), ("engine.save", "40")];
        let run = Run::of("bodies", &[]).on(costly("typhoon", &set)).nodes(3);
        same_and_right(run);
    }
    same_and_right(Run::of("lockbench", &["-n", "12"]).on(costly("typhoon-1", &[])).nodes(4));
    same_and_right(Run::of("atomics", &["-n", "6"]).on(costly("typhoon", &[])).nodes(3));
}

/// Where it stands, and how many instructions it has executed, does not depend on what they cost; how long they take does, and by
/// exactly as much as the table says.
#[test]
fn divisions_cost_what_the_table_says() {
    let text = |divisions: u32| {
        format!(
            r#"(module (memory 1) (func (export "_start") (local $i i32)
                (local.set $i (i32.const {divisions}))
                (if (local.get $i) (then (loop $again
                    (drop (i32.div_u (i32.const 1000) (local.get $i)))
                    (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))))))"#
        )
    };
    for divisions in [0, 1, 10_000] {
        let told = |divide: &str| {
            let set = [("processor.operators.divide", divide)];
            let run = Run::with(text_program(&text(divisions)), &[]).nodes(1).on(machine("typhoon", &set));
            same_and_right(run.clone());
            run.right().per_node.remove(0)
        };
        let [simple, twenty, half] = ["0.7", "20.7", "1/2"].map(told);
        assert_eq!(simple.instructions, 1 + 3 * u64::from(divisions));
        assert_eq!([twenty.instructions, half.instructions], [simple.instructions; 2]);
        assert_eq!(twenty.compute, simple.compute + 20 * u64::from(divisions));
        let tenths = 7 + (7 + 7 + 5) * u64::from(divisions);
        assert_eq!(half.compute, tenths / 10);
        assert_eq!(twenty.cycles - twenty.compute, simple.cycles - simple.compute);
    }
}

/// What ends a program in the middle, on the second of two nodes.
const ENDS: [&str; 11] = [
    "(unreachable)",
    "(drop (i32.div_s (i32.const 1) (local.get $i)))",
    "(drop (i32.trunc_f64_s (f64.const nan)))",
    "(drop (i32.load (i32.const -8)))",
    "(drop (i32.load offset=16 (i32.const -8)))",
    "(drop (i64.load offset=4096 (i32.const -2048)))",
    "(drop (i32.load offset=65520 (i32.const 14)))",
    "(i32.store8 (i32.add (local.get $shared) (i32.const 4096)) (i32.const 1))",
    "(drop (i64.load8_u (i32.add (local.get $shared) (i32.const 45))))",
    "(memory.fill (i32.const 65530) (i32.const 1) (i32.const 7))",
    "(call_indirect (local.get $i))",
];

#[test]
fn programs_end_with_the_same_errors() {
    for end in ENDS {
        let text = format!(
            r#"(module
            (import "trivium" "node" (func $node (result i32)))
            (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
            (memory 1) (table 1 funcref)
            (func (export "_start") (local $shared i32) (local $i i32)
                (local.set $shared (call $alloc (i64.const 41) (i32.const 0) (i32.const 0) (i32.const 0)))
                (local.set $i (i32.const 100))
                (loop $again
                    (i32.store (i32.const 2048) (i32.load (i32.const 0)))
                    (drop (i64.load offset=4096 (i32.mul (local.get $i) (i32.const 8))))
                    (i32.store8 (i32.add (local.get $shared) (i32.const 40)) (local.get $i))
                    (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
                (if (call $node) (then {end}))))"#
        );
        let run = Run::with(text_program(&text), &[]);
        let expected = same_in(&run, &windows(&run));
        assert!(expected.contains("cycle"), "{end}: no error but {expected}");
    }
}

proptest! {
    #![proptest_config(config(slow::all_or(60, 5)))]

    #[test]
    fn random_programs(seed: u64, wild in any::<bool>(), nodes in 1..5u32, machine_number in 0..4usize, shape in 0..3usize) {
        let run = random_run(seed, wild, nodes, machine_number, shape);
        same_in(&run, &[windows(&run)[(seed % 5) as usize]]);
        let jobs = [1, 2, 1, 3, 1, 4][(seed / 16 % 6) as usize];
        same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
    }
}

fn random_run(seed: u64, wild: bool, nodes: u32, machine_number: usize, shape: usize) -> Run {
    let (bytes, line) = [("128", "32"), ("1024", "16"), ("1048576", "32")][shape];
    let jitter = if seed.is_multiple_of(3) { "91" } else { "0" };
    let mut set = vec![("cache.bytes", bytes), ("cache.line", line), ("network.jitter", jitter)];
    if seed.is_multiple_of(5) {
        set.extend([("network.topology", "mesh"), ("network.per_hop", "7")]);
        set.extend((jitter == "0").then_some(("network.link_cycles_per_word", "5")));
    }
    let program = text_program(&random::program(seed, wild));
    let run = Run::with(program, &[]).on(machine(MACHINES[machine_number], &set)).nodes(nodes).seed(seed);
    run.under(&[["stache", "msi", "stache-prefetch", "flash-prefetch"][(seed % 4) as usize]]).block(32 << (seed % 3))
}

/// A run that is cut off has come equally far on every node: an access that an event let through belongs to the event.
#[test]
fn a_limit_of_cycles_cuts_all_off_at_one_place() {
    for seed in 0..slow::all_or(16, 3) {
        let run = random_run(seed, false, 3, 3, 0);
        let whole = run.go().unwrap_or_else(|error| panic!("{seed}: {error:?}")).cycles;
        for part in 1..4 {
            let cut = run.clone().max_cycles(whole * part / 4 + seed);
            same_in(&cut, &[7, run.machine.lookahead()]);
            // One part has more to do just behind the limit, another only much later.
            same_in(&cut.clone().jobs(2), &[run.machine.lookahead()]);
            same_in(&cut.jobs(3), &[run.machine.lookahead()]);
        }
    }
}

/// Two nodes do something wrong within one window: the earlier one is told, whichever is simulated first.
#[test]
fn the_earlier_of_two_errors_is_told() {
    for (earlier, rounds) in [(0, (10, 20)), (1, (20, 10))] {
        let text = format!(
            r#"(module (import "trivium" "node" (func $node (result i32))) (memory 1)
                (func (export "_start") (local $i i32)
                    (local.set $i (select (i32.const {}) (i32.const {}) (i32.eqz (call $node))))
                    (loop $again (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
                    (unreachable)))"#,
            rounds.0, rounds.1
        );
        let run = Run::with(text_program(&text), &[]);
        let expected = same_in(&run, &windows(&run));
        assert!(expected.contains(&format!("node {earlier}, cycle ")), "{expected}");
    }
}

/// Who sleeps is waked by its own clock, and its handlers answer the others meanwhile.
#[test]
fn programs_that_sleep() {
    let text = r#"#include "trivium.h"
        #include <unistd.h>
        int main(void) {
            int *words = trivium_alloc_on(0, 256), me = trivium_node(), sum = 0;
            for (int round = 0; round < 6; round++) {
                usleep(me == round % 3 ? 5 : 1 + me);
                words[16 * me] = round;
                for (int other = 0; other < 3; other++) sum += words[16 * other];
            }
            trivium_barrier();
            return sum < 0;
        }"#;
    for name in MACHINES {
        same_and_right(Run::with(source(text), &[]).on(machine(name, &[])).nodes(3).under(&["msi"]));
    }
}

/// The property would say little if most random programs ended early, or never missed.
#[test]
fn random_programs_do_much() {
    let runs =
        (0..40).map(|seed| random_run(seed, false, 3, 1, 0).go().unwrap_or_else(|error| panic!("{seed}: {error:?}")));
    let (mut instructions, mut misses) = (0, 0);
    for result in runs {
        instructions += result.instructions;
        misses += result.misses.read + result.misses.write;
    }
    assert!(instructions > 100_000 && misses > 2_000, "{instructions} instructions, {misses} misses");
}

#[test]
#[ignore = "minutes: many random programs in all windows"]
fn many_random_programs() {
    for seed in 0..1000 {
        let run =
            random_run(seed, seed % 4 == 0, 1 + (seed % 4) as u32, (seed / 4 % 4) as usize, (seed / 16 % 3) as usize);
        same_in(&run, &windows(&run));
    }
}
