//! The machine `flash`: contention is a result, not an input; programs end right, and the same by every way of simulating.

use crate::bench::{self, Run, machine, same_in, source, text_program, windows};
use crate::slow;
use trivium_sim::{Machine, NodeError, SimResult};

/// Every node but the home loads lines of its own from the home's memory, one after the other.
const STREAM: &str = r#"
#include <trivium.h>
enum { LINES = 200, LINE = 128, MOST = 32 };
int main(void) {
    int self = trivium_node();
    char *lines = trivium_alloc_on(0, (int64_t)MOST * LINES * LINE);
    trivium_barrier();
    int64_t sum = 0;
    if (self > 0)
        for (int i = 0; i < LINES; i++) sum += *(volatile int64_t *)(lines + ((int64_t)(self - 1) * LINES + i) * LINE);
    trivium_barrier();
    return sum != 0;
}
"#;
const LINES: u64 = 200;

/// `flash`, whose protocol processors always find their records.
fn flash(set: &[(&str, &str)]) -> Machine {
    let mut machine = machine("flash", set);
    machine.pipeline.as_mut().unwrap().data_cache = None;
    machine
}

fn stream(machine: &Machine, requesters: u32) -> SimResult {
    let run = Run::with(source(STREAM), &[]).under(&["flash-coherence"]).on(machine.clone());
    run.nodes(requesters + 1).block(128).right()
}

/// A closed queueing network: n requesters, each with one miss outstanding, and at the home several stations, each of which serves a miss in a
/// constant time. One miss alone takes R. The slowest station, of service time S, serves at most one miss in S, so n misses take at least
/// n S, and at least R: a miss takes max(R, n S) (the asymptotic bounds of Denning and Buzen 1978, which constant times and equal
/// requesters reach). With R = 111 of MAGIC's cycles:
///
/// * The port of the home's network interface serves a message with a line in 16 + 18 x 8 = 160 cycles of the processor, 40 of MAGIC's. S = 40, and
///   from 111 / 40 = 3 requesters on they wait: 32 of them for 32 x 40 = 1280 cycles of MAGIC.
/// * With a port four times as fast S is memory's interval, 16.
/// * With memory as fast as that, too, S is what the home's handler keeps the protocol processor, 12, although it adds nothing to a single miss.
///
/// Had the occupancies been set to the latencies, the first S would be 51, the home's part of the 111.
#[test]
fn a_stream_of_misses_waits_for_the_slowest_station_of_its_home() {
    let port = ("interface.message", "0");
    let stations: [(&[(&str, &str)], u64); 3] = [
        (&[], 40),
        (&[port, ("interface.cycles_per_word", "1")], 16),
        (&[port, ("interface.cycles_per_word", "1"), ("pipeline.memory_interval", "1")], 12),
    ];
    for (set, service) in stations {
        let flash = flash(set);
        for requesters in slow::one_in(2, [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]) {
            let result = stream(&flash, requesters);
            let misses = u64::from(requesters) * LINES;
            let mean =
                result.per_node[1..].iter().map(|node| node.read_stall).sum::<u64>() as f64 / misses as f64 / 4.0;
            let expected = 111.0_f64.max(f64::from(requesters) * service as f64);
            let off = mean / expected - 1.0;
            println!("S {service}: {requesters} requesters, {mean:.1} cycles a miss, expected {expected}");
            // Whoever is done first leaves the others with fewer before them.
            assert!((-0.01..0.01).contains(&off), "S {service}, {requesters} requesters: {mean} instead of {expected}");
            // Whoever waits: a miss keeps the home's protocol processor for 12 cycles.
            assert_eq!(result.per_node[0].engine_busy, misses * 12 * 4, "S {service}, {requesters} requesters");
        }
    }
}

