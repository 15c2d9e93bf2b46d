//! What each node did and when, for a trace. Nothing here has an effect on a run, and nothing of it is done without a trace.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use trivium_engine::{Disposition, Node, Object};
use trivium_protocol::{EventKind, MessageId, OpId, RoleId, StateId};

/// Most bytes of all nodes' notes.
const MOST: usize = 1 << 28;

/// A trace of a run, which its nodes fill when they end.
#[derive(Debug)]
pub struct RunTrace {
    window: Range<u64>,
    nodes: Mutex<Vec<NodeTrace>>,
}

impl RunTrace {
    /// Of what happens in a window of nanoseconds since the run began.
    pub fn new(window: Range<u64>) -> RunTrace {
        RunTrace { window, nodes: Mutex::default() }
    }

    /// What the nodes did, in their order. One that was given up is missing.
    pub fn into_nodes(self) -> Vec<NodeTrace> {
        let mut nodes = self.nodes.into_inner().unwrap_or_else(PoisonError::into_inner);
        nodes.sort_by_key(|node| node.node);
        nodes
    }

    pub(crate) fn tracer(&self, nodes: u32) -> Box<Tracer> {
        Box::new(Tracer {
            window: self.window.clone(),
            room: MOST / nodes.max(1) as usize,
            trace: NodeTrace::default(),
            sent: vec![0; nodes as usize],
            received: vec![0; nodes as usize],
            began: 0,
            brought: None,
        })
    }

    pub(crate) fn keep(&self, node: Node, now: u64, tracer: Tracer) {
        let mut trace = NodeTrace { node, ..tracer.trace };
        let end = if trace.program.end == 0 { now } else { trace.program.end };
        trace.program.end = end.max(trace.program.start);
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner).push(trace);
    }
}

/// What one node did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeTrace {
    /// Which.
    pub node: Node,
    /// When its program ran, or waited: in nanoseconds since the run began, as all times here.
    pub program: Range<u64>,
    /// In the order in which they ended.
    pub notes: Vec<LiveNote>,
    /// From when on there was no room for more.
    pub is_cut_at: Option<u64>,
}

/// Something that a node did.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveNote {
    /// When.
    pub time: Range<u64>,
    /// What.
    pub what: LiveWhat,
}

/// What a node did.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveWhat {
    /// A handler ran, or an event was deferred or held.
    Handled(LiveHandled),
    /// Its program waited.
    Waited(Waited),
    /// The region of interest of its program began, or else ended.
    Region(bool),
}

/// A message that has a number among those from one node to another.
pub type Numbered = (Node, u64);

/// An event, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveHandled {
    /// The place of the protocol in the setup.
    pub protocol: usize,
    /// Who answered.
    pub role: RoleId,
    /// What came.
    pub event: EventKind,
    /// About what.
    pub object: Object,
    /// The role's state when it came, and at the end.
    pub states: (StateId, StateId),
    /// What became of it.
    pub disposition: Disposition,
    /// The message that has just come, if one has, and from whom.
    pub brought: Option<Numbered>,
    /// What was sent, and to whom.
    pub sends: Vec<(MessageId, Numbered)>,
}

/// For what a program waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// To load from an address, or else to store there.
    Access {
        /// Whether it loads.
        is_load: bool,
        /// The program's address.
        address: u32,
    },
    /// For a protocol call.
    Call {
        /// The place of the protocol in the setup.
        protocol: usize,
        /// Which call.
        op: OpId,
        /// About what.
        object: Object,
    },
    /// For all nodes to come to the barrier.
    Barrier,
    /// For a word to change.
    Change {
        /// The program's address.
        address: u32,
    },
    /// For the home of a page.
    Page(usize),
    /// For time to pass.
    Sleep,
}

/// What a node notes while it runs.
#[derive(Debug)]
pub(crate) struct Tracer {
    window: Range<u64>,
    /// So many bytes may still be noted.
    room: usize,
    trace: NodeTrace,
    /// Messages to each node, and from each. A transport keeps the order of each pair, so that both ends count alike.
    sent: Vec<u64>,
    received: Vec<u64>,
    /// When the handler began that runs, and the message that it is about.
    began: u64,
    brought: Option<Numbered>,
}

impl Tracer {
    /// The program begins.
    pub(crate) fn program_begins(&mut self, now: u64) {
        self.trace.program.start = now;
    }

    /// The program has ended, and the node goes on.
    pub(crate) fn program_ends(&mut self, now: u64) {
        if self.trace.program.end == 0 {
            self.trace.program.end = now;
        }
    }

    /// The number of the next message to a node.
    pub(crate) fn number_sent(&mut self, to: Node) -> u64 {
        next(&mut self.sent, to)
    }

    /// The number of the message that has come from a node.
    pub(crate) fn number_received(&mut self, from: Node) -> u64 {
        next(&mut self.received, from)
    }

    /// A handler begins.
    pub(crate) fn begins(&mut self, now: u64) {
        (self.began, self.brought) = (now, None);
    }

    /// It is about a message.
    pub(crate) fn brings(&mut self, message: Numbered) {
        self.brought = Some(message);
    }

    /// It has ended.
    pub(crate) fn handled(&mut self, now: u64, handled: LiveHandled) {
        let what = LiveWhat::Handled(LiveHandled { brought: self.brought.take(), ..handled });
        self.note(self.began..now, what);
    }

    /// Something that took its time.
    pub(crate) fn note(&mut self, time: Range<u64>, what: LiveWhat) {
        if time.start >= self.window.end || time.end < self.window.start || self.trace.is_cut_at.is_some() {
            return;
        }
        let sends = if let LiveWhat::Handled(handled) = &what { handled.sends.len() } else { 0 };
        let bytes = size_of::<LiveNote>() + sends * size_of::<(MessageId, Numbered)>();
        match self.room.checked_sub(bytes) {
            Some(room) => {
                self.room = room;
                self.trace.notes.push(LiveNote { time, what });
            }
            None => self.trace.is_cut_at = Some(time.start),
        }
    }
}

fn next(counts: &mut [u64], node: Node) -> u64 {
    counts.get_mut(usize::from(node)).map_or(0, |count| {
        *count += 1;
        *count
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_outside_the_window_are_left_out_and_those_beyond_the_room_are_told() {
        let tracing = RunTrace::new(100..200);
        let mut tracer = tracing.tracer(1);
        tracer.room = 2 * size_of::<LiveNote>();
        for time in [0..99, 90..100, 150..300, 160..170, 200..210] {
            tracer.note(time, LiveWhat::Waited(Waited::Barrier));
        }
        tracing.keep(0, 400, *tracer);
        let node = tracing.into_nodes().remove(0);
        assert_eq!(node.notes.iter().map(|note| note.time.clone()).collect::<Vec<_>>(), [90..100, 150..300]);
        assert_eq!((node.is_cut_at, node.program), (Some(160), 0..400));
    }
}
