//! From which state each state was first reached, in about two bits a state.
//!
//! States are numbered in the order in which they are found, and found in the order in which states are expanded. So
//! the parents of states in order never decrease, and only their steps are written: a 1 for each parent that is passed
//! over, and a 0 for each state.

use super::arena::StateNumber;

/// States between two known parents.
const STRIDE: usize = 1 << 8;

/// The parents of the states from the first on.
#[derive(Default)]
pub(super) struct Parents {
    words: Vec<u64>,
    bits: usize,
    states: usize,
    last: StateNumber,
    /// For every so many states: the bit at which the steps of the next begin, and the parent of the one before.
    known: Vec<(usize, StateNumber)>,
}

impl Parents {
    /// Adds the parent of the next state, which is none before the parent of the last one.
    pub fn push(&mut self, parent: StateNumber) {
        if self.states.is_multiple_of(STRIDE) {
            self.known.push((self.bits, self.last));
        }
        let passed = parent.checked_sub(self.last).expect("states are found in the order of their parents");
        (0..passed).for_each(|_| self.push_bit(1));
        self.push_bit(0);
        self.last = parent;
        self.states += 1;
    }

    fn push_bit(&mut self, bit: u64) {
        if self.bits.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words[self.bits / 64] |= bit << (self.bits % 64);
        self.bits += 1;
    }

    /// The parent of a state.
    pub fn get(&self, state: StateNumber) -> StateNumber {
        let (mut bit, mut parent) = self.known[state as usize / STRIDE];
        let mut states = state as usize % STRIDE + 1;
        while states > 0 {
            match self.words[bit / 64] >> (bit % 64) & 1 {
                0 => states -= 1,
                _ => parent += 1,
            }
            bit += 1;
        }
        parent
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        (self.words.capacity() * size_of::<u64>() + self.known.capacity() * size_of::<(usize, StateNumber)>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parents_of_all_states_come_back() {
        let steps = [0, 0, 1, 3, 0, 63, 64, 65, 128, 0, 1, 127, 300, 2];
        let mut parents = Parents::default();
        let given: Vec<StateNumber> = (0..5 * STRIDE)
            .scan(0, |parent, state| {
                *parent += steps[(state + state / 7) % steps.len()];
                Some(*parent)
            })
            .collect();
        given.iter().for_each(|&parent| parents.push(parent));
        assert!((0..).zip(&given).all(|(state, &parent)| parents.get(state) == parent));
    }
}
