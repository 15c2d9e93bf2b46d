//! Outgoing queues that several lanes share (`docs/semantics.md`, section 5).

use crate::source::Span;
use crate::{Formula, Lane, LaneId, Protocol};

/// An outgoing queue of each node in which the messages of several lanes stand.
#[derive(Clone, Debug)]
pub struct SharedQueue {
    /// The lanes, two at least, each of which `queues`.
    pub lanes: Vec<LaneId>,
    /// How many places they have together ([`SharedQueue::places`]).
    pub holds: Formula,
    /// Where it was declared.
    pub span: Span,
}

impl SharedQueue {
    /// The places of a node in a machine of so many nodes: from 1 to [`Lane::MOST`]. `None` where it is no such number.
    pub fn places(&self, nodes: u32) -> Option<u32> {
        let places = u32::try_from(self.holds.at(nodes)?).ok()?;
        (1..=Lane::MOST).contains(&places).then_some(places)
    }
}

impl Protocol {
    /// The names of the lanes that share a queue: `request, reply`.
    pub fn names_of_shared(&self, shared: &SharedQueue) -> String {
        let names = shared.lanes.iter().map(|lane| self.lanes[lane.index()].name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }

    /// The shared queue in which a lane's messages stand: its place among [`Protocol::shares`].
    pub fn share_of(&self, lane: LaneId) -> Option<usize> {
        self.shares.iter().position(|shared| shared.lanes.contains(&lane))
    }
}
