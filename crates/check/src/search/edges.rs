//! What must happen, as transitions between states, and which threads get through by it.
//!
//! Under symmetry the states that are kept have nodes renamed, so that a thread of one state may be another of the next:
//! each transition says which.

use super::arena::StateNumber;
use super::frames::{FrameError, Framed, Unframed};
use crate::system::progress::Wishes;
use rustc_hash::FxHashMap;
use std::io::{self, Read};

/// Marks the last transition of a state.
const LAST: u32 = 1 << 31;
const CHUNK: usize = 1 << 16;
/// Chunks that are looked at between two questions whether to go on: some milliseconds.
const CHUNKS_BETWEEN: usize = 16;

/// The transitions of all states, in the order of their sources: 4 bytes each, and 2 for a renaming where there are some.
pub(crate) struct Edges {
    targets: Chunks<u32>,
    /// States whose transitions have been added.
    sources: usize,
    /// For each transition the number of its renaming, where nodes are renamed.
    renamings: Option<Chunks<u16>>,
    numbers: FxHashMap<u64, u16>,
    /// For each renaming, which thread of the target each thread of the source is.
    images: Vec<Vec<u8>>,
}

/// A transition to a state, with what tells its renaming from others; 0 renames nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub target: StateNumber,
    pub renaming: u64,
}

impl Edges {
    /// `renames`: whether transitions rename nodes.
    pub fn new(renames: bool) -> Edges {
        Edges {
            targets: Chunks::default(),
            sources: 0,
            renamings: renames.then(Chunks::default),
            numbers: FxHashMap::from_iter([(0, 0)]),
            images: vec![Vec::new()],
        }
    }

    /// Adds the transitions of the next state. One that has none is given one to itself. `image` makes of a renaming
    /// which thread each becomes. Whether there was room: more than 65,536 renamings are not told apart.
    pub fn push(
        &mut self,
        source: StateNumber,
        edges: impl Iterator<Item = Edge>,
        image: impl Fn(u64) -> Vec<u8>,
    ) -> bool {
        self.sources += 1;
        let mut previous = None;
        for edge in edges {
            if let Some(previous) = previous.replace(edge)
                && !self.put(previous, 0, &image)
            {
                return false;
            }
        }
        self.put(previous.unwrap_or(Edge { target: source, renaming: 0 }), LAST, &image)
    }

    fn put(&mut self, edge: Edge, last: u32, image: impl Fn(u64) -> Vec<u8>) -> bool {
        self.targets.push(edge.target | last);
        let Some(renamings) = &mut self.renamings else { return true };
        let number = match self.numbers.get(&edge.renaming) {
            Some(number) => *number,
            None => {
                let Ok(number) = u16::try_from(self.images.len()) else { return false };
                self.numbers.insert(edge.renaming, number);
                self.images.push(image(edge.renaming));
                number
            }
        };
        renamings.push(number);
        true
    }

    /// Writes all, for a checkpoint.
    pub fn save(&self, out: &mut Framed) -> io::Result<()> {
        out.put_u64(self.sources as u64)?;
        let mut numbers: Vec<(u64, u16)> = self.numbers.iter().map(|(&renaming, &number)| (renaming, number)).collect();
        numbers.sort_unstable_by_key(|&(_, number)| number);
        out.put_u64(numbers.len() as u64)?;
        for ((renaming, _), image) in numbers.iter().zip(&self.images) {
            out.put_u64(*renaming)?;
            out.put_all(image)?;
        }
        out.put_u64(self.targets.len() as u64)?;
        self.targets.iter().try_for_each(|target| out.put_u32(target))?;
        match &self.renamings {
            Some(renamings) => renamings.iter().try_for_each(|number| out.put(&number.to_le_bytes())),
            None => Ok(()),
        }
    }

