//! What is on its way to a node, and in which order it takes effect.

pub(crate) mod queue;

use crate::reports::timeline::Cause;
use trivium_engine::{Args, Event, Node, Object};
use trivium_node::{Data, EventNumber, Purpose};
use trivium_protocol::{BLOCK, LaneId, MessageId, RoleId};

/// The order in which a node's events take effect: by time, then by who caused them, then by how many that one
/// had caused before. It does not depend on the order in which nodes are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The cycle from which on it can take effect.
    pub time: u64,
    /// Who caused it, and in the lower 48 bits how many that one had caused before.
    order: u64,
}

impl Key {
    /// The `number`-th thing that `source` causes, at cycle `time`.
    #[inline]
    pub fn new(time: u64, source: Node, number: u64) -> Key {
        debug_assert!(number < 1 << 48, "{number}");
        Key { time, order: u64::from(source) << 48 | number }
    }

    /// Who caused it.
    pub fn source(self) -> Node {
        (self.order >> 48) as Node
    }

    /// How many its source had caused before.
    pub fn number(self) -> u64 {
        self.order & ((1 << 48) - 1)
    }
}

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// Of which protocol.
    pub protocol: usize,
    /// What kind.
    pub message: MessageId,
    /// Its lane.
    pub lane: LaneId,
    /// About which object.
    pub object: Object,
    /// Its arguments.
    pub args: Args,
    /// Its data.
    pub data: Option<Box<Data>>,
    /// Who sent it.
    pub from: Node,
    /// To whom.
    pub to: Node,
    /// Its number among all messages.
    pub id: u64,
    /// The handler that sent it, and when that handed it over, if that is recorded.
    pub cause: Cause,
    /// When its tail left its sender's interface.
    pub departed: u64,
    /// How long after its head its last word is handed over at least; 0 where a message is handed over whole.
    pub tail: u64,
    /// For how many cycles it waited on the network for others, where that is modelled.
    pub waited: u64,
    /// Whether it was sent after the parallel start.
    pub has_started: bool,
}

impl Default for Envelope {
    /// One that has not been written yet.
    fn default() -> Envelope {
        Envelope {
            protocol: 0,
            message: MessageId::default(),
            lane: LaneId::default(),
            object: Object { kind: BLOCK, id: 0 },
            args: Args::NONE,
            data: None,
            from: 0,
            to: 0,
            id: 0,
            cause: None,
            departed: 0,
            tail: 0,
            waited: 0,
            has_started: false,
        }
    }
}

impl Envelope {
    /// Words before the arguments of a message, and before the data of each of its packets: handler, object.
    pub const HEADER: u64 = 2;

    /// Its length in 8-byte words as one packet: handler, object, arguments, data.
    pub fn words(&self) -> u64 {
        Envelope::HEADER
            + self.args.words().len() as u64
            + self.data.as_ref().map_or(0, |data| data.bytes.len().div_ceil(8) as u64)
    }
}

/// What the engine is to handle; boxed, since it is handed on many times.
#[derive(Clone, Debug)]
pub enum Arrival {
    /// A message.
    Message(Box<Envelope>),
    /// A fault, a call or a task of this node.
    Local(Box<Local>),
    /// The time of a state has passed, unless the timer was cancelled since.
    Timer(Box<Expiry>),
}

/// Something that happens on a node itself.
#[derive(Clone, Debug)]
pub struct Local {
    /// Of which protocol.
    pub protocol: usize,
    /// What happened.
    pub event: Event,
    /// Its number among the events of the node's thread, if it is one of them.
    pub number: EventNumber,
    /// Since which cycle it has been held, if it has.
    pub held: Option<u64>,
    /// What led to it, if that is recorded.
    pub cause: Cause,
}

/// A timer that runs out.
#[derive(Clone, Debug)]
pub struct Expiry {
    /// Of which protocol.
    pub protocol: usize,
    /// Whose state it was set for.
    pub role: RoleId,
    /// Of which object.
    pub object: Object,
    /// The timer's number.
    pub generation: u64,
}

/// A message that a node sent has been consumed; or, where its lane is an outgoing queue of the node, it has left.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// By whom.
    pub by: Node,
    /// Of which protocol.
    pub protocol: usize,
    /// On which lane.
    pub lane: LaneId,
    /// Whether it has left the node that this is for, and may not have been consumed.
    pub left: bool,
}

/// What takes effect on a node without its engine.
#[derive(Clone, Debug)]
pub enum Signal {
    /// The time has passed for which this node's program was to sleep.
    Awake,
    /// The hardware barrier opens.
    Release {
        /// What else happens then.
        purpose: Purpose,
    },
    /// This node, its manager, learns that another has touched a page that has no home yet.
    Claim {
        /// Which page.
        page: usize,
        /// By whom.
        by: Node,
    },
    /// A page that this node has claimed has a home now.
    Placed {
        /// Which page.
        page: usize,
        /// Where.
        home: Node,
        /// What lies in it, if it has come here from another home.
        contents: Option<Vec<u8>>,
    },
    /// A page whose home this node was is to go to its new one.
    Move {
        /// Which page.
        page: usize,
        /// To whom.
        to: Node,
        /// The cycle at which its contents are there.
        at: u64,
    },
    /// The cache gives a block up, of its own accord; only where an order of events is forced.
    GiveUp {
        /// Which block.
        block: u32,
        /// The cycle at which the engine hears of it.
        heard: u64,
    },
}

/// Something for another node (or this one), with its place in that node's order.
#[derive(Clone, Debug)]
pub struct Post {
    /// For whom.
    pub to: Node,
    /// When, in that node's order.
    pub key: Key,
    /// What.
    pub what: Posted,
}

/// What can be posted.
#[derive(Clone, Debug)]
pub enum Posted {
    /// For the engine.
    Arrival(Arrival),
    /// For the node.
    Signal(Signal),
    /// For the network interface.
    Credit(Credit),
}
