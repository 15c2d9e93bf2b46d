//! Chrome trace events as their description has them, and as Perfetto reads them.
//!
//! Of the format: each phase has its keys, numbers are whole and none is negative, a slice lies beside or inside another.
//! Of Perfetto: events are sorted by time; of those of one time, slices come first, the longer before the shorter, and
//! what is left stays in the order of the file; a slice that crosses the end of an open one is dropped; an arrow's end
//! belongs to the slice of its track that is the last to have begun; process 0 and thread 0 are something special, and
//! so is a thread with its process's number. The test `perfetto` compares all this with Perfetto.
#![allow(dead_code)]

pub mod live;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A track: process and thread.
type Track = (u64, u64);

pub fn number(event: &Value, key: &str) -> u64 {
    event[key].as_u64().unwrap_or_else(|| panic!("{key} in {event}"))
}

fn text<'a>(event: &'a Value, key: &str) -> &'a str {
    event[key].as_str().unwrap_or_else(|| panic!("{key} in {event}"))
}

fn track(event: &Value) -> Track {
    (number(event, "pid"), number(event, "tid"))
}

/// An arrow, as a viewer draws it: the events of the slices that it goes from and to.
pub struct Arrow<'a> {
    pub name: &'a str,
    pub from: &'a Value,
    pub to: &'a Value,
}

/// What a viewer has read.
#[derive(Default)]
pub struct Viewed<'a> {
    pub processes: BTreeMap<u64, &'a str>,
    pub tracks: BTreeMap<Track, &'a str>,
    /// Each slice, and the one that it lies in.
    pub slices: Vec<(&'a Value, Option<&'a Value>)>,
    pub arrows: Vec<Arrow<'a>>,
}

/// Reads a trace.
///
/// Panics if an event is not as it should be, or if a viewer would lose something of it.
pub fn view(trace: &Value) -> Viewed<'_> {
    view_head(trace);
    view_events(trace["traceEvents"].as_array().unwrap())
}

/// Reads what stands beside the events of a trace. A trace that the program has written has the settings of its run there.
pub fn view_head(trace: &Value) {
    let mut top: BTreeSet<&str> = trace.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(top.remove("otherData"), has_settings(trace), "{}", trace["otherData"]);
    assert_eq!(top, BTreeSet::from(["displayTimeUnit", "traceEvents"]));
    assert!(["ms", "ns"].contains(&text(trace, "displayTimeUnit")));
}

/// Whether it says with which settings it was made.
pub fn has_settings(trace: &Value) -> bool {
    trace["otherData"]["settings"].is_object()
}

/// Reads its events.
pub fn view_events(events: &[Value]) -> Viewed<'_> {
    let mut events: Vec<&Value> = events.iter().collect();
    let mut viewed = Viewed::default();
    events.iter().for_each(|event| viewed.look(event));
    events.retain(|event| event["ph"] != "M");
    events.sort_by_key(|event| {
        let shorter = if event["ph"] == "X" { u64::MAX - number(event, "dur") } else { u64::MAX };
        (number(event, "ts"), shorter)
    });

    let mut open: BTreeMap<Track, Vec<&Value>> = BTreeMap::new();
    let mut begun: BTreeMap<u64, &Value> = BTreeMap::new();
    for event in events {
        let slices = open.entry(track(event)).or_default();
        match text(event, "ph") {
            "X" => viewed.slices.push((event, push(slices, event, number(event, "dur")))),
            "i" => viewed.slices.push((event, push(slices, event, 0))),
            "s" => {
                let slice = slices.last().unwrap_or_else(|| panic!("{event} begins in nothing"));
                assert!(begun.insert(number(event, "id"), slice).is_none(), "two arrows have one number: {event}");
            }
            "f" => {
                let slice = slices.last().unwrap_or_else(|| panic!("{event} ends in nothing"));
                let from = begun.remove(&number(event, "id")).unwrap_or_else(|| panic!("{event} has no beginning"));
                viewed.arrows.push(Arrow { name: text(event, "name"), from, to: slice });
            }
            other => panic!("{other} is looked at before"),
        }
    }
    assert!(begun.is_empty(), "arrows without an end: {begun:?}");
    viewed
}

/// Opens a slice; those that have ended are closed. Tells in which it lies.
fn push<'a>(open: &mut Vec<&'a Value>, event: &'a Value, length: u64) -> Option<&'a Value> {
    let from = number(event, "ts");
    let end = |slice: &Value| number(slice, "ts") + slice["dur"].as_u64().unwrap_or(0);
    while let Some(last) = open.last() {
        let both_are_instants = length == 0 && number(last, "ts") == from && end(last) == from;
        if end(last) > from || both_are_instants {
            break;
        }
        open.pop();
    }
    if let Some(last) = open.last() {
        assert!(from + length <= end(last).max(from), "{event} crosses the end of {last}");
    }
    let parent = open.last().copied();
    open.push(event);
    parent
}

impl<'a> Viewed<'a> {
    /// The form of one event.
    fn look(&mut self, event: &'a Value) {
        let keys: BTreeSet<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
        let has = |needed: &[&str], allowed: &[&str]| {
            let all = [&["name", "ph", "pid", "tid"], needed].concat();
            assert!(all.iter().all(|key| keys.contains(key)), "{all:?} are needed in {event}");
            let known = [&all[..], allowed].concat();
            assert!(keys.iter().all(|key| known.contains(key)), "{known:?} are known in {event}");
            needed.iter().filter(|key| ["ts", "dur", "id"].contains(key)).for_each(|key| {
                number(event, key);
            });
        };
        let (pid, tid) = track(event);
        assert!(pid > 0 && tid > 0 && pid != tid && pid.max(tid) < 1 << 31, "{event}");
        assert!(!text(event, "name").is_empty(), "{event}");
        match text(event, "ph") {
            "M" => {
                has(&["args"], &[]);
                match text(event, "name") {
                    "process_name" => assert!(self.processes.insert(pid, text(&event["args"], "name")).is_none()),
                    "thread_name" => {
                        assert!(self.tracks.keys().all(|track| track.1 != tid), "two threads have one number: {event}");
                        self.tracks.insert((pid, tid), text(&event["args"], "name"));
                    }
                    "process_sort_index" | "thread_sort_index" => {
                        number(&event["args"], "sort_index");
                    }
                    other => panic!("{other} is not known"),
                }
                return;
            }
            "X" => has(&["ts", "dur", "cat"], &["args"]),
            "i" => {
                has(&["ts", "s"], &["cat", "args"]);
                assert!(["g", "p", "t"].contains(&text(event, "s")), "{event}");
            }
            "s" | "f" => {
                has(&["ts", "cat", "id", "bp"], &[]);
                assert_eq!(event["bp"], "e", "it belongs to the slice that it is in, not to the next: {event}");
            }
            other => panic!("phase {other} in {event}"),
        }
        assert!(self.processes.contains_key(&pid) && self.tracks.contains_key(&(pid, tid)), "no name for {event}");
    }
}
