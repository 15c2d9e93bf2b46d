//! What a trace is told: what each part of each node was doing, and when.
//!
//! Nothing here has an effect on a simulation.

use crate::counters::Spent;
use crate::node::NodeState;
use crate::price::Transaction;
use crate::processor::Wait;
use crate::timeline::{Cause, Reason, path};
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;
use trivium_engine::Node;
use trivium_guest::Frame;
use trivium_lang::protocol::Promise;

/// Something that a part of a node did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Its engine handled an event.
    Handled(Handled),
    /// Its processor executed instructions.
    Compute {
        /// On which node.
        node: Node,
        /// When.
        cycles: Range<u64>,
    },
    /// Its processor stood still.
    Stall(Stall),
    /// Its bus was held.
    Bus {
        /// On which node.
        node: Node,
        /// When.
        cycles: Range<u64>,
        /// By what.
        transaction: Transaction,
    },
    /// A message went through a queue of its network interface.
    Queue {
        /// On which node.
        node: Node,
        /// When.
        cycles: Range<u64>,
        /// Whether it left; else it came in.
        leaves: bool,
        /// From or to whom.
        peer: Node,
        /// `protocol.NAME`.
        message: String,
    },
    /// The region of interest began or ended.
    Region {
        /// On which node.
        node: Node,
        /// When.
        cycle: u64,
        /// Whether it began.
        begins: bool,
    },
}

/// A processor stood still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// On which node.
    pub node: Node,
    /// When.
    pub cycles: Range<u64>,
    /// On which counter it went.
    pub spent: Spent,
    /// What it wanted.
    pub what: String,
    /// Where the program stood, the innermost call first; nothing where the node's own memory was slow.
    pub at: Vec<Frame>,
    /// Its parts in order, one after the other from its first to its last cycle.
    pub parts: Vec<StallPart>,
}

/// A part of a stall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StallPart {
    /// Why the processor stood still.
    pub reason: Reason,
    /// What happened meanwhile, if more is known than the reason.
    pub what: Cow<'static, str>,
    /// Where, if it was on one node.
    pub node: Option<Node>,
    /// When.
    pub cycles: Range<u64>,
}

/// An event that an engine dispatched, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Handled {
    /// The cycle of its dispatch.
    pub cycle: u64,
    /// On which node.
    pub node: u16,
    /// `protocol.EVENT`.
    pub event: String,
    /// Who sent the message, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<u16>,
    /// About which object: its kind and number.
    pub object: String,
    /// The role that answered.
    pub role: String,
    /// Its state before.
    pub before: String,
    /// Its state after.
    pub after: String,
    /// Its whole record after, where an order of events is forced; else empty.
    #[serde(skip)]
    pub record: String,
    /// `handled`, `deferred`, `held` or `passed`.
    pub disposition: String,
    /// What it sent: `NAME to NODE`.
    pub sends: Vec<String>,
    /// The cycle at which the handler ended.
    pub end: u64,
    /// For how many cycles it kept the engine from others.
    pub busy: u64,
    /// The message that has just arrived, if one has: its number among all, and when the handler that sent it began.
    #[serde(skip)]
    pub arrow: Option<(u64, u64)>,
}

impl Note {
    /// On which node.
    pub fn node(&self) -> Node {
        match self {
            Note::Handled(handled) => handled.node,
            Note::Stall(stall) => stall.node,
            Note::Compute { node, .. }
            | Note::Bus { node, .. }
            | Note::Queue { node, .. }
            | Note::Region { node, .. } => *node,
        }
    }

    /// When.
    pub fn cycles(&self) -> Range<u64> {
        match self {
            Note::Handled(handled) => handled.cycle..handled.cycle + handled.busy,
            Note::Stall(stall) => stall.cycles.clone(),
            Note::Compute { cycles, .. } | Note::Bus { cycles, .. } | Note::Queue { cycles, .. } => cycles.clone(),
            Note::Region { cycle, .. } => *cycle..*cycle,
        }
    }
}

impl NodeState {
    /// Whether anything of these cycles is to be noted.
    pub(crate) fn noting(&self, cycles: &Range<u64>) -> bool {
        self.shared.traced.as_ref().is_some_and(|window| cycles.start < window.end && cycles.end >= window.start)
    }

