//! Events that reach a role, and what came of them.

use crate::mechanisms::{Args, Node, Object, Payload, Thread};
use trivium_protocol::{EventKind, HandlerId, RoleId, StateId};

/// Something that happens to an object on a node (`docs/semantics.md`, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    /// What happens.
    pub kind: EventKind,
    /// To which object. For messages to an agent, its calls and its tasks: `(NODE, 0)`.
    pub object: Object,
    /// Who sent the message; of no meaning for other events, whose sender is the node itself.
    pub sender: Node,
    /// Whose access or call it is; of no meaning for other events.
    pub thread: Thread,
    /// Arguments of a message, a call or a task.
    pub args: Args,
    /// Data of a message.
    pub payload: Option<Payload>,
}

impl Event {
    /// A local event without arguments: an access, `evict` or `after`.
    #[inline]
    pub fn local(kind: EventKind, object: Object, thread: Thread) -> Event {
        Event { kind, object, sender: 0, thread, args: Args::NONE, payload: None }
    }

    /// The arrival of a message.
    #[inline]
    pub fn message(sender: Node, message: &crate::mechanisms::Outgoing) -> Event {
        Event {
            kind: EventKind::Message(message.message),
            object: message.object,
            sender,
            thread: 0,
            args: message.args,
            payload: message.payload,
        }
    }

    /// Whether a thread made it and waits for it: a load, a store or a call.
    #[inline]
    pub fn has_caller(&self) -> bool {
        self.kind.has_caller()
    }
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// A handler ran to its end.
    Handled,
    /// The event is in the defer space of the record.
    Deferred,
    /// The thread keeps the event: raise it again when the state has changed. Nothing else happened.
    Held,
    /// The tag already allowed the access: the threads were resumed and no handler ran.
    Passed,
}

/// The account of one dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Who answered.
    pub role: RoleId,
    /// For which object.
    pub object: Object,
    /// The role's state when the event came.
    pub before: StateId,
    /// Its state at the end.
    pub after: StateId,
    /// The handler that ran, if one did.
    pub handler: Option<HandlerId>,
    /// What became of the event.
    pub disposition: Disposition,
    /// How many steps were executed.
    pub steps: u32,
}
