//! A file of Chrome trace events: open it in Perfetto or in a browser's tracing page.
//!
//! What Perfetto does with such a file decides the details: a process or thread with the number 0, and threads of
//! several processes with one number, are something special to it; an arrow belongs to the slice that is the last to
//! have begun on its track, of those that begin at one time the shortest, so both ends stand where their handlers begin.

use crate::Failure;
use crate::out_file::OutFile;
use serde_json::{Value, json};
use std::io::{BufWriter, Write};
use std::path::Path;

/// The process of a node. Shown behind the node's name, so it should look like its number, and like no thread's.
pub fn process(node: u16) -> u32 {
    1000 + u32::from(node)
}

/// The thread of a track, another one for each node. A node's first nine lie together.
pub fn thread(node: u16, track: u32) -> u32 {
    match track.checked_sub(9) {
        None => 10 * process(node) + 1 + track,
        Some(further) => 1_000_000 + 10 * process(node) + further,
    }
}

/// Events that are written as they come.
pub struct TraceEvents {
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

impl TraceEvents {
    /// A file that will be at `path`, about so many nodes with these tracks each; it says with which settings they ran.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open(path: &Path, (nodes, settings): (u32, &Value), tracks: &[&str]) -> Result<TraceEvents, Failure> {
        let file = BufWriter::new(OutFile::open(path)?);
        let mut events = TraceEvents { file, events: 0, notes: 0, bytes: 0, failed: None };
        let other = json!({ "settings": settings });
        events.put(&format!("{{\"displayTimeUnit\":\"ns\",\"otherData\":{other},\"traceEvents\":["));
        for node in (0..).take(nodes as usize) {
            events.tell("process_name", node, 0, json!({ "name": format!("node {node}") }));
            events.tell("process_sort_index", node, 0, json!({ "sort_index": node }));
            for (track, name) in (0..).zip(tracks) {
                events.tell("thread_name", node, track, json!({ "name": name }));
                events.tell("thread_sort_index", node, track, json!({ "sort_index": track }));
            }
        }
        Ok(events)
    }

    /// Something about a track, or about its process.
    fn tell(&mut self, what: &str, node: u16, track: u32, args: Value) {
        self.event(&json!({ "name": what, "ph": "M", "pid": process(node), "tid": thread(node, track), "args": args }));
    }

    /// An event.
    pub fn event(&mut self, event: &Value) {
        let comma = if self.events > 0 { ",\n" } else { "\n" };
        self.events += 1;
        self.put(&format!("{comma}{event}"));
    }

    /// The events that follow are something that happened.
    pub fn count_note(&mut self) {
        self.notes += 1;
    }

    /// The file is there, whole; how large it is.
    ///
    /// # Errors
    /// It could not be written.
    pub fn finish(mut self) -> Result<TraceSize, Failure> {
        self.put("\n]}\n");
        let size = TraceSize { events: self.events, bytes: self.bytes, notes: self.notes };
        let flushed = match self.failed {
            Some(error) => Err(error),
            None => self.file.flush(),
        };
        let (file, _) = self.file.into_parts();
        file.finish(flushed)?;
        Ok(size)
    }

    fn put(&mut self, text: &str) {
        if self.failed.is_none() {
            self.bytes += text.len() as u64;
            self.failed = self.file.write_all(text.as_bytes()).err();
        }
    }
}

impl TraceSize {
    /// Says how large it is.
    pub fn tell(&self, file: &Path) {
        let [events, bytes] = [self.events, self.bytes].map(crate::output::grouped);
        crate::say!("trace: {events} events, {bytes} bytes in {}", file.display());
    }
}
