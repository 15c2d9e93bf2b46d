//! How long a message is on its way between two interfaces: one file for each kind of network.
//!
//! A new kind is a file here that implements [`Network`], and its line in [`make`]; `timing/contract.rs` holds every kind
//! against what is said here. The interface keeps the order of lanes; a network need not.

mod flat;
mod hops;

use crate::machine::Machine;
use trivium_engine::Node;

/// A node's share of a network. What nodes do to each other's messages there cannot be modelled: each has a share of its own.
pub(crate) trait Network {
    /// The cycle at which the head of a message reaches the interface of node `to`, if its tail leaves the sender's at cycle
    /// `departed`. At least the machine's lookahead later, unless that is the sender.
    fn arrival(&mut self, departed: u64, to: Node, has_data: bool) -> u64;
}

/// The share of node `me`, of so many, of a machine's network.
pub(crate) fn make(machine: &Machine, me: Node, nodes: u32, seed: u64) -> Box<dyn Network> {
    let model = &machine.network;
    let flat = flat::Flat::new(model, me, seed);
    match model.topology {
        None => Box::new(flat),
        Some(topology) => Box::new(hops::Hops::new(flat, model.per_hop, topology, me, nodes)),
    }
}
