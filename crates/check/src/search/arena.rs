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

/// All states found, each with the state from which it was first reached: 6.25 bytes more than the packed state.
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
    lengths: Vec<u16>,
    parents: Vec<StateNumber>,
}

impl Chunk {
    fn memory(&self) -> u64 {
        let numbers = self.starts.capacity() * 4 + self.lengths.capacity() * 2 + self.parents.capacity() * 4;
        (self.bytes.capacity() + numbers) as u64
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
        let before: usize = chunk.lengths[first..at].iter().map(|&length| usize::from(length)).sum();
        let start = chunk.starts[at / STRIDE] as usize + before;
        &chunk.bytes[start..start + usize::from(chunk.lengths[at])]
    }

    /// Some states in order, each with its number. The first must be the first of a chunk.
    pub fn states(&self, range: Range<usize>) -> impl Iterator<Item = (StateNumber, &[u8])> {
        debug_assert!(range.is_empty() || range.start.is_multiple_of(CHUNK));
        let chunks = &self.chunks[range.start.div_ceil(CHUNK).min(self.chunks.len())..];
        let states = chunks.iter().flat_map(|chunk| {
            let mut rest = chunk.bytes.as_slice();
            chunk.lengths.iter().map(move |&length| {
                let (state, others) = rest.split_at(usize::from(length));
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
        chunk.lengths.push(state.len() as u16);
        chunk.parents.push(parent);
        self.states += 1;
        self.states as StateNumber - 1
    }
}
