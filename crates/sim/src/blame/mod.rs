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

use crate::node::NodeState;
use crate::timeline::Run;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use trivium_engine::number::{fit, index};
use trivium_engine::{Node, Object};
use trivium_guest::{AccessKind, Frame, SHARED_BASE};
use trivium_lang::protocol::{Access, BLOCK};

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

/// A miss: on which node, and which of its misses.
pub(crate) type Origin = (Node, u32);

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
    Sent { origin: Option<Origin>, block: Option<u32>, counted: bool },
}

/// What a node has seen and not yet told.
#[derive(Default)]
pub(crate) struct Log {
    seen: VecDeque<(u64, Seen)>,
    misses: u32,
    /// The miss that is about to be recorded as the cause of what follows.
    pub(crate) faulting: Option<u32>,
    /// Of each block that others have anything to do with, which words have been loaded, then which have been stored to,
    /// since the tag last changed: an access of the same kind tells nothing new.
    words: FxHashMap<u32, Box<[u64]>>,
}

impl Log {
    /// Something happened at a cycle. The processor may have been ahead of its engine then; but what it did before is still
    /// before.
    fn push(&mut self, time: u64, seen: Seen) {
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
    fn begin_anew(&mut self, block: u32, words: u64) {
        let length = 2 * index(words.div_ceil(64));
        self.words.entry(block).or_insert_with(|| vec![0; length].into()).fill(0);
    }

    /// Whether an access to words of a block is worth telling; then it is not a second time.
    fn is_new(&mut self, block: u32, (first, last): (u16, u16), store: bool) -> bool {
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

/// Stacks of programs, each once.
#[derive(Default)]
pub struct Sites {
    known: FxHashMap<Vec<Frame>, u32>,
    pub(crate) all: Vec<Vec<Frame>>,
}

impl Sites {
    fn number(&mut self, frames: Vec<Frame>) -> u32 {
        if let Some(&known) = self.known.get(&frames) {
            return known;
        }
        let number = fit(self.all.len(), "a place in a program");
        self.known.insert(frames.clone(), number);
        self.all.push(frames);
        number
    }
}

impl NodeState {
    /// Whether what happens now is counted as of the region of interest.
    fn in_region(&self) -> bool {
        self.compute.region.is_some()
    }

    fn words_of_block(&self) -> u64 {
        self.shared.block / WORD
    }

    /// The program accesses shared memory.
    #[inline]
    pub(crate) fn blame_access(&mut self, address: u32, size: u32, kind: AccessKind) {
        if self.blame.is_some() && address >= SHARED_BASE {
            self.tell_access(u64::from(address - SHARED_BASE), size, kind);
        }
    }

    fn tell_access(&mut self, offset: u64, size: u32, kind: AccessKind) {
        let block = self.block_of(offset).id;
        let store = kind == AccessKind::Write;
        // Where several nodes may write at once, each store may be the one that another then reads.
        let every = !self.protocol_at(offset).is_some_and(|protocol| self.shared.watched[protocol]);
        let within = offset % self.shared.block;
        let word = |byte: u64| fit(byte / WORD, "a word of a block, of which there are at most 512");
        let (first, last) = (word(within), word(within + u64::from(size.max(1)) - 1));
        let (time, words) = (self.compute.clock(), self.words_of_block());
        let Some(log) = &mut self.blame else { return };
        if every && !log.words.contains_key(&block) {
            log.begin_anew(block, words);
        }
        if log.is_new(block, (first, last), store) || every && store {
            log.push(time, Seen::Access { block, first, last, store });
        }
    }

    /// Access control has stopped an access.
    pub(crate) fn blame_miss(&mut self, block: Object, kind: AccessKind, tag: Access) {
        let (time, counted, words) = (self.compute.clock(), self.in_region(), self.words_of_block());
        let Some(log) = &mut self.blame else { return };
        let wanted = match (kind, tag) {
            (AccessKind::Read, _) => Wanted::Read,
            (AccessKind::Write, Access::Read) => Wanted::Upgrade,
            (AccessKind::Write, _) => Wanted::Write,
        };
        log.push(time, Seen::Miss { block: block.id, wanted, tag, counted, site: NOWHERE });
        log.begin_anew(block.id, words);
        log.faulting = Some(log.misses);
        log.misses += 1;
    }

    /// Where in the program the latest miss was.
    pub(crate) fn blame_site(&mut self, frames: &[Frame]) {
        let shared = self.shared.clone();
        let Some(log) = &mut self.blame else { return };
        let latest = log.seen.iter_mut().rev().find_map(|(_, seen)| match seen {
            Seen::Miss { site, .. } => Some(site),
            _ => None,
        });
        if let Some(site) = latest.filter(|site| **site == NOWHERE && !frames.is_empty()) {
            *site = shared.sites.borrow_mut().number(frames.to_vec());
        }
    }

    /// The access of the latest miss goes on after so many cycles.
    pub(crate) fn blame_wait(&mut self, cycles: u64) {
        let (begun, counted) = (self.compute.clock(), self.in_region());
        if let Some(log) = &mut self.blame {
            // What the engine has done meanwhile stays where it is.
            let time = log.seen.back().map_or(begun, |entry| entry.0.max(begun));
            log.push(time, Seen::Waited { cycles, counted });
        }
    }

    /// A handler has completed the access of the latest miss.
    pub(crate) fn blame_completed(&mut self, block: Object) {
        let time = self.compute.clock();
        if let Some(log) = &mut self.blame {
            log.push(time, Seen::Completed { block: block.id });
        }
    }

    /// A tag has changed.
    pub(crate) fn blame_tag(&mut self, block: Object, from: Access, to: Access, own: bool, time: u64) {
        let words = self.words_of_block();
        let Some(log) = &mut self.blame else { return };
        if from == to {
            return;
        }
        log.begin_anew(block.id, words);
        // What a handler changes twice is seen as it leaves it.
        if let Some((at, Seen::Tag { block: before, to: changed, .. })) = log.seen.back_mut()
            && (*at, *before) == (time, block.id)
        {
            *changed = to;
            return;
        }
        log.push(time, Seen::Tag { block: block.id, from, to, own });
    }

    /// A handler has sent a message about an object.
    pub(crate) fn blame_sent(&mut self, run: Option<&Run>, object: Object) {
        let (time, counted) = (self.now, self.in_region());
        let Some(log) = &mut self.blame else { return };
        let block = (object.kind == BLOCK).then_some(object.id);
        log.push(time, Seen::Sent { origin: run.and_then(|run| run.origin), block, counted });
    }
}
