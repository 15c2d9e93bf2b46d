//! Traces of real runs.

use super::{has_settings, number, view_events, view_head};
use serde_json::{Value, json};
use std::path::Path;

/// The events of a trace with times in whole nanoseconds, as the viewer wants them.
pub fn events(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut trace: Value = serde_json::from_str(&text).unwrap();
    view_head(&trace);
    assert!(has_settings(&trace), "{}", file.display());
    let mut events = trace["traceEvents"].as_array_mut().unwrap().split_off(0);
    for event in &mut events {
        for key in ["ts", "dur"] {
            if let Some(time) = event[key].as_f64() {
                event[key] = json!((time * 1000.0).round() as u64);
            }
        }
    }
    events
}

/// A trace as a viewer reads it: arrows go from the handler that sends a message to the one that it starts. Gives how many there are.
pub fn is_valid(events: &[Value], nodes: usize) -> usize {
    let viewed = view_events(events);
    assert_eq!(viewed.processes.len(), nodes);
    assert_eq!(viewed.tracks.values().filter(|name| **name == "handlers").count(), nodes);
    for arrow in &viewed.arrows {
        let message = arrow.name.rsplit_once('.').unwrap().1;
        let sends = format!("{message} to {}", number(arrow.to, "pid") - 1000);
        assert_eq!(arrow.to["name"], arrow.name);
        assert!(arrow.from["args"]["sends"].as_array().unwrap().contains(&json!(sends)), "{sends}: {}", arrow.from);
        assert!(number(arrow.from, "ts") < number(arrow.to, "ts"), "{} {}", arrow.from, arrow.to);
    }
    viewed.arrows.len()
}

pub fn count(events: &[Value], wanted: impl Fn(&Value) -> bool) -> usize {
    events.iter().filter(|event| wanted(event)).count()
}

/// Whether an event is a slice of this track (0: the program, 1: handlers) of a node.
pub fn is_on(event: &Value, node: u64, track: u64) -> bool {
    event["ph"] == "X" && event["tid"] == json!(10 * (1000 + node) + 1 + track)
}
