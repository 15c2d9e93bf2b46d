//! How many messages of a node are on their way on finite lanes.

use trivium_node::{Lanes, Protocols};
use trivium_protocol::LaneId;

/// Of each lane of each protocol, the messages that this node has sent and nobody has begun to handle.
pub(crate) struct OnLanes {
    counts: Vec<Vec<u32>>,
}

impl OnLanes {
    /// Nothing is on its way.
    pub(crate) fn new(protocols: &Protocols) -> OnLanes {
        OnLanes { counts: protocols.engines.iter().map(|engine| vec![0; engine.protocol().lanes.len()]).collect() }
    }

    /// One more.
    pub(crate) fn add(&mut self, protocol: usize, lane: LaneId) {
        self.counts[protocol][lane.index()] += 1;
    }

    /// One less.
    pub(crate) fn remove(&mut self, protocol: usize, lane: LaneId) {
        let count = &mut self.counts[protocol][lane.index()];
        *count = count.saturating_sub(1);
    }
}

impl Lanes for OnLanes {
    fn on_lane(&self, protocol: usize, lane: LaneId) -> u32 {
        self.counts[protocol][lane.index()]
    }
}
