//! Outgoing queues that lanes share, as they are with a number of nodes.

use trivium_protocol::{LaneId, Protocol, SharedQueue};

/// An outgoing queue that lanes share, and that may be full although none of them is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedPlaces {
    /// Which one: its place in [`Protocol::shares`].
    pub number: usize,
    /// The lanes.
    pub lanes: Vec<LaneId>,
    /// The places that a node has for all of them together.
    pub places: u32,
}

/// The shared queues that may be full although none of their lanes is, if these hold so many messages: those of which the lanes
/// together hold more.
pub(crate) fn shorter_than_their_lanes(
    protocol: &Protocol,
    nodes: u32,
    holds: impl Fn(LaneId) -> Option<u32>,
) -> Vec<SharedPlaces> {
    let of = |(number, shared): (usize, &SharedQueue)| {
        let places = shared.places(nodes)?;
        let together =
            shared.lanes.iter().map(|&lane| holds(lane)).try_fold(0, |sum: u32, held| sum.checked_add(held?));
        together.is_none_or(|together| places < together).then(|| SharedPlaces {
            number,
            lanes: shared.lanes.clone(),
            places,
        })
    };
    protocol.shares.iter().enumerate().filter_map(of).collect()
}