    /// Notes something, if it falls into the trace's window.
    pub(crate) fn note(&mut self, note: Note) {
        if self.noting(&note.cycles()) {
            self.notes.push(note);
        }
    }

    /// The processor computed up to cycle `to`.
    pub(crate) fn note_compute(&mut self, to: u64) {
        if self.shared.traced.is_some() {
            let cycles = self.noted_until..to;
            if !cycles.is_empty() {
                self.note(Note::Compute { node: self.me, cycles });
            }
            self.noted_until = to;
        }
    }

    /// The processor stood still; the parts follow one another, given by their ends.
    pub(crate) fn note_stall(&mut self, from: u64, spent: Spent, what: &str, parts: &[(Reason, &'static str, u64)]) {
        if self.shared.traced.is_none() {
            return;
        }
        let mut begin = from;
        let mut known = Vec::new();
        for &(reason, what, to) in parts {
            if to > begin {
                known.push(StallPart { reason, what: what.into(), node: Some(self.me), cycles: begin..to });
            }
            begin = to;
        }
        self.note_parts(from..begin, spent, (what.to_string(), Vec::new()), known);
    }

    fn note_parts(&mut self, cycles: Range<u64>, spent: Spent, what: (String, Vec<Frame>), parts: Vec<StallPart>) {
        self.note_compute(cycles.start);
        if cycles.is_empty() {
            return;
        }
        self.noted_until = cycles.end;
        let (what, at) = what;
        self.note(Note::Stall(Stall { node: self.me, cycles, spent, what, at, parts }));
    }

    /// The processor's wait is over: what it was for, as far as what ended it tells.
    pub(crate) fn note_wait(&mut self, wait: Wait, cycles: Range<u64>, spent: Spent, cause: &Cause) {
        if self.shared.traced.is_none() {
            return;
        }
        if !self.noting(&cycles) {
            self.note_compute(cycles.start);
            self.noted_until = cycles.end;
            return;
        }
        let (what, otherwise) = self.wanted(wait);
        let steps = cause.as_ref().map_or(Vec::new(), |(run, left)| path(run, *left));
        let mut parts = Vec::new();
        let mut at = cycles.start;
        let unknown = |parts: &mut Vec<StallPart>, reason: Reason, cycles: Range<u64>| {
            if !cycles.is_empty() {
                parts.push(StallPart { reason, what: "".into(), node: None, cycles });
            }
        };
        for step in steps {
            let (from, to) = (step.from.max(at), step.to.min(cycles.end));
            if to <= from {
                continue;
            }
            unknown(&mut parts, otherwise, at..from);
            parts.push(StallPart { reason: step.reason, what: step.what, node: step.node, cycles: from..to });
            at = to;
        }
        let trapped = matches!(wait, Wait::Access(_)) && at > cycles.start && self.compute.trapped == cycles.end;
        unknown(&mut parts, if trapped { Reason::Trap } else { otherwise }, at..cycles.end);
        let at = self.compute.waits_at.clone();
        self.note_parts(cycles, spent, (what, at), parts);
    }

    /// What a wait is for, and the reason for what is not known of it.
    fn wanted(&self, wait: Wait) -> (String, Reason) {
        match wait {
            Wait::Access(block) => (format!("block {}", block.id), Reason::Turn),
            Wait::Barrier => ("barrier".into(), Reason::Barrier),
            Wait::Change(block) => (format!("a word of block {}", block.id), Reason::Change),
            Wait::Page(page) => (format!("page {page}"), Reason::Placement),
            Wait::Frame(page) => (format!("the frame of page {page}"), Reason::Placement),
            Wait::Sleep => ("a time to pass".into(), Reason::Sleep),
            Wait::Call { protocol, op, object } => {
                let protocol = self.shared.engines[protocol].protocol();
                let promised = |wanted: fn(&Promise, trivium_lang::protocol::OpId) -> bool| {
                    protocol.promises.iter().any(|promise| wanted(promise, op))
                };
                let reason = if promised(|promise, op| matches!(promise, Promise::Mutex(a, _) if *a == op)) {
                    Reason::Lock
                } else if promised(|promise, op| *promise == Promise::Barrier(op)) {
                    Reason::Barrier
                } else {
                    Reason::Call
                };
                let kind = &protocol.objects[object.kind.index()];
                (format!("{}.{} of {kind} {}", protocol.name, protocol.ops[op.index()].name, object.id), reason)
            }
        }
    }
}
