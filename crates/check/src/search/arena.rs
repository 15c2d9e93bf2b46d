//! Packed states one after the other, in the order in which a breadth-first search finds them.

use std::ops::Range;

/// A state's number, in the order in which states were found.
pub(crate) type StateNumber = u32;

/// States of a chunk: growing copies no more than one.
const CHUNK: usize = 1 << 12;
/// States between two known offsets.
const STRIDE: usize = 16;

/// Longest packed state.
pub(crate) const LONGEST: usize = u16::MAX as usize;

/// A length that is this one or more is kept apart.
const LONG: u8 = u8::MAX;

/// All states found, each with the state from which it was first reached: 5.25 bytes more than the packed state, and
/// four more where that is long.
#[derive(Default)]
pub(crate) struct Arena {
    chunks: Vec<Chunk>,
    states: usize,
    /// Host memory of the chunks that are full.
    full_bytes: u64,
}

#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    /// Offset of every sixteenth state.
    starts: Vec<u32>,
    lengths: Vec<u8>,
    /// The lengths of those for which [`LONG`] stands there, with their places, in order.
    long: Vec<(u16, u16)>,
    parents: Vec<StateNumber>,
}

impl Chunk {
    fn memory(&self) -> u64 {
        let numbers = self.starts.capacity() + self.long.capacity() + self.parents.capacity();
        (self.bytes.capacity() + self.lengths.capacity() + numbers * 4) as u64
    }

    /// Bytes of the state at a place.
    #[inline]
    fn length(&self, at: usize) -> usize {
        match self.lengths[at] {
            LONG => self.long_length(at),
            length => usize::from(length),
        }
    }

    #[cold]
    fn long_length(&self, at: usize) -> usize {
        let found = self.long.binary_search_by_key(&(at as u16), |(place, _)| *place);
        found.map_or(0, |found| usize::from(self.long[found].1))
    }

    /// Bytes of the states at some places.
    #[inline]
    fn length_of_all(&self, places: Range<usize>) -> usize {
        if self.long.is_empty() {
            return self.lengths[places].iter().map(|&length| usize::from(length)).sum();
        }
        places.map(|at| self.length(at)).sum()
    }
}

impl Arena {
    pub fn len(&self) -> usize {
        self.states
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        self.full_bytes + self.chunks.last().map_or(0, Chunk::memory)
    }

    /// The packed bytes of a state.
    #[inline]
    pub fn get(&self, number: StateNumber) -> &[u8] {
        let chunk = &self.chunks[number as usize / CHUNK];
        let at = number as usize % CHUNK;
        let first = at - at % STRIDE;
        let start = chunk.starts[at / STRIDE] as usize + chunk.length_of_all(first..at);
        &chunk.bytes[start..start + chunk.length(at)]
    }

    /// Some states in order, each with its number. The first must be the first of a chunk.
    pub fn states(&self, range: Range<usize>) -> impl Iterator<Item = (StateNumber, &[u8])> {
        debug_assert!(range.is_empty() || range.start.is_multiple_of(CHUNK));
        let chunks = &self.chunks[range.start.div_ceil(CHUNK).min(self.chunks.len())..];
        let states = chunks.iter().flat_map(|chunk| {
            let mut rest = chunk.bytes.as_slice();
            (0..chunk.lengths.len()).map(move |at| {
                let (state, others) = rest.split_at(chunk.length(at));
                rest = others;
                state
            })
        });
        (range.start as StateNumber..range.end as StateNumber).zip(states)
    }

    /// Bytes of all states.
    pub fn packed(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.bytes.len() as u64).sum()
    }

    /// The state from which a state was first reached; the first state's is itself.
    pub fn parent(&self, number: StateNumber) -> StateNumber {
        self.chunks[number as usize / CHUNK].parents[number as usize % CHUNK]
    }

    /// Adds a state; its number.
    pub fn push(&mut self, state: &[u8], parent: StateNumber) -> StateNumber {
        debug_assert!(state.len() <= LONGEST);
        if self.states.is_multiple_of(CHUNK) {
            if let Some(full) = self.chunks.last_mut() {
                full.bytes.shrink_to_fit();
                self.full_bytes += full.memory();
            }
            self.chunks.push(Chunk::default());
        }
        let chunk = self.chunks.last_mut().expect("there is a chunk that is not full");
        if chunk.lengths.len().is_multiple_of(STRIDE) {
            chunk.starts.push(chunk.bytes.len() as u32);
        }
        chunk.bytes.extend_from_slice(state);
        if state.len() >= usize::from(LONG) {
            chunk.long.push((chunk.lengths.len() as u16, state.len() as u16));
        }
        chunk.lengths.push(state.len().min(usize::from(LONG)) as u8);
        chunk.parents.push(parent);
        self.states += 1;
        self.states as StateNumber - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_all_lengths_come_back() {
        let mut arena = Arena::default();
        let state = |n: usize| vec![n as u8; [3, 254, 255, 256, 0, 40_000, 17][n % 7] / (1 + n % 3)];
        let count = 2 * CHUNK + 300;
        (0..count).for_each(|n| assert_eq!(arena.push(&state(n), n as u32 / 2), n as u32));
        assert!((0..count).all(|n| arena.get(n as u32) == state(n) && arena.parent(n as u32) == n as u32 / 2));
        let from = CHUNK;
        assert!(arena.states(from..count).all(|(n, bytes)| bytes == state(n as usize)));
        assert_eq!(arena.states(from..count).count(), count - from);
        assert_eq!(arena.packed(), (0..count).map(|n| state(n).len() as u64).sum::<u64>());
    }
}
