//! The table in which a SEND finds the node of an object: the machine's table `gtlb` (M-Machine dissertation, our specification 2.4 and 4.2).

use super::slots::Linear;
use serde::Deserialize;

/// A table of regions, fully associative; software fills it. In which node an object lies is not its business here, but what a look-up and a miss take.
///
/// A call about an object (not one about the node itself) sends by the object's address: its messages are looked up. Those of other handlers name nodes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GtlbModel {
    /// Regions that it holds, 1 to 1024. The one that came first leaves first; at the start it holds those that its node names first.
    pub entries: u64,
    /// Objects in a region, a power of two from 1 to 2^31: those whose numbers, divided by it, are the same.
    pub objects: u64,
    /// Cycles by which a look-up delays a message.
    #[serde(default)]
    pub lookup: u64,
    /// Cycles of the engine for other events from a miss until it sends the message again, and for each word beyond the header; it then sends as
    /// `slots.inject` says.
    pub miss: Linear,
    /// The parameter of calls that says, by a value other than 0, that what they send is ordered; nothing else is. It stands before all lists and sets.
    #[serde(default)]
    pub ordered: Option<String>,
}
