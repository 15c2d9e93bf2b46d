//! Counterexamples executed again: in the engine, and on every machine in the same order.

use crate::broken::is_tried;
use crate::harness::{self, trivium};
use crate::slow;
use serde_json::Value;
use std::path::PathBuf;

/// Every broken protocol with the options that find its fault, and how that shows under timing.
const BROKEN: &[(&str, &str, &str)] = &[
    ("bank-queue-one-lane", "", "every node"),
    ("channel-taken", "", "is false for channel 0"),
    ("channel-unordered", "", "assertion failed"),
    ("column-free-early", "", "assertion failed"),
    ("column-unordered", "", "assertion failed"),
    ("eager-exclusive-lent-early", "", "node 1 reads 0"),
    ("eager-stale-upgrade", "", "node 1 reads 0"),
    ("early-reply", "", "every node"),
    ("fbcopy-both-ask", "", "every node"),
    ("fbcopy-change-unseen", "", "is false for job 0"),
    ("fbcopy-flag-in-memory", "", "node 0 reads 0"),
    ("fbcopy-hint-taken-seriously", "", "this was declared impossible"),
    ("fbcopy-late-refusal", "", "the simulator stops: deadlock"),
    ("fbcopy-owner-has-none", "", "the simulator stops: deadlock"),
    ("fbcopy-pending-destination", "", "this was declared impossible"),
    ("fbcopy-pending-source", "", "this was declared impossible"),
    ("fbcopy-refused-landing-counted", "", "node 0 reads 1"),
    ("fbcopy-sent-before-collected", "--ops 2", "node 0 reads 0"),
    ("flash-early-forgotten", "", "every node"),
    ("flash-fenced-at-ownership", "", "node 1 reads 0"),
    ("flash-fenced-told-late", "", "node 2 reads 0"),
    ("flash-listed-twice", "--nodes 3", "the processor's cache has the block absent"),
    ("flash-pending-served", "", "every node"),
    ("flash-pointer-unreserved", "--scenario last_pointer", "2 is outside 0..1"),
    ("flash-portion-forgotten", "", "every node"),
    ("flash-prefetch-dropped", "", "the simulator stops: deadlock"),
    ("flash-relaxed-forgotten-writeback", "", "every node"),
    ("flash-shared-lent", "", "the processor's cache has the block absent"),
    ("flash-upgrade-believed", "", "the processor's cache has the block absent"),
    ("flash-writeback-forgotten", "", "every node"),
    ("flash-writeback-ignored", "--nodes 2", "node 1 reads 0"),
    ("mm-ack-on-requests", "", "fork on node 0"),
    ("mm-few-buffers", "", "the list is full"),
    ("mm-newest-first", "", "fork on node 2"),
    ("mm-out-of-turn", "", "assertion failed"),
    ("mm-retry-throttled", "", "accept on node 0"),
    ("moesi-stale-writeback", "", "node 0 reads 0"),
    ("moesi-store-lost", "", "node 0 reads 0"),
    ("msi-forgotten-ack", "--nodes 2", "the simulator stops: deadlock"),
    ("msi-monitor-lost-wakeup", "--scenario message", "the simulator stops: deadlock"),
    ("pair-credits-to-itself", "", "2 is outside 0..1"),
    ("peterson-turn-first", "", "node 1 reads 1"),
    ("pool-uncounted", "", "3 is outside 0..2"),
    ("posted-writes-overtaken", "", "assertion failed"),
    ("release-probe-copy-kept", "", "may write block 0"),
    ("release-probe-release-waits", "", "the simulator stops: deadlock"),
    ("remote-records-one-half", "", "assertion failed"),
    ("remote-records-torn", "", "assertion failed"),
    ("retry-credits-forgotten", "", "the simulator stops: deadlock"),
    ("retry-credits-given-twice", "", "2 is outside 0..1"),
    ("replies-apart", "", "the simulator stops: deadlock"),
    ("squeezed-lanes", "--nodes 3 --objects 2", "the simulator stops: deadlock"),
    ("stache-counted-forgotten", "", "forget on node 0"),
    ("stache-counted-lent", "", "node 1 reads 0"),
    ("stache-lost-upgrade", "--nodes 2", "reads 0 at cycle 11"),
    ("stache-pages-forgotten", "", "the simulator stops: deadlock"),
    ("stache-prefetch-forgotten", "", "this was declared impossible"),
    ("stache-unordered", "--nodes 3", "this was declared impossible"),
    ("swcc-get-without-copy", "--nodes 2", "it looks at the contents of block 0, which this node has not"),
    ("swcc-late-answer", "--nodes 2 --scenario answered_twice", "node 1 reads 0"),
    ("swcc-lock-dropped-early", "--nodes 2 --scenario home_hears_late", "node 1 reads 0"),
    ("swcc-lock-refuses-invalidate", "--nodes 2 --scenario two_writers", "get on node 1"),
    ("swcc-put-without-lock", "--nodes 2", "node 1 reads 0"),
    ("swcc-store-leaves-readers", "--nodes 2", "may write block 0"),
    ("token-list-forgotten", "", "the simulator stops: deadlock"),
    ("token-list-kept", "", "assertion failed"),
    ("token-list-noted-late", "", "the simulator stops: deadlock"),
    ("token-lock-newcomer-first", "", "assertion failed"),
    ("token-ring-everywhere", "", "acquire on node 1"),
    ("tree-barrier-late-reset", "--nodes 4", "arrive on node 0 at cycle 15"),
    ("tso-cc-home-learns-nothing", "--nodes 2 --objects 2", "node 0 reads 0"),
    ("two-locks", "--nodes 2 --scenario crossed", "the simulator stops: deadlock"),
    ("uncached-answered-early", "", "which nobody has performed"),
    ("uncached-sync-without-waiting", "--scenario put_is_done", "node 1 reads 0"),
    ("uncached-update-torn", "", " when it was performed"),
    ("write-update-no-turn", "--nodes 2", "node 1 reads 0"),
];