    /// Reads what [`Edges::save`] has written of a search that renames nodes or does not, as this one.
    pub fn load(renames: bool, from: &mut Unframed<impl Read>) -> Result<Edges, FrameError> {
        let mut edges = Edges::new(renames);
        edges.sources = usize::try_from(from.take_u64()?).map_err(|_| FrameError::Damaged)?;
        (edges.numbers, edges.images) = Default::default();
        for number in 0..from.take_u64()? {
            let number = u16::try_from(number).map_err(|_| FrameError::Damaged)?;
            edges.numbers.insert(from.take_u64()?, number);
            edges.images.push(from.take_all()?);
        }
        let targets = from.take_u64()?;
        for _ in 0..targets {
            edges.targets.push(from.take_u32()?);
        }
        if let Some(renamings) = &mut edges.renamings {
            for _ in 0..targets {
                let mut number = [0; 2];
                from.take(&mut number)?;
                renamings.push(u16::from_le_bytes(number));
            }
        }
        Ok(edges)
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        let images: usize = self.images.iter().map(|image| image.len() + 32).sum();
        self.targets.memory() + self.renamings.as_ref().map_or(0, Chunks::memory) + images as u64
    }

    /// Adds to the threads of each state those that get through in a state to which it leads. `go_on` is asked now and
    /// then; whether it was always true.
    pub fn reach_back(&self, content: &mut StateWishes, mut go_on: impl FnMut() -> bool) -> bool {
        // Most transitions lead to later states, so that going backwards nearly everything is found at once.
        loop {
            match self.one_round(content, &mut go_on) {
                None => return false,
                Some(false) => return true,
                Some(true) => {}
            }
        }
    }

    /// Whether anything was added; nothing if it was interrupted.
    fn one_round(&self, content: &mut StateWishes, go_on: &mut impl FnMut() -> bool) -> Option<bool> {
        let mut changed = false;
        let mut state = self.sources;
        for (number, chunk) in self.targets.chunks.iter().enumerate().rev() {
            if number.is_multiple_of(CHUNKS_BETWEEN) && !go_on() {
                return None;
            }
            let renamings = self.renamings.as_ref().map(|renamings| &renamings.chunks[number]);
            for (at, &word) in chunk.iter().enumerate().rev() {
                if word & LAST != 0 {
                    state -= 1;
                }
                let here = content.get(state);
                let missing = content.everybody & !here;
                if missing == 0 {
                    continue;
                }
                let there = content.get((word & !LAST) as usize);
                let gained = match renamings.map_or(0, |renamings| renamings[at]) {
                    0 => there & missing,
                    renaming => renamed_back(there, missing, &self.images[usize::from(renaming)]),
                };
                if gained != 0 {
                    content.set(state, here | gained);
                    changed = true;
                }
            }
        }
        Some(changed)
    }
}

/// Those of the missing threads whose images are there.
pub(super) fn renamed_back(there: Wishes, missing: Wishes, image: &[u8]) -> Wishes {
    let threads = image.iter().enumerate().filter(|(thread, _)| missing >> thread & 1 == 1);
    threads.filter(|(_, name)| there >> **name & 1 == 1).fold(0, |set, (thread, _)| set | 1 << thread)
}

/// A long list that grows without being copied.
struct Chunks<T> {
    chunks: Vec<Vec<T>>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Chunks<T> {
        Chunks { chunks: Vec::new() }
    }
}

impl<T: Copy> Chunks<T> {
    fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    fn iter(&self) -> impl Iterator<Item = T> {
        self.chunks.iter().flatten().copied()
    }
}

impl<T> Chunks<T> {
    fn push(&mut self, item: T) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(item),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(item);
                self.chunks.push(chunk);
            }
        }
    }

    fn memory(&self) -> u64 {
        (self.chunks.len() * CHUNK * size_of::<T>()) as u64
    }
}

/// For each state, the threads that wait for nothing there, or get through from there.
pub(crate) struct StateWishes {
    everybody: Wishes,
    /// Bytes of each set.
    each: usize,
    bytes: Vec<u8>,
}

impl StateWishes {
    pub fn new(everybody: Wishes) -> StateWishes {
        let bits = Wishes::BITS - everybody.leading_zeros();
        StateWishes { everybody, each: (bits.div_ceil(8) as usize).max(1), bytes: Vec::new() }
    }

    /// One more state.
    pub fn push(&mut self, set: Wishes) {
        self.bytes.extend_from_slice(&set.to_le_bytes()[..self.each]);
    }

    pub fn everybody(&self) -> Wishes {
        self.everybody
    }

