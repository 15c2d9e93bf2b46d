//! Sorts more states than memory has room for: piece by piece in memory, merged when they are read.

use super::runs::{Columns, Cursor, RunWriter, Scratch, StoredState};
use std::cmp::Ordering;
use std::fs::File;
use std::io;
use trivium_engine::number::fit;

/// By what states are sorted.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// By their hashes and their bytes, and those that are alike by where they were found.
    Bytes,
    /// By where they were found.
    Place,
}

impl Order {
    pub fn compare(self, a: &StoredState, b: &StoredState) -> Ordering {
        let by_place = a.place.cmp(&b.place);
        match self {
            // Hashes first: one comparison of numbers tells almost all states apart.
            Order::Bytes => a.hash.cmp(&b.hash).then_with(|| a.bytes.cmp(b.bytes)).then(by_place),
            Order::Place => by_place,
        }
    }
}

/// A state in memory.
struct Gathered {
    hash: u64,
    place: u64,
    before: u64,
    start: usize,
    length: u32,
}

/// States in memory, and their bytes one after the other.
#[derive(Default)]
struct Pile {
    states: Vec<Gathered>,
    bytes: Vec<u8>,
}

impl Pile {
    fn view(&self, state: &Gathered) -> StoredState<'_> {
        view(&self.bytes, state)
    }

    fn push(&mut self, state: &StoredState) {
        let &StoredState { hash, place, before, bytes } = state;
        let length = fit(bytes.len(), "the length of a state");
        self.states.push(Gathered { hash, place, before, start: self.bytes.len(), length });
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes of host memory, with so many more bytes of so many more states.
    fn memory_with(&self, states: usize, bytes: usize) -> u64 {
        let states = capacity_for(self.states.len() + states, self.states.capacity());
        let bytes = capacity_for(self.bytes.len() + bytes, self.bytes.capacity());
        (states * size_of::<Gathered>() + bytes) as u64
    }

    fn clear(&mut self) {
        self.states.clear();
        self.bytes.clear();
    }

    /// Sorts them; of several that are alike the first found is left, where that is the order.
    fn sort(&mut self, order: Order) {
        let Pile { states, bytes } = self;
        states.sort_unstable_by(|a, b| order.compare(&view(bytes, a), &view(bytes, b)));
        if let Order::Bytes = order {
            states.dedup_by(|later, earlier| {
                later.hash == earlier.hash && view(bytes, later).bytes == view(bytes, earlier).bytes
            });
        }
    }
}

fn view<'b>(bytes: &'b [u8], state: &Gathered) -> StoredState<'b> {
    let &Gathered { hash, place, before, start, length } = state;
    StoredState { hash, place, before, bytes: &bytes[start..start + length as usize] }
}

/// What a vector of a capacity takes for so many elements: it doubles.
fn capacity_for(length: usize, capacity: usize) -> usize {
    if length <= capacity { capacity } else { length.max(2 * capacity) }
}

/// Sorts states in bounded memory.
pub(super) struct Sorter {
    order: Order,
    /// Most bytes of memory that states take, unless it is one state alone.
    room: u64,
    pile: Pile,
    runs: Vec<File>,
}

/// Runs that are merged at once.
const MOST_RUNS: usize = 64;

impl Sorter {
    pub fn new(order: Order, room: u64) -> Sorter {
        Sorter { order, room, pile: Pile::default(), runs: Vec::new() }
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        self.pile.memory_with(0, 0)
    }

    pub fn push(&mut self, scratch: &Scratch, state: &StoredState) -> io::Result<()> {
        let is_full = self.pile.memory_with(1, state.bytes.len()) > self.room;
        if is_full && !self.pile.states.is_empty() {
            self.spill(scratch)?;
        }
        self.pile.push(state);
        Ok(())
    }

    /// Writes what is in memory into a run of its own.
    fn spill(&mut self, scratch: &Scratch) -> io::Result<()> {
        self.pile.sort(self.order);
        let mut run = RunWriter::new(scratch.file()?);
        for state in &self.pile.states {
            run.state(&self.pile.view(state), Columns::All)?;
        }
        self.runs.push(run.finish()?);
        self.pile.clear();
        if self.runs.len() < MOST_RUNS {
            return Ok(());
        }
        let merged = Merged::new(self.order, std::mem::take(&mut self.runs), Columns::All)?;
        self.runs.push(merged.into_file(scratch, Columns::All)?);
        Ok(())
    }

