//! What a trace is told: what each part of each node was doing, and when.
//!
//! Nothing here has an effect on a simulation.

use crate::machine::price::Transaction;
use crate::reports::counters::Spent;
use crate::reports::timeline::{Reason, Worker};
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;
use trivium_engine::Node;
use trivium_guest::StackFrame;

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
    pub at: Vec<StackFrame>,
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
    /// The message that has just arrived, if one has: its number among all, and when the handler that sent it began, and where.
    #[serde(skip)]
    pub arrow: Option<(u64, (u64, Worker))>,
    /// What ran the handler.
    #[serde(skip)]
    pub worker: Worker,
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
