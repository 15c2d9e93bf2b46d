//! Transitions between states, and from which states a set of states can be reached.

use super::arena::StateNumber;

/// Marks the last transition of a state.
const LAST: u32 = 1 << 31;
const CHUNK: usize = 1 << 16;
/// Chunks that are looked at between two questions whether to go on: some milliseconds.
const CHUNKS_BETWEEN: usize = 16;

/// The transitions of all states, in the order of their sources: 4 bytes each.
#[derive(Default)]
pub(crate) struct Edges {
    chunks: Vec<Vec<u32>>,
}

impl Edges {
    /// Adds the transitions of the next state. One that has none is given one to itself.
    pub fn push(&mut self, source: StateNumber, targets: impl Iterator<Item = StateNumber>) {
        let mut previous = None;
        for target in targets {
            if let Some(previous) = previous.replace(target) {
                self.put(previous);
            }
        }
        self.put(previous.unwrap_or(source) | LAST);
    }

    fn put(&mut self, word: u32) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(word),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(word);
                self.chunks.push(chunk);
            }
        }
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        (self.chunks.len() * CHUNK * 4) as u64
    }

    /// Adds to a set of states all from which one of them can be reached. `go_on` is asked now and then; whether it
    /// was always true.
    pub fn reach_back(&self, set: &mut Bits, mut go_on: impl FnMut() -> bool) -> bool {
        // Most transitions lead to later states, so that going backwards nearly everything is found at once.
        loop {
            match self.one_round(set, &mut go_on) {
                None => return false,
                Some(false) => return true,
                Some(true) => {}
            }
        }
    }

    /// Whether anything was added; nothing if it was interrupted.
    fn one_round(&self, set: &mut Bits, go_on: &mut impl FnMut() -> bool) -> Option<bool> {
        let mut changed = false;
        let mut state = set.len();
        for (number, chunk) in self.chunks.iter().enumerate().rev() {
            if number.is_multiple_of(CHUNKS_BETWEEN) && !go_on() {
                return None;
            }
            for &word in chunk.iter().rev() {
                if word & LAST != 0 {
                    state -= 1;
                }
                if !set.contains(state) && set.contains((word & !LAST) as usize) {
                    set.insert(state);
                    changed = true;
                }
            }
        }
        Some(changed)
    }
}

/// A set of states, one bit each.
#[derive(Default)]
pub(crate) struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// One more state, in the set or not.
    pub fn push(&mut self, member: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.len += 1;
        if member {
            self.insert(self.len - 1);
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn contains(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    pub fn insert(&mut self, at: usize) {
        self.words[at / 64] |= 1 << (at % 64);
    }

    /// The first that is not in the set.
    pub fn first_missing(&self) -> Option<usize> {
        (0..self.len).find(|&at| !self.contains(at))
    }

    pub fn memory(&self) -> u64 {
        self.words.capacity() as u64 * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_behind_a_one_way_door_are_left() {
        // 0 -> 1, 2; 1 -> 0; 2 -> 3; 3 -> 2; 4 has none; 5 -> 4, 0.
        let graph: [&[u32]; 6] = [&[1, 2], &[0], &[3], &[2], &[], &[4, 0]];
        let (mut edges, mut set) = (Edges::default(), Bits::default());
        for (source, targets) in graph.iter().enumerate() {
            edges.push(source as u32, targets.iter().copied());
            set.push(source == 1);
        }
        assert!(!edges.reach_back(&mut set, || false));
        assert!(edges.reach_back(&mut set, || true));
        let left: Vec<usize> = (0..set.len()).filter(|&state| !set.contains(state)).collect();
        assert_eq!(left, [2, 3, 4]);
        assert_eq!(set.first_missing(), Some(2));
    }
}