    /// All states in order.
    pub fn merged(mut self) -> io::Result<Merged> {
        self.pile.sort(self.order);
        let mut merged = Merged::new(self.order, self.runs, Columns::All)?;
        merged.runs.push(Run::InMemory { pile: self.pile, next: 0 });
        merged.find_least();
        Ok(merged)
    }
}

/// States in order, wherever they are.
enum Run {
    InFile(Cursor),
    InMemory { pile: Pile, next: usize },
}

impl Run {
    #[inline]
    fn state(&self) -> Option<StoredState<'_>> {
        match self {
            Run::InFile(cursor) => cursor.state(),
            Run::InMemory { pile, next } => pile.states.get(*next).map(|state| pile.view(state)),
        }
    }

    fn advance(&mut self) -> io::Result<()> {
        match self {
            Run::InFile(cursor) => cursor.advance(),
            Run::InMemory { next, .. } => {
                *next += 1;
                Ok(())
            }
        }
    }
}

/// Reads runs as one.
pub(super) struct Merged {
    order: Order,
    runs: Vec<Run>,
    /// The run whose state comes next.
    least: Option<usize>,
}

impl Merged {
    pub fn new(order: Order, runs: Vec<File>, columns: Columns) -> io::Result<Merged> {
        let runs =
            runs.into_iter().map(|file| Cursor::new(file, columns).map(Run::InFile)).collect::<io::Result<_>>()?;
        let mut merged = Merged { order, runs, least: None };
        merged.find_least();
        Ok(merged)
    }

    /// All in one file.
    pub fn into_file(mut self, scratch: &Scratch, columns: Columns) -> io::Result<File> {
        let mut file = RunWriter::new(scratch.file()?);
        while let Some(state) = self.state() {
            file.state(&state, columns)?;
            self.advance()?;
        }
        file.finish()
    }

    /// The state that comes next.
    #[inline]
    pub fn state(&self) -> Option<StoredState<'_>> {
        self.least.and_then(|least| self.runs[least].state())
    }

    /// Goes on to the state after it.
    pub fn advance(&mut self) -> io::Result<()> {
        if let Some(least) = self.least {
            self.runs[least].advance()?;
            self.find_least();
        }
        Ok(())
    }

    fn find_least(&mut self) {
        let waiting = self.runs.iter().enumerate().filter_map(|(at, run)| Some((at, run.state()?)));
        self.least = waiting.min_by(|(_, a), (_, b)| self.order.compare(a, b)).map(|(at, _)| at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::pack::hash;

    #[test]
    fn states_come_back_in_order_from_many_runs() {
        let scratch = Scratch::new(&std::env::temp_dir());
        for (order, count, room) in
            [(Order::Bytes, 500, 5_000), (Order::Place, 20_000, 5_000), (Order::Bytes, 500, u64::MAX)]
        {
            let mut sorter = Sorter::new(order, room);
            for n in 0..20_000u64 {
                let place = n * 7919 % 20_000;
                let bytes = (place * 31 % 500).to_be_bytes();
                let state = StoredState { hash: hash(&bytes), place, before: n, bytes: &bytes };
                sorter.push(&scratch, &state).unwrap();
                assert!(sorter.memory() <= room);
            }
            let mut merged = sorter.merged().unwrap();
            let (mut different, mut last): (usize, Option<(u64, u64, Vec<u8>)>) = (0, None);
            while let Some(state) = merged.state() {
                assert_eq!(state.place, state.before * 7919 % 20_000);
                assert_eq!(state.hash, hash(state.bytes));
                if let Some((hash, place, bytes)) = &last {
                    let last = StoredState { hash: *hash, place: *place, before: 0, bytes };
                    assert!(order.compare(&last, &state).is_lt());
                }
                let is_same = last.as_ref().is_some_and(|(_, _, bytes)| bytes == state.bytes);
                different += usize::from(!(matches!(order, Order::Bytes) && is_same));
                last = Some((state.hash, state.place, state.bytes.to_vec()));
                merged.advance().unwrap();
            }
            assert_eq!(different, count);
        }
    }
}
