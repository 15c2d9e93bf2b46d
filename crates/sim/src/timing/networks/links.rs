//! Links that one message after the other passes: where two ways share a link, who comes later waits.
//!
//! A message's head goes from router to router, a link in `network.per_hop` cycles, and each link is taken for as long as the message
//! is (`network.link_cycles_per_word`). Who waits does so at the router before the link, and there is space for all: no link is kept by a
//! message that waits for the next one (*virtual cut-through*; Kermani and Kleinrock 1979). Each link is passed in the order in which heads
//! come to it, so that two messages between the same nodes keep their order; data that take longer hold up what comes after them.

use super::ways::Ways;
use super::{Hop, Network, SharedNetwork, Traveller};
use crate::machine::network::NetworkModel;
use std::collections::BTreeMap;
use trivium_engine::Node;
use trivium_engine::number::index;

/// The part that all nodes share.
pub(super) struct Links {
    ways: Ways,
    per_hop: u64,
    /// Cycles for which a word keeps a link.
    word: u64,
    /// What does not depend on the way, and so much more with data.
    latency: u64,
    data_latency: u64,
    /// When each link has let through what came to it.
    free: Vec<u64>,
    /// The last arrival between two nodes.
    last: BTreeMap<(Node, Node), u64>,
}

impl Links {
    pub(super) fn new(model: &NetworkModel, ways: Ways, word: u64) -> Links {
        let &NetworkModel { per_hop, latency, data_latency, .. } = model;
        let free = (0..ways.links()).map(|_| 0).collect();
        Links { ways, per_hop, word, latency, data_latency, free, last: BTreeMap::new() }
    }
}

impl SharedNetwork for Links {
    fn hop(&mut self, time: u64, router: u64, message: &Traveller) -> Hop {
        let to = message.to.into();
        let (link, next) = self.ways.next(router, to);
        let free = &mut self.free[index(link)];
        let start = time.max(*free);
        *free = start + message.words * self.word;
        let (there, waited) = (start + self.per_hop, start - time);
        if next != to {
            return Hop { time: there, waited, router: Some(next) };
        }
        let arrival = there + self.latency + if message.has_data { self.data_latency } else { 0 };
        let last = self.last.entry((message.from, message.to)).or_default();
        *last = arrival.max(*last);
        Hop { time: *last, waited: waited + *last - arrival, router: None }
    }
}

/// A node's share: messages to other nodes are given to the links when they leave.
pub(super) struct Entrance {
    /// This node, and the latency of its messages to itself.
    own: (Node, u64),
}

impl Entrance {
    pub(super) fn new(model: &NetworkModel, me: Node) -> Entrance {
        Entrance { own: (me, model.to_self.unwrap_or(model.latency)) }
    }
}

impl Network for Entrance {
    fn arrival(&mut self, departed: u64, to: Node, _has_data: bool) -> u64 {
        if to == self.own.0 { departed + self.own.1 } else { departed }
    }
}
