//! What every node of a run did, as Chrome trace events ([`crate::trace_events`]).
//!
//! One process a node, with a track for its program and one for its handlers, although both are one thread; one arrow from the handler
//! that sends a message to the one that it starts. Times are microseconds of the host since the run began.

use crate::Failure;
use crate::trace_events::{TraceEvents, TraceSize, process, thread};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use trivium_protocol::{EventKind, Protocol};
use trivium_run::{LiveHandled, LiveNote, LiveWhat, NodeTrace, Waited};

/// The tracks of a node, in the order in which they are shown.
const TRACKS: [&str; 2] = ["program", "handlers"];
const PROGRAM: u32 = 0;
const HANDLERS: u32 = 1;

/// A message by its sender, its receiver and its number among those of the two.
type MessageOf = (u16, u16, u64);

/// Writes what nodes did in a window of time, in nanoseconds, and with which settings they ran. Gives also how many arrows are left out, since they would go back in time.
///
/// # Errors
/// The file cannot be written.
pub fn write(
    path: &Path,
    protocols: &[Arc<Protocol>],
    (nodes, settings, window): (u32, &Value, &Range<u64>),
    traces: &[NodeTrace],
) -> Result<(TraceSize, u64), Failure> {
    let events = TraceEvents::open(path, (nodes, settings), &TRACKS)?;
    let mut writer = Writer { protocols, events, sent: sent_by(traces), arrows: 0, left_out: 0 };
    for trace in traces {
        writer.computes(trace, window);
        trace.notes.iter().for_each(|note| writer.note(trace.node, note));
    }
    Ok((writer.events.finish()?, writer.left_out))
}

/// When the handlers began that have sent each message.
fn sent_by(traces: &[NodeTrace]) -> BTreeMap<MessageOf, u64> {
    let mut sent = BTreeMap::new();
    for trace in traces {
        for note in &trace.notes {
            if let LiveWhat::Handled(handled) = &note.what {
                let of = |(_, (to, number)): &(_, (u16, u64))| ((trace.node, *to, *number), note.time.start);
                sent.extend(handled.sends.iter().map(of));
            }
        }
    }
    sent
}

struct Writer<'a> {
    protocols: &'a [Arc<Protocol>],
    events: TraceEvents,
    sent: BTreeMap<MessageOf, u64>,
    /// How many arrows there are so far.
    arrows: u64,
    left_out: u64,
}

/// Nanoseconds as microseconds.
fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}

impl Writer<'_> {
    fn slice(&mut self, (node, track): (u16, u32), (name, category): (&str, &str), time: &Range<u64>, args: Value) {
        let mut event = json!({
            "name": name, "cat": category, "ph": "X",
            "ts": microseconds(time.start), "dur": microseconds(time.end - time.start),
            "pid": process(node), "tid": thread(node, track),
        });
        if !args.is_null() {
            event["args"] = args;
        }
        self.events.count_note();
        self.events.event(&event);
    }

    /// A program computes where it does not wait, as far as is known.
    fn computes(&mut self, trace: &NodeTrace, window: &Range<u64>) {
        let end = trace.is_cut_at.unwrap_or(u64::MAX).min(trace.program.end).min(window.end);
        let mut since = trace.program.start.max(window.start);
        let waits = trace.notes.iter().filter(|note| matches!(note.what, LiveWhat::Waited(_))).map(|note| &note.time);
        for wait in waits.cloned().chain(std::iter::once(end..end)) {
            if since < wait.start {
                self.slice((trace.node, PROGRAM), ("compute", "compute"), &(since..wait.start), Value::Null);
            }
            since = since.max(wait.end);
        }
    }

    fn note(&mut self, node: u16, note: &LiveNote) {
        match &note.what {
            LiveWhat::Handled(handled) => self.handled(node, &note.time, handled),
            LiveWhat::Waited(waited) => {
                let (name, what) = self.waited(waited);
                self.slice((node, PROGRAM), (name, "stall"), &note.time, json!({ "what": what }));
            }
            LiveWhat::Region(begins) => {
                let name = if *begins { "region of interest begins" } else { "region of interest ends" };
                self.events.count_note();
                self.events.event(&json!({
                    "name": name, "ph": "i", "s": "t", "ts": microseconds(note.time.start),
                    "pid": process(node), "tid": thread(node, PROGRAM),
                }));
            }
        }
    }

    /// The name of a wait, as `sim` has it, and what for.
    fn waited(&self, waited: &Waited) -> (&'static str, String) {
        match waited {
            Waited::Access { is_load: true, address } => ("read stall", format!("a load at {address:#x}")),
            Waited::Access { is_load: false, address } => ("write stall", format!("a store at {address:#x}")),
            Waited::Call { protocol, op, object } => {
                let protocol = &self.protocols[*protocol];
                let op = &protocol.ops[op.index()].name;
                ("sync stall", format!("the call {}.{op} of object {}", protocol.name, object.id))
            }
            Waited::Barrier => ("sync stall", "the barrier".to_string()),
            Waited::Change { address } => ("sync stall", format!("the word at {address:#x} to change")),
            Waited::Page(page) => ("sync stall", format!("the home of page {page}")),
            Waited::Sleep => ("sync stall", "sleep".to_string()),
        }
    }

    fn handled(&mut self, node: u16, time: &Range<u64>, handled: &LiveHandled) {
        let protocol = &self.protocols[handled.protocol];
        let role = &protocol.roles[handled.role.index()];
        let state = |state: trivium_protocol::StateId| role.states[state.index()].name.clone();
        let name = format!("{}.{}", protocol.name, protocol.event_name(handled.event));
        let sends = handled.sends.iter();
        let args = json!({
            "object": format!("{} {}", protocol.objects[handled.object.kind.index()], handled.object.id),
            "before": state(handled.states.0),
            "after": state(handled.states.1),
            "disposition": format!("{:?}", handled.disposition).to_lowercase(),
            "sends": sends.map(|(message, (to, _))| format!("{} to {to}", protocol.messages[message.index()].name)).collect::<Vec<_>>(),
        });
        self.slice((node, HANDLERS), (&name, &role.name), time, args);
        let (Some((from, number)), EventKind::Message(_)) = (handled.brought, handled.event) else { return };
        // An arrow has both its ends in the window, or it is left out.
        let Some(&sent) = self.sent.get(&(from, node, number)) else { return };
        // Nodes that are processes have clocks of their own, and a viewer needs the beginning first.
        if sent > time.start {
            self.left_out += 1;
            return;
        }
        self.arrows += 1;
        for (phase, at, on) in [("s", sent, from), ("f", time.start, node)] {
            self.events.event(&json!({
                "name": name, "cat": "message", "ph": phase, "bp": "e", "id": self.arrows, "ts": microseconds(at),
                "pid": process(on), "tid": thread(on, HANDLERS),
            }));
        }
    }
}
