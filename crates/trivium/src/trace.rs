//! What every part of every node was doing, as Chrome trace events: open the file in Perfetto or in a browser's
//! tracing page.
//!
//! One process a node, with a track for its processor, its engine, its bus, the two queues of its network
//! interface, the handlers of calls that the processor itself runs, and those of each engine for messages, where it has several; one arrow from the handler that sends a message to the one that it starts. A microsecond of the picture
//! is a cycle. Events are written as they come, so the size of a trace is bounded by the disk and not by memory.

use crate::Failure;
use crate::trace_events::{TraceEvents, TraceSize, process, thread};
use crate::tracks::{BUS, LINK_IN, LINK_OUT, PROCESSOR, stall_name, track};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use trivium_guest::{DebugInfo, StackFrame};
use trivium_sim::{Handled, Note, Stall};

/// A trace that is being written.
pub struct TraceFile<'a> {
    /// Arrows that begin earlier would begin in nothing.
    from: u64,
    events: RefCell<TraceEvents>,
    /// Where programs stand.
    map: Option<DebugInfo<'a>>,
    /// Places that have been looked up.
    places: RefCell<BTreeMap<Vec<StackFrame>, String>>,
}

impl<'a> TraceFile<'a> {
    /// A trace of so many nodes with these tracks, with the settings of its run, that will be at `path`, of what happens from cycle `from` on, by a program of which this
    /// says where it stands.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(
        path: &Path,
        run: (u32, &Value),
        tracks: &[&str],
        from: u64,
        map: Option<DebugInfo<'a>>,
    ) -> Result<TraceFile<'a>, Failure> {
        let events = RefCell::new(TraceEvents::open(path, run, tracks)?);
        Ok(TraceFile { from, events, map, places: RefCell::default() })
    }

    fn event(&self, event: &Value) {
        self.events.borrow_mut().event(event);
    }

    /// Adds what a part of a node did.
    pub fn add(&self, note: &Note) {
        self.events.borrow_mut().count_note();
        let cycles = note.cycles();
        let (ts, dur, node) = (cycles.start, cycles.end - cycles.start, note.node());
        let pid = process(node);
        let tid = |track: u32| thread(node, track);
        match note {
            Note::Handled(handled) => self.handled(handled),
            Note::Compute { .. } => self.event(
                &json!({ "name": "compute", "cat": "compute", "ph": "X", "ts": ts, "dur": dur, "pid": pid, "tid": tid(PROCESSOR) }),
            ),
            Note::Stall(stall) => self.stall(stall),
            Note::Bus { transaction, .. } => self.event(
                &json!({ "name": transaction.name(), "cat": "bus", "ph": "X", "ts": ts, "dur": dur, "pid": pid, "tid": tid(BUS) }),
            ),
            Note::Queue { leaves, peer, message, .. } => {
                let (track, whom) = if *leaves { (LINK_OUT, "to") } else { (LINK_IN, "from") };
                let args = json!({ whom: format!("node {peer}") });
                self.event(&json!({
                    "name": message, "cat": "link", "ph": "X", "ts": ts, "dur": dur, "pid": pid, "tid": tid(track), "args": args,
                }));
            }
            Note::Region { begins, .. } => {
                let name = if *begins { "region of interest begins" } else { "region of interest ends" };
                self.event(&json!({ "name": name, "ph": "i", "s": "t", "ts": ts, "pid": pid, "tid": tid(PROCESSOR) }));
            }
        }
    }

    fn handled(&self, handled: &Handled) {
        self.event(&json!({
            "name": handled.event, "cat": handled.role, "ph": "X", "ts": handled.cycle, "dur": handled.busy,
            "pid": process(handled.node), "tid": thread(handled.node, track(handled.worker)),
            "args": {
                "object": handled.object, "before": handled.before, "after": handled.after,
                "disposition": handled.disposition, "sends": handled.sends, "end": handled.end,
            },
        }));
        let arrow = handled.arrow.zip(handled.sender);
        let Some(((id, (sent, by)), sender)) = arrow.filter(|((_, (sent, _)), _)| *sent >= self.from) else {
            return;
        };
        // Both ends are written here, so no arrow is left without its other end.
        let ends = [("s", sent, sender, by), ("f", handled.cycle, handled.node, handled.worker)];
        for (ph, ts, node, worker) in ends {
            self.event(&json!({
                "name": handled.event, "cat": "message", "ph": ph, "bp": "e", "id": id, "ts": ts,
                "pid": process(node), "tid": thread(node, track(worker)),
            }));
        }
    }

    /// A stall, and in it why.
    fn stall(&self, stall: &Stall) {
        let span = |name: &str, cat: &str, cycles: &std::ops::Range<u64>, args: Value| {
            self.event(&json!({
                "name": name, "cat": cat, "ph": "X", "ts": cycles.start, "dur": cycles.end - cycles.start,
                "pid": process(stall.node), "tid": thread(stall.node, PROCESSOR), "args": args,
            }));
        };
        let mut args = json!({ "what": stall.what });
        if let Some(at) = self.place(&stall.at) {
            args["at"] = json!(at);
        }
        span(stall_name(stall.spent), "stall", &stall.cycles, args);
        for part in &stall.parts {
            let mut args = serde_json::Map::new();
            if !part.what.is_empty() {
                args.insert("what".into(), json!(part.what));
            }
            if let Some(node) = part.node {
                args.insert("where".into(), json!(format!("node {node}")));
            }
            span(part.reason.name(), "reason", &part.cycles, Value::Object(args));
        }
    }

    /// Where the program stood.
    fn place(&self, at: &[StackFrame]) -> Option<String> {
        let map = self.map.as_ref().filter(|_| !at.is_empty())?;
        let mut known = self.places.borrow_mut();
        if !known.contains_key(at) {
            let place = map.place(at).map_or(String::new(), |place| place.to_string());
            known.insert(at.to_vec(), place);
        }
        known.get(at).filter(|place| !place.is_empty()).cloned()
    }

    /// The file is there, whole; how large it is.
    ///
    /// # Errors
    /// It could not be written.
    pub fn finish(self) -> Result<TraceSize, Failure> {
        self.events.into_inner().finish()
    }
}
