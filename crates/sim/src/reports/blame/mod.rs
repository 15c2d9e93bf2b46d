//! Why accesses missed, and whose fault it is: the data, the line, and the way in which nodes share a block
//! (`docs/statistics.md`, "Blame").
//!
//! A node only writes down what it sees ([`Log`]); a [`Judge`](judge::Judge) reads the logs of all nodes in the order of
//! time and decides. Nothing here has an effect on a simulation. Where nobody asked for blame a node has no log, and
//! accesses that hit do not leave compiled code; else all accesses to shared memory are asked for.

mod judge;
mod report;

pub(crate) use judge::Judge;
pub use report::{AllocationBlame, Blamed, FalseShare, Kinds, LineBlame, Part};

use crate::reports::timeline::MissId;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use trivium_engine::number::{fit, index};
use trivium_guest::StackFrame;
use trivium_protocol::Access;

/// Bytes of a word: what is shared is told apart word by word.
pub(crate) const WORD: u64 = 4;

/// A place in the program that is not known.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// What an access that missed wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Read = 0,
    Write = 1,
    Upgrade = 2,
}

/// What a node saw.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen {
    /// Access control stopped an access that found the block with this tag.
    Miss { block: u32, wanted: Wanted, tag: Access, counted: bool, site: u32 },
    /// The access at which its latest miss was goes on after so many cycles.
    Waited { cycles: u64, counted: bool },
    /// A tag changed; `own` if the node itself gave the copy up.
    Tag { block: u32, from: Access, to: Access, own: bool },
    /// An access to these words of a block.
    Access { block: u32, first: u16, last: u16, store: bool },
    /// A handler has completed the access of the latest miss without giving a copy.
    Completed { block: u32 },
    /// A message was sent, which goes back to this miss, about this block.
    Sent { origin: Option<MissId>, block: Option<u32>, counted: bool },
}

/// What a node has seen and not yet told.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) seen: VecDeque<(u64, Seen)>,
    pub(crate) misses: u32,
    /// The miss that is about to be recorded as the cause of what follows.
    pub(crate) faulting: Option<u32>,
    /// Of each block that others have anything to do with, which words have been loaded, then which have been stored to,
    /// since the tag last changed: an access of the same kind tells nothing new.
    pub(crate) words: FxHashMap<u32, Box<[u64]>>,
}

impl Log {
    /// Something happened at a cycle. The processor may have been ahead of its engine then; but what it did before is still
    /// before.
    pub(crate) fn push(&mut self, time: u64, seen: Seen) {
        for entry in self.seen.iter_mut().rev().take_while(|entry| entry.0 > time) {
            entry.0 = time;
        }
        self.seen.push_back((time, seen));
    }

    /// What happened before a cycle, in order.
    pub(crate) fn before(&mut self, cycle: u64) -> impl Iterator<Item = (u64, Seen)> + '_ {
        std::iter::from_fn(move || self.seen.pop_front_if(|entry| entry.0 < cycle))
    }

    /// From now on accesses to a block are told again.
    pub(crate) fn begin_anew(&mut self, block: u32, words: u64) {
        let length = 2 * index(words.div_ceil(64));
        self.words.entry(block).or_insert_with(|| vec![0; length].into()).fill(0);
    }

    /// Whether an access to words of a block is worth telling; then it is not a second time.
    pub(crate) fn is_new(&mut self, block: u32, (first, last): (u16, u16), store: bool) -> bool {
        let Some(words) = self.words.get_mut(&block) else { return false };
        let half = words.len() / 2;
        let mut new = false;
        for word in first..=last {
            let slot = &mut words[usize::from(word) / 64 + if store { half } else { 0 }];
            let bit = 1u64 << (word % 64);
            new |= *slot & bit == 0;
            *slot |= bit;
        }
        new
    }
}

/// Bytes of the host's memory that logs and the judge keep of a block of so many bytes, if each of so many nodes has to do with
/// it: at most, but for what further misses add.
pub(crate) fn bytes_for_block(nodes: u64, block: u64) -> u64 {
    let words = block / WORD;
    let of_log = in_hash_map(size_of::<(u32, Box<[u64]>)>()) + on_heap(2 * 8 * words.div_ceil(64));
    nodes * of_log + Judge::bytes_for_block(nodes, words)
}

/// What an allocation takes, with what the host keeps of it.
fn on_heap(bytes: u64) -> u64 {
    (bytes + 8).next_multiple_of(16).max(32)
}

/// What an entry takes, with a byte that says so, in a table that is at least 7/16 full, for it doubles when it is 7/8 full.
fn in_hash_map(entry: usize) -> u64 {
    (entry as u64 + 1) * 16 / 7
}

/// What so many entries take in a balanced tree: a leaf has room for 11, and is about half full if there are several.
fn in_tree(entries: u64, entry: usize) -> u64 {
    let leaves = if entries <= 11 { entries.min(1) } else { entries.div_ceil(6) };
    leaves * on_heap(11 * entry as u64 + 16)
}

/// Stacks of programs, each once.
#[derive(Default)]
pub struct Sites {
    known: FxHashMap<Vec<StackFrame>, u32>,
    pub(crate) all: Vec<Vec<StackFrame>>,
}

impl Sites {
    pub(crate) fn number(&mut self, frames: Vec<StackFrame>) -> u32 {
        if let Some(&known) = self.known.get(&frames) {
            return known;
        }
        let number = fit(self.all.len(), "a place in a program");
        self.known.insert(frames.clone(), number);
        self.all.push(frames);
        number
    }
}
