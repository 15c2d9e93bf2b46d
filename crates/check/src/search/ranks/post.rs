//! The way to the other ranks, with a count of what goes over it.

use crate::config::group::{Group, spread};
use crate::report::Together;
use std::cell::Cell;
use trivium_engine::number::index;

/// Which of so many ranks keeps a state with this hash. The table uses other bits of it.
pub(super) fn owner(hash: u64, ranks: usize) -> usize {
    const BITS: u32 = 20;
    (index(hash >> 40 & ((1 << BITS) - 1)) * ranks) >> BITS
}

/// A group, and what this rank has sent to the others.
pub(super) struct Post<'g> {
    group: &'g dyn Group,
    bytes: Cell<u64>,
    exchanges: Cell<u64>,
}

impl<'g> Post<'g> {
    pub fn new(group: &'g dyn Group) -> Post<'g> {
        Post { group, bytes: Cell::new(0), exchanges: Cell::new(0) }
    }

    pub fn rank(&self) -> usize {
        self.group.rank()
    }

    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// The rank that keeps a state with this hash.
    pub fn owner(&self, hash: u64) -> usize {
        owner(hash, self.size())
    }

    fn count(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes as u64);
        self.exchanges.set(self.exchanges.get() + 1);
    }

    /// Sends each rank its letter; the letters of all to this one.
    pub fn exchange(&self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let others = letters.iter().enumerate().filter(|(to, _)| *to != self.rank());
        self.count(others.map(|(_, letter)| letter.len()).sum());
        self.group.exchange(letters)
    }

    /// The same bytes to all; those of all.
    pub fn exchange_all(&self, letter: Vec<u8>) -> Vec<Vec<u8>> {
        self.exchange(vec![letter; self.size()])
    }

    /// Some numbers of all ranks: for each place the list of them, by rank.
    pub fn gather<const N: usize>(&self, numbers: [u64; N]) -> [Vec<u64>; N] {
        self.count((self.size() - 1) * N * 8);
        let all = self.group.gather(&numbers);
        std::array::from_fn(|place| all.iter().skip(place).step_by(N).copied().collect())
    }

    /// What one rank knows, to all.
    pub fn spread(&self, from: usize, bytes: Vec<u8>) -> Vec<u8> {
        self.count(if self.rank() == from { bytes.len() * (self.size() - 1) } else { 0 });
        spread(self.group, from, bytes)
    }

    /// What all have sent so far.
    pub fn sent(&self) -> Together {
        let (bytes, exchanges) = (self.bytes.get(), self.exchanges.get());
        let all = self.group.gather(&[bytes]);
        Together { count: self.size() as u64, bytes: all.iter().sum(), exchanges }
    }
}
