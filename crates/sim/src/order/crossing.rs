//! Messages in the part of a network that all nodes share.
//!
//! For how long a message waits there depends on those that were there before it. So none goes on from a router while a node could still
//! send one that comes to a router earlier: heads come to routers by time, then by the message's sender, whatever the window in which
//! nodes are simulated.

use crate::events::{Arrival, Envelope, Key, Post, Posted};
use crate::machine::{InterfaceModel, Machine};
use crate::timing::networks::{self, SharedNetwork, Traveller};
use std::collections::BTreeMap;

/// The shared part of a network, and the messages in it.
pub(super) struct Crossing {
    network: Box<dyn SharedNetwork>,
    /// Which says how many packets a message is.
    interface: InterfaceModel,
    lookahead: u64,
    /// By when their heads are at a router.
    at_routers: BTreeMap<Key, Travelling>,
}

/// A message, and the router at which its head is.
struct Travelling {
    post: Post,
    message: Traveller,
    router: u64,
}

impl Crossing {
    /// If the machine has such a network.
    pub(super) fn of(machine: &Machine, nodes: u32) -> Option<Crossing> {
        let network = networks::shared(machine, nodes)?;
        let (interface, lookahead) = (machine.interface.clone(), machine.lookahead());
        Some(Crossing { network, interface, lookahead, at_routers: BTreeMap::new() })
    }

    /// Takes a message to another node, at the cycle at which it leaves; gives back what is no message.
    pub(super) fn takes(&mut self, post: Post) -> Option<Post> {
        let Posted::Arrival(Arrival::Message(envelope)) = &post.what else { return Some(post) };
        let bytes = envelope.data.as_ref().map_or(0, |data| data.bytes.len() as u64);
        let words = envelope.words() + (self.interface.packets(bytes) - 1) * Envelope::HEADER;
        let message = Traveller { from: envelope.from, to: envelope.to, words, has_data: envelope.data.is_some() };
        let (key, router) = (post.key, message.from.into());
        self.at_routers.insert(key, Travelling { post, message, router });
        None
    }

    /// No node is felt by another before that, of what is here.
    pub(super) fn felt(&self) -> u64 {
        self.at_routers.first_key_value().map_or(u64::MAX, |(key, _)| key.time.saturating_add(self.lookahead))
    }

    /// Lets messages go on while no node can send one that comes to a router earlier, since none sends anything before cycle `sends`: the
    /// next that reaches its receiver's interface, with its arrival.
    pub(super) fn next(&mut self, sends: u64) -> Option<Post> {
        loop {
            let first = self.at_routers.first_entry().filter(|first| first.key().time < sends)?;
            let (key, mut travelling) = first.remove_entry();
            let hop = self.network.hop(key.time, travelling.router, &travelling.message);
            if let Posted::Arrival(Arrival::Message(envelope)) = &mut travelling.post.what {
                envelope.waited += hop.waited;
            }
            let key = Key::new(hop.time, key.source(), key.number());
            match hop.router {
                None => return Some(Post { key, ..travelling.post }),
                Some(router) => self.at_routers.insert(key, Travelling { router, ..travelling }),
            };
        }
    }
}
