//! The golden check: at most one node may write a block, and then no other may read it (tempest.md 8).

use crate::error::SimError;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use trivium_engine::Node;
use trivium_lang::protocol::Access;

/// A tag changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagChange {
    /// At which cycle.
    pub time: u64,
    /// On which node.
    pub node: Node,
    /// Of which block.
    pub block: u32,
    /// To what.
    pub to: Access,
    /// Under which protocol.
    pub protocol: usize,
}

/// Who may access a block.
#[derive(Clone, Copy, Debug, Default)]
struct Holders {
    readers: Nodes,
    writers: Nodes,
}

/// A set of nodes, of which there are at most 256.
#[derive(Clone, Copy, Debug, Default)]
struct Nodes([u64; 4]);

impl Nodes {
    fn put(&mut self, node: Node, is_in: bool) {
        let (word, bit) = (&mut self.0[usize::from(node) / 64], 1 << (node % 64));
        *word = if is_in { *word | bit } else { *word & !bit };
    }

    /// The least member but `other`.
    fn first_but(&self, other: Option<Node>) -> Option<Node> {
        let members = self.0.iter().enumerate().flat_map(|(at, &word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| (64 * at + bit) as Node)
        });
        members.filter(|&node| Some(node) != other).min()
    }

    fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    fn is_one(&self) -> bool {
        self.0.iter().map(|word| word.count_ones()).sum::<u32>() == 1
    }
}

/// The tags of all nodes for the blocks of protocols that promise a single writer.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    blocks: FxHashMap<u32, Holders>,
    /// When all copies of these blocks go at once, and have not yet.
    bound: VecDeque<(u64, Range<u32>)>,
}

impl Watch {
    /// At a cycle all copies of these blocks go, and each is as no node has touched it: their region is bound anew.
    pub fn forget(&mut self, time: u64, blocks: Range<u32>) {
        self.bound.push_back((time, blocks));
    }

    /// Applies a change; all of a block's must come in their order. `first` gives the block's home and the access
    /// that it has there before any change.
    ///
    /// # Errors
    /// Two nodes have a block of which one may write it.
    pub fn apply(&mut self, change: &TagChange, first: impl FnOnce() -> (Node, Access)) -> Result<(), SimError> {
        while let Some((_, blocks)) = self.bound.pop_front_if(|bound| bound.0 <= change.time) {
            for block in blocks {
                self.blocks.remove(&block);
            }
        }
        let holders = self.blocks.entry(change.block).or_insert_with(|| {
            let mut holders = Holders::default();
            let (node, access) = first();
            holders.set(node, access);
            holders
        });
        holders.set(change.node, change.to);
        let Some((writer, other)) = holders.conflict() else { return Ok(()) };
        let what = format!(
            "at cycle {} node {writer} may write block {}, and node {other} may access it too",
            change.time, change.block
        );
        Err(SimError::subject(what)
            .help("the protocol promises a single writer: `trivium check` finds the shortest story"))
    }
}

impl Holders {
    fn set(&mut self, node: Node, access: Access) {
        self.readers.put(node, access == Access::Read);
        self.writers.put(node, access == Access::Write);
    }

    fn conflict(&self) -> Option<(Node, Node)> {
        if self.writers.is_empty() || self.writers.is_one() && self.readers.is_empty() {
            return None;
        }
        let writer = self.writers.first_but(None)?;
        let other = self.writers.first_but(Some(writer)).or(self.readers.first_but(None))?;
        Some((writer, other))
    }
}

/// A node's first store to a block between two barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStore {
    /// Barriers that the node had passed.
    pub phase: u64,
    /// Of which block.
    pub block: u32,
    /// On which node.
    pub node: Node,
}

/// Who has stored to blocks of protocols that assume one writer per phase.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    of: BTreeMap<(u64, u32), Node>,
}

impl Writers {
    /// Looks at first stores; nobody will store any more in a phase before `oldest`.
    ///
    /// # Errors
    /// Two nodes have stored to a block in one phase.
    pub fn apply(&mut self, stores: &[FirstStore], oldest: u64) -> Result<(), SimError> {
        for store in stores {
            let writer = *self.of.entry((store.phase, store.block)).or_insert(store.node);
            if writer != store.node {
                let (one, other) = (writer.min(store.node), writer.max(store.node));
                let what = format!(
                    "nodes {one} and {other} both write block {} between two barriers (after {} of them)",
                    store.block, store.phase
                );
                return Err(SimError::subject(what).help("the protocol assumes `one_writer_per_phase`: change the program, or use another protocol for this memory"));
            }
        }
        self.of = self.of.split_off(&(oldest, 0));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_is_seen() {
        let mut watch = Watch::default();
        let change = |time, node, to| TagChange { time, node, block: 3, to, protocol: 0 };
        let home = || (0, Access::Write);
        watch.apply(&change(5, 0, Access::Read), home).unwrap();
        watch.apply(&change(9, 1, Access::Read), home).unwrap();
        watch.apply(&change(10, 0, Access::None), home).unwrap();
        watch.apply(&change(11, 1, Access::Write), home).unwrap();
        let error = watch.apply(&change(12, 2, Access::Read), home).unwrap_err();
        assert!(error.what.contains("node 1 may write block 3, and node 2"), "{error}");
        watch.forget(20, 2..4);
        watch.apply(&change(20, 2, Access::None), home).unwrap();
        assert!(watch.apply(&change(21, 2, Access::Read), home).is_err(), "the home may write it again");
    }
}
