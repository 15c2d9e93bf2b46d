//! `trivium run --trace`: each node's program and handlers have their tracks, every arrow has both its ends, and the numbers are those of the result.

use crate::harness::{Run, trivium};
use crate::viewer::live::{self, count, is_valid};
use crate::viewer::number;
use serde_json::Value;
use std::path::Path;

/// What a run says, and the events of its trace.
fn traced(args: &[&str], file: &Path) -> (Run, Vec<Value>) {
    let at = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
    let more = ["--format", "json", "--max-seconds", "60", "--trace", file.to_str().unwrap()];
    let run = trivium(&[&args[..at], &more, &args[at..]].concat());
    assert!(file.exists(), "{run:?}");
    let events = live::events(file);
    (run, events)
}

#[test]
fn each_message_is_an_arrow_and_each_access_fault_a_stall() {
    let folder = crate::harness::folder();
    // It marks no region of interest: all is counted.
    for delays in [&[][..], &["--delays", "7"]] {
        let relay = ["run", "programs/litmus.c", "-p", "msi", "--nodes", "3"];
        let args = [&relay[..], delays, &["--", "-n", "6"]].concat();
        let (run, events) = traced(&args, &folder.path().join("trace.json"));
        let result = run.json(0);
        assert!(run.err.starts_with("trace: "), "{run:?}");
        let sent: u64 = result["messages"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(is_valid(&events, 3) as u64, sent);
        let faults = |key: &str| result["misses"][key].as_u64().unwrap();
        let stalls = |name: &str| count(&events, |event| event["name"] == name) as u64;
        assert_eq!(stalls("read stall"), faults("read"));
        assert_eq!(stalls("write stall"), faults("write") + faults("upgrade"));
        assert!(stalls("compute") > 0 && stalls("sync stall") > 0);
        let barrier = count(&events, |event| event["args"]["what"] == "the barrier");
        assert!(barrier > 0, "a barrier is a wait of its own");
    }
}

#[test]
fn calls_timers_and_deferred_events_are_in_a_trace() {
    let folder = crate::harness::folder();
    let lock = ["run", "programs/lockbench-token.c", "-p", "stache", "-p", "token-lock", "--nodes", "3"];
    let (run, events) = traced(&lock, &folder.path().join("trace.json"));
    run.json(0);
    is_valid(&events, 3);
    let calls =
        |event: &Value| event["args"]["what"].as_str().is_some_and(|what| what.starts_with("the call token-lock."));
    assert!(count(&events, calls) > 0);
    assert_eq!(count(&events, |event| event["name"] == "region of interest begins"), 3);
}

#[test]
fn a_window_is_a_part_of_the_trace_and_an_empty_one_says_so() {
    let folder = crate::harness::folder();
    let file = folder.path().join("trace.json");
    let program = ["run", "programs/pingpong.c", "-p", "stache", "--nodes", "2"];
    let (_, all) = traced(&[&program[..], &["--", "-n", "300"]].concat(), &file);
    let first = all.iter().filter(|event| event["cat"] == "stall").map(|event| number(event, "ts")).min().unwrap();
    let to = (first / 1000 + 1).to_string();
    let (run, part) = traced(&[&program[..], &["--trace-to", &to, "--", "-n", "300"]].concat(), &file);
    is_valid(&part, 2);
    run.json(0);
    assert!(part.len() < all.len());
    assert!(
        part.iter().filter(|event| event["ph"] != "M").all(|event| number(event, "ts") < 1000 * (first / 1000 + 1))
    );
    let (run, _) = traced(&[&program[..], &["--trace-from", "1000000000"]].concat(), &file);
    assert!(run.code == Some(0) && run.err.contains("the trace is empty"), "{run:?}");
}

/// That is when one wants it most.
#[test]
fn a_run_that_goes_wrong_leaves_its_trace() {
    let folder = crate::harness::folder();
    let (run, events) =
        traced(&["run", "programs/bad/deadlock.c", "-p", "stache", "--nodes", "2"], &folder.path().join("trace.json"));
    run.json(1);
    is_valid(&events, 2);
    assert!(run.err.contains("deadlock"), "{run:?}");
    // Whoever waits for ever is seen waiting.
    assert!(count(&events, |event| event["args"]["what"] == "the barrier") > 0, "{events:?}");
}

#[test]
fn a_recorded_run_can_be_traced_when_it_is_replayed() {
    let folder = crate::harness::folder();
    let recording = folder.path().join("run.rec").display().to_string();
    let program = ["run", "programs/litmus.c", "-p", "msi", "--nodes", "2"];
    let args = ["--", "-n", "5"];
    trivium(&[&program[..], &["--format", "json", "--delays", "3", "--record", &recording], &args].concat()).json(0);
    let replay = [&program[..], &["--replay", &recording], &args].concat();
    let (run, events) = traced(&replay, &folder.path().join("trace.json"));
    let sent: u64 = run.json(0)["messages"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(is_valid(&events, 2) as u64, sent);
}

#[test]
fn what_cannot_be_traced_is_refused() {
    let hello = ["run", "programs/hello.c", "-p", "stache"];
    trivium(&[&hello[..], &["--trace", "no-such-folder/trace.json"]].concat()).refuses(2, &["cannot be written"]);
    trivium(&[&hello[..], &["--trace-from", "5"]].concat()).refuses(2, &["--trace"]);
}
