//! `trivium run`: programs that run for real give right answers, count what the simulator counts, and end well however they end.

use crate::harness::live::{CUSTOM, PROGRAMS, SEQUENTIAL, fits};
use crate::harness::{self, Run, keys, trivium};
use crate::slow;
use std::time::{Duration, Instant};

/// Runs a program for real under protocols, on so many nodes.
fn live(program: &str, protocols: &[&str], nodes: u32, more: &[&str]) -> Run {
    let (path, nodes) = (format!("programs/{program}"), nodes.to_string());
    let mut args = vec!["run", &path, "--nodes", &nodes, "--max-seconds", "120", "--format", "json"];
    protocols.iter().for_each(|protocol| args.extend(["-p", protocol]));
    args.extend(more);
    trivium(&args)
}

/// Its answer is right, as the program itself says.
#[track_caller]
fn right(program: &str, protocols: &[&str], nodes: u32, args: &[&str]) -> serde_json::Value {
    let more: Vec<&str> = if args.is_empty() { Vec::new() } else { [&["--"], args].concat() };
    let result = live(program, protocols, nodes, &more).json(0);
    let output = result["output"].as_str().unwrap();
    let is_right = output.contains("ok") || output.contains("has counted to") || nodes < 2;
    assert!(is_right, "{program} under {protocols:?} on {nodes}: {output}");
    result
}

#[test]
fn programs_are_right_on_threads() {
    // Each program is met, and each protocol: the slow test below has every pair.
    for ((program, args), protocol) in PROGRAMS.iter().zip(SEQUENTIAL.iter().cycle()) {
        right(program, &[protocol], 3, args);
    }
    for protocol in ["stache", "msi", "uncached", "german"] {
        for nodes in slow::all_or(&[1, 2, 5][..], &[5]).iter().copied() {
            right("together.c", &[protocol], nodes, &[]);
        }
    }
    for (program, protocols) in CUSTOM {
        right(program, protocols, 4, &[]);
    }
}

#[test]
#[ignore = "minutes"]
fn every_program_is_right_under_every_protocol_on_threads() {
    for nodes in [1, 2, 3, 4, 8] {
        for protocol in SEQUENTIAL {
            for (program, args) in PROGRAMS.iter().filter(|(program, _)| fits(program, nodes)) {
                right(program, &[protocol], nodes, args);
            }
        }
        for (program, protocols) in CUSTOM {
            right(program, protocols, nodes, &[]);
        }
    }
}

