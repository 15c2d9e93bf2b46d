//! How long a message is on its way between two interfaces: one file for each kind of network.
//!
//! A new kind is a file here that implements [`Network`], and its line in [`make`]; if nodes are to feel each other's messages, also
//! [`SharedNetwork`], and its line in [`shared`]. `timing/contract.rs` holds every kind against what is said here. The interface keeps
//! the order of lanes, or `order/crossing.rs` where there is a part that all nodes share; a network need not.

mod flat;
mod hops;
mod links;
mod ways;

use crate::machine::Machine;
use trivium_engine::Node;
use ways::Ways;

/// A node's share of a network.
pub(crate) trait Network {
    /// The cycle at which the head of a message reaches the interface of node `to`, if its tail leaves the sender's at cycle
    /// `departed`. At least the machine's lookahead later, unless that is the sender. Where there is a part that all nodes share, the
    /// cycle at which a message to another node enters that.
    fn arrival(&mut self, departed: u64, to: Node, has_data: bool) -> u64;
}

/// The part of a network whose state all nodes share. It sees what messages of all nodes do in the order in which that happens, whatever
/// the order in which nodes are simulated (`order/crossing.rs`).
pub(crate) trait SharedNetwork {
    /// The head of a message is at a router at cycle `time`, first at that of its sender, and no later than any other will be at one.
    /// It reaches the receiver's interface at least the machine's lookahead after its last router but that of the receiver.
    fn hop(&mut self, time: u64, router: u64, message: &Traveller) -> Hop;
}

/// What a shared network knows of a message to another node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traveller {
    /// Whose it is.
    pub from: Node,
    /// For whom.
    pub to: Node,
    /// Its words of 8 bytes, those before the data of each packet included.
    pub words: u64,
    /// Whether it has data.
    pub has_data: bool,
}

/// Where a message is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    /// From which cycle on.
    pub time: u64,
    /// For how many of the cycles until then it waited for others.
    pub waited: u64,
    /// At which router; none if it is at the receiver's interface.
    pub router: Option<u64>,
}

/// The share of node `me`, of so many, of a machine's network.
pub(crate) fn make(machine: &Machine, me: Node, nodes: u32, seed: u64) -> Box<dyn Network> {
    let model = &machine.network;
    match model.topology {
        Some(_) if model.link_cycles_per_word.is_some() => Box::new(links::Entrance::new(model, me)),
        Some(topology) => {
            let base = flat::Flat::new(model, me, seed);
            Box::new(hops::Hops::new(base, model.per_hop, Ways::new(topology, nodes), me))
        }
        None => Box::new(flat::Flat::new(model, me, seed)),
    }
}

/// The part of a machine's network that so many nodes share, if there is one.
pub(crate) fn shared(machine: &Machine, nodes: u32) -> Option<Box<dyn SharedNetwork>> {
    let model = &machine.network;
    let (topology, word) = (model.topology?, model.link_cycles_per_word?);
    Some(Box::new(links::Links::new(model, Ways::new(topology, nodes), word)))
}
