//! Packed states one after the other, in the order in which a breadth-first search finds them.

use super::ascending::Ascending;
use super::pack::halves;
pub(crate) use crate::search::store::StateNumber;
use crate::search::store::state_number;
use std::ops::Range;
use trivium_engine::number::{fit, index};

/// States of a chunk: growing copies no more than one.
const CHUNK: usize = 1 << 12;
/// States between two known offsets.
const STRIDE: usize = 16;

/// A length that is this one or more is kept apart.
const LONG: u8 = u8::MAX;

/// All states found, each with the state from which it was first reached: a byte and a half more than the packed state, and
/// four more where that is long. A state may have any length.
#[derive(Default)]
pub(crate) struct Arena {
    chunks: Vec<Chunk>,
    parents: Ascending,
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
    /// States whose lengths are too great even for that, with their places, in order: none of their bytes is among the
    /// others, so that the offsets stay small.
    apart: Vec<(u16, Box<[u8]>)>,
    apart_bytes: usize,
}

impl Chunk {
    fn memory(&self) -> u64 {
        let numbers = self.starts.capacity() + self.long.capacity();
        let apart = self.apart_bytes + self.apart.capacity() * size_of::<(u16, Box<[u8]>)>();
        (self.bytes.capacity() + self.lengths.capacity() + numbers * 4 + apart) as u64
    }

    /// The state at a place, if it is the one whose bytes begin at an offset.
    #[inline]
    fn state(&self, at: usize, start: usize) -> &[u8] {
        match self.length(at) {
            0 => self.state_apart(at),
            length => &self.bytes[start..start + length],
        }
    }

    /// Adds the bytes of the next state, and how many they are.
    fn push_bytes(&mut self, state: &[u8]) {
        let short = u8::try_from(state.len()).unwrap_or(LONG);
        self.lengths.push(short);
        if short < LONG {
            return self.bytes.extend_from_slice(state);
        }
        let place = u16::try_from(self.lengths.len() - 1).expect("a chunk has 4096 states");
        match u16::try_from(state.len()) {
            Ok(length) => {
                self.long.push((place, length));
                self.bytes.extend_from_slice(state);
            }
            Err(_) => {
                self.apart.push((place, state.into()));
                self.apart_bytes += state.len();
            }
        }
    }

    #[cold]
    fn state_apart(&self, at: usize) -> &[u8] {
        let found = self.apart.binary_search_by_key(&at, |(place, _)| usize::from(*place));
        found.map_or(&[], |found| &self.apart[found].1)
    }

    /// Bytes among the others of the state at a place.
    #[inline]
    fn length(&self, at: usize) -> usize {
        match self.lengths[at] {
            LONG => self.long_length(at),
            length => usize::from(length),
        }
    }

    #[cold]
    fn long_length(&self, at: usize) -> usize {
        let found = self.long.binary_search_by_key(&at, |(place, _)| usize::from(*place));
        found.map_or(0, |found| usize::from(self.long[found].1))
    }

    /// Bytes among the others of the states at some places.
    #[inline]
    fn length_of_all(&self, places: Range<usize>) -> usize {
        let few = self.lengths.get(places.start..).and_then(<[u8]>::first_chunk::<STRIDE>);
        match few {
            Some(few) if self.long.is_empty() && places.len() < STRIDE => sum_of_first(*few, places.len()),
            _ => places.map(|at| self.length(at)).sum(),
        }
    }
}

/// The sum of the first so many of some lengths, not all: all at once.
#[inline]
fn sum_of_first(lengths: [u8; STRIDE], count: usize) -> usize {
    const LOW: u128 = u128::from_le_bytes([0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0]);
    let wanted = u128::from_le_bytes(lengths) & !(u128::MAX << (8 * count % 128));
    // Sums of two have 16 bits of their own, and so have those of all.
    let [low, high] = halves((wanted & LOW) + (wanted >> 8 & LOW));
    index((low + high).wrapping_mul(0x0001_0001_0001_0001) >> 48)
}

impl Arena {
    pub fn len(&self) -> usize {
        self.states
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        self.full_bytes + self.chunks.last().map_or(0, Chunk::memory) + self.parents.memory()
    }

    /// The packed bytes of a state.
    #[inline]
    pub fn get(&self, number: StateNumber) -> &[u8] {
        let chunk = &self.chunks[number as usize / CHUNK];
        let at = number as usize % CHUNK;
        let first = at - at % STRIDE;
        chunk.state(at, chunk.starts[at / STRIDE] as usize + chunk.length_of_all(first..at))
    }

    /// Some states in order, each with its number. The first must be the first of a chunk.
    pub fn states(&self, range: Range<usize>) -> impl Iterator<Item = (StateNumber, &[u8])> {
        debug_assert!(range.is_empty() || range.start.is_multiple_of(CHUNK));
        let chunks = &self.chunks[range.start.div_ceil(CHUNK).min(self.chunks.len())..];
        let states = chunks.iter().flat_map(|chunk| {
            let mut next = 0;
            (0..chunk.lengths.len()).map(move |at| {
                let start = next;
                next += chunk.length(at);
                chunk.state(at, start)
            })
        });
        (state_number(range.start)..state_number(range.end)).zip(states)
    }

    /// Bytes of all states.
    pub fn packed(&self) -> u64 {
        self.chunks.iter().map(|chunk| (chunk.bytes.len() + chunk.apart_bytes) as u64).sum()
    }

    /// The state from which a state was first reached; the first state's is itself.
    pub fn parent(&self, number: StateNumber) -> StateNumber {
        fit(self.parents.get(number as usize), "the number of a state")
    }

    /// Adds a state; its number. Its parent is none before that of the state added last.
    pub fn push(&mut self, state: &[u8], parent: StateNumber) -> StateNumber {
        if self.states.is_multiple_of(CHUNK) {
            if let Some(full) = self.chunks.last_mut() {
                full.bytes.shrink_to_fit();
                self.full_bytes += full.memory();
            }
            self.chunks.push(Chunk::default());
        }
        let chunk = self.chunks.last_mut().expect("there is a chunk that is not full");
        if chunk.lengths.len().is_multiple_of(STRIDE) {
            let start = u32::try_from(chunk.bytes.len());
            chunk.starts.push(start.expect("a chunk has 4096 states, and of each at most 65535 bytes"));
        }
        chunk.push_bytes(state);
        self.parents.push(u64::from(parent));
        self.states += 1;
        state_number(self.states) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_all_lengths_come_back() {
        let mut arena = Arena::default();
        let lengths = [3, 254, 255, 256, 0, 40_000, 17, 65_534, 65_535, 65_536, 200_000];
        let state = |n: usize| vec![n as u8; if n % 50 < 11 { lengths[n % 50] } else { n % 7 }];
        let count = 2 * CHUNK + 300;
        (0..count).for_each(|n| assert_eq!(arena.push(&state(n), n as u32 / 2), n as u32));
        assert!((0..count).all(|n| arena.get(n as u32) == state(n) && arena.parent(n as u32) == n as u32 / 2));
        assert!(arena.memory() >= arena.packed());
        let from = CHUNK;
        assert!(arena.states(from..count).all(|(n, bytes)| bytes == state(n as usize)));
        assert_eq!(arena.states(from..count).count(), count - from);
        assert_eq!(arena.packed(), (0..count).map(|n| state(n).len() as u64).sum::<u64>());
    }
}
