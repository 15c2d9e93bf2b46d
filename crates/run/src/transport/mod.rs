//! How packets of bytes get from node to node.

pub mod contract;
#[cfg(feature = "mpi")]
mod mpi;
mod ring;
pub(crate) mod shared;
pub mod threads;

use crate::packets::spare::Arrival;
use std::ops::Range;
use trivium_engine::Node;

/// What arrives.
pub enum Parcel {
    /// A packet.
    Packet(Vec<u8>),
    /// A message as it is, from a node of the same thread.
    Message(Handed),
}

/// A message that nobody has to write and to read.
pub struct Handed(pub(crate) Box<Arrival>);

/// A node's way to all others. It runs no handlers and looks into no packet. [`contract`] checks an implementation.
pub trait Transport {
    /// What results call it.
    fn name(&self) -> &'static str;

    /// This node.
    fn me(&self) -> Node;

    /// How many nodes there are.
    fn nodes(&self) -> u32;

    /// Whether more of them share this node's host than there are processors there which they may use, so that they take turns.
    fn is_crowded(&self) -> bool;

    /// Sends a packet, to this node too. It never waits, however many packets of whatever size are on their way. What is sent to a node
    /// that has left is lost.
    fn send(&mut self, to: Node, packet: Vec<u8>);

    /// A packet that has arrived, and who sent it. Those of one sender arrive in the order in which it sent them, each once.
    fn poll(&mut self) -> Option<(Node, Vec<u8>)>;

    /// The nodes that run in the same thread, among them this one.
    fn beside(&self) -> Range<u32> {
        let me = u32::from(self.me());
        me..me + 1
    }

    /// Hands a message to another of these nodes, which needs no bytes, behind all that has been sent to it; to others it sends nothing.
    fn hand(&mut self, _to: Node, _message: Handed) {}

    /// As [`Transport::poll`], with what has been handed over. `poll` passes over that.
    fn poll_all(&mut self) -> Option<(Node, Parcel)> {
        self.poll().map(|(from, packet)| (from, Parcel::Packet(packet)))
    }

    /// Whether all that was sent has left this node, which may then leave the run. What is on its way moves on here too.
    fn has_sent(&mut self) -> bool;
}

/// Where a node was that has left: nothing goes there, and nothing comes from it.
pub(crate) struct Nowhere;

impl Transport for Nowhere {
    fn name(&self) -> &'static str {
        "nowhere"
    }

    fn me(&self) -> Node {
        0
    }

    fn nodes(&self) -> u32 {
        1
    }

    fn is_crowded(&self) -> bool {
        false
    }

    fn send(&mut self, _: Node, _: Vec<u8>) {}

    fn poll(&mut self) -> Option<(Node, Vec<u8>)> {
        None
    }

    fn has_sent(&mut self) -> bool {
        true
    }
}
