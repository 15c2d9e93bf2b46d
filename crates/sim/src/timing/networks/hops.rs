//! A latency that grows with the distance in a topology: a base, and so much for each link on the way. No contention.

use super::Network;
use super::flat::Flat;
use super::ways::Ways;
use trivium_engine::Node;

pub(super) struct Hops {
    /// The base, and what does not depend on the distance.
    base: Flat,
    per_hop: u64,
    ways: Ways,
    me: Node,
}

impl Hops {
    pub(super) fn new(base: Flat, per_hop: u64, ways: Ways, me: Node) -> Hops {
        Hops { base, per_hop, ways, me }
    }
}

impl Network for Hops {
    fn arrival(&mut self, departed: u64, to: Node, has_data: bool) -> u64 {
        let way = self.per_hop * self.ways.distance(self.me.into(), to.into());
        self.base.arrival(departed, to, has_data) + way
    }
}
