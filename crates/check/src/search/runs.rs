//! Files of states in some order: sorted piece by piece in memory, and merged when they are read.

use std::cmp::Ordering;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{self, AtomicU64};
use trivium_engine::number::index;

/// A state on disk.
#[derive(Clone, Debug, Default)]
pub(super) struct StoredState {
    /// Where it was found among those of its depth.
    pub place: u64,
    /// The number of the state before it.
    pub before: u64,
    /// Its packed bytes.
    pub bytes: Vec<u8>,
}

/// Makes files in a folder that have no names: they are gone when the process is, however it ends.
pub(super) struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    pub fn new(folder: &Path) -> Scratch {
        Scratch { folder: folder.to_path_buf() }
    }

    pub fn file(&self) -> io::Result<File> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, atomic::Ordering::Relaxed);
        let path = self.folder.join(format!("trivium-{}-{number}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    }
}

/// Writes records, or bytes.
pub(super) struct RunWriter {
    to: BufWriter<File>,
}

impl RunWriter {
    pub fn new(file: File) -> RunWriter {
        RunWriter { to: BufWriter::with_capacity(1 << 16, file) }
    }

    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes)
    }

    pub fn record(&mut self, record: &StoredState) -> io::Result<()> {
        let length = u32::try_from(record.bytes.len()).map_err(io::Error::other)?;
        self.put(&length.to_le_bytes())?;
        self.put(&record.place.to_le_bytes())?;
        self.put(&record.before.to_le_bytes())?;
        self.put(&record.bytes)
    }

    /// The file, with all that was written.
    pub fn finish(self) -> io::Result<File> {
        self.to.into_inner().map_err(io::IntoInnerError::into_error)
    }

    /// Reads what was written, also what waits in memory because the disk has no room for it.
    pub fn read_at(&self, from: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = self.to.get_ref();
        let end = file.seek(SeekFrom::End(0))?;
        let in_file = index(end.saturating_sub(from).min(bytes.len() as u64));
        let (first, rest) = bytes.split_at_mut(in_file);
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(first)?;
        file.seek(SeekFrom::End(0))?;
        let at = index(from.saturating_sub(end));
        let waiting = self.to.buffer().get(at..at + rest.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        rest.copy_from_slice(waiting);
        Ok(())
    }
}

/// Reads a file of records from its beginning.
pub(super) struct Cursor {
    from: BufReader<File>,
    /// The record that comes next.
    next: Option<StoredState>,
}

impl Cursor {
    pub fn new(mut file: File) -> io::Result<Cursor> {
        file.seek(SeekFrom::Start(0))?;
        let mut cursor = Cursor { from: BufReader::with_capacity(1 << 16, file), next: None };
        cursor.next = cursor.read()?;
        Ok(cursor)
    }

    /// The bytes of the next state.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.next.as_ref().map(|record| &record.bytes[..])
    }

    pub fn advance(&mut self) -> io::Result<()> {
        self.take().map(|_| ())
    }

    /// The next record; the one behind it is the next then.
    pub fn take(&mut self) -> io::Result<Option<StoredState>> {
        match self.next {
            None => Ok(None),
            Some(_) => {
                let after = self.read()?;
                Ok(std::mem::replace(&mut self.next, after))
            }
        }
    }

    fn read(&mut self) -> io::Result<Option<StoredState>> {
        let mut length = [0; 4];
        match self.from.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        let mut numbers = [[0; 8]; 2];
        numbers.iter_mut().try_for_each(|number| self.from.read_exact(number))?;
        let [place, before] = numbers.map(u64::from_le_bytes);
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        self.from.read_exact(&mut bytes)?;
        Ok(Some(StoredState { place, before, bytes }))
    }
}

/// By what records are sorted.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// By their bytes, and those that are alike by where they were found.
    Bytes,
    /// By where they were found.
    Place,
}

impl Order {
    fn compare(self, a: &StoredState, b: &StoredState) -> Ordering {
        match self {
            Order::Bytes => a.bytes.cmp(&b.bytes).then(a.place.cmp(&b.place)),
            Order::Place => a.place.cmp(&b.place),
        }
    }
}

