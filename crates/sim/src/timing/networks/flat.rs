//! Constant latency between any two nodes, no contention, and jitter if it is asked for.

use super::Network;
use crate::machine::network::NetworkModel;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use trivium_engine::Node;

pub(super) struct Flat {
    latency: u64,
    data_latency: u64,
    jitter: u64,
    /// This node, and the latency of its messages to itself.
    own: (Node, u64),
    random: SmallRng,
}

impl Flat {
    pub(super) fn new(model: &NetworkModel, me: Node, seed: u64) -> Flat {
        Flat {
            latency: model.latency,
            data_latency: model.data_latency,
            jitter: model.jitter,
            own: (me, model.to_self.unwrap_or(model.latency)),
            random: SmallRng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(me)),
        }
    }
}

impl Network for Flat {
    fn arrival(&mut self, departed: u64, to: Node, has_data: bool) -> u64 {
        let extra = if self.jitter > 0 { self.random.random_range(0..=self.jitter) } else { 0 };
        let by_data = if has_data { self.data_latency } else { 0 };
        let latency = if to == self.own.0 { self.own.1 } else { self.latency };
        departed + latency + by_data + extra
    }
}
