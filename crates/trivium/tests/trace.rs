//! `trivium sim --trace`: every handler is in it, and every message arrives.

mod harness;

use harness::trivium;
use serde_json::Value;

const PINGPONG: [&str; 8] = ["sim", "programs/pingpong.c", "-p", "stache", "-m", "typhoon", "-n", "2"];

#[test]
fn every_message_that_leaves_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json").display().to_string();
    let result = trivium(&[&PINGPONG[..], &["--format", "json", "--trace", &file]].concat()).json(0);
    let trace: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let count = |kind: &str| events.iter().filter(|e| e["ph"] == kind).count() as u64;
    let sent: u64 = result["messages"].as_object().unwrap().values().map(|v| v.as_u64().unwrap()).sum();
    assert!(count("s") >= sent && sent > 0, "the trace has the messages of the region of interest, and others");
    assert_eq!(count("s"), count("f"));
    // Each handler is started by a message or by a fault of the node's own program.
    assert!(count("X") > count("f"));
    let handler = events.iter().find(|e| e["ph"] == "X").unwrap();
    for key in ["object", "before", "after", "disposition", "sends"] {
        assert!(handler["args"].get(key).is_some(), "{key} in {handler}");
    }
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
