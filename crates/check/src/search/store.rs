//! The set of states found so far: bytes in one arena, found again through an open hash table.

use std::hash::Hasher;
use trivium_engine::number::{fit, low_u32};

/// A state's number, in the order in which states were found.
pub(crate) type StateNumber = u32;

/// How many states there are, or a place among them, as a number of a state.
pub(crate) fn state_number(count: usize) -> StateNumber {
    fit(count, "the number of a state: a search ends before there are so many")
}

/// The states on the way from the first to one, both included, where each is reached from its parent.
pub(crate) fn way_to(state: StateNumber, parent: impl Fn(StateNumber) -> StateNumber) -> Vec<StateNumber> {
    let mut way = vec![state];
    while let Some(&state) = way.last().filter(|&&state| state != 0) {
        way.push(parent(state));
    }
    way.reverse();
    way
}

/// A slot without a state.
const EMPTY: u64 = u64::MAX;
/// More states have no numbers, and no places of their own among the slots.
const MOST_STATES: usize = 1 << 31;

/// States of a chunk.
const CHUNK: usize = 1 << 12;

/// Distinct states, each with the state from which it was first reached.
pub(crate) struct Store {
    chunks: Vec<Piece>,
    states: usize,
    /// Host memory of the chunks that are full.
    full_bytes: u64,
    /// Hash (high half) and number (low half) of each state, at the first free place from its hash on. The hash
    /// spares a look at most of the states that are others, and at all states when the table grows.
    slots: Vec<u64>,
}

/// States that were found one after the other. They are kept in pieces, so that growing never copies them all.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    parents: Vec<StateNumber>,
}

impl Piece {
    fn memory(&self) -> u64 {
        (self.bytes.capacity() + self.ends.capacity() * size_of::<usize>() + self.parents.capacity() * 4) as u64
    }
}

impl Store {
    pub fn new() -> Store {
        Store { chunks: Vec::new(), states: 0, full_bytes: 0, slots: vec![EMPTY; 1 << 6] }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.states
    }

    /// Whether the numbers of states are exhausted.
    pub fn is_full(&self) -> bool {
        self.len() >= MOST_STATES
    }

    /// Bytes of host memory that the states take, with all that finds them again.
    pub fn memory(&self) -> u64 {
        self.full_bytes + self.chunks.last().map_or(0, Piece::memory) + self.slots.len() as u64 * 8
    }

    /// The bytes of a state.
    pub fn get(&self, number: StateNumber) -> &[u8] {
        let chunk = &self.chunks[number as usize / CHUNK];
        let at = number as usize % CHUNK;
        let start = if at == 0 { 0 } else { chunk.ends[at - 1] };
        &chunk.bytes[start..chunk.ends[at]]
    }

    /// Bytes of all states.
    pub fn packed(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.bytes.len() as u64).sum()
    }

    /// The state from which a state was first reached; the first state's is itself.
    pub fn parent(&self, number: StateNumber) -> StateNumber {
        self.chunks[number as usize / CHUNK].parents[number as usize % CHUNK]
    }

    /// Adds a state unless it is known; its number if it is new.
    pub fn insert(&mut self, state: &[u8], parent: StateNumber) -> Option<StateNumber> {
        if self.len() * 8 >= self.slots.len() * 5 {
            self.grow();
        }
        let hash = hash(state);
        let Err(at) = self.look(state, hash) else { return None };
        let number = state_number(self.len());
        self.slots[at] = u64::from(hash) << 32 | u64::from(number);
        self.append(state, parent);
        Some(number)
    }

    /// The number of a state that is known.
    pub fn find(&self, state: &[u8]) -> Option<StateNumber> {
        self.look(state, hash(state)).ok()
    }

    /// The number of a state, or the slot where it belongs.
    fn look(&self, state: &[u8], hash: u32) -> Result<StateNumber, usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != EMPTY {
            let slot = self.slots[at];
            if low_u32(slot >> 32) == hash && self.get(low_u32(slot)) == state {
                return Ok(low_u32(slot));
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    fn append(&mut self, state: &[u8], parent: StateNumber) {
        if self.states.is_multiple_of(CHUNK) {
            if let Some(full) = self.chunks.last_mut() {
                full.bytes.shrink_to_fit();
                self.full_bytes += full.memory();
            }
            self.chunks.push(Piece::default());
        }
        let chunk = self.chunks.last_mut().expect("there is a chunk that is not full");
        chunk.bytes.extend_from_slice(state);
        chunk.ends.push(chunk.bytes.len());
        chunk.parents.push(parent);
        self.states += 1;
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![EMPTY; mask + 1];
        for &slot in self.slots.iter().filter(|&&slot| slot != EMPTY) {
            let mut at = (slot >> 32) as usize & mask;
            while slots[at] != EMPTY {
                at = (at + 1) & mask;
            }
            slots[at] = slot;
        }
        self.slots = slots;
    }
}

fn hash(state: &[u8]) -> u32 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(state);
    low_u32(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_stored_once_and_found_through_growth() {
        let mut store = Store::new();
        for round in 0..2 {
            for n in 0u32..20_000 {
                let mut state = n.to_le_bytes().to_vec();
                state.resize(4 + (n % 7) as usize, 1);
                assert_eq!(store.insert(&state, n / 2).is_some(), round == 0);
            }
        }
        assert_eq!(store.len(), 20_000);
        assert_eq!(&store.get(9)[..4], &9u32.to_le_bytes());
        assert_eq!(store.get(9).len(), 4 + 2);
        assert_eq!(store.parent(9), 4);
    }
}
