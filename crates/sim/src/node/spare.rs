//! Boxes that nobody needs any more, for whoever writes the next: who used one last has left it in the host's nearest
//! cache, which each node's own would have left long before its next turn.

use crate::events::{Envelope, Local};
use crate::node::mechanisms::Handling;
use trivium_node::Data;

/// So many of each kind are kept at most.
const KEPT: usize = 1024;

/// Boxes of nodes that are simulated on one thread. What is in them is old.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "they are handed on by their address")]
pub struct Spare {
    envelopes: Vec<Box<Envelope>>,
    locals: Vec<Box<Local>>,
    data: Vec<Box<Data>>,
    handling: Option<Box<Handling>>,
}

impl Spare {
    /// A box for a message.
    pub(crate) fn envelope(&mut self) -> Box<Envelope> {
        self.envelopes.pop().unwrap_or_default()
    }

    /// A message has been read.
    pub(crate) fn keep_envelope(&mut self, envelope: Box<Envelope>) {
        keep(&mut self.envelopes, envelope);
    }

    /// A box for something that happens on a node itself, if there is one.
    pub(crate) fn local(&mut self) -> Option<Box<Local>> {
        self.locals.pop()
    }

    /// Something that happened on a node has been handled.
    pub(crate) fn keep_local(&mut self, local: Box<Local>) {
        keep(&mut self.locals, local);
    }

    /// A box for data, with old ones.
    pub(crate) fn data(&mut self) -> Box<Data> {
        self.data.pop().unwrap_or_default()
    }

    /// Data that are not needed any more.
    pub(crate) fn keep_data(&mut self, data: Box<Data>) {
        keep(&mut self.data, data);
    }

    /// For a handler that begins. Only one runs at a time.
    pub(crate) fn handling(&mut self) -> Box<Handling> {
        self.handling.take().unwrap_or_default()
    }

    /// A handler has ended.
    pub(crate) fn keep_handling(&mut self, handling: Box<Handling>) {
        self.handling = Some(handling);
    }
}

fn keep<T>(kept: &mut Vec<T>, what: T) {
    if kept.len() < KEPT {
        kept.push(what);
    }
}