/// Sorts more records than memory has room for.
pub(super) struct Sorter {
    order: Order,
    /// Most bytes that records take in memory.
    room: u64,
    gathered: Vec<StoredState>,
    bytes: u64,
    runs: Vec<File>,
}

/// Runs that are merged at once.
const MOST_RUNS: usize = 64;

impl Sorter {
    pub fn new(order: Order, room: u64) -> Sorter {
        Sorter { order, room, gathered: Vec::new(), bytes: 0, runs: Vec::new() }
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        self.bytes
    }

    pub fn push(&mut self, scratch: &Scratch, record: StoredState) -> io::Result<()> {
        self.bytes += (record.bytes.capacity() + size_of::<StoredState>()) as u64;
        self.gathered.push(record);
        if self.bytes >= self.room { self.spill(scratch) } else { Ok(()) }
    }

    /// Writes what is in memory into a run of its own.
    fn spill(&mut self, scratch: &Scratch) -> io::Result<()> {
        let order = self.order;
        self.gathered.sort_unstable_by(|a, b| order.compare(a, b));
        if matches!(order, Order::Bytes) {
            self.gathered.dedup_by(|later, earlier| later.bytes == earlier.bytes);
        }
        let mut run = RunWriter::new(scratch.file()?);
        self.gathered.iter().try_for_each(|record| run.record(record))?;
        self.runs.push(run.finish()?);
        self.gathered.clear();
        self.bytes = 0;
        if self.runs.len() < MOST_RUNS {
            return Ok(());
        }
        let merged = Merged::new(order, std::mem::take(&mut self.runs))?;
        self.runs.push(merged.into_file(scratch)?);
        Ok(())
    }

    /// All records in order.
    pub fn merged(mut self, scratch: &Scratch) -> io::Result<Merged> {
        self.spill(scratch)?;
        Merged::new(self.order, self.runs)
    }
}

/// Reads runs as one.
pub(super) struct Merged {
    order: Order,
    runs: Vec<Cursor>,
}

impl Merged {
    pub fn new(order: Order, runs: Vec<File>) -> io::Result<Merged> {
        Ok(Merged { order, runs: runs.into_iter().map(Cursor::new).collect::<io::Result<_>>()? })
    }

    /// All in one file.
    pub fn into_file(mut self, scratch: &Scratch) -> io::Result<File> {
        let mut file = RunWriter::new(scratch.file()?);
        while let Some(record) = self.next()? {
            file.record(&record)?;
        }
        file.finish()
    }

    /// The record that comes next.
    pub fn next(&mut self) -> io::Result<Option<StoredState>> {
        let order = self.order;
        let waiting = self.runs.iter_mut().filter(|run| run.next.is_some());
        let least = waiting.min_by(|a, b| match (&a.next, &b.next) {
            (Some(a), Some(b)) => order.compare(a, b),
            _ => Ordering::Equal,
        });
        least.map_or(Ok(None), Cursor::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_in_order_from_many_runs() {
        let scratch = Scratch::new(&std::env::temp_dir());
        for (order, count) in [(Order::Bytes, 500), (Order::Place, 20_000)] {
            let mut sorter = Sorter::new(order, 5_000);
            for n in 0..20_000u64 {
                let place = n * 7919 % 20_000;
                let record = StoredState { place, before: n, bytes: (place * 31 % 500).to_be_bytes().to_vec() };
                sorter.push(&scratch, record).unwrap();
            }
            let mut merged = sorter.merged(&scratch).unwrap();
            let mut all: Vec<StoredState> = Vec::new();
            while let Some(record) = merged.next().unwrap() {
                all.push(record);
            }
            assert!(all.windows(2).all(|pair| order.compare(&pair[0], &pair[1]).is_lt()));
            all.dedup_by(|a, b| matches!(order, Order::Bytes) && a.bytes == b.bytes);
            assert_eq!(all.len(), count);
            assert!(all.iter().all(|record| record.place == record.before * 7919 % 20_000));
        }
    }
}
