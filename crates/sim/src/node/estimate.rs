//! What a simulation takes of the host's memory at most, estimated when its program allocates.

use crate::node::shared::Shared;
use crate::node::watch::bytes_for_block;
use crate::reports::blame;
use trivium_diagnostic::Code;
use trivium_engine::{Engine, Node};
use trivium_guest::Tags;
use trivium_node::{NodeError, Space};
use trivium_protocol::BLOCK;

/// Bytes of the host's memory that a simulation takes for shared memory if every node accesses all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Estimate {
    /// Each node's copy.
    copies: u64,
    /// For each copy, what may be accessed without a look.
    tags: u64,
    /// What protocols, and the checks on them, keep for blocks.
    records: u64,
    /// What is kept of blocks to tell who is to blame for misses, if somebody asks.
    blame: u64,
}

impl Estimate {
    /// Of all that is allocated.
    pub(crate) fn of(space: &Space, shared: &Shared) -> Estimate {
        let mut sum = Estimate::default();
        for (number, engine) in shared.protocols.engines.iter().enumerate() {
            let bytes = space.bytes_under(number);
            sum.copies += u64::from(shared.protocols.nodes) * bytes;
            let blocks = bytes / shared.protocols.block;
            sum.records += blocks * of_block(engine, number, shared);
            if shared.blamed {
                sum.blame += blocks * blame::bytes_for_block(shared.protocols.nodes.into(), shared.protocols.block);
            }
        }
        let tags = if shared.has_tags {
            Tags::most(space.bytes(), shared.machine.cache.bytes / shared.machine.cache.line)
        } else {
            0
        };
        sum.tags = u64::from(shared.protocols.nodes) * tags;
        sum
    }

    fn sum(&self) -> u64 {
        self.copies + self.tags + self.records + self.blame
    }

    /// The error if this is more than there is room for; a node has just allocated.
    pub(crate) fn refused(&self, node: Node, bytes: u64, room: u64, nodes: u32) -> Option<NodeError> {
        if self.sum() <= room {
            return None;
        }
        let what = format!(
            "node {node} allocates {} of shared memory: the simulation takes up to {} of this machine's memory, which has {} to give",
            amount(bytes),
            amount(self.sum()),
            amount(room)
        );
        let (without, blame) = match self.blame {
            0 => ("", String::new()),
            bytes => (
                "do without --blame and --html, ",
                format!(", {} for what is kept to tell who is to blame", amount(bytes)),
            ),
        };
        let error = NodeError::input(Code::Machine, what)
            .note(format!(
                "that is, if each of {nodes} nodes accesses all that is allocated: {} for {nodes} copies, {} for their tags, {} for what the protocol keeps of blocks{blame}",
                amount(self.copies),
                amount(self.tags),
                amount(self.records)
            ))
            .help(format!("{without}use fewer nodes (-n), smaller sizes, or larger blocks (--block); if nodes access only a part of it, say --memory SIZE: the simulation then goes on until it really takes SIZE"));
        Some(error)
    }
}

/// Bytes for a block, on all nodes together.
fn of_block(engine: &Engine, number: usize, shared: &Shared) -> u64 {
    let nodes = u64::from(shared.protocols.nodes);
    let records = |is_home: bool| -> u64 {
        engine.roles_of(BLOCK, is_home).map(|role| 1 + engine.record_bytes(role) as u64).sum()
    };
    let tags = nodes;
    let watched = if shared.protocols.watched[number] { bytes_for_block(shared.protocols.nodes) } else { 0 };
    let writers = if shared.protocols.one_writer[number] { nodes * size_of::<u64>() as u64 } else { 0 };
    let at_home = if shared.protocols.cached[number] { shared.protocols.block } else { 0 };
    records(true) + (nodes - 1) * records(false) + tags + watched + writers + at_home
}

/// A number of bytes, for people.
pub(crate) fn amount(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = (0..units.len()).rev().find(|&unit| bytes >> (10 * unit) > 0).unwrap_or(0);
    let whole = bytes >> (10 * unit);
    if unit == 0 || whole >= 10 {
        return format!("{whole} {}", units[unit]);
    }
    let tenths = (u128::from(bytes) * 10) >> (10 * unit);
    format!("{}.{} {}", tenths / 10, tenths % 10, units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_told_in_units() {
        let told = [0, 1023, 1024, 1536, 10 << 20, (2 << 30) + (921 << 20)].map(amount);
        assert_eq!(told, ["0 bytes", "1023 bytes", "1.0 KiB", "1.5 KiB", "10 MiB", "2.8 GiB"]);
    }
}
