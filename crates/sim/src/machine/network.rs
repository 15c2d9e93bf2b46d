//! The network of a machine: how nodes are linked, and how long messages are on their way.

use super::within;
use serde::Deserialize;
use trivium_diagnostic::{Code, Diagnostic};

/// What to do about keys of links where there are none.
const NO_TOPOLOGY: &str = "say first how they are linked, with `network.topology` (hypercube, mesh or ring)";

/// How nodes are linked, where distances count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// Two nodes have a link whose numbers differ in one binary digit.
    Hypercube,
    /// Rows and columns of a square, or nearly so, without links around its edges.
    Mesh,
    /// Each node has a link to the next, and the last to the first.
    Ring,
}

/// The network: constant latency, or a latency that grows with the distance; with contention for links, or without.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkModel {
    /// Cycles from the tail leaving the sender's interface to the head reaching the receiver's; with a topology, those that do not
    /// depend on the distance.
    pub latency: u64,
    /// How nodes are linked; without it, all are as far from each other.
    pub topology: Option<Topology>,
    /// With a topology: cycles for each link on the way.
    #[serde(default)]
    pub per_hop: u64,
    /// With a topology: for so many cycles each word of a message keeps each link on its way from others; without it, no message waits
    /// for another.
    pub link_cycles_per_word: Option<u64>,
    /// So many cycles more for a message with data, where these go by another way (DMA).
    #[serde(default)]
    pub data_latency: u64,
    /// Up to so many cycles more, at random; the order of a lane is kept.
    #[serde(default)]
    pub jitter: u64,
    /// The latency of a message from a node to itself, if it is another.
    #[serde(rename = "self")]
    pub to_self: Option<u64>,
    /// Bytes of data that leave a node in a second, one message after the other; without it, data take the time of their words in
    /// the interface's queues only.
    pub bytes_per_second: Option<u64>,
}

impl NetworkModel {
    /// Whether messages of a node can hold up those of others on the network.
    pub(crate) fn is_shared(&self) -> bool {
        self.link_cycles_per_word.is_some()
    }

    /// The same where a message meets no others, and takes the least time.
    pub(crate) fn quiet(&self) -> NetworkModel {
        NetworkModel { jitter: 0, link_cycles_per_word: None, ..self.clone() }
    }

    /// What the types alone cannot say.
    pub(super) fn validate(&self) -> Result<(), Diagnostic> {
        within("network.latency", self.latency, 0, 1 << 32)?;
        if self.topology.is_none() && self.per_hop > 0 {
            let what = format!("`network.per_hop` is {}, but nodes have no links", self.per_hop);
            return Err(Diagnostic::new(Code::Machine, what).help(NO_TOPOLOGY));
        }
        within("network.per_hop", self.per_hop, 0, 1 << 24)?;
        within("network.self", self.to_self.unwrap_or(0), 0, 1 << 32)?;
        within("network.bytes_per_second", self.bytes_per_second.unwrap_or(1), 1, 1 << 40)?;
        within("network.data_latency", self.data_latency, 0, 1 << 32)?;
        within("network.jitter", self.jitter, 0, 1 << 32)?;
        self.validate_links()
    }

    /// What the types alone cannot say of links that messages of all nodes share.
    fn validate_links(&self) -> Result<(), Diagnostic> {
        let Some(cycles) = self.link_cycles_per_word else { return Ok(()) };
        let refused = |why: &str, help: &str| {
            Err(Diagnostic::new(Code::Machine, format!("`network.link_cycles_per_word` is {cycles}, but {why}"))
                .help(help))
        };
        within("network.link_cycles_per_word", cycles, 1, 1 << 16)?;
        if self.topology.is_none() {
            return refused("nodes have no links", NO_TOPOLOGY);
        }
        if self.latency == 0 {
            let why = "`network.latency` is 0: a message may be felt when it leaves";
            return refused(why, "give some of the latency, 1 or more, to `network.latency`");
        }
        match self.jitter {
            0 => Ok(()),
            _ => refused(
                "`network.jitter` is not 0",
                "leave one of them out: here messages vary by waiting for each other",
            ),
        }
    }
}
