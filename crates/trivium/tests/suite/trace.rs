//! `trivium sim --trace`: every track has its name, every arrow both its ends, and the numbers are those of the result.

use crate::harness::trivium;
use crate::viewer::{self, number};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PINGPONG: [&str; 8] = ["sim", "programs/pingpong.c", "-p", "stache", "-m", "typhoon", "-n", "2"];

/// A run's result and the events of its trace.
fn traced(args: &[&str], options: &[&str]) -> (Value, Vec<Value>) {
    let folder = crate::harness::folder();
    let file = folder.path().join("trace.json").display().to_string();
    let separated = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
    let trace = ["--format", "json", "--trace", &file];
    let run = trivium(&[&args[..separated], &trace, options, &args[separated..]].concat());
    let result = run.json(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    viewer::view(&trace);
    let events = trace["traceEvents"].as_array().unwrap().clone();
    assert_eq!(
        run.err,
        format!("trace: {} events, {} bytes in {file}\n", grouped(events.len()), grouped(text.len())),
        "the size is told"
    );
    (result, events)
}

fn grouped(number: usize) -> String {
    trivium::output::grouped(number as u64)
}

/// The number of a node, by that of its process.
fn node_of(event: &Value) -> u64 {
    number(event, "pid") - 1000
}

/// The number of a track of its node.
fn track_of(event: &Value) -> u64 {
    number(event, "tid") % 10 - 1
}

/// What a viewer relies on, and what it shows.
fn is_valid(events: &[Value], nodes: u64) {
    let trace = json!({ "displayTimeUnit": "ns", "traceEvents": events });
    let viewed = viewer::view(&trace);
    let processes: Vec<String> = viewed.processes.values().map(|name| name.to_string()).collect();
    assert_eq!(processes, (0..nodes).map(|node| format!("node {node}")).collect::<Vec<_>>());
    for pid in viewed.processes.keys() {
        let of_node: Vec<&str> = viewed.tracks.iter().filter(|(track, _)| track.0 == *pid).map(|t| *t.1).collect();
        assert_eq!(of_node, ["processor", "engine", "bus", "link out", "link in", "calls"]);
    }
    // Each arrow goes from the handler that sends a message to the one that it starts.
    for arrow in &viewed.arrows {
        let message = arrow.name.rsplit_once('.').unwrap().1;
        let sends = format!("{message} to {}", node_of(arrow.to));
        assert!([1, 5].contains(&track_of(arrow.from)) && track_of(arrow.to) == 1, "on the tracks of handlers");
        assert_eq!(arrow.to["name"], arrow.name);
        assert!(arrow.from["args"]["sends"].as_array().unwrap().contains(&json!(sends)), "{sends}: {}", arrow.from);
        assert!(number(arrow.from, "ts") < number(arrow.to, "ts"), "{} {}", arrow.from, arrow.to);
    }
}

fn sum(events: &[Value], node: u64, wanted: impl Fn(&Value) -> bool) -> u64 {
    let slices = events.iter().filter(|e| e["ph"] == "X" && node_of(e) == node && wanted(e));
    slices.map(|e| number(e, "dur")).sum()
}

#[test]
fn tracks_have_names_slices_nest_and_arrows_have_two_ends() {
    for machine in ["simple-coma", "typhoon", "typhoon-1", "typhoon-0", "typhoon-0-prototype"] {
        let args = ["sim", "programs/pingpong.c", "-p", "stache", "-m", machine, "-n", "3", "--", "-n", "20"];
        let (result, events) = traced(&args, &[]);
        is_valid(&events, 3);
        let arrows = events.iter().filter(|e| e["ph"] == "f").count() as u64;
        let sent: u64 = result["messages"].as_object().unwrap().values().map(|v| v.as_u64().unwrap()).sum();
        assert!(arrows >= sent && sent > 0, "the trace has the messages of the region of interest, and others");
    }
}

/// Programs whose engines are never idle, of which messages overtake each other, and that end while messages are on
/// their way.
#[test]
fn arrows_of_busy_engines_go_where_they_should() {
    let em3d = ["sim", "programs/em3d.c", "-n", "4", "-m"];
    for (machine, protocol) in [("simple-coma", "stache"), ("typhoon-0", "msi"), ("typhoon", "flash-coherence")] {
        let busy =
            [machine, "-p", protocol, "--set", "machine.network.jitter=40", "--", "-n", "60", "-r", "80", "-i", "2"];
        let (_, events) = traced(&[&em3d[..], &busy].concat(), &[]);
        is_valid(&events, 4);
    }
    let scatter = [
        "sim",
        "programs/scatter.c",
        "-p",
        "stache",
        "-p",
        "remote-write",
        "-m",
        "typhoon",
        "-n",
        "3",
        "--",
        "-n",
        "30",
    ];
    is_valid(&traced(&scatter, &[]).1, 3);
}

#[test]
fn the_slices_add_up_to_the_counters_of_the_result() {
    // This program marks no region of interest: everything is counted.
    let args = ["sim", "programs/litmus.c", "-p", "stache", "-m", "typhoon-1", "-n", "4", "--", "-n", "6"];
    let (result, events) = traced(&args, &[]);
    is_valid(&events, 4);
    for (node, counted) in (0u64..).zip(result["per_node"].as_array().unwrap()) {
        let named = |name: &'static str| sum(&events, node, move |e| e["name"] == name);
        for (name, key) in [
            ("compute", "compute"),
            ("read stall", "read_stall"),
            ("write stall", "write_stall"),
            ("TLB stall", "tlb_stall"),
            ("sync stall", "sync_stall"),
        ] {
            assert_eq!(named(name), number(counted, key), "{name} of node {node}");
        }
        let reasons = sum(&events, node, |e| e["cat"] == "reason");
        let stalls = ["read_stall", "write_stall", "tlb_stall", "sync_stall"].map(|key| number(counted, key));
        assert_eq!(reasons, stalls.iter().sum::<u64>(), "each stall has its reasons");
        assert_eq!(sum(&events, node, |e| track_of(e) == 1), number(counted, "engine_busy"));
        assert_eq!(sum(&events, node, |e| track_of(e) == 2), number(counted, "bus_busy"));
    }
}

#[test]
fn a_lock_and_a_barrier_are_reasons() {
    let reasons = |args: &[&str]| {
        let (_, events) = traced(args, &[]);
        is_valid(&events, 4);
        let names = events.iter().filter(|e| e["cat"] == "reason").map(|e| e["name"].as_str().unwrap().to_string());
        names.collect::<BTreeSet<_>>()
    };
    let lock = ["sim", "programs/lockbench-token.c", "-p", "stache", "-p", "token-lock", "-m", "typhoon", "-n", "4"];
    let of_lock = reasons(&lock);
    for reason in ["lock", "network", "memory", "handler", "barrier"] {
        assert!(of_lock.contains(reason), "{reason} in {of_lock:?}");
    }
    let em3d = ["sim", "programs/em3d.c", "-p", "stache", "-m", "typhoon-0", "-n", "4", "--", "-n", "40", "-r", "50"];
    let of_em3d = reasons(&em3d);
    for reason in ["engine busy", "bus busy", "barrier"] {
        assert!(of_em3d.contains(reason), "{reason} in {of_em3d:?}");
    }
}

#[test]
fn a_trace_changes_nothing_and_is_the_same_again() {
    let plain = trivium(&[&PINGPONG[..], &["--format", "json"]].concat()).json(0);
    let (mut result, events) = traced(&PINGPONG, &[]);
    result["host_seconds"] = plain["host_seconds"].clone();
    assert_eq!(result, plain);
    assert!(traced(&PINGPONG, &[]).1 == events, "two runs leave the same trace");
}

#[test]
fn a_window_of_time_is_a_part_of_the_trace() {
    let (_, all) = traced(&PINGPONG, &[]);
    let (_, part) = traced(&PINGPONG, &["--trace-from", "5000", "--trace-to", "9000"]);
    is_valid(&part, 2);
    let slices = |events: &[Value], within: bool| -> Vec<Value> {
        let touches = |e: &Value| {
            let from = number(e, "ts");
            !within || from < 9000 && from + number(e, "dur") >= 5000
        };
        events.iter().filter(|e| e["ph"] == "X" && e["cat"] != "reason" && touches(e)).cloned().collect()
    };
    assert!(slices(&part, false).len() > 100 && part.len() * 4 < all.len());
    assert!(slices(&part, false) == slices(&all, true), "exactly what touches the window");
}

#[test]
fn a_trace_is_of_one_machine() {
    let folder = crate::harness::folder();
    let file = folder.path().join("trace.json");
    let name = file.display().to_string();
    let run = trivium(&[&PINGPONG[..], &["-m", "typhoon-1", "--trace", &name]].concat());
    run.refuses(2, &["one machine", "--machine"]);
    assert!(!file.exists());
}

#[test]
fn a_trace_that_cannot_be_written_is_told_before_the_simulation() {
    let run = trivium(&[&PINGPONG[..], &["--trace", "no-such-folder/trace.json"]].concat());
    run.refuses(2, &["cannot be written", "no-such-folder"]);
    let run = trivium(&[&PINGPONG[..], &["--trace-from", "5"]].concat());
    run.refuses(2, &["--trace"]);
}

#[test]
fn a_window_outside_the_run_says_so() {
    let folder = crate::harness::folder();
    let file = folder.path().join("trace.json").display().to_string();
    let run = trivium(&[&PINGPONG[..], &["--trace", &file, "--trace-from", "1000000000"]].concat());
    assert!(
        run.code == Some(0) && run.err.contains("the trace is empty: nothing happened from cycle 1,000,000,000 on")
    );
}

#[test]
fn a_stall_says_where_the_program_stood() {
    let (_, events) = traced(&PINGPONG, &[]);
    let stalls: Vec<&Value> = events.iter().filter(|event| event["cat"] == "stall").collect();
    let with_line = stalls.iter().filter_map(|stall| stall["args"]["at"].as_str());
    assert!(with_line.clone().any(|at| at.starts_with("programs/pingpong.c:") && at.contains(" in ")), "{stalls:?}");
}

/// `--svg` draws the region of interest, or a window, of one machine; a run that cannot be drawn says why.
#[test]
fn a_picture_shows_a_region_or_a_window() {
    let folder = crate::harness::folder();
    let file = folder.path().join("picture.svg").display().to_string();
    let drawn = |more: &[&str]| {
        let run = trivium(&[&PINGPONG[..], &["--svg", &file], more].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
        std::fs::read_to_string(&file).unwrap()
    };
    let (whole, again, part) = (drawn(&[]), drawn(&[]), drawn(&["--trace-from", "5000", "--trace-to", "5500"]));
    assert!(whole == again && whole.contains(">node 1<") && whole.contains(">engine<"), "{whole}");
    assert!(part.contains("from cycle 5,000 on") && part.matches("<rect").count() < whole.matches("<rect").count());
    let refused = |more: &[&str], told: &[&str]| {
        trivium(&[&PINGPONG[..], &["--svg", &file], more].concat()).refuses(2, told);
    };
    refused(&["-m", "simple-coma"], &["a trace is of one machine", "--svg"]);
    refused(&["--trace", &file], &["--svg", "--trace"]);
    // The run has gone well, and its result is there.
    let empty = trivium(&[&PINGPONG[..], &["--svg", &file, "--trace-from", "1000000000"]].concat());
    assert!(empty.code == Some(2) && empty.out.contains("\ncycles "), "{empty:?}");
    assert!(empty.err.contains("nothing happened") && empty.err.contains("--trace-from"), "{empty:?}");
}
