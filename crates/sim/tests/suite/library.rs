//! The machine `now`: accesses that a library checks, handlers that run in its calls only, what messages cost there.

use crate::bench::{Run, machine, source};
use trivium_sim::{Machine, SimResult};

/// How often accesses of a kind found a state, on a node: hits and misses.
fn found(result: &SimResult, node: usize, state: &str, kind: &str) -> (u64, u64) {
    let of =
        |access: &&trivium_sim::AccessOf| format!("{}.{}", access.role, access.state) == state && access.kind == kind;
    result.accesses[node].accesses.iter().find(of).map_or((0, 0), |access| (access.hits, access.misses))
}

/// Node 1 reads a word of node 0 after a barrier, while node 0 computes for a million cycles; by `how` node 0 looks at shared memory
/// meanwhile or not.
fn waits(how: &str, set: &[(&str, &str)]) -> (SimResult, u64) {
    let program = source(&format!(
        r#"#include "trivium.h"
        #include <stdio.h>
        int main(void) {{
            volatile int *shared = trivium_alloc_on(0, 4096);
            volatile int sum = 0;
            if (trivium_node() == 0) shared[0] = 7;
            trivium_barrier();
            if (trivium_node() == 0) {{
                for (int i = 0; i < 200000; i++) {{ sum += i; if ({how} && i % 100 == 0) sum += shared[0]; }}
            }} else {{
                long begun = trivium_cycles();
                if (shared[0] != 7) return 1;
                printf("%ld", (long)(trivium_cycles() - begun));
            }}
            trivium_barrier();
            return 0;
        }}"#
    ));
    let result = Run::with(program, &[]).nodes(2).block(8).under(&["swcc"]).on(machine("now", set)).right();
    let took = result.output.parse().unwrap();
    (result, took)
}

#[test]
fn handlers_wait_for_a_call_of_the_library() {
    let (computes, long) = waits("0", &[]);
    assert!(computes.per_node[0].compute > 1_000_000 && long > 1_000_000, "{long}");
    let (_, short) = waits("1", &[]);
    // 3.4: a + m + hit + new, and what node 0 computes between two looks.
    assert!((8_851..12_000).contains(&short), "{short}");
    let (_, interrupted) = waits("0", &[("network.latency", "3140")]);
    assert!(interrupted > 1_000_000, "{interrupted}: the network has nothing to do with it");
}

#[test]
fn accesses_are_counted_by_state_and_priced_by_it() {
    let (result, _) = waits("1", &[]);
    assert_eq!((found(&result, 1, "cache.Invalid", "read"), found(&result, 1, "home.Null", "read")), ((0, 1), (0, 0)));
    let (null, shared) = (found(&result, 0, "home.Null", "read"), found(&result, 0, "home.Shared", "read"));
    assert_eq!((null.0 + shared.0, null.1 + shared.1), (2000, 0));
    assert!(null.0 < 20, "node 1 came early: {null:?}");
    assert_eq!(found(&result, 0, "home.Null", "write"), (1, 0));
    assert_eq!(result.per_node[0].read_stall, 27 * null.0 + 58 * shared.0);
    assert_eq!(result.per_node[0].write_stall, 30);
    // The home's entry, and the reader's.
    assert_eq!(result.accesses.iter().map(|node| node.entries).collect::<Vec<_>>(), [1, 1]);
}

