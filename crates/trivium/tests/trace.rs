//! `trivium sim --trace`: every track has its name, every arrow both its ends, and the numbers are those of the result.

mod harness;

use harness::trivium;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const PINGPONG: [&str; 8] = ["sim", "programs/pingpong.c", "-p", "stache", "-m", "typhoon", "-n", "2"];

/// A run's result and the events of its trace.
fn traced(args: &[&str], options: &[&str]) -> (Value, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json").display().to_string();
    let separated = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
    let trace = ["--format", "json", "--trace", &file];
    let run = trivium(&[&args[..separated], &trace, options, &args[separated..]].concat());
    let result = run.json(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
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

fn number(event: &Value, key: &str) -> u64 {
    event[key].as_u64().unwrap_or_else(|| panic!("{key} in {event}"))
}

fn track(event: &Value) -> (u64, u64) {
    (number(event, "pid"), number(event, "tid"))
}

/// The slices of a track lie beside or inside each other, as a viewer needs it.
fn nests(slices: &[(u64, u64)]) {
    let mut open: Vec<u64> = Vec::new();
    let mut sorted = slices.to_vec();
    sorted.sort_by_key(|&(from, to)| (from, std::cmp::Reverse(to)));
    for (from, to) in sorted {
        while open.last().is_some_and(|end| *end <= from) {
            open.pop();
        }
        assert!(open.last().is_none_or(|end| to <= *end), "{from} to {to} crosses the end of another slice");
        open.push(to);
    }
}

/// What a viewer relies on.
fn is_valid(events: &[Value], nodes: u64) {
    let mut names: BTreeMap<(u64, u64), &str> = BTreeMap::new();
    for event in events.iter().filter(|e| e["ph"] == "M" && e["name"] == "thread_name") {
        names.insert(track(event), event["args"]["name"].as_str().unwrap());
    }
    let wanted = ["processor", "engine", "bus", "link out", "link in"];
    for node in 0..nodes {
        let of_node: Vec<&str> = (0..5).map(|tid| names[&(node, tid)]).collect();
        assert_eq!(of_node, wanted);
    }
    let mut slices: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for event in events.iter().filter(|e| e["ph"] == "X") {
        assert!(names.contains_key(&track(event)), "{event}");
        let from = number(event, "ts");
        slices.entry(track(event)).or_default().push((from, from + number(event, "dur")));
    }
    slices.values().for_each(|slices| nests(slices));
    let ends = |kind: &str| -> BTreeMap<u64, &Value> {
        let ends: Vec<&Value> = events.iter().filter(|e| e["ph"] == kind).collect();
        let by_id: BTreeMap<u64, &Value> = ends.iter().map(|e| (number(e, "id"), *e)).collect();
        assert_eq!(by_id.len(), ends.len(), "no two arrows have the same number");
        by_id
    };
    let (starts, finishes) = (ends("s"), ends("f"));
    assert_eq!(starts.keys().collect::<BTreeSet<_>>(), finishes.keys().collect::<BTreeSet<_>>());
    for (id, start) in &starts {
        let finish = finishes[id];
        assert!(number(start, "ts") <= number(finish, "ts"), "{start} {finish}");
        for end in [*start, finish] {
            let at = number(end, "ts");
            let inside = slices[&track(end)].iter().any(|&(from, to)| from <= at && at <= to);
            assert!(inside, "{end} is at no slice");
        }
    }
}

fn sum(events: &[Value], node: u64, wanted: impl Fn(&Value) -> bool) -> u64 {
    let slices = events.iter().filter(|e| e["ph"] == "X" && e["pid"] == node && wanted(e));
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
            ("sync stall", "sync_stall"),
        ] {
            assert_eq!(named(name), number(counted, key), "{name} of node {node}");
        }
        let reasons = sum(&events, node, |e| e["cat"] == "reason");
        let stalls = ["read_stall", "write_stall", "sync_stall"].map(|key| number(counted, key));
        assert_eq!(reasons, stalls.iter().sum::<u64>(), "each stall has its reasons");
        assert_eq!(sum(&events, node, |e| e["tid"] == 1), number(counted, "engine_busy"));
        assert_eq!(sum(&events, node, |e| e["tid"] == 2), number(counted, "bus_busy"));
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
    for reason in ["lock", "network", "memory", "handler", "barrier"] {
        assert!(reasons(&lock).contains(reason), "{reason} in {:?}", reasons(&lock));
    }
    let em3d = ["sim", "programs/em3d.c", "-p", "stache", "-m", "typhoon-0", "-n", "4", "--", "-n", "40", "-r", "50"];
    for reason in ["engine busy", "bus busy", "barrier"] {
        assert!(reasons(&em3d).contains(reason), "{reason} in {:?}", reasons(&em3d));
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
    let folder = tempfile::tempdir().unwrap();
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
