//! Links that one message after the other passes: where two ways share a link, who comes later waits.
//!
//! A message's head goes from router to router, a link in `network.per_hop` cycles, and each link is taken for as long as the message
//! is (`network.link_cycles_per_word`). Who waits does so at the router before the link, and there is space for all: no link is kept by a
//! message that waits for the next one (*virtual cut-through*; Kermani and Kleinrock 1979). Each link is passed in the order in which heads
//! come to it. What has data and takes longer at the end (`network.data_latency`) may be overtaken there, as on networks without links.

use super::ways::Ways;
use super::{Hop, Network, SharedNetwork, Traveller};
use crate::machine::network::NetworkModel;
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
}

impl Links {
    pub(super) fn new(model: &NetworkModel, ways: Ways, word: u64) -> Links {
        let &NetworkModel { per_hop, latency, data_latency, .. } = model;
        let free = (0..ways.links()).map(|_| 0).collect();
        Links { ways, per_hop, word, latency, data_latency, free }
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
        let with_data = if message.has_data { self.data_latency } else { 0 };
        Hop { time: there + self.latency + with_data, waited, router: None }
    }
}

/// A node's share: messages to other nodes are given to the links when they leave.
pub(super) struct Entrance {
    /// This node, and the latency of its messages to itself, to which data add theirs.
    own: (Node, u64),
    data_latency: u64,
}

impl Entrance {
    pub(super) fn new(model: &NetworkModel, me: Node) -> Entrance {
        Entrance { own: (me, model.to_self.unwrap_or(model.latency)), data_latency: model.data_latency }
    }
}

impl Network for Entrance {
    fn arrival(&mut self, departed: u64, to: Node, has_data: bool) -> u64 {
        if to != self.own.0 {
            return departed;
        }
        departed + self.own.1 + if has_data { self.data_latency } else { 0 }
    }
}
