//! Keeps states on disk: those that were found in sorted files, those that wait in the order in which they were found.
//!
//! What the states of one depth lead to is gathered in runs, each sorted by the hashes and the bytes of the states. At the end of
//! the depth they are merged with the states that were found before, which are read once, in order; what is left is new (Stern
//! and Dill, "Using magnetic disk instead of main memory in the Murphi verifier", 1998). It is sorted again by the order in
//! which it was found, so that states have the numbers that they have in memory.

use super::expand::Harvest;
use super::pack::hash;
use super::runs::{Columns, Cursor, RunWriter, Scratch, StoredState};
use super::sorter::{Merged, Order, Sorter};
use super::sweep::{Batch, Keep, Weakness};
use std::cmp::Ordering;
use std::fs::File;
use std::io;
use std::path::Path;

/// Most files of states that were found; more are merged into one.
const MOST_FILES: usize = 8;
/// Least memory for what is gathered.
const LEAST_MEMORY: u64 = 1 << 16;
/// Bytes of the log for a state: the one before it, and its hash.
const LOGGED: u64 = 16;

/// The states of a search on disk.
pub(super) struct Disk {
    scratch: Scratch,
    /// Files of all states found at earlier depths and the present one, each sorted by hashes and bytes.
    found: Vec<File>,
    /// For each state the one before it, and its hash, in the order of their numbers.
    log: RunWriter,
    /// The states of the present depth that are not yet expanded, and the number of the first.
    present: Option<Cursor>,
    next_name: u64,
    /// What the states of the present depth lead to.
    candidates: Sorter,
    gathered: u64,
    states: u64,
    packed: u64,
    /// Memory for what is gathered, and for what is new of it.
    room: u64,
    /// Memory that the end of the last depth took.
    merging: u64,
}

impl Disk {
    /// In a folder, with so many bytes of memory.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn new(folder: &Path, memory: Option<u64>) -> io::Result<Disk> {
        std::fs::create_dir_all(folder)?;
        let scratch = Scratch::new(folder);
        let log = RunWriter::new(scratch.file()?);
        let room = memory.map_or(1 << 30, |memory| (memory / 4).max(LEAST_MEMORY));
        Ok(Disk {
            scratch,
            found: Vec::new(),
            log,
            present: None,
            next_name: 0,
            candidates: Sorter::new(Order::Bytes, room),
            gathered: 0,
            states: 0,
            packed: 0,
            room,
            merging: 0,
        })
    }

    /// Numbers the states that are new at a depth, in the order in which they were found; they wait.
    fn number(&mut self, new: Sorter, most: u64) -> io::Result<bool> {
        self.next_name = self.states;
        let mut waiting = RunWriter::new(self.scratch.file()?);
        let mut merged = new.merged()?;
        let mut is_room = true;
        while let Some(state) = merged.state() {
            if self.states >= most {
                is_room = false;
                break;
            }
            self.log.put(&state.before.to_le_bytes())?;
            self.log.put(&state.hash.to_le_bytes())?;
            waiting.state(&state, Columns::Bytes)?;
            self.states += 1;
            self.packed += state.bytes.len() as u64;
            merged.advance()?;
        }
        self.present = Some(Cursor::new(waiting.finish()?, Columns::Bytes)?);
        Ok(is_room)
    }

    /// What was gathered and is new: sorted by the order in which it was found, and added to the files of what was found.
    fn new_ones(&mut self) -> io::Result<Sorter> {
        let gathered = std::mem::replace(&mut self.candidates, Sorter::new(Order::Bytes, self.room));
        self.merging = gathered.memory();
        let mut gathered = gathered.merged()?;
        let mut before = self.found.iter().map(again).collect::<io::Result<Vec<Cursor>>>()?;
        let mut new = Sorter::new(Order::Place, self.room);
        let mut sorted = RunWriter::new(self.scratch.file()?);
        let mut last = None;
        let mut last_bytes = Vec::new();
        while let Some(state) = gathered.state() {
            // Of several that are alike the first found comes first.
            if last != Some(state.hash) || last_bytes != state.bytes {
                last = Some(state.hash);
                last_bytes.clear();
                last_bytes.extend_from_slice(state.bytes);
                let mut is_known = false;
                for cursor in &mut before {
                    is_known |= comes(cursor, &state)?;
                }
                if !is_known {
                    sorted.state(&state, Columns::Bytes)?;
                    new.push(&self.scratch, &state)?;
                }
            }
            gathered.advance()?;
        }
        self.merging += new.memory();
        self.found.push(sorted.finish()?);
        Ok(new)
    }

    /// Makes one file of many.
    fn join_files(&mut self) -> io::Result<()> {
        if self.found.len() <= MOST_FILES {
            return Ok(());
        }
        let files = self.found.iter().map(File::try_clone).collect::<io::Result<Vec<File>>>()?;
        let merged = Merged::new(Order::Bytes, files, Columns::Bytes)?;
        self.found = vec![merged.into_file(&self.scratch, Columns::Bytes)?];
        Ok(())
    }
}

