//! What the handlers of a node have not come to yet.

use crate::packets::spare::Arrival;
use std::collections::{BTreeMap, VecDeque};
use trivium_node::{Instance, Lanes, Protocols};
use trivium_protocol::LaneId;

/// Something for the node's handlers.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    Message(Box<Arrival>),
    /// What happens here, or a message that was held.
    Local(Box<Arrival>),
}

/// All that waits for handlers, and how many messages wait for those of other nodes.
pub(super) struct Queued {
    pub inbox: VecDeque<Incoming>,
    /// How many messages have arrived: packets of a node arrive in the order in which it has sent them, and may be kept back after that.
    arrived: u64,
    pub on_lanes: OnLanes,
    /// Timers by the nanosecond at which they end, and a number.
    pub timers: BTreeMap<(u64, u64), (Instance, u64)>,
}

impl Queued {
    /// Nothing.
    pub(super) fn new(protocols: &Protocols) -> Queued {
        Queued { inbox: VecDeque::new(), arrived: 0, on_lanes: OnLanes::new(protocols), timers: BTreeMap::new() }
    }

    /// The number of a message that arrives now.
    pub(super) fn next_order(&mut self) -> u64 {
        self.arrived += 1;
        self.arrived
    }

    /// How many messages have arrived.
    pub(super) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Takes what stands at a place, as a rule the first.
    pub(super) fn take(&mut self, at: usize) -> Option<Incoming> {
        if at == 0 { self.inbox.pop_front() } else { self.inbox.remove(at) }
    }
}

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
