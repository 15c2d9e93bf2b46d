//! Keeps signatures of the states that were found in place of the states, and in memory those that wait.

use super::expand::Harvest;
use super::signatures::{Bits, Compacted};
use super::sweep::{Batch, Keep, Weakness};
use super::trail::{Footprint, Trail};
use std::collections::VecDeque;
use std::io;
use trivium_engine::number::fit;

/// States of a batch that waits.
const TOGETHER: usize = 1 << 10;

/// How states are known again.
pub(super) enum Signatures {
    Compacted(Compacted),
    Bits(Bits),
}

impl Signatures {
    fn contains(&self, state: &[u8]) -> bool {
        match self {
            Signatures::Compacted(set) => set.contains(state),
            Signatures::Bits(set) => set.contains(state),
        }
    }

    fn insert(&mut self, state: &[u8]) -> bool {
        match self {
            Signatures::Compacted(set) => set.insert(state),
            Signatures::Bits(set) => set.insert(state),
        }
    }

    fn memory(&self) -> u64 {
        match self {
            Signatures::Compacted(set) => set.memory(),
            Signatures::Bits(set) => set.memory(),
        }
    }
}

/// States that wait, in order.
#[derive(Default)]
struct Queue {
    batches: VecDeque<Batch>,
    /// States of the first that wait no longer.
    taken: usize,
    memory: u64,
}

impl Queue {
    fn push(&mut self, state: &[u8], name: u64) {
        if self.batches.back().is_none_or(|last| last.len() >= TOGETHER) {
            self.batches.push_back(Batch::default());
        }
        if let Some(last) = self.batches.back_mut() {
            self.memory -= last.memory();
            last.push(state, name);
            self.memory += last.memory();
        }
    }

    /// The first states: whole batches as far as they fit, or at most so many of one.
    fn pop(&mut self, most: usize) -> Batch {
        let mut batch = Batch::default();
        while let Some(first) = self.batches.front() {
            let waiting = first.len() - self.taken;
            if batch.len() > 0 && batch.len() + waiting > most {
                break;
            }
            let to = self.taken + waiting.min(most);
            (self.taken..to).for_each(|at| batch.push(first.get(at), first.names[at]));
            self.taken = to;
            if to < first.len() {
                break;
            }
            self.memory -= first.memory().min(self.memory);
            self.batches.pop_front();
            self.taken = 0;
        }
        batch
    }

    /// How many wait.
    fn len(&self) -> usize {
        self.batches.iter().map(Batch::len).sum::<usize>() - self.taken
    }
}

/// The states of a search by signatures.
pub(super) struct Compact {
    signatures: Signatures,
    present: Queue,
    next: Queue,
    trail: Trail,
    states: u64,
    packed: u64,
}

impl Compact {
    pub fn new(signatures: Signatures) -> Compact {
        Compact {
            signatures,
            present: Queue::default(),
            next: Queue::default(),
            trail: Trail::default(),
            states: 0,
            packed: 0,
        }
    }
}

fn footprint(name: u64) -> Footprint {
    fit(name, "the name of a state that waits")
}

impl Keep for Compact {
    fn begin(&mut self, first: &[u8], hash: u64) -> io::Result<()> {
        self.signatures.insert(first);
        self.present.push(first, u64::from(self.trail.add(hash, None)));
        (self.states, self.packed) = (1, first.len() as u64);
        Ok(())
    }

    fn batch(&mut self, most: u64) -> io::Result<Batch> {
        Ok(self.present.pop(usize::try_from(most).unwrap_or(usize::MAX)))
    }

    fn knows(&self, state: &[u8]) -> bool {
        self.signatures.contains(state)
    }

    fn join(&mut self, batch: &Batch, harvests: &[Harvest], most: u64) -> io::Result<bool> {
        for harvest in harvests {
            for at in 0..harvest.len() {
                let state = harvest.candidate(at);
                if self.states >= most && !self.signatures.contains(state) {
                    return Ok(false);
                }
                if !self.signatures.insert(state) {
                    continue;
                }
                let before = footprint(batch.names[harvest.parents[at] as usize]);
                let name = self.trail.add(harvest.hashes[at], Some(before));
                self.next.push(state, u64::from(name));
                self.states += 1;
                self.packed += state.len() as u64;
            }
        }
        Ok(true)
    }

    fn done(&mut self, batch: &Batch) {
        batch.names.iter().for_each(|&name| self.trail.done(footprint(name)));
    }

    fn next_level(&mut self, _: u64) -> io::Result<Option<u64>> {
        self.present = std::mem::take(&mut self.next);
        Ok(Some(self.present.len() as u64))
    }

    fn found(&self) -> (u64, u64) {
        (self.states, self.packed)
    }

    fn memory(&self) -> u64 {
        self.signatures.memory() + self.present.memory + self.next.memory + self.trail.memory()
    }

    fn way(&mut self, name: u64) -> io::Result<Vec<u64>> {
        Ok(self.trail.way(footprint(name)))
    }

    fn last(&self) -> Option<u64> {
        let last = self.next.batches.back().or(self.present.batches.back());
        last.and_then(|batch| batch.names.last().copied())
    }

    fn weakness(&self, depth: u32) -> Weakness {
        match &self.signatures {
            Signatures::Compacted(set) => Weakness { method: "hash compaction", omission: Some(set.omission(depth)) },
            Signatures::Bits(set) => Weakness { method: "bitstate", omission: Some(set.omission(depth)) },
        }
    }
}