/// Broken protocols whose counterexamples no machine can be made to follow: its network delivers each message once, blocks have their homes in turn, a
/// node has one thread, and what bodies see in lines of the processor's cache is a program's in C.
const REFUSED: [(&str, &str); 27] = [
    ("alternating-bit-unordered", "--nodes 2"),
    ("call-assembly-mixed", ""),
    ("mapped-coming-unmapped", ""),
    ("mapped-contents-lost", ""),
    ("mapped-frame-early", ""),
    ("mapped-frame-kept", ""),
    ("uncached-duplicated", "--nodes 2"),
    ("mshr-entry-lost", "--nodes 2"),
    ("mshr-one-lane", "--nodes 2"),
    ("fbcopy-calls-mixed", ""),
    ("fbcopy-last-line-left", "--nodes 2"),
    ("fbcopy-memory-sent", "--nodes 2"),
    ("fbcopy-owner-kept", "--nodes 2"),
    ("fbcopy-sharers-left", "--nodes 2"),
    ("fbcopy-sharers-untold", "--nodes 2"),
    ("flash-barrier-early-lost", ""),
    ("flash-barrier-let-go-twice", ""),
    ("flash-barrier-line-kept", ""),
    ("flash-barrier-new-sense", ""),
    ("flash-barrier-reset-late", ""),
    ("flash-lock-hint-of-any-turn", ""),
    ("flash-lock-leaving-missed", ""),
    ("flash-lock-timeout-blind", ""),
    ("flash-lock-token-kept", ""),
    ("flash-lock-unfair", ""),
    ("flash-lock-unlock-unseen", ""),
    ("flash-lock-writeback-lost", ""),
];

/// File tests whose counterexamples need a timer of a first state at a moment of the recording's choice: a machine counts it from
/// when the record was made.
const TIMERS: [&str; 2] = ["starvation-lost-wake-up.test", "starvation-lost-wake-up-scenario.test"];

/// Checks a protocol and keeps the result in a file.
fn recorded(name: &str, options: &str) -> (crate::harness::Folder, PathBuf) {
    let folder = crate::harness::folder();
    let file = folder.path().join("recorded.json");
    let mut words = vec!["check", name, "--format", "json", "--out", file.to_str().unwrap()];
    words.extend(options.split_whitespace());
    assert_eq!(trivium(&words).code, Some(1), "{name}");
    (folder, file)
}

