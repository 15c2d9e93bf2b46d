//! What can happen next.

use crate::system::client::Intent;
use trivium_engine::{Node, Object};
use trivium_protocol::{EventKind, RoleId};

/// An event that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// An idle thread makes an access or a call.
    Start { thread: usize, intent: usize },
    /// A thread raises again what it kept.
    Retry { thread: usize },
    /// A thread does the next act of the body of its call.
    Act { thread: usize },
    /// An engine hears of what a thread of its node has told it.
    Hear { thread: usize },
    /// A node wants to be rid of its copy of a block; a processor's cache gives up its line.
    Evict { node: Node, object: Object },
    /// A processor hints that a thread of it may use a block: `kind` is a prefetch.
    Prefetch { node: Node, block: u32, kind: EventKind },
    /// An engine hears of the line that its processor's cache gave up.
    Leave { node: Node, object: Object },
    /// A message is handled: its index among [`World::flights`].
    Deliver { flight: usize },
    /// A message that cannot be handled now comes to the head of its lane, which is `merged`, at its receiver.
    Head { flight: usize },
    /// A message of a lane that duplicates is handled, and another one like it stays on its way.
    Repeat { flight: usize },
    /// The network loses a message of a lossy lane.
    Lose { flight: usize },
    /// The oldest deferred event that is due is tried again.
    Replay { node: Node, role: RoleId, object: Object },
    /// The first task of a node runs.
    Task { node: Node },
    /// The time of an `after` passes.
    Timer { node: Node, role: RoleId, object: Object },
    /// All threads pass a barrier of which the protocol knows nothing.
    Phase,
}

impl Action {
    /// The message that it is about, among [`World::flights`], and what the network does with it.
    pub fn flight(&self) -> Option<(Delivery, usize)> {
        match *self {
            Action::Deliver { flight } => Some((Delivery::Deliver, flight)),
            Action::Head { flight } => Some((Delivery::Head, flight)),
            Action::Repeat { flight } => Some((Delivery::Repeat, flight)),
            Action::Lose { flight } => Some((Delivery::Lose, flight)),
            _ => None,
        }
    }
}

/// What the network does with a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// It is handled, and gone.
    #[default]
    Deliver,
    /// It comes to the head of the queue of all senders, and waits there.
    Head,
    /// It is handled, and stays on its way.
    Repeat,
    /// It is gone.
    Lose,
}

/// The event that a thread raises.
pub fn event_kind(intent: &Intent) -> EventKind {
    match intent {
        Intent::Read { .. } => EventKind::Read,
        Intent::Write { .. } | Intent::WriteBeside { .. } | Intent::Store { .. } => EventKind::Write,
        Intent::Rmw { .. } => EventKind::Rmw,
        Intent::Image { .. } => EventKind::Image,
        Intent::Call { op, .. } => EventKind::Op(*op),
    }
}
