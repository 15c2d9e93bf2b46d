//! Counterexamples executed again: in the engine, and on every machine in the same order.

mod harness;

use harness::trivium;
use serde_json::Value;
use std::path::PathBuf;

/// Broken protocols of shared memory with the options that find their fault, and how it shows under timing.
const BROKEN: [(&str, &str, &str); 4] = [
    ("broken/stache-lost-upgrade", "--nodes 2", "reads 0 at cycle 11"),
    ("broken/msi-forgotten-ack", "--nodes 2", "the simulator stops: deadlock"),
    ("broken/stache-unordered", "--nodes 3", "this was declared impossible"),
    ("broken/squeezed-lanes", "--nodes 3 --objects 2", "the simulator stops: deadlock"),
];

/// Checks a protocol and keeps the result in a file.
fn recorded(name: &str, options: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recorded.json");
    let mut words = vec!["check", name, "--format", "json", "--out", file.to_str().unwrap()];
    words.extend(options.split_whitespace());
    assert_eq!(trivium(&words).code, Some(1), "{name}");
    (folder, file)
}

#[test]
fn machines_go_through_the_recorded_states() {
    for (name, options, shows) in BROKEN {
        let (_folder, file) = recorded(name, options);
        for machine in ["simple-coma", "typhoon", "typhoon-1", "typhoon-0"] {
            let run = trivium(&["replay", file.to_str().unwrap(), "--machine", machine]);
            assert_eq!(run.code, Some(1), "{name} on {machine}: {}", run.err);
            assert!(
                run.out.contains("every node went through the recorded states"),
                "{name} on {machine}: {}",
                run.out
            );
            assert!(run.out.contains(shows), "{name} on {machine}: {}", run.out);
        }
    }
}

#[test]
fn an_event_given_to_another_node_is_noticed() {
    let (_folder, file) = recorded("broken/stache-lost-upgrade", "--nodes 2");
    let mut json: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    // Node 0 reads without any message, so that step 2 has none to handle.
    json["replay"]["events"][0]["node"] = 0.into();
    std::fs::write(&file, json.to_string()).unwrap();
    let run = trivium(&["replay", file.to_str().unwrap()]);
    run.refuses(2, &["step 2 of the recording cannot happen"]);
}

#[test]
fn cycles_are_those_of_the_machine() {
    let (_folder, file) = recorded("broken/stache-lost-upgrade", "--nodes 2");
    let handler = |machine: &str| {
        let json = trivium(&["replay", file.to_str().unwrap(), "--machine", machine, "--format", "json"]).json(1);
        assert_eq!(json["machine"], machine);
        let steps = json["timing"]["steps"].as_array().unwrap().clone();
        assert!(steps.windows(2).all(|pair| pair[0]["cycle"].as_u64() <= pair[1]["cycle"].as_u64()), "{steps:?}");
        steps.iter().find(|step| step["event"] == "GetRead from 1").unwrap()["handler"].as_u64().unwrap()
    };
    assert!(handler("simple-coma") < handler("typhoon-0"));
}

#[test]
fn calls_cannot_be_forced() {
    let (_folder, file) = recorded("broken/tree-barrier-late-reset", "--nodes 4");
    trivium(&["replay", file.to_str().unwrap(), "--machine", "typhoon"])
        .refuses(2, &["step 1 is a call", "without --machine"]);
}

#[test]
fn two_replays_are_the_same_but_for_the_time_they_took() {
    let (_folder, file) = recorded("broken/squeezed-lanes", "--nodes 3 --objects 2");
    let replay = || {
        let mut json = trivium(&["replay", file.to_str().unwrap(), "-m", "typhoon", "--format", "json"]).json(1);
        json["host_seconds"] = Value::Null;
        json
    };
    assert_eq!(replay(), replay());
}