/// What a node sends to itself passes its ports, and does not enter the network: the rest of the way is that of a message to another node.
#[test]
fn messages_to_oneself_do_not_enter_the_network() {
    let text = r#"(module
        (import "trivium" "node" (func $node (result i32)))
        (import "trivium" "cycles" (func $cycles (result i64)))
        (import "trivium:echo" "ask" (func $ask (param i64)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start") (local $begun i64)
            (if (call $node) (then (return)))
            (local.set $begun (call $cycles))
            (call $ask (i64.const TO))
            (call $exit (i32.wrap_i64 (i64.sub (call $cycles) (local.get $begun))))))"#;
    let echo = "protocol echo\nop ask(n: 0..7)\nlane main fifo buffered\nmessage Ping on main\nmessage Pong on main\n\
        role agent of node defers up to 4 { var asker: thread?\n state Only {\n\
        on ask(n) { asker = caller; send Ping to node(n) } on Ping { send Pong to sender } on Pong { return to asker } } }";
    let echo = trivium_lang::compile("echo.tri", echo, &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    let cycles = |to: &str, set: &[(&str, &str)]| {
        let mut run = Run::with(text_program(&text.replace("TO", to)), &[]).on(flash(set)).nodes(2).block(128);
        run.protocols = vec![std::sync::Arc::new(echo.clone())];
        run.go().unwrap_or_else(|error| panic!("{error}")).exit_codes[&0]
    };
    let (own, other) = (cycles("0", &[]), cycles("1", &[]));
    assert_eq!(other - own, 2 * 88, "{own} {other}");
    assert_eq!(cycles("0", &[("network.self", "88")]), other);
}

/// With distances, 16 of MAGIC's cycles and 2 for each link (Heinlein 1998, 5.4.1): 18 to a neighbour, the latency of the timelines of two
/// nodes, and 22 over three links, the average of the flat network. Node 0 asks node 1 or node 7, which is three links away in a hypercube,
/// one in a ring and three in a mesh of 3 by 3.
#[test]
fn latency_grows_with_the_distance() {
    const ASK: &str = r#"
#include <trivium.h>
int main(void) {
    char *near = trivium_alloc_on(1, 128), *far = trivium_alloc_on(7, 128);
    trivium_barrier();
    return trivium_node() == 0 ? *(volatile int *)(WHICH) : 0;
}
"#;
    let stall = |which: &str, set: &[(&str, &str)]| {
        let run = Run::with(source(&ASK.replace("WHICH", which)), &[]).under(&["flash-coherence"]).on(flash(set));
        run.nodes(8).block(128).right().per_node[0].read_stall
    };
    let hops = |topology| [("network.latency", "64"), ("network.topology", topology), ("network.per_hop", "8")];
    // A remote clean miss, whose way goes twice through the network, and one of the stack in the node's own memory.
    assert_eq!([stall("near", &[]), stall("far", &[])], [(111 + 27) * 4; 2]);
    for (topology, far) in [("hypercube", 3), ("ring", 1), ("mesh", 3)] {
        let found = [stall("near", &hops(topology)), stall("far", &hops(topology))];
        assert_eq!(found, [1, far].map(|links: u64| (111 - 44 + 2 * (16 + 2 * links) + 27) * 4), "{topology}");
    }
}

/// An uncached load of a remote word, in the processor's cycles: issue 28, then inbox 12, handler 28, outbox 4, port 16 and network 88; port 32,
/// inbox 12, handler 36, outbox 4, port 16 and network 88; port 32, inbox 12, handler 4, outbox 4 and the processor's interface 12. The
/// answer has the word, so that no further transaction follows. What is not cached costs the same again.
#[test]
fn uncached_loads_are_transactions_each() {
    const ASK: &str = r#"
#include <trivium.h>
int main(void) {
    volatile int *far = trivium_alloc_on_under(PROTOCOL, 1, 128);
    trivium_barrier();
    int sum = 0;
    if (trivium_node() == 0) for (int i = 0; i < TIMES; i++) sum += *far;
    return sum;
}
"#;
    let stall = |protocol: &str, times: u64| {
        let text = ASK.replace("PROTOCOL", &format!("\"{protocol}\"")).replace("TIMES", &times.to_string());
        let run = Run::with(source(&text), &[]).under(&["flash-coherence", "uncached"]).on(flash(&[]));
        run.nodes(2).block(128).right().per_node[0].read_stall
    };
    let stack = 27 * 4;
    for times in [1, 2, 5] {
        assert_eq!(stall("uncached", times), stack + times * 428, "{times} loads");
        assert_eq!(stall("flash-coherence", times), stack + 111 * 4, "{times} loads");
    }
}

/// A timer runs out at the next beat of the idle handler, and goes before messages that have waited for longer; without one, at its own time, behind them. The
/// protocol processor is so slow that the messages which the call's handler sends to its own node wait.
#[test]
fn timers_run_out_at_beats_and_go_first() {
    let text = r#"(module
        (import "trivium" "cycles" (func $cycles (result i64)))
        (import "trivium:beat" "ask" (func $ask (result i64)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start") (local $seen i64)
            (local.set $seen (call $ask))
            (call $exit (i32.wrap_i64 (i64.add (i64.mul (call $cycles) (i64.const 32)) (local.get $seen))))))"#;
    let beat = "protocol beat\nop ask(): 0..31\nlane main fifo buffered\nmessage Ping on main\n\
        role agent of node { var asker: thread? var seen: 0..31\n\
        state Rest { on ask { asker = caller; PINGS goto Beating } on Ping { } }\n\
        state Beating { on ask impossible on Ping { seen += 1 } on after 2000 { goto Rest; return seen to asker } } }";
    let beat = beat.replace("PINGS", &"send Ping to me; ".repeat(16));
    let beat = trivium_lang::compile("beat.tri", &beat, &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    let asked = |period: Option<u64>| {
        let mut flash = flash(&[("engine.slowdown", "64")]);
        flash.pipeline.as_mut().unwrap().idle_period = period;
        let mut run = Run::with(text_program(text), &[]).on(flash).nodes(1).block(128);
        run.protocols = vec![std::sync::Arc::new(beat.clone())];
        let code = run.go().unwrap_or_else(|error| panic!("{error}")).exit_codes[&0] as u64;
        same_in(&run, &windows(&run));
        (code / 32, code % 32)
    };
    let (without, all) = asked(None);
    assert_eq!(all, 16, "{without}");
    // 1000 of MAGIC's cycles are 4000 of the processor's. The call's handler sends 16 messages in 8 x 64 cycles each, and the timer would run out some 2000 later;
    // the next beat is at 12,000, when about half of the messages are handled, and the timer's handler waits for the one that runs.
    let (with, some) = asked(Some(1000));
    assert!((1..16).contains(&some), "{some} after {with}");
    assert!((12_000..14_500).contains(&with), "{some} after {with}");
    let (late, all) = asked(Some(10_000));
    assert!((40_000..42_500).contains(&late) && all == 16, "{all} after {late}");
}

/// The same while the program computes and waits for nothing, under a protocol whose lanes are never full.
#[test]
fn timers_go_first_beside_a_program_that_computes() {
    let text = r#"(module
        (import "trivium:beat" "ask" (func $ask (result i64)))
        (import "trivium:beat" "look" (func $look (result i64)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start") (local $left i32)
            (drop (call $ask))
            (local.set $left (i32.const 20000))
            (loop $again
                (local.set $left (i32.sub (local.get $left) (i32.const 1)))
                (br_if $again (local.get $left)))
            (call $exit (i32.wrap_i64 (call $look)))))"#;
    let beat = "protocol beat\nop ask(): 0..31\nop look(): 0..31\nlane main fifo buffered\nmessage Ping on main\n\
        role agent of node { var seen: 0..31 var then: 0..31\n\
        state Rest { on ask { PINGS goto Beating; return 0 } on Ping { seen += 1 } on look { return then } }\n\
        state Beating { on ask, look impossible on Ping { seen += 1 } on after 2000 { then = seen; goto Rest } } }";
    let beat = beat.replace("PINGS", &"send Ping to me; ".repeat(16));
    let beat = trivium_lang::compile("beat.tri", &beat, &Default::default()).unwrap_or_else(|error| panic!("{error}"));
    let seen = |period: Option<u64>| {
        let mut flash = flash(&[("engine.slowdown", "64")]);
        flash.pipeline.as_mut().unwrap().idle_period = period;
        let mut run = Run::with(text_program(text), &[]).on(flash).nodes(1).block(128);
        run.protocols = vec![std::sync::Arc::new(beat.clone())];
        run.go().unwrap_or_else(|error| panic!("{error}")).exit_codes[&0]
    };
    assert_eq!(seen(None), 16);
    let some = seen(Some(1000));
    assert!((1..16).contains(&some), "{some}");
}

/// Node 0 calls `ask`, and says how long that took.
fn asked(protocol: &str, machine: Machine) -> u64 {
    let text = r#"(module
        (import "trivium:asks" "ask" (func $ask (result i64)))
        (import "trivium" "node" (func $node (result i32)))
        (import "trivium" "cycles" (func $cycles (result i64)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start") (local $from i64)
            (if (call $node) (then (return)))
            (local.set $from (call $cycles))
            (drop (call $ask))
            (call $exit (i32.wrap_i64 (i64.sub (call $cycles) (local.get $from))))))"#;
    let protocol = trivium_lang::compile("asks.tri", protocol, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Run::with(text_program(text), &[]).on(machine).nodes(2).block(128);
    run.protocols = vec![std::sync::Arc::new(protocol)];
    run.go().unwrap_or_else(|error| panic!("{error}")).exit_codes[&0] as u64
}

/// Words of arguments that ride in the header take none of the port's time: sixteen messages leave one after the other, the last after fifteen others.
#[test]
fn arguments_ride_in_the_header() {
    let puts = "send Put(1, 2) to node(1); ".repeat(16);
    let burst = format!(
        "protocol asks\nop ask(): 0..1\nlane main fifo buffered\nmessage Put(a: word, b: word), Done on main\n\
         role agent of node {{ var seen: 0..16\n otherwise impossible\n\
         state Rest {{ on ask {{ {puts}await Done {{ goto Rest; return 0 }} }} \
         on Put(a, b) {{ seen += 1; if seen == 16 {{ send Done to sender }} }} }} }}"
    );
    let took =
        |words: &str| asked(&burst, flash(&[("interface.header_words", words), ("interface.cycles_per_word", "100")]));
    let [none, one, all, more] = ["0", "1", "2", "16"].map(took);
    assert_eq!([none - one, none - all, none - more], [1500, 3000, 3000], "{none}");
}

/// A call passes the processor's interface as a miss does, if the machine says so.
#[test]
fn calls_take_the_way_of_misses() {
    let protocol = "protocol asks\nop ask(): 0..1\nrole agent of node { state Rest { on ask { return 0 } } }";
    let took = |key: &str, value: &str| asked(protocol, flash(&[(key, value)]));
    assert_eq!(took("processor.call_issues", "true") - took("processor.call_issues", "false"), 28);
    // And so does its answer, on the way back.
    let all = took("processor.call_issues", "true");
    assert_eq!([took("processor.finish", "112"), took("pipeline.outbox", "11")].map(|more| more - all), [100, 40]);
}

/// A handler that looks at a line again asks the processor's cache once.
#[test]
fn a_second_look_at_a_line_takes_nothing() {
    let path = crate::bench::file("protocols/flash-coherence.tri");
    let text = std::fs::read_to_string(&path).unwrap();
    let looks = "if probe is exclusive { take shared; send PUT to to";
    assert!(text.contains(looks));
    let miss = |looks_as: &str| {
        let text = text.replace(looks, &looks.replace("probe is exclusive", looks_as));
        let name = path.display().to_string();
        let protocol = trivium_lang::compile(&name, &text, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        let third = (trivium_sim::MissKind::Read, trivium_sim::MissPlace::Third);
        trivium_sim::measure_at(std::sync::Arc::new(protocol), &flash(&[]), third, 128).unwrap().total
    };
    // An intervention is 18 of MAGIC's cycles up to its issue, and 15 to the answer; a comparison is one.
    let more = miss("probe is exclusive and not (probe is shared)") - miss("probe is exclusive");
    assert!(more <= 3 * 4, "{more}");
}

/// The first record of each line of the protocol processor's data cache comes from memory, and the handler waits for it.
#[test]
fn records_come_into_the_data_cache_by_the_line() {
    let with =
        |record: &str| stream(&machine("flash", &[("pipeline.data_cache.record", record)]), 1).per_node[0].engine_busy;
    let without = stream(&flash(&[]), 1).per_node[0].engine_busy;
    // 200 records of 8 bytes lie in 13 lines, of 128 bytes in 200: a line takes 14 + 15 cycles, behind the line that the miss itself reads.
    let (few, all) = (with("8") - without, with("128") - without);
    assert!((13 * 29 * 4..=13 * 45 * 4).contains(&few), "{few}");
    assert!((200 * 29 * 4..=200 * 45 * 4).contains(&all), "{all}");
}

/// With one buffer the inbox takes no message before the data of the last have gone; with many it does.
#[test]
fn data_buffers_fill() {
    let cycles =
        |buffers: &str| stream(&flash(&[("pipeline.buffers", buffers), ("interface.cycles_per_word", "1")]), 16).cycles;
    assert!(
        cycles("1") > cycles("2") && cycles("2") >= cycles("16"),
        "{} {} {}",
        cycles("1"),
        cycles("2"),
        cycles("16")
    );
}

/// An event that has more candidates than the jump table tests is dispatched by software.
#[test]
fn too_many_candidates_are_dispatched_by_software() {
    let busy = |candidates: &str| {
        let machine = machine("flash", &[("pipeline.candidates", candidates)]);
        let run = Run::of("em3d", &["-n", "24", "-i", "1"]).under(&["broken/flash-writeback-ignored"]).on(machine);
        run.nodes(2).block(128).right().per_node.iter().map(|node| node.engine_busy).sum::<u64>()
    };
    // Its GET has two clauses in one state.
    let (table, software) = (busy("2"), busy("1"));
    assert!(software > table && (software - table) % 200 == 0, "{table} {software}");
}

#[test]
fn programs_are_right_on_1_to_128_nodes() {
    let flash = machine("flash", &[]);
    for (number, (name, args, beside)) in PROGRAMS.into_iter().enumerate() {
        let one = [[3], [32]][number % 2];
        for &nodes in slow::all_or(&[1, 2, 8, 32, 128][..], &one) {
            let protocols: Vec<&str> = ["flash-coherence"].into_iter().chain(beside.split_whitespace()).collect();
            Run::of(name, args).under(&protocols).on(flash.clone()).nodes(nodes).block(128).right();
        }
    }
}

/// Programs, with little to do, and the protocols of their own that they want beside flash-coherence. The others of the repository cannot run: `em3d-update`
/// and `bodies-update` bind regions and `symmetric` shares private memory, which cached processors do not let them; `splitphase` and those in Split-C make calls of `swcc` or `uncached`.
const PROGRAMS: [(&str, &[&str], &str); 15] = [
    ("allgather", &["-n", "20"], "channel"),
    ("atomics", &["-n", "2"], ""),
    ("barrierbench", &["-n", "4"], ""),
    ("barrierbench-tree", &["-n", "4"], "tree-barrier"),
    ("bodies", &["-k", "1", "-i", "2"], "migratory"),
    ("em3d", &["-n", "20", "-i", "2"], ""),
    ("falsesharing", &[], ""),
    ("fetchadd", &["-n", "2"], ""),
    ("hello", &[], ""),
    ("litmus", &["-n", "3"], ""),
    ("lockbench", &["-n", "32", "-c", "10", "-t", "100"], ""),
    ("lockbench-token", &["-n", "8"], "token-lock"),
    ("matmul", &["-n", "16", "-b", "2"], ""),
    ("pingpong", &["-n", "20"], ""),
    ("scatter", &["-n", "20"], "remote-write"),
];

#[test]
#[ignore = "a quarter of a minute: programs with all that they have to do on 128 nodes"]
fn whole_programs_are_right_on_1_to_128_nodes() {
    for (name, _, beside) in PROGRAMS {
        for nodes in [1, 2, 8, 32, 128] {
            let protocols: Vec<&str> = ["flash-coherence"].into_iter().chain(beside.split_whitespace()).collect();
            let result = Run::of(name, &[]).under(&protocols).on(machine("flash", &[])).nodes(nodes).block(128).right();
            println!("{name} on {nodes} nodes: {} cycles", result.cycles);
        }
    }
}

/// Windows, host threads and the reference order give the same bytes.
#[test]
fn it_is_simulated_the_same_by_every_way() {
    let set: [&[(&str, &str)]; 3] = [
        &[],
        &[("network.jitter", "177")],
        &[
            ("cache.first.bytes", "256"),
            ("cache.bytes", "2048"),
            ("pipeline.buffers", "1"),
            ("pipeline.data_cache.bytes", "256"),
        ],
    ];
    for set in set {
        for (program, args) in [("em3d", &["-n", "24", "-i", "2"][..]), ("lockbench", &["-n", "12"])] {
            let run = Run::of(program, args).under(&["flash-coherence"]).on(machine("flash", set)).nodes(5).block(128);
            run.right();
            same_in(&run, &windows(&run));
            for jobs in 2..4 {
                same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
            }
        }
    }
}

/// An access that hits in the first level takes nothing, one that only the second level has 50 cycles: a walk over what fits neither,
/// only the second, or both.
#[test]
fn two_levels_of_cache() {
    const WALK: &str = r#"
#include <trivium.h>
enum { LINE = 64, ROUNDS = 4 };
int main(void) {
    char *lines = trivium_alloc_on(0, 2 << 20);
    int64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (round == 1) trivium_begin();
        for (int i = 0; i < BYTES / LINE; i++) sum += *(volatile int64_t *)(lines + i * LINE);
    }
    trivium_end();
    return sum != 0;
}
"#;
    let stall = |bytes: u64, set: &[(&str, &str)]| {
        let program = source(&WALK.replace("BYTES", &bytes.to_string()));
        let run = Run::with(program, &[]).under(&["flash-coherence"]).on(machine("flash", set)).nodes(1).block(128);
        run.right().per_node[0].read_stall
    };
    let accesses = |bytes: u64| 3 * bytes / 64;
    assert_eq!(stall(32 << 10, &[]), 0);
    assert_eq!(stall(256 << 10, &[]), accesses(256 << 10) * 50);
    // A cyclic walk over more than a set holds finds nothing when the line leaves that came first: each line of 128 bytes comes from memory, in 27
    // cycles of MAGIC or somewhat less where nothing is probed, and its second half is in the second level.
    let far = stall(2 << 20, &[]) - accesses(2 << 20) / 2 * 50;
    let each = far as f64 / (accesses(2 << 20) / 2) as f64 / 4.0;
    assert!((24.0..30.0).contains(&each), "{each}");
}

/// What a line costs more that is dirty in the home's own processor's cache than one that is in memory: the same for each, however many there are, and
/// however many readers. By hand, from the machine's file, in MAGIC's cycles of 4:
///
/// * It keeps the protocol processor for 32 more: it issues an intervention (`prices.probe`, 64 / 4 = 16), waits for its answer (`state_reply`, 15) and has the
///   line come (`prices.line.take`, 1). Both ways through the handler have as many other steps.
/// * A reader that is alone waits for 31 more. A clean line's first word is there 14 after the inbox. For a dirty one the handler needs 24 up to the
///   intervention (`dispatch.message` 1, `record.home` 3, 4 steps, 16), 15 to its answer, and 5 to its own end (the line, two steps, `send`), 44 in all; its data
///   are there as soon as that. The outbox takes 1: 44 + 1 - 14.
///
/// The source's penalty is as constant, 44 a line for chunks of 1 to 6 (Heinlein 1998, figure 5.11), but of another handler, which also writes the line to memory
/// and sends it from there: the block copy's, whose parts are not published and which is not built. So 44 is no result of this model.
#[test]
fn a_dirty_line_costs_the_same_more_each() {
    const COLLECT: &str = r#"
#include <stdlib.h>
#include <trivium.h>
enum { LINE = 128, MOST = 32 };
int main(int count, char **argv) {
    if (count != 3) return 1;
    int self = trivium_node(), each = atoi(argv[1]), dirty = atoi(argv[2]);
    char *lines = trivium_alloc_on(0, (int64_t)MOST * 64 * LINE);
    if (self == 0 && dirty)
        for (int i = 0; i < (trivium_nodes() - 1) * each; i++) *(volatile int64_t *)(lines + (int64_t)i * LINE) = i;
    trivium_barrier();
    trivium_begin();
    int64_t sum = 0;
    if (self > 0)
        for (int i = 0; i < each; i++) sum += *(volatile int64_t *)(lines + (int64_t)((self - 1) * each + i) * LINE);
    trivium_barrier();
    trivium_end();
    return sum < 0;
}
"#;
    let program = source(COLLECT);
    let measured = |readers: u32, each: u64, dirty: bool| {
        let args = [each.to_string(), u8::from(dirty).to_string()];
        let run = Run::with(program.clone(), &[&args[0], &args[1]]).under(&["flash-coherence"]).on(flash(&[]));
        let result = run.nodes(readers + 1).block(128).right();
        (result.per_node[0].engine_busy, result.per_node[1].read_stall)
    };
    for (readers, each) in [(1, 1), (1, 4), (1, 64), (2, 16), (8, 16), (32, 64)] {
        let lines = u64::from(readers) * each;
        let [clean, dirty] = [false, true].map(|dirty| measured(readers, each, dirty));
        println!("{readers} readers of {each}: {clean:?}, dirty {dirty:?}");
        assert_eq!(dirty.0 - clean.0, lines * 32 * 4, "{readers} readers of {each}: occupancy");
        if readers == 1 {
            assert_eq!(dirty.1 - clean.1, lines * 31 * 4, "{each}: latency");
        }
    }
}

/// A handler's own price: up to its first effect, for each of its effects, and behind them. What it waits for comes on top, and what comes behind keeps the
/// engine without adding to the miss. In MAGIC's cycles: `fixed` 10 and a message of 2 make 12, in the shadow of memory's 14; 30 behind them are in nobody's way.
#[test]
fn handlers_have_prices_of_their_own() {
    let protocol = bench::protocol("flash-coherence");
    let missed = |set: &[(&str, &str)]| {
        let remote = (trivium_sim::MissKind::Read, trivium_sim::MissPlace::Remote);
        let report = trivium_sim::measure_at(protocol.clone(), &machine("flash", set), remote, 128).unwrap();
        let home = report.handlers.iter().find(|handler| handler.handler == "home.Idle.GET").cloned().unwrap();
        (report.total / 4, home.occupancy / 4, home.adds / 4, home.given.unwrap())
    };
    const GET: &str = "handlers.flash-coherence.home.Idle.GET";
    assert_eq!(missed(&[]), (111, 12, 0, "calibration".to_string()));
    let price = "{ fixed = 40, per = { send = 8 }, after = 120, id = \"FL-1\" }";
    assert_eq!(missed(&[(GET, price)]), (111, 42, 0, "FL-1".to_string()));
    // 20 and 2 are more than memory takes, and end 8 later than its first word, with the outbox.
    let price = "{ fixed = 80, per = { send = 8 }, after = 120, id = \"FL-1\" }";
    assert_eq!(missed(&[(GET, price)]), (111 + 20 + 2 + 1 - 14, 52, 22, "FL-1".to_string()));
    // A processor half as fast needs twice as long for all of it, and for the other handlers on the way: 5 and 3.
    assert_eq!(missed(&[(GET, price), ("engine.slowdown", "2")]).0, 111 + 5 + 3 + 2 * 22 + 1 - 14);
}

/// Prices of handlers that are not there, or that say too little or too much.
#[test]
fn prices_of_handlers_that_cannot_be_are_refused_with_their_line() {
    let under = |protocol: &str, line: &str| {
        let text = format!("base = \"flash\"\n\n[handlers.flash-coherence] # ours\n{line}\n");
        let machine = match Machine::parse("mine.toml", &text, &[]) {
            Ok(machine) => machine,
            Err(error) => return NodeError::from(error),
        };
        Run::of("falsesharing", &[]).under(&[protocol]).on(machine).block(128).error()
    };
    for (line, says) in [
        ("home.Idle.GETT = { fixed = 3, id = \"FL-1\" }", "a handler that `flash-coherence` does not have"),
        ("hom.Idle.GET = { fixed = 3, id = \"FL-1\" }", "`handlers.flash-coherence.hom.Idle.GET`"),
        ("home.Idle.GET = { fixed = 3 }", "does not say where it is from"),
        ("home.Idle.GET = { fixed = 3, id = \"FL-1\", source = \"calibration\" }", "or says it twice"),
        ("home.Idle.GET = { id = \"FL-1\" }", "has no `fixed`"),
        ("home.Idle.GET = { source = \"calibration\", after = 3 }", "has no `fixed`"),
        ("home.Idle.GET = { fixed = 16777217, id = \"FL-1\" }", "16777217, which is not from 0"),
        ("home.Idle.GET = { fixed = -3, id = \"FL-1\" }", "-3"),
        ("home.Idle.GET = { fixed = 3, per = { sends = 3 }, id = \"FL-1\" }", "unknown key `sends`"),
        ("home.Idle.GET = { fixed = 3, source = \"guess\" }", "unknown value `guess`"),
    ] {
        let error = under("flash-coherence", line);
        assert!(error.diagnostic.message.contains(says), "{line}: {error}");
        assert_eq!(error.diagnostic.place(), Some(&"mine.toml:4:1".into()), "{line}: {error}");
        assert!(error.diagnostic.help.is_some(), "{line}: {error}");
    }
    let wrong = under("flash-coherence", "home.Idle.GETT = { fixed = 3, id = \"FL-1\" }");
    assert_eq!(wrong.diagnostic.help.as_deref(), Some("did you mean `home.Idle.GET`?"));
    // Of a protocol that does not run a machine may say anything.
    let set = [("handlers.stache.home.Gone.GET", "{ fixed = 3, id = \"FL-1\" }")];
    Run::of("falsesharing", &[]).under(&["flash-coherence"]).on(machine("flash", &set)).block(128).right();
    let error = Run::of("falsesharing", &[]).on(machine("flash", &set)).block(128).error();
    assert_eq!(
        error.diagnostic.place(),
        Some(&"--set machine.handlers.stache.home.Gone.GET={ fixed = 3, id = \"FL-1\" }".into())
    );
}

/// What no pipeline can be.
#[test]
fn impossible_stages_are_refused() {
    let refused = |key: &str, value: &str, says: &str| {
        let error = Machine::load("flash", &[(key.to_string(), value.to_string())]).unwrap_err();
        assert!(error.message.contains(says), "{key}={value}: {error}");
        assert!(error.place().is_some(), "{key}={value}: {error}");
    };
    refused("pipeline.interventions", "0", "`pipeline.interventions` is 0, which is not from 1 to 64");
    refused("pipeline.buffers", "0", "`pipeline.buffers` is 0");
    refused("pipeline.candidates", "65", "`pipeline.candidates` is 65");
    refused("pipeline.memory_interval", "0", "`pipeline.memory_interval` is 0");
    refused("pipeline.inbox", "10000000", "`pipeline.inbox` is 10000000");
    refused("pipeline.data_cache.line", "100", "`pipeline.data_cache.line` is 100, which is not a power of two");
    refused("pipeline.data_cache.record", "256", "`pipeline.data_cache.record` is 256");
    refused("cache.associativity", "3", "`cache.associativity` is 3, which is not a power of two from 1 to 16");
    refused("cache.first.associativity", "32", "`cache.first.associativity` is 32");
    refused("cache.first.line", "256", "`cache.first.line` is 256, which is not a power of two from 8 to 128");
    refused("cache.first.bytes", "2097152", "`cache.first.bytes` is 2097152");
    refused("cache.first.miss", "10000000", "`cache.first.miss` is 10000000");
    refused(
        "cache.first",
        "{ bytes = 64, line = 64, associativity = 2, miss = 1 }",
        "`cache.first.associativity` is 2",
    );
    refused("network.per_hop", "8", "`network.per_hop` is 8, but nodes have no links");
    refused("network.topology", "torus", "unknown value `torus`");
    refused("pipeline.inbocks", "3", "unknown key `inbocks`");
    refused("engine.kind", "processor", "`pipeline` would mean nothing");
    refused("interface.cut_through", "false", "`interface.message` is 16");
    let typhoon = Machine::load("typhoon", &[("engine.kind".to_string(), "pipeline".to_string())]).unwrap_err();
    assert!(typhoon.message.contains("no table `pipeline`"), "{typhoon}");
}

/// Each key of the stages, the caches and the network, in a file that begins from `flash`: the error names the line.
#[test]
fn what_cannot_be_is_refused_with_its_line() {
    let all = [
        ("pipeline", "inbox = 1048577"),
        ("pipeline", "outbox = 1048577"),
        ("pipeline", "memory_rest = 1048577"),
        ("pipeline", "memory_interval = 0"),
        ("pipeline", "state_reply = 1048577"),
        ("pipeline", "data_reply = 1048577"),
        ("pipeline", "data_rest = -1"),
        ("pipeline", "idle_period = 0"),
        ("pipeline", "interventions = 65"),
        ("pipeline", "buffers = 0"),
        ("pipeline", "candidates = 0"),
        ("pipeline", "software_dispatch = 1048577"),
        ("pipeline", "speculates = 3"),
        ("pipeline.data_cache", "bytes = 63"),
        ("pipeline.data_cache", "line = 4"),
        ("pipeline.data_cache", "record = 0"),
        ("cache", "associativity = 6"),
        ("cache", "first = { bytes = 64, line = 64, associativity = 2, miss = 1 }"),
        ("cache.first", "line = 256"),
        ("network", "per_hop = 3"),
        ("network", "topology = \"torus\""),
        ("interface", "cut_through = false"),
    ];
    for (table, line) in all {
        let text = format!("base = \"flash\"\n\n[{table}] # ours\n{line}\n");
        let error = Machine::parse("mine.toml", &text, &[]).unwrap_err();
        let place = error.place().unwrap().to_string();
        // What is wrong with a key that is not set here is told at the table that has made it so.
        let expected = if line.starts_with("cut_through") { "mine.toml:3:1" } else { "mine.toml:4:1" };
        assert_eq!(place, expected, "[{table}] {line}: {error}");
        assert!(error.help.is_some(), "[{table}] {line}: {error}");
    }
}

/// NAKs against the depth of the outgoing queues: what a home cannot forward, it refuses, and is asked again. No depth refuses for ever, and the
/// shortest queues refuse half as much again at least as deep ones. `docs/machines.md` has the table.
#[test]
fn shallow_queues_refuse_more() {
    let counted = |depth: i64| {
        let set = ["requests", "replies"].map(|key| (key.to_string(), depth));
        let path = bench::file("protocols/flash-coherence.tri");
        let protocol = trivium_lang::compile_file(&path, &set).unwrap_or_else(|error| panic!("{error}"));
        let mut run = Run::of("lockbench", &[]).on(machine("flash", &[])).nodes(32).block(128);
        run.protocols = vec![std::sync::Arc::new(protocol)];
        let result = run.right();
        (result.messages["flash-coherence.NAK"], result.cycles)
    };
    let found = [2, 4, 8, 16, 32].map(counted);
    println!("NAKs and cycles through queues of 2, 4, 8, 16, 32: {found:?}");
    let naks = found.map(|(naks, _)| naks);
    assert!(naks[..3].is_sorted_by(|few, many| few >= many), "{found:?}");
    assert!(2 * naks[0] > 3 * naks[4] && 2 * found[0].1 > 3 * found[4].1, "{found:?}");
}