    pub fn len(&self) -> usize {
        self.bytes.len() / self.each
    }

    pub fn get(&self, state: usize) -> Wishes {
        let mut bytes = [0; size_of::<Wishes>()];
        bytes[..self.each].copy_from_slice(&self.bytes[state * self.each..(state + 1) * self.each]);
        Wishes::from_le_bytes(bytes)
    }

    pub fn set(&mut self, state: usize, set: Wishes) {
        self.bytes[state * self.each..(state + 1) * self.each].copy_from_slice(&set.to_le_bytes()[..self.each]);
    }

    /// Takes everybody for content in the states from this one on, of which nothing is known yet.
    pub fn assume_the_best_from(&mut self, first: usize) {
        (first..self.len()).for_each(|state| self.set(state, self.everybody));
    }

    /// The first state in which somebody does not get through, and the first who does not.
    pub fn first_missing(&self) -> Option<(usize, u32)> {
        (0..self.len()).find_map(|state| {
            let missing = self.everybody & !self.get(state);
            (missing != 0).then(|| (state, missing.trailing_zeros()))
        })
    }

    pub fn memory(&self) -> u64 {
        self.bytes.capacity() as u64
    }

    /// The sets of the first states, as [`StateWishes::restore`] takes them.
    pub fn saved(&self, states: usize) -> &[u8] {
        &self.bytes[..states * self.each]
    }

    /// Takes the place of all sets. Whether they are those of so many states.
    pub fn restore(&mut self, saved: Vec<u8>, states: usize) -> bool {
        self.bytes = saved;
        self.bytes.len() == states * self.each
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(target: StateNumber) -> Edge {
        Edge { target, renaming: 0 }
    }

    #[test]
    fn states_behind_a_one_way_door_are_left() {
        // 0 -> 1, 2; 1 -> 0; 2 -> 3; 3 -> 2; 4 has none; 5 -> 4, 0.
        let graph: [&[u32]; 6] = [&[1, 2], &[0], &[3], &[2], &[], &[4, 0]];
        let (mut edges, mut content) = (Edges::new(false), StateWishes::new(1));
        for (source, targets) in graph.iter().enumerate() {
            assert!(edges.push(source as u32, targets.iter().copied().map(plain), |_| Vec::new()));
            content.push(u64::from(source == 1));
        }
        assert!(!edges.reach_back(&mut content, || false));
        assert!(edges.reach_back(&mut content, || true));
        let left: Vec<usize> = (0..content.len()).filter(|&state| content.get(state) == 0).collect();
        assert_eq!(left, [2, 3, 4]);
        assert_eq!(content.first_missing(), Some((2, 0)));
    }

    #[test]
    fn what_is_not_known_yet_may_end_well() {
        // 0 -> 1, 2; 1 -> 1; 2 -> 3; of 3 nothing is known.
        let (mut edges, mut content) = (Edges::new(false), StateWishes::new(1));
        for (source, targets) in [&[1, 2][..], &[1], &[3]].iter().enumerate() {
            assert!(edges.push(source as u32, targets.iter().copied().map(plain), |_| Vec::new()));
        }
        (0..4).for_each(|_| content.push(0));
        content.assume_the_best_from(3);
        assert!(edges.reach_back(&mut content, || true));
        assert_eq!(content.first_missing(), Some((1, 0)));
    }

    #[test]
    fn each_thread_is_followed_under_its_new_name() {
        // One state that leads to itself with two of three threads exchanged, and to another in which the first gets through.
        let (mut edges, mut content) = (Edges::new(true), StateWishes::new(0b111));
        let exchanged = Edge { target: 0, renaming: 7 };
        assert!(edges.push(0, [exchanged, plain(1)].into_iter(), |renaming| {
            assert_eq!(renaming, 7);
            vec![1, 0, 2]
        }));
        assert!(edges.push(1, [].into_iter(), |_| Vec::new()));
        content.push(0);
        content.push(0b001);
        assert!(edges.reach_back(&mut content, || true));
        // The second is the first after one round; the third never gets through.
        assert_eq!(content.get(0), 0b011);
        assert_eq!(content.first_missing(), Some((0, 2)));
    }
}
