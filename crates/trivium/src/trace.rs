//! What engines did, as Chrome trace events: open the file in Perfetto or in a browser's tracing page.
//!
//! One process a node, one slice a handler, one arrow from each send to the handler that it started. A microsecond of the picture is a cycle.

use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use trivium_sim::Handled;

/// A trace that is being collected.
pub struct Trace {
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    events: Vec<Value>,
    /// Arrows that have not arrived, by sender, receiver and message, in order.
    flying: BTreeMap<(u16, u16, String), VecDeque<u64>>,
    arrows: u64,
}

impl Trace {
    /// An empty trace with a name for each node.
    pub fn new(nodes: u32) -> Trace {
        let name = |node: u32| json!({ "name": "process_name", "ph": "M", "pid": node, "tid": 0, "args": { "name": format!("node {node}") } });
        let track = |node: u32| json!({ "name": "thread_name", "ph": "M", "pid": node, "tid": 0, "args": { "name": "engine" } });
        let events = (0..nodes).flat_map(|node| [name(node), track(node)]).collect();
        Trace { inner: RefCell::new(Inner { events, ..Inner::default() }) }
    }

    /// Adds a handled event.
    pub fn add(&self, handled: &Handled) {
        let inner = &mut *self.inner.borrow_mut();
        let span = handled.end.saturating_sub(handled.cycle);
        inner.events.push(json!({
            "name": handled.event, "cat": handled.role, "ph": "X", "ts": handled.cycle, "dur": span,
            "pid": handled.node, "tid": 0,
            "args": {
                "object": handled.object, "before": handled.before, "after": handled.after,
                "disposition": handled.disposition, "sends": handled.sends,
            },
        }));
        let (_, event) = handled.event.split_once('.').unwrap_or(("", &handled.event));
        if let Some(sender) = handled.sender {
            let key = (sender, handled.node, event.to_string());
            if let Some(arrow) = inner.flying.get_mut(&key).and_then(VecDeque::pop_front) {
                inner.events.push(json!({
                    "name": event, "cat": "message", "ph": "f", "bp": "e", "id": arrow, "ts": handled.cycle,
                    "pid": handled.node, "tid": 0,
                }));
            }
        }
        for sent in &handled.sends {
            let Some((message, to)) = sent.rsplit_once(" to ") else { continue };
            let Ok(to) = to.parse() else { continue };
            inner.arrows += 1;
            let arrow = inner.arrows;
            inner.flying.entry((handled.node, to, message.to_string())).or_default().push_back(arrow);
            inner.events.push(json!({
                "name": message, "cat": "message", "ph": "s", "id": arrow, "ts": handled.cycle,
                "pid": handled.node, "tid": 0,
            }));
        }
    }

    /// The whole trace as JSON.
    pub fn finish(self) -> String {
        let events = self.inner.into_inner().events;
        let mut text = json!({ "displayTimeUnit": "ns", "traceEvents": events }).to_string();
        text.push('\n');
        text
    }
}