/// Split-phase calls are checked and counted as accesses, those that hit and those that do not.
#[test]
fn calls_are_accesses_too() {
    let splitphase = || Run::of("splitphase", &["-n", "4", "-i", "2"]).under(&["swcc"]).nodes(4);
    let result = splitphase().on(machine("now", &[])).right();
    let calls = |kind: &str| {
        let of = result.accesses.iter().flat_map(|node| &node.accesses).filter(|access| access.kind == kind);
        of.fold((0, 0), |sum, access| (sum.0 + access.hits, sum.1 + access.misses))
    };
    let sent = |names: &[&str]| {
        names.iter().map(|name| result.messages.get(&format!("swcc.{name}")).unwrap_or(&0)).sum::<u64>()
    };
    let (get, put, store) = (calls("get"), calls("put"), calls("store"));
    assert!(get.1 > 0 && put.1 > 0 && store.1 > 0, "{get:?} {put:?} {store:?}");
    // Each store that is not done at once is a message, and so is what a refusal makes of it.
    assert_eq!(store.1 + sent(&["StoreNack"]), sent(&["Store"]), "{store:?}");
    assert_eq!(get.1 + calls("read").1 + sent(&["ReadNack"]), sent(&["Read"]), "{get:?}");
    let wrong = machine("now", &[("access_control.software.call.swcc.sync", "\"read\"")]);
    let error = splitphase().on(wrong).error().to_string();
    assert!(
        error.contains("software.call.swcc.sync") && error.contains("no call of this name about a block"),
        "{error}"
    );
}

/// A node that has lent its block asks itself for it; a large block takes longer to leave.
#[test]
fn messages_to_oneself_and_large_blocks() {
    let program = source(
        r#"#include "trivium.h"
        #include <stdio.h>
        int main(void) {
            volatile int *shared = trivium_alloc_on(0, 65536);
            if (trivium_node() == 1) shared[0] = 7;
            trivium_barrier();
            if (trivium_node() == 0) {
                long begun = trivium_cycles();
                if (shared[0] != 7) return 1;
                printf("%ld", (long)(trivium_cycles() - begun));
            }
            trivium_barrier();
            return 0;
        }"#,
    );
    let took = |block: u64, set: &[(&str, &str)]| {
        let run = Run::with(program.clone(), &[]).nodes(2).block(block).under(&["swcc"]).on(machine("now", set));
        run.right().output.parse::<u64>().unwrap()
    };
    let small = took(8, &[]);
    // 3.4: a' + m' + a + m + hit, 95.0 us.
    assert!((15_865..15_900).contains(&small), "{small}");
    let network = machine("now", &[]).network;
    let (latency, own) = (network.latency, network.to_self.unwrap());
    assert_eq!(took(8, &[("network.self", &latency.to_string())]) - small, 2 * (latency - own));
    // Two messages carry the block: 1016 bytes more at 31 MB/s are 5473 cycles each, rounded up once more.
    assert!((2 * 5473..2 * 5473 + 4).contains(&(took(1024, &[]) - small)));
    let elsewhere = took(1024, &[("network.bytes_per_second", "310000000")]);
    assert!(elsewhere < took(1024, &[]) - 9000, "{elsewhere}");
}

#[test]
fn what_a_library_is_must_be_said_in_whole() {
    let set = |key: &str, value: &str| Machine::load("now", &[(key.into(), value.into())]).unwrap_err().to_string();
    let kind = set("engine.kind", "processor");
    assert!(kind.contains("`engine.kind` is not \"library\""), "{kind}");
    let rate = set("network.bytes_per_second", "0");
    assert!(rate.contains("`network.bytes_per_second` is 0, which is not from 1"), "{rate}");
    let price = set("access_control.software.hit.swcc.home.Null.read", "99000000");
    assert!(price.contains("99000000, which is not from 0"), "{price}");
    let hardware = Machine::load("typhoon", &[("engine.kind".into(), "library".into())]).unwrap_err().to_string();
    assert!(hardware.contains("`access_control.software` does not say"), "{hardware}");
    let wrong = machine("now", &[("access_control.software.hit.swcc.home.Gone", "{ read = 1, write = 1 }")]);
    let error = Run::of("em3d", &["-n", "4"]).under(&["swcc"]).on(wrong.clone()).error().to_string();
    assert!(error.contains("software.hit.swcc.home.Gone") && error.contains("no state of this name"), "{error}");
    Run::of("em3d", &["-n", "4", "-i", "1"]).under(&["msi"]).on(wrong).right();
}
