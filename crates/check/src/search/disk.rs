//! Keeps states on disk: those that were found in sorted files, those that wait in the order in which they were found.
//!
//! What the states of one depth lead to is gathered in runs, each sorted by the bytes of the states. At the end of the depth they
//! are merged with the states that were found before, which are read once, in order; what is left is new (Stern and
//! Dill, "Using magnetic disk instead of main memory in the Murphi verifier", 1998). It is sorted again by the order in which it
//! was found, so that states have the numbers that they have in memory.

use super::expand::Harvest;
use super::pack::hash;
use super::runs::{Cursor, Merged, Order, RunWriter, Scratch, Sorter, StoredState};
use super::sweep::{Batch, Keep, Weakness};
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
    /// Files of all states found at earlier depths and the present one, each sorted by bytes.
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
    /// Memory for what is gathered.
    room: u64,
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
        })
    }

    /// Numbers the states that are new at a depth, in the order in which they were found; they wait.
    fn number(&mut self, new: Sorter, most: u64) -> io::Result<bool> {
        self.next_name = self.states;
        let mut waiting = RunWriter::new(self.scratch.file()?);
        let mut merged = new.merged(&self.scratch)?;
        let mut is_room = true;
        while let Some(record) = merged.next()? {
            if self.states >= most {
                is_room = false;
                break;
            }
            self.log.put(&record.before.to_le_bytes())?;
            self.log.put(&hash(&record.bytes).to_le_bytes())?;
            waiting.record(&record)?;
            self.states += 1;
            self.packed += record.bytes.len() as u64;
        }
        self.present = Some(Cursor::new(waiting.finish()?)?);
        Ok(is_room)
    }

    /// What was gathered and is new: sorted by the order in which it was found, and added to the files of what was found.
    fn new_ones(&mut self) -> io::Result<Sorter> {
        let gathered = std::mem::replace(&mut self.candidates, Sorter::new(Order::Bytes, self.room));
        let mut gathered = gathered.merged(&self.scratch)?;
        let mut before = self.found.iter().map(again).collect::<io::Result<Vec<Cursor>>>()?;
        let mut new = Sorter::new(Order::Place, self.room);
        let mut sorted = RunWriter::new(self.scratch.file()?);
        let mut last: Option<Vec<u8>> = None;
        while let Some(record) = gathered.next()? {
            // Of several that are alike the first found comes first.
            if last.as_ref() == Some(&record.bytes) {
                continue;
            }
            let mut is_known = false;
            for cursor in &mut before {
                while cursor.bytes().is_some_and(|bytes| bytes < &record.bytes[..]) {
                    cursor.advance()?;
                }
                is_known |= cursor.bytes() == Some(&record.bytes);
            }
            last = Some(record.bytes.clone());
            if !is_known {
                sorted.record(&record)?;
                new.push(&self.scratch, record)?;
            }
        }
        self.found.push(sorted.finish()?);
        Ok(new)
    }

    /// Makes one file of many.
    fn join_files(&mut self) -> io::Result<()> {
        if self.found.len() <= MOST_FILES {
            return Ok(());
        }
        let files = self.found.iter().map(File::try_clone).collect::<io::Result<Vec<File>>>()?;
        self.found = vec![Merged::new(Order::Bytes, files)?.into_file(&self.scratch)?];
        Ok(())
    }
}

/// A file from its beginning.
fn again(file: &File) -> io::Result<Cursor> {
    Cursor::new(file.try_clone()?)
}

impl Keep for Disk {
    fn begin(&mut self, first: &[u8], _: u64) -> io::Result<()> {
        self.candidates.push(&self.scratch, StoredState { place: 0, before: 0, bytes: first.to_vec() })?;
        self.next_level(u64::MAX).map(|_| ())
    }

    fn batch(&mut self, most: u64) -> io::Result<Batch> {
        let mut batch = Batch::default();
        let Some(present) = &mut self.present else { return Ok(batch) };
        while (batch.len() as u64) < most
            && let Some(record) = present.take()?
        {
            batch.push(&record.bytes, self.next_name);
            self.next_name += 1;
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
                let record = StoredState { place: self.gathered, before, bytes: harvest.candidate(at).to_vec() };
                self.gathered += 1;
                self.candidates.push(&self.scratch, record)?;
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
        self.candidates.memory()
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
