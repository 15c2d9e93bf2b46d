//! Messages in the part of a network that all nodes share.
//!
//! For how long a message waits there depends on those that were there before it. So none goes on from a router while a node could still
//! send one that comes to a router earlier: heads come to routers by time, then by the message's sender, whatever the window in which
//! nodes are simulated. The order of a lane is kept at the end of the way, as the interface keeps it on other networks.

use crate::events::{Arrival, Envelope, Key, Post, Posted};
use crate::machine::InterfaceModel;
use crate::node::shared::Shared;
use crate::timing::networks::{self, SharedNetwork, Traveller};
use std::collections::BTreeMap;
use trivium_engine::Node;
use trivium_protocol::LaneId;

/// The shared part of a network, and the messages in it.
pub(super) struct Crossing {
    network: Box<dyn SharedNetwork>,
    /// Which says how many packets a message is.
    interface: InterfaceModel,
    lookahead: u64,
    /// By when their heads are at a router.
    at_routers: BTreeMap<Key, Travelling>,
    /// Of each protocol and lane: whether it keeps its order, and behind which it is.
    lanes: Vec<Vec<(bool, Option<LaneId>)>>,
    /// The last arrival on lanes that keep their order, by sender, receiver, protocol and lane.
    last: BTreeMap<(Node, Node, usize, LaneId), u64>,
}

/// A message, and the router at which its head is.
struct Travelling {
    post: Post,
    message: Traveller,
    router: u64,
}

impl Crossing {
    /// If the machine has such a network.
    pub(super) fn of(shared: &Shared) -> Option<Crossing> {
        let (protocols, machine) = (&shared.protocols, &shared.machine);
        let network = networks::shared(machine, protocols.nodes)?;
        let (interface, lookahead) = (machine.interface.clone(), machine.lookahead());
        let declared = protocols.engines.iter().map(|engine| &engine.protocol().lanes);
        let lanes = declared.map(|lanes| lanes.iter().map(|lane| (lane.fifo, lane.behind)).collect()).collect();
        let (at_routers, last) = (BTreeMap::new(), BTreeMap::new());
        Some(Crossing { network, interface, lookahead, at_routers, lanes, last })
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
            let at = |time| Key::new(time, key.source(), key.number());
            match hop.router {
                None => {
                    let key = at(self.in_order(&travelling.post, hop.time));
                    return Some(Post { key, ..travelling.post });
                }
                Some(router) => self.at_routers.insert(at(hop.time), Travelling { router, ..travelling }),
            };
        }
    }

    /// When a message arrives that could at this cycle: not before earlier ones of a lane that keeps its order, or of one that it is behind.
    fn in_order(&mut self, post: &Post, time: u64) -> u64 {
        let Posted::Arrival(Arrival::Message(envelope)) = &post.what else { return time };
        let (is_fifo, behind) = self.lanes[envelope.protocol][envelope.lane.index()];
        let on = |lane| (envelope.from, envelope.to, envelope.protocol, lane);
        let after = |lane| self.last.get(&on(lane)).copied().unwrap_or(0);
        let mut arrival = time.max(behind.map_or(0, after));
        if is_fifo {
            arrival = arrival.max(after(envelope.lane));
            self.last.insert(on(envelope.lane), arrival);
        }
        arrival
    }
}
