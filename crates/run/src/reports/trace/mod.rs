//! What each node did and when, for a trace. Nothing here has an effect on a run, and nothing of it is done without a trace.

mod clocks;
pub(crate) mod pieces;

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trivium_engine::{Disposition, Node, Object};
use trivium_protocol::{EventKind, MessageId, OpId, Protocol, RoleId, StateId};

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
    pub fn take_nodes(&self) -> Vec<NodeTrace> {
        let mut nodes = std::mem::take(&mut *self.nodes());
        nodes.sort_by_key(|node| node.node);
        nodes
    }

    fn nodes(&self) -> MutexGuard<'_, Vec<NodeTrace>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tracer(&self, nodes: u32) -> Box<Tracer> {
        Box::new(Tracer {
            window: self.window.clone(),
            room: room_of(nodes),
            trace: NodeTrace::default(),
            sent: vec![0; nodes as usize],
            received: vec![0; nodes as usize],
            began: 0,
            brought: None,
        })
    }

    pub(crate) fn add(&self, noted: NodeTrace) {
        self.nodes().push(noted);
    }

    /// The nodes had clocks of their own.
    pub(crate) fn align(&self) {
        clocks::align(&mut self.nodes());
    }
}

/// So many bytes one of so many nodes may note.
fn room_of(nodes: u32) -> usize {
    MOST / nodes.max(1) as usize
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

impl NodeTrace {
    /// Looks whether a run under these protocols can have notes like these: they name nothing that there is not.
    ///
    /// # Errors
    /// What they name.
    pub(crate) fn check(&self, protocols: &[Arc<Protocol>], nodes: u32) -> Result<(), String> {
        self.notes.iter().try_for_each(|note| match &note.what {
            LiveWhat::Handled(handled) => handled.check(protocols, nodes),
            LiveWhat::Waited(Waited::Call { protocol, op, object: _ }) => {
                let protocol = protocols.get(*protocol).ok_or("a protocol that there is not")?;
                is_one_of(op.index(), &protocol.ops, "call")
            }
            LiveWhat::Waited(_) | LiveWhat::Region(_) => Ok(()),
        })
    }
}

fn is_one_of<T>(at: usize, all: &[T], what: &str) -> Result<(), String> {
    if at < all.len() { Ok(()) } else { Err(format!("a {what} that there is not")) }
}

/// Something that a node did.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveNote {
    /// When.
    pub time: Range<u64>,
    /// What.
    pub what: LiveWhat,
}

impl LiveNote {
    /// The memory that it takes.
    fn bytes(&self) -> usize {
        let sends = if let LiveWhat::Handled(handled) = &self.what { handled.sends.len() } else { 0 };
        size_of::<LiveNote>() + sends * size_of::<(MessageId, Numbered)>()
    }
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

impl LiveHandled {
    fn check(&self, protocols: &[Arc<Protocol>], nodes: u32) -> Result<(), String> {
        let protocol = protocols.get(self.protocol).ok_or("a protocol that there is not")?;
        let role = protocol.roles.get(self.role.index()).ok_or("a role that there is not")?;
        match self.event {
            EventKind::Message(message) => is_one_of(message.index(), &protocol.messages, "message")?,
            EventKind::Op(op) => is_one_of(op.index(), &protocol.ops, "call")?,
            EventKind::Task(task) => is_one_of(task.index(), &protocol.tasks, "task")?,
            _ => {}
        }
        is_one_of(self.object.kind.index(), &protocol.objects, "kind of object")?;
        for state in [self.states.0, self.states.1] {
            is_one_of(state.index(), &role.states, "state")?;
        }
        for (message, _) in &self.sends {
            is_one_of(message.index(), &protocol.messages, "message")?;
        }
        let mut named = self.sends.iter().map(|(_, numbered)| numbered).chain(&self.brought);
        match named.all(|&(node, _)| u32::from(node) < nodes) {
            true => Ok(()),
            false => Err("a node that there is not".into()),
        }
    }
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
        let note = LiveNote { time, what };
        match self.room.checked_sub(note.bytes()) {
            Some(room) => {
                self.room = room;
                self.trace.notes.push(note);
            }
            None => self.trace.is_cut_at = Some(note.time.start),
        }
    }

    /// All that was noted, when a node leaves the run.
    pub(crate) fn noted(self, node: Node, now: u64) -> NodeTrace {
        let mut trace = NodeTrace { node, ..self.trace };
        let end = if trace.program.end == 0 { now } else { trace.program.end };
        trace.program.end = end.max(trace.program.start);
        trace
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
        tracing.add(tracer.noted(0, 400));
        let node = tracing.take_nodes().remove(0);
        assert_eq!(node.notes.iter().map(|note| note.time.clone()).collect::<Vec<_>>(), [90..100, 150..300]);
        assert_eq!((node.is_cut_at, node.program), (Some(160), 0..400));
    }
}