#[test]
fn machines_go_through_the_recorded_states_of_every_broken_protocol() {
    let mut known: Vec<String> = BROKEN.iter().map(|(name, ..)| format!("{name}.tri")).collect();
    known.extend(REFUSED.map(|(name, _)| format!("{name}.tri")));
    known.sort();
    let mut there: Vec<String> = std::fs::read_dir(harness::root().join("protocols/broken"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    assert_eq!(there, known);
    for (name, options) in slow::one_in(3, REFUSED) {
        let (_folder, file) = recorded(&format!("broken/{name}"), options);
        trivium(&["replay", file.to_str().unwrap(), "--machine", "typhoon"])
            .refuses(2, &["cannot be forced under timing"]);
    }
    let tried = BROKEN.iter().filter(|(name, ..)| is_tried(name));
    for (number, &(name, options, shows)) in slow::one_in(5, tried.enumerate()) {
        let (_folder, file) = recorded(&format!("broken/{name}"), options);
        for machine in slow::in_turn(4, number, ["simple-coma", "typhoon", "typhoon-1", "typhoon-0"]) {
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

/// The options of `check` that stand at the head of a file test; none if it is not violated, is about another file, or needs what is no option.
fn options(text: &str) -> Option<String> {
    let head = |key: &str| text.lines().find_map(|line| line.strip_prefix(&format!("// {key}: ")));
    if head("words").or(head("file")).is_some() || !head("expect")?.starts_with("violated") {
        return None;
    }
    let options = ["nodes", "clients", "objects", "ops", "values", "network", "scenario"].map(|key| (key, key));
    let options = options.iter().chain(&[("threads", "threads-per-node")]);
    let given = options.filter_map(|(key, option)| Some(format!("--{option} {}", head(key)?)));
    Some(given.collect::<Vec<_>>().join(" "))
}

#[test]
fn machines_go_through_the_recorded_states_of_the_file_tests() {
    let folder = harness::root().join("crates/check/tests/files");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut replayed = 0;
    for path in files {
        let Some(options) = options(&std::fs::read_to_string(&path).unwrap()) else { continue };
        let name = path.to_str().unwrap();
        let (_folder, file) = recorded(name, &options);
        let run = trivium(&["replay", file.to_str().unwrap(), "--machine", "typhoon"]);
        if run.code == Some(2) {
            let reason = ["several threads on a node", "gives no access to blocks", "cannot be forced under timing"];
            assert!(reason.iter().any(|reason| run.err.contains(reason)), "{name}: {}", run.err);
            continue;
        }
        // A machine ends the scenario's program, as it would any other.
        if name.ends_with("made-object-without-a-question-mark.test") {
            run.refuses(1, &["which is not there"]);
            continue;
        }
        if TIMERS.iter().any(|timer| name.ends_with(timer)) {
            run.refuses(1, &["the machine cannot be made to keep this order by delays of messages alone"]);
            continue;
        }
        assert_eq!(run.code, Some(1), "{name}: {}", run.err);
        assert!(run.out.contains("every node went through the recorded states"), "{name}: {}", run.out);
        replayed += 1;
    }
    assert!(replayed >= 20, "{replayed}");
}

/// A node of a machine says what the recorded body says, in the recorded steps, and is answered as recorded.
#[test]
fn what_bodies_say_is_forced() {
    let (_folder, file) = recorded("broken/fbcopy-late-refusal", "");
    let json = trivium(&["replay", file.to_str().unwrap(), "-m", "typhoon", "--format", "json"]).json(1);
    let timing = &json["timing"];
    let returns: Vec<_> = timing["returns"].as_array().unwrap().iter().map(|done| (&done[1], &done[2])).collect();
    assert_eq!(returns, [(&Value::from(1), &Value::from("commit"))], "{timing}");
    let handled: Vec<&str> =
        timing["steps"].as_array().unwrap().iter().filter_map(|step| step["event"].as_str()).collect();
    let words = ["lines(1)", "place(block 1)", "place(block 0)", "commit: return ask commit"];
    assert!(handled.windows(words.len()).any(|events| events == words), "{handled:?}");
    // A body that is at fault is a program's own.
    let name = harness::root().join("crates/check/tests/files/call-body-result-out-of-range.test");
    let (_folder, file) = recorded(name.to_str().unwrap(), "--nodes 2");
    let run = trivium(&["replay", file.to_str().unwrap(), "-m", "typhoon"]);
    run.refuses(2, &["cannot be forced under timing: the body of a call is at fault"]);
}

/// The whole system of `swcc` without scenario has a put in two halves: a task, and calls that return before.
#[test]
fn calls_and_tasks_are_forced() {
    let (_folder, file) = recorded("broken/swcc-put-without-lock", "--nodes 2");
    let json = trivium(&["replay", file.to_str().unwrap(), "-m", "typhoon", "--format", "json"]).json(1);
    assert_eq!(json["timing"]["loads"][0][2], 0, "{json}");
    let (_folder, file) = recorded("broken/two-locks", "--nodes 2 --scenario crossed");
    let json = trivium(&["replay", file.to_str().unwrap(), "-m", "typhoon", "--format", "json"]).json(1);
    let returns = json["timing"]["returns"].as_array().unwrap();
    assert_eq!(
        returns.iter().map(|done| (&done[1], &done[2])).collect::<Vec<_>>(),
        [(&0.into(), &"acquire".into()), (&1.into(), &"acquire".into())]
    );
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
fn threads_of_one_node_cannot_be_forced() {
    let (_folder, file) = recorded("broken/stache-lost-upgrade", "--nodes 2 --threads-per-node 2");
    trivium(&["replay", file.to_str().unwrap(), "--machine", "typhoon"])
        .refuses(2, &["several threads on a node", "one processor", "without --machine"]);
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

/// Calls have numbers, which depend on what is left out: a counterexample is told with those of the search that found it.
#[test]
fn a_search_by_brute_force_tells_of_the_calls_that_it_made() {
    let folder = crate::harness::folder();
    let file = folder.path().join("calls.tri");
    let text = "protocol calls\nobject thing\nop go(t: thing, k: 0..2)\nop poke(t: thing)\n\
        role x of thing everywhere { state A { on go { return } on poke { assert me != me; return } } }\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    for search in [&["--brute"][..], &[]] {
        let found = trivium(&[&["check", file, "--nodes", "2"][..], search].concat());
        assert!(found.code == Some(1) && found.out.contains("● poke"), "{found:?}");
        trivium(&[&["check", file, "--nodes", "2", "--format", "json"][..], search].concat()).json(1);
    }
}