/// A file from its beginning.
fn again(file: &File) -> io::Result<Cursor> {
    Cursor::new(file.try_clone()?, Columns::Bytes)
}

/// Whether a state comes next in a sorted file, after all that are less.
fn comes(cursor: &mut Cursor, state: &StoredState) -> io::Result<bool> {
    while let Some(next) = cursor.state() {
        match (next.hash, next.bytes).cmp(&(state.hash, state.bytes)) {
            Ordering::Less => cursor.advance()?,
            order => return Ok(order.is_eq()),
        }
    }
    Ok(false)
}

impl Keep for Disk {
    fn begin(&mut self, first: &[u8], _: u64) -> io::Result<()> {
        self.candidates.push(&self.scratch, &StoredState { hash: hash(first), place: 0, before: 0, bytes: first })?;
        self.next_level(u64::MAX).map(|_| ())
    }

    fn batch(&mut self, most: u64) -> io::Result<Batch> {
        let mut batch = Batch::default();
        let Some(present) = &mut self.present else { return Ok(batch) };
        while (batch.len() as u64) < most
            && let Some(state) = present.state()
        {
            batch.push(state.bytes, self.next_name);
            self.next_name += 1;
            present.advance()?;
        }
        Ok(batch)
    }

    fn knows(&self, _: &[u8]) -> bool {
        // It is found out at the end of the depth.
        false
    }

    fn join(&mut self, batch: &Batch, harvests: &[Harvest], _: u64) -> io::Result<bool> {
        for harvest in harvests {
            for at in 0..harvest.len() {
                let before = batch.names[harvest.parents[at] as usize];
                let (hash, place, bytes) = (harvest.hashes[at], self.gathered, harvest.candidate(at));
                self.candidates.push(&self.scratch, &StoredState { hash, place, before, bytes })?;
                self.gathered += 1;
            }
        }
        Ok(true)
    }

    fn done(&mut self, _: &Batch) {}

    fn next_level(&mut self, most: u64) -> io::Result<Option<u64>> {
        let before = self.states;
        self.gathered = 0;
        let new = self.new_ones()?;
        let is_room = self.number(new, most)?;
        self.join_files()?;
        Ok(is_room.then_some(self.states - before))
    }

    fn found(&self) -> (u64, u64) {
        (self.states, self.packed)
    }

    fn memory(&self) -> u64 {
        self.candidates.memory().max(self.merging)
    }

    fn on_disk(&self) -> Option<u64> {
        let files = self.found.iter().filter_map(|file| file.metadata().ok());
        Some(files.map(|file| file.len()).sum::<u64>() + self.states * LOGGED)
    }

    fn way(&mut self, mut name: u64) -> io::Result<Vec<u64>> {
        let mut way = Vec::new();
        while name != 0 {
            let mut numbers = [[0; 8]; 2];
            self.log.read_at(name * LOGGED, numbers.as_flattened_mut())?;
            let [before, hash] = numbers.map(u64::from_le_bytes);
            way.push(hash);
            name = before;
        }
        way.reverse();
        Ok(way)
    }

    fn last(&self) -> Option<u64> {
        self.states.checked_sub(1)
    }

    fn weakness(&self, _: u32) -> Weakness {
        Weakness { method: "on disk", omission: None }
    }
}