/// A prefetch starts its handler while the program goes on, whatever the delays, so that accesses find what they need: the answer is right, and
/// each line that would be a fault is fetched once, as in the simulator. Other protocols ignore prefetches.
#[test]
fn prefetches_fetch_each_line_once() {
    let prefetched = |result: &serde_json::Value| {
        let nodes = result["per_node"].as_array().unwrap().iter();
        nodes.map(|node| node["prefetches"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    for (protocol, each) in
        [("flash-prefetch", 3 * 10), ("stache-prefetch", 2 * 10), ("stache", 0), ("flash-coherence", 0)]
    {
        for delays in ["1", "2", "3"] {
            let more = ["--block", "128", "--delays", delays, "--", "-n", "160", "-d", "3"];
            let result = live("copy.c", &[protocol], 3, &more).json(0);
            assert!(result["output"].as_str().unwrap().contains("ok"), "{protocol}: {result}");
            assert_eq!(prefetched(&result), [each; 3], "{protocol} with delays {delays}");
        }
        let simulated = trivium(&[
            "sim",
            "programs/copy.c",
            "-p",
            protocol,
            "-m",
            "flash",
            "-n",
            "3",
            "--format",
            "json",
            "--",
            "-n",
            "160",
            "-d",
            "3",
        ]);
        assert_eq!(prefetched(&simulated.json(0)), [each; 3], "{protocol} in sim");
    }
}

/// What does not depend on timing: faults of the region of interest. Without regions, messages by kind too.
#[test]
fn faults_and_messages_are_those_of_the_simulator() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("whole");
    std::fs::create_dir_all(&folder).unwrap();
    for (program, protocols, args) in [
        ("em3d.c", &["stache"][..], &["-n", "200", "-i", "2"][..]),
        ("em3d.c", &["msi"], &["-n", "200", "-i", "2"]),
        ("em3d.c", &["swcc"], &["-n", "200", "-i", "2"]),
        ("em3d-update.c", &["stache", "deferred-update"], &["-n", "200"]),
        ("matmul.c", &["stache"], &["-n", "24"]),
        ("matmul.c", &["msi"], &["-n", "24"]),
    ] {
        let whole = folder.join(program);
        let text = "#include \"trivium.h\"\n#define trivium_begin() (void)0\n#define trivium_end() (void)0\n#include";
        std::fs::write(&whole, format!("{text} \"{}\"\n", harness::root().join("programs").join(program).display()))
            .unwrap();
        for path in [&format!("programs/{program}"), whole.to_str().unwrap()] {
            let mut common = vec![path, "--nodes", "4", "--format", "json"];
            protocols.iter().for_each(|protocol| common.extend(["-p", protocol]));
            let tail = [&["--"], args].concat();
            let ran = trivium(&[&["run"], &common[..], &tail].concat()).json(0);
            let simulated = trivium(&[&["sim", "--machine", "typhoon"], &common[..], &tail].concat()).json(0);
            assert_eq!(ran["misses"], simulated["misses"], "{path} {protocols:?}");
            assert_eq!(ran["output"], simulated["output"]);
            assert_eq!(ran["messages_program"], simulated["messages_program"], "{path} {protocols:?}");
            assert_eq!(ran["messages"], ran["messages_program"]);
            assert_eq!(simulated["messages"], simulated["messages_region"]);
            // Which messages at the ends of a region are in it depends on timing.
            for (kind, count) in ran["messages_region"].as_object().unwrap() {
                let other = simulated["messages_region"][kind].as_u64().unwrap_or_default();
                let apart = count.as_u64().unwrap().abs_diff(other);
                assert!(apart <= 16 + other / 20, "{path} {protocols:?} {kind}: {count}, {other} in sim");
            }
            if path == whole.to_str().unwrap() {
                assert_eq!(ran["messages"], simulated["messages"], "{program} {protocols:?}");
                assert_eq!(ran["bytes"], simulated["bytes"]);
                assert_eq!(ran["instructions"], simulated["instructions"]);
            }
        }
    }
}

#[test]
fn the_result_has_the_keys_of_the_contract() {
    let result = right("em3d.c", &["stache"], 2, &[]);
    let head = ["schema", "version", "command", "protocols", "machine", "program", "args", "hashes", "nodes", "seed"];
    assert_eq!(keys(&result)[..10], head);
    for key in ["host_seconds", "wall_seconds", "misses", "messages", "bytes", "output", "miss_latency", "per_node"] {
        assert!(!result[key].is_null(), "{key}");
    }
    assert_eq!(keys(&result["miss_latency"]), ["p10", "p50", "p90", "p99", "max", "unit"]);
    let node = keys(&result["per_node"][1]);
    for key in ["read_faults", "write_faults", "messages_sent", "bytes_sent", "handler_seconds", "wait_seconds"] {
        assert!(node.contains(&key), "{key}");
    }
    let sent: u64 = result["messages"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    let told = |node: &serde_json::Value| node["messages_sent"].as_u64().unwrap();
    assert_eq!(sent, result["per_node"].as_array().unwrap().iter().map(told).sum::<u64>());
}

/// A region comes under another protocol when nothing is on its way, whatever a node has begun.
#[test]
fn regions_are_bound() {
    for why in ["4", "6"] {
        live("bad/bind.c", &["stache", "msi"], 4, &["--", why]).json(0);
    }
    for (why, what) in [
        ("0", "is away from its home, node 0"),
        ("1", "under protocol `misi`, which is not loaded"),
        ("2", "but node 1 binds 0x40000000 to `msi`"),
        ("3", "where no allocation begins"),
        ("5", "processors have caches"),
    ] {
        let error = live("bad/bind.c", &["stache", "msi", "flash-coherence"], 2, &["--", why]);
        assert!(error.err.contains(what), "{why}: {error:?}");
        error.json(1);
    }
}

/// The program's own memory is shared, and an access there that nobody asks for is looked at unless somebody does not want that.
#[test]
fn unchecked_accesses_are_looked_at() {
    let run = |more: &[&str]| live("bad/unchecked.c", &["stache"], 2, more);
    run(&["--", "2"]).json(0);
    for (why, what) in [("0", "has no access to block 2 now"), ("1", "read access to block 2")] {
        run(&["--no-check-unchecked", "--", why]);
        let error = run(&["--", why]);
        assert!(error.err.contains(what) && error.err.contains("unchecked.c:"), "{why}: {error:?}");
        error.json(1);
    }
    let error = run(&["--", "6"]);
    assert!(error.err.contains("is shared already"), "{error:?}");
    let error = live("bad/unchecked.c", &["flash-coherence"], 2, &["--", "2"]);
    assert!(error.err.contains("caches of their own"), "{error:?}");
}

/// Blocks from 8 bytes to many pages.
#[test]
fn blocks_of_all_sizes() {
    for block in ["8", "16", "8192", "65536"] {
        live("em3d.c", &["stache"], 3, &["--block", block, "--", "-n", "60", "-i", "2"]).json(0);
        live("matmul.c", &["swcc"], 3, &["--block", block, "--", "-n", "16", "-b", "4"]).json(0);
        live("symmetric.c", &["msi"], 3, &["--block", block, "--", "-n", "300"]).json(0);
    }
    live("em3d.c", &["stache"], 2, &["--block", "24"]).refuses(2, &["a power of two"]);
}

/// Pages move to who touches them first after the start, with what is in them.
#[test]
fn the_parallel_phase_starts() {
    for why in ["4", "5"] {
        live("bad/start.c", &["stache"], 5, &["--", why]).json(0);
    }
    for (why, what) in [
        ("0", "the parallel phase starts, but block 64 is away from its home, node 0"),
        ("1", "starts the parallel phase a second time"),
        ("2", "processors have caches"),
        ("3", "starts the parallel phase"),
    ] {
        let error = live("bad/start.c", &["stache", "flash-coherence"], 2, &["--", why]);
        assert!(error.err.contains(what), "{why}: {error:?}");
        error.json(1);
    }
    let misses = |touch: &str, iterations: &str| {
        let result = right("em3d.c", &["stache"], 4, &["-n", "2000", "-i", iterations, "-z", "1", "-f", touch]);
        result["misses"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum::<u64>()
    };
    // In the first iteration a node misses on its own values, if they are at home elsewhere; later misses come from sharing alone.
    let [touched, moved] = ["1", "2"].map(|touch| misses(touch, "1"));
    assert!(4 * moved < 3 * touched, "{moved} and {touched}");
    assert_eq!(misses("2", "4"), misses("0", "4"), "the same homes");
}

/// Who waits long at a barrier has come to it once, however often it is heard of.
#[test]
fn nobody_passes_a_barrier_before_all_have_come() {
    let folder = crate::harness::folder();
    let program = folder.path().join("late.c");
    let text = r#"
#include <stdio.h>
#include <unistd.h>
#include "trivium.h"
int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    volatile int *rounds = trivium_alloc_on(0, nodes * 64);
    for (int round = 1; round <= 12; round++) {
        /* One is late, about as late as the others are asked what they wait for. */
        if (self == round % nodes) usleep(19000 + 300 * round);
        rounds[16 * self] = round;
        trivium_barrier();
        for (int node = 0; node < nodes; node++)
            if (rounds[16 * node] != round) trivium_fail("a node is not there yet");
        trivium_barrier();
    }
    printf("ok\n");
    return 0;
}
"#;
    std::fs::write(&program, text).unwrap();
    for _ in 0..4 {
        let run = trivium(&["run", program.to_str().unwrap(), "-p", "stache", "--nodes", "4", "--max-seconds", "60"]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
}

/// A node may use memory long before another node's program allocates it, which may wait for just that.
#[test]
fn memory_is_used_before_all_have_allocated_it() {
    let folder = crate::harness::folder();
    let program = folder.path().join("ahead.c");
    let text = r#"
#include <stdio.h>
#include "trivium.h"
#include "trivium/remote-write.h"
int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    volatile int *turn = trivium_alloc_on(0, 64), now;
    while ((now = *turn) != self) trivium_wait_until_changed(turn, now);
    /* Nobody behind this node has allocated any of these. */
    volatile int *there = trivium_alloc_on(nodes - 1, 64);
    volatile int *touched = trivium_alloc_first_touch(nodes * 4096);
    int64_t *words = trivium_alloc_on(nodes - 1, 4096);
    there[self] = self + 1;
    for (int page = 0; page < nodes; page++) touched[page * 1024 + self] = self + 1;
    remote_write_open(nodes - 1, words);
    remote_write_put(nodes - 1, 7);
    *turn = self + 1;
    int64_t arrived = remote_write_finish(nodes - 1);
    for (int node = 0; node < nodes; node++) {
        if (there[node] != node + 1) trivium_fail("it has not been stored");
        for (int page = 0; page < nodes; page++)
            if (touched[page * 1024 + node] != node + 1) trivium_fail("nor this");
    }
    if (arrived != nodes) trivium_fail("nor sent");
    printf("ok\n");
    return 0;
}
"#;
    std::fs::write(&program, text).unwrap();
    let path = program.to_str().unwrap();
    let run = trivium(&["run", path, "-p", "stache", "-p", "remote-write", "--nodes", "4", "--max-seconds", "60"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

/// A handler names a block that has no home since nobody has touched its page; and a program one that nobody has allocated.
#[test]
fn a_block_without_a_home_is_named() {
    let folder = crate::harness::folder();
    let (program, protocol) = (folder.path().join("hint.c"), folder.path().join("gossip.tri"));
    let text = r#"
#include "trivium.h"
#include "trivium/gossip.h"
int main(void) {
    char *touched = trivium_alloc_first_touch(4096), *placed = trivium_alloc_on(0, 4096);
    trivium_barrier();
    if (trivium_node() == 1) gossip_hint(placed, touched + WHICH * 64);
    trivium_barrier();
    return touched == placed;
}
"#;
    std::fs::write(
        &protocol,
        "protocol gossip\nop hint(b: block, other: block)\nlane main fifo buffered\nmessage Rumour on main\n\
         role home of block { state Kept: write { on Rumour { } on hint(other) { send Rumour of other to me; return } } }\n\
         role copy of block { state Away { on read, write { resume } on hint(other) { send Rumour of other to me; return } } }\n",
    )
    .unwrap();
    let by_touch = &["block 5 (address 0x", "placed by first touch"][..];
    for (block, parts) in [(5, by_touch), (128, &["gossip.hint with address 0x", "which is not in shared memory"])] {
        std::fs::write(&program, text.replace("WHICH", &block.to_string())).unwrap();
        let (program, protocol) = (program.to_str().unwrap(), protocol.to_str().unwrap());
        for command in [&["run"][..], &["sim", "-m", "typhoon"]] {
            let run = trivium(&[command, &[program, "-p", protocol, "--nodes", "2", "--block", "64"]].concat());
            assert_eq!(run.code, Some(1), "{run:?}");
            for part in ["node 1"].iter().chain(parts) {
                assert!(run.err.contains(part), "{part}: {run:?}");
            }
        }
    }
}

/// Two nodes store to a block in one phase, where only one may. That is told, also where they then wait for ever, and where handlers
/// perform the stores.
#[test]
fn two_writers_in_a_phase_are_told() {
    let folder = crate::harness::folder();
    let [program, protocol] = ["two.c", "loose.tri"].map(|name| folder.path().join(name));
    let text = "protocol loose\nassume one_writer_per_phase\nlane main fifo buffered\nmessage Unused on main\n\
        role cache of block {\n  state Away { on read { complete } on write { complete } }\n}\n\
        role home of block {\n  state Here: write { on Unused { } }\n}\n";
    std::fs::write(&protocol, text).unwrap();
    let text = r#"
#include "trivium.h"
int main(void) {
    int self = trivium_node();
    volatile int *word = trivium_alloc_on(2, 64), *never = trivium_alloc_on(0, 64);
    if (self < 2) *word = self + 1;
    if (WAITS) trivium_wait_until_changed(never, 0);
    return 0;
}
"#;
    std::fs::write(&program, text).unwrap();
    let [program, protocol] = [&program, &protocol].map(|path| path.to_str().unwrap());
    for (protocol, waits) in [("update", "1"), ("update", "0"), (protocol, "0")] {
        let flag = format!("-DWAITS={waits}");
        let run = trivium(&["run", program, "--cc", &flag, "-p", protocol, "--nodes", "3", "--max-seconds", "60"]);
        run.refuses(1, &["nodes 0 and 1 both write block 0 between two barriers", "one_writer_per_phase"]);
    }
}

/// A handler that cannot go on since two nodes store in one phase fails before that is seen at the barrier: its error names what the
/// protocol assumes. In the file only the handler's place is wrong.
#[test]
fn a_fault_names_what_is_assumed_of_phases() {
    let folder = crate::harness::folder();
    let [program, protocol] = ["early.c", "early.tri"].map(|name| folder.path().join(name));
    let text = "protocol early\nassume one_writer_per_phase\nlane main fifo buffered\nmessage Took on main\n\
        role cache of block {\n  state Away { on read { complete } on write { send Took to home; complete } }\n}\n\
        role home of block {\n  state Here: write { on Took { goto Given } }\n  state Given: write { on Took impossible }\n}\n";
    std::fs::write(&protocol, text).unwrap();
    let text = r#"
#include "trivium.h"
int main(void) {
    volatile int *word = trivium_alloc_on(0, 64);
    if (trivium_node() > 0) *word = 1;
    trivium_barrier();
    return 0;
}
"#;
    std::fs::write(&program, text).unwrap();
    let [program, protocol] = [&program, &protocol].map(|path| path.to_str().unwrap());
    let parts = &["this was declared impossible", "early.tri:", "it assumes `one_writer_per_phase`"];
    trivium(&["run", program, "-p", protocol, "--nodes", "3"]).refuses(1, parts);
    trivium(&["sim", program, "-p", protocol, "-m", "typhoon", "--nodes", "3"]).refuses(1, &parts[..1]);
}

/// A deadlock is one of all nodes: where the program of node 0 stood is no place to look at. Each is told with its own line, and data with
/// the name of their allocation.
#[test]
fn a_deadlock_is_told_with_the_places_of_all_nodes() {
    let run = live("bad/deadlock.c", &["stache"], 3, &[]);
    assert!(run.err.contains("deadlock") && !run.err.contains("-->"), "{run:?}");
    for note in [
        "note: node 0: waits for a word of block 0 to change: 0x40000000, the beginning of `word`, which is 0 here; at programs/bad/deadlock.c:6 in main",
        "note: node 1: waits at the barrier; at programs/bad/deadlock.c:7 in main",
        "note: node 2: waits at the barrier; at programs/bad/deadlock.c:7 in main",
    ] {
        assert!(run.err.contains(note), "{note}: {run:?}");
    }
}

/// Nodes that leave `main` before others wait for them are named, with their codes.
#[test]
fn a_node_that_leaves_early_is_named() {
    let folder = crate::harness::folder();
    let program = folder.path().join("early.c");
    let text = r#"
#include <stdlib.h>
#include "trivium.h"
int main(int argc, char **argv) {
    if (trivium_node() == 1) exit(atoi(argv[1]));
    trivium_barrier();
    return 0;
}
"#;
    std::fs::write(&program, text).unwrap();
    let program = program.to_str().unwrap();
    for (code, left, job) in
        [("7", Some("has left main, with code 7"), 7), ("2", Some("with code 2"), 1), ("0", None, 1)]
    {
        let sim = trivium(&["sim", program, "-p", "stache", "-m", "typhoon", "-n", "3", "--", code]);
        let run = trivium(&["run", program, "-p", "stache", "-n", "3", "--max-seconds", "60", "--", code]);
        for ended in [sim, run] {
            ended.refuses(
                job,
                &["waits at the barrier, which node 1 cannot reach: it has left main; at", "early.c:6 in main"],
            );
            assert_eq!(left.is_some(), ended.err.contains("has left main, with code"), "{ended:?}");
            assert!(left.is_none_or(|left| ended.err.contains(left)), "{ended:?}");
            assert!(!ended.err.contains("trivium check"), "not the protocol: {ended:?}");
        }
    }
}

/// Where a handler performs a load and the node keeps no copy, nobody tells it of changes: who waits for one loads again.
#[test]
fn a_change_is_seen_where_no_copy_is_kept() {
    let folder = crate::harness::folder();
    let [program, protocol] = ["asks.c", "asks.tri"].map(|name| folder.path().join(name));
    let text = "protocol asks\nlane main fifo buffered\nmessage Get on main\nmessage Data on main with block\n\
        role cache of block {\n  otherwise impossible\n  state Away {\n    \
        on read { send Get to home; await Data { install; goto Away; complete } }\n    on write impossible\n  }\n}\n\
        role home of block {\n  state Here: write { on Get { send Data to sender } }\n}\n";
    std::fs::write(&protocol, text).unwrap();
    let text = r#"
#include <stdio.h>
#include <unistd.h>
#include "trivium.h"
int main(void) {
    volatile int *word = trivium_alloc_on(0, 64);
    if (trivium_node() == 0) {
        usleep(30000);
        *word = 1;
    } else if (trivium_wait_until_changed(word, 0) != 1) {
        trivium_fail("it is something else");
    }
    printf("ok\n");
    return 0;
}
"#;
    std::fs::write(&program, text).unwrap();
    let [program, protocol] = [&program, &protocol].map(|path| path.to_str().unwrap());
    let run = trivium(&["run", program, "-p", protocol, "--nodes", "3", "--max-seconds", "60"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn whatever_ends_a_run_ends_all_of_it() {
    for (program, nodes, code, words) in [
        ("deadlock.c", 2, 1, &["deadlock: nothing can happen any more", "node 1: waits at the barrier"][..]),
        ("divide.c", 4, 1, &["divided by zero", "programs/bad/divide.c:4"]),
        ("null.c", 2, 1, &["a null pointer was used", "null.c:9"]),
        ("recursion.c", 2, 1, &["the call stack is full"]),
        ("trap.c", 3, 1, &["the program aborted"]),
        ("wrong-answer.c", 2, 1, &["1 + 1 is not 3"]),
        ("unknown-import.c", 2, 2, &["trivium.teleport"]),
    ] {
        let begun = Instant::now();
        let run = live(&format!("bad/{program}"), &["stache"], nodes, &[]);
        assert_eq!(run.code, Some(code), "{run:?}");
        words.iter().for_each(|word| assert!(run.err.contains(word), "{program}: {run:?}"));
        assert_eq!(run.err.matches("error: ").count(), 1, "{run:?}");
        assert!(begun.elapsed() < Duration::from_secs(100));
    }
}

#[test]
fn a_time_limit_ends_a_run_with_what_is_known() {
    let path = "programs/bad/endless.c";
    let run = trivium(&["run", path, "-p", "stache", "--nodes", "3", "--max-seconds", "1", "--format", "json"]);
    let result = run.json(3);
    assert!(result["incomplete"].as_str().unwrap().contains("1 seconds have passed"), "{result}");
    assert!(result["instructions"].as_u64().unwrap() > 100_000);
    let stood = result["stood"].as_array().unwrap();
    assert_eq!(stood.len(), 3, "{result}");
    for (node, stood) in stood.iter().enumerate() {
        assert_eq!(stood["node"], node, "{result}");
        assert!(stood["at"].as_str().unwrap().starts_with("programs/bad/endless.c:"), "{result}");
    }
}

#[test]
fn a_time_limit_ends_a_simulation_with_what_is_known() {
    let args = [
        "sim",
        "programs/bad/endless.c",
        "-p",
        "stache",
        "-m",
        "typhoon",
        "-n",
        "3",
        "--max-seconds",
        "1",
        "--format",
        "json",
    ];
    let result = trivium(&args).json(3);
    assert_eq!(result["incomplete"], "1 seconds have passed", "{result}");
    assert_eq!(result["settings"]["max_seconds"], 1, "{result}");
    assert!(result["stood"][0]["at"].as_str().unwrap().starts_with("programs/bad/endless.c:"), "{result}");
}

/// On real threads an outcome that is forbidden does not occur, and those that a program may not rely on do.
#[test]
fn a_wrong_protocol_is_caught_by_a_program() {
    // Each location is coherent, and no more: a barrier of counters in memory is none. Whether that is seen is up to chance, which
    // delays help.
    let with = |seed: u32| {
        let seed = seed.to_string();
        trivium(&["run", "programs/barrierbench.c", "-p", "write-update", "--nodes", "4", "--delays", &seed])
    };
    let caught = |run: &Run| run.code == Some(1) && run.err.contains("the barrier released before all had arrived");
    assert!((1..=20).map(with).any(|run| caught(&run)));
}

#[test]
fn what_cannot_be_run_is_refused() {
    trivium(&["run", "programs/hello.c"]).refuses(2, &["--protocol"]);
    trivium(&["run", "programs/hello.c", "-p", "stache", "--nodes", "0"]).refuses(2, &["1 to 256"]);
    trivium(&["run", "programs/hello.c", "-p", "stach"]).refuses(2, &["stach"]);
    trivium(&["run", "programs/splitphase.c", "-p", "stache"]).refuses(2, &["add --protocol swcc"]);
    trivium(&["run", "programs/hello.c", "-p", "token-lock", "-p", "token-lock"]).refuses(2, &["named twice"]);
}

/// As in `sim`: cache misses are something else.
#[test]
fn access_faults_are_called_so() {
    let run = trivium(&["run", "programs/hello.c", "-p", "msi", "--nodes", "2"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.contains("\naccess faults ") && !run.out.contains("miss"), "{}", run.out);
}

/// Remote accesses of all sizes, performed at the home for the thread that asks.
#[test]
fn remote_fetch_and_adds_are_all_there() {
    for nodes in [1, 3, 5] {
        let result = right("fetchadd.c", &["uncached"], nodes, &["-n", "10"]);
        assert_eq!(result["output"], format!("fetchadd: ok, sum {}\n", 10 * nodes));
    }
    let delayed = ["run", "programs/fetchadd.c", "-p", "uncached", "--nodes", "3", "--delays", "5", "--format", "json"];
    assert_eq!(trivium(&delayed).json(0)["output"], "fetchadd: ok, sum 30\n");
    let torn = trivium(&["run", "programs/fetchadd.c", "-p", "broken/uncached-update-torn", "--nodes", "1"]);
    assert_eq!(torn.code, Some(0), "one node performs nothing for another: {torn:?}");
    // Nodes have no time in common here: what is performed twice is seen when all have ended, with whose accesses and where the latest were.
    let text = std::fs::read_to_string(harness::root().join("protocols/uncached.tri")).unwrap();
    let twice = text.replace(
        "perform write(at, w, n) as t; send",
        "perform write(at, w, n) as t; perform write(at, w, n) as t; send",
    );
    assert_ne!(twice, text);
    let folder = crate::harness::folder();
    let file = folder.path().join("twice.tri");
    std::fs::write(&file, twice).unwrap();
    let run = trivium(&["run", "programs/fetchadd.c", "-p", file.to_str().unwrap(), "--nodes", "2", "--", "-n", "10"]);
    let what = "node 1: of the accesses that handlers perform for thread 0, ";
    let told = [what, "the latest was performed at ", "twice.tri:"].iter().all(|part| run.err.contains(part));
    assert!(run.code == Some(1) && told, "{run:?}");
}

/// The line of the node that hears of it says nothing of the call.
#[test]
fn a_call_that_differs_is_not_told_at_another_nodes_place() {
    let folder = crate::harness::folder();
    let program = folder.path().join("differ.c");
    let text = r#"#include <trivium.h>
static __attribute__((noinline)) int *first(void) {
    return trivium_alloc_on(0, 64);
}
static __attribute__((noinline)) int *second(void) {
    return trivium_alloc_on(0, 128);
}
int main(void) {
    trivium_barrier();
    int *p = trivium_node() == 1 ? second() : first();
    p[0] = 1;
    trivium_barrier();
    return 0;
}
"#;
    std::fs::write(&program, text).unwrap();
    let run = trivium(&["run", program.to_str().unwrap(), "-p", "stache", "--nodes", "3"]);
    assert!(run.code == Some(1) && run.err.contains("but another node asked for"), "{run:?}");
    let is_theirs = |line: &str| line.ends_with("differ.c:3") || line.ends_with("differ.c:6");
    let places: Vec<&str> = run.err.lines().filter(|line| line.trim_start().starts_with("-->")).collect();
    assert!(places.iter().all(|line| is_theirs(line)), "{run:?}");
}
