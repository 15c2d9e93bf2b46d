//! What every part of every node was doing, as Chrome trace events: open the file in Perfetto or in a browser's
//! tracing page.
//!
//! One process a node, with a track for its processor, its engine, its bus and the two queues of its network
//! interface; one arrow from the handler that sends a message to the one that it starts. A microsecond of the picture
//! is a cycle. Events are written as they come, so the size of a trace is bounded by the disk and not by memory.
//!
//! What Perfetto does with such a file decides the details: a process or thread with the number 0, and threads of
//! several processes with one number, are something special to it; an arrow belongs to the slice that is the last to
//! have begun on its track, of those that begin at one time the shortest, so both ends stand where their handlers begin.

use crate::Failure;
use crate::out_file::OutFile;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use trivium_guest::{DebugInfo, StackFrame};
use trivium_sim::{Handled, Note, Spent, Stall};

/// The tracks of a node, in the order in which they are shown.
const TRACKS: [&str; 5] = ["processor", "engine", "bus", "link out", "link in"];
const PROCESSOR: u32 = 0;
const ENGINE: u32 = 1;
const BUS: u32 = 2;
const LINK_OUT: u32 = 3;
const LINK_IN: u32 = 4;

/// The process of a node. Shown behind the node's name, so it should look like its number, and like no thread's.
fn process(node: u16) -> u32 {
    1000 + u32::from(node)
}

/// The thread of a track, another one for each node.
fn thread(node: u16, track: u32) -> u32 {
    10 * process(node) + 1 + track
}

/// A trace that is being written.
pub struct TraceFile<'a> {
    /// Arrows that begin earlier would begin in nothing.
    from: u64,
    inner: RefCell<Inner>,
    /// Where programs stand.
    map: Option<DebugInfo<'a>>,
    /// Places that have been looked up.
    places: RefCell<BTreeMap<Vec<StackFrame>, String>>,
}

struct Inner {
    file: BufWriter<OutFile>,
    events: u64,
    notes: u64,
    bytes: u64,
    failed: Option<std::io::Error>,
}

/// How large a trace has become.
#[derive(Clone, Copy, Debug)]
pub struct TraceSize {
    /// Its events.
    pub events: u64,
    /// Its bytes.
    pub bytes: u64,
    /// How many of its events are something that happened.
    pub notes: u64,
}

impl<'a> TraceFile<'a> {
    /// A trace of so many nodes that will be at `path`, of what happens from cycle `from` on, by a program of which this
    /// says where it stands.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(path: &Path, nodes: u32, from: u64, map: Option<DebugInfo<'a>>) -> Result<TraceFile<'a>, Failure> {
        let file = BufWriter::new(OutFile::open(path)?);
        let inner = RefCell::new(Inner { file, events: 0, notes: 0, bytes: 0, failed: None });
        let trace = TraceFile { from, inner, map, places: RefCell::default() };
        trace.inner.borrow_mut().put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        for node in (0..).take(nodes as usize) {
            trace.tell("process_name", node, PROCESSOR, json!({ "name": format!("node {node}") }));
            trace.tell("process_sort_index", node, PROCESSOR, json!({ "sort_index": node }));
            for (track, name) in (0..).zip(TRACKS) {
                trace.tell("thread_name", node, track, json!({ "name": name }));
                trace.tell("thread_sort_index", node, track, json!({ "sort_index": track }));
            }
        }
        Ok(trace)
    }

    /// Something about a track, or about its process.
    fn tell(&self, what: &str, node: u16, track: u32, args: Value) {
        self.event(&json!({ "name": what, "ph": "M", "pid": process(node), "tid": thread(node, track), "args": args }));
    }

    fn event(&self, event: &Value) {
        let inner = &mut *self.inner.borrow_mut();
        let comma = if inner.events > 0 { ",\n" } else { "\n" };
        inner.events += 1;
        inner.put(&format!("{comma}{event}"));
    }

    /// Adds what a part of a node did.
    pub fn add(&self, note: &Note) {
        self.inner.borrow_mut().notes += 1;
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
            "pid": process(handled.node), "tid": thread(handled.node, ENGINE),
            "args": {
                "object": handled.object, "before": handled.before, "after": handled.after,
                "disposition": handled.disposition, "sends": handled.sends, "end": handled.end,
            },
        }));
        let Some(((id, sent), sender)) = handled.arrow.zip(handled.sender).filter(|((_, sent), _)| *sent >= self.from)
        else {
            return;
        };
        // Both ends are written here, so no arrow is left without its other end.
        for (ph, ts, node) in [("s", sent, sender), ("f", handled.cycle, handled.node)] {
            self.event(&json!({
                "name": handled.event, "cat": "message", "ph": ph, "bp": "e", "id": id, "ts": ts,
                "pid": process(node), "tid": thread(node, ENGINE),
            }));
        }
    }

    /// A stall, and in it why.
    fn stall(&self, stall: &Stall) {
        let name = match stall.spent {
            Spent::Read => "read stall",
            Spent::Write => "write stall",
            Spent::Sync => "sync stall",
        };
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
        span(name, "stall", &stall.cycles, args);
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
        let mut inner = self.inner.into_inner();
        inner.put("\n]}\n");
        let size = TraceSize { events: inner.events, bytes: inner.bytes, notes: inner.notes };
        let flushed = match inner.failed {
            Some(error) => Err(error),
            None => inner.file.flush(),
        };
        let (file, _) = inner.file.into_parts();
        file.finish(flushed)?;
        Ok(size)
    }
}

impl Inner {
    fn put(&mut self, text: &str) {
        if self.failed.is_none() {
            self.bytes += text.len() as u64;
            self.failed = self.file.write_all(text.as_bytes()).err();
        }
    }
}
