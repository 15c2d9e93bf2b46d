//! Runs of states in files, written once and read from the beginning.

use super::pack::hash;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use trivium_engine::number::index;

/// A state of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredState<'a> {
    /// Of its bytes.
    pub hash: u64,
    /// Where it was found among those of its depth; 0 where the run keeps bytes alone.
    pub place: u64,
    /// The number of the state before it; 0 where the run keeps bytes alone.
    pub before: u64,
    /// Its packed bytes.
    pub bytes: &'a [u8],
}

/// What a run keeps of each state.
#[derive(Clone, Copy)]
pub(super) enum Columns {
    /// All but the hash, which is found again.
    All,
    /// The bytes alone.
    Bytes,
}

/// Bytes of a number.
const WORD: usize = size_of::<u64>();
/// Bytes of a length.
const LENGTH: usize = size_of::<u32>();
/// Bytes of a file that are read or written at once.
const BUFFER: usize = 1 << 16;

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
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("trivium-{}-{number}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    }
}

/// Writes states, or bytes.
pub(super) struct RunWriter {
    to: BufWriter<File>,
}

impl RunWriter {
    pub fn new(file: File) -> RunWriter {
        RunWriter { to: BufWriter::with_capacity(BUFFER, file) }
    }

    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes)
    }

    pub fn state(&mut self, state: &StoredState, columns: Columns) -> io::Result<()> {
        let length = u32::try_from(state.bytes.len()).map_err(io::Error::other)?;
        self.put(&length.to_le_bytes())?;
        if let Columns::All = columns {
            self.put(&state.place.to_le_bytes())?;
            self.put(&state.before.to_le_bytes())?;
        }
        self.put(state.bytes)
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

/// Reads a run from its beginning. The space for a state is used again and again.
pub(super) struct Cursor {
    from: BufReader<File>,
    columns: Columns,
    is_at_end: bool,
    hash: u64,
    place: u64,
    before: u64,
    bytes: Vec<u8>,
}

impl Cursor {
    pub fn new(mut file: File, columns: Columns) -> io::Result<Cursor> {
        file.seek(SeekFrom::Start(0))?;
        let from = BufReader::with_capacity(BUFFER, file);
        let mut cursor = Cursor { from, columns, is_at_end: false, hash: 0, place: 0, before: 0, bytes: Vec::new() };
        cursor.advance()?;
        Ok(cursor)
    }

    /// The state that comes next.
    pub fn state(&self) -> Option<StoredState<'_>> {
        let &Cursor { hash, place, before, ref bytes, .. } = self;
        (!self.is_at_end).then_some(StoredState { hash, place, before, bytes })
    }

    /// Goes on to the state after it.
    pub fn advance(&mut self) -> io::Result<()> {
        self.is_at_end = self.is_at_end || self.from.fill_buf()?.is_empty();
        if self.is_at_end {
            return Ok(());
        }
        let mut length = [0; LENGTH];
        self.from.read_exact(&mut length)?;
        if let Columns::All = self.columns {
            let mut numbers = [[0; WORD]; 2];
            self.from.read_exact(numbers.as_flattened_mut())?;
            [self.place, self.before] = numbers.map(u64::from_le_bytes);
        }
        self.bytes.resize(u32::from_le_bytes(length) as usize, 0);
        self.from.read_exact(&mut self.bytes)?;
        self.hash = hash(&self.bytes);
        Ok(())
    }
}
