//! Descriptors of WASI preview 1 that can be read: standard input, the folder of a program, and its files.

use super::errno::{
    BAD_DESCRIPTOR, CANNOT_SEEK, FOLDER, INVALID, MISSING, NO_FOLDER, NOT_ALLOWED, OUTSIDE, READ_ONLY, SUCCESS,
    TOO_LARGE,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use wasmtime::Result;

use super::NodeState;
use super::wasi::read_word;
use crate::inputs::{Inputs, Kind, Listed, Refused};
use crate::processor::Processor;

/// The descriptor of the folder.
const ROOT: i64 = 3;

// Rights of WASI preview 1: to read, to seek, to write.
const READ: i64 = 1 << 1;
const SEEK: i64 = 1 << 2;
const WRITE: i64 = 1 << 6;

/// The greatest number of bytes that one call reads: a C library asks again for the rest.
const MOST_READ: usize = 1 << 20;

struct Open {
    /// Of a file; nothing of a folder.
    bytes: Arc<Vec<u8>>,
    at: u64,
    folder: Option<OpenFolder>,
}

/// A folder that is open.
struct OpenFolder {
    /// Its path in the folder of the program.
    path: String,
    listed: Arc<Vec<Listed>>,
}

impl Open {
    fn file(bytes: Arc<Vec<u8>>) -> Open {
        Open { bytes, at: 0, folder: None }
    }
}

/// What a node can read, and how far it has.
pub(crate) struct Descriptors {
    inputs: Arc<Inputs>,
    open: RefCell<BTreeMap<i64, Open>>,
}

impl Descriptors {
    pub(crate) fn new(inputs: Arc<Inputs>) -> Descriptors {
        Descriptors { inputs, open: RefCell::default() }
    }

    /// What is at a path: a file, or a folder.
    fn open(&self, path: String) -> Result<Open, i64> {
        let opened = match self.inputs.open(&path) {
            Ok(bytes) => Ok(Open::file(bytes)),
            Err(Refused::Folder) => self
                .inputs
                .list(&path)
                .map(|listed| Open { folder: Some(OpenFolder { path, listed }), ..Open::file(Arc::default()) }),
            Err(refused) => Err(refused),
        };
        opened.map_err(|refused| match refused {
            Refused::Missing => MISSING,
            Refused::NotAllowed => NOT_ALLOWED,
            Refused::Outside => OUTSIDE,
            Refused::Folder => FOLDER,
            Refused::TooLarge => TOO_LARGE,
        })
    }

    /// Does something with what is open; standard input is, when it is first asked for.
    fn with<T>(&self, fd: i64, act: impl FnOnce(&mut Open) -> T) -> Option<T> {
        let mut open = self.open.borrow_mut();
        if fd == 0 && !open.contains_key(&0) {
            open.insert(0, Open::file(self.inputs.stdin()));
        }
        open.get_mut(&fd).map(act)
    }
}

pub(super) fn close<P>(node: &NodeState<P>, fd: i64) -> i64 {
    let known = fd <= 2 || (fd == ROOT && node.files.inputs.has_folder());
    if known || node.files.open.borrow_mut().remove(&fd).is_some() { SUCCESS } else { BAD_DESCRIPTOR }
}

/// Whether a descriptor can be read, or written. What can is always ready: files are there as a whole.
pub(super) fn is_ready<P>(node: &NodeState<P>, fd: i64, to_write: bool) -> bool {
    match fd {
        1 | 2 => to_write,
        0 => !to_write,
        fd => !to_write && node.files.open.borrow().contains_key(&fd),
    }
}

/// The name of the folder is `.`, so that a C library looks for relative paths in it.
pub(super) async fn prestat<P: Processor>(node: &NodeState<P>, fd: i64, into: u32) -> Result<i64> {
    if fd != ROOT || !node.files.inputs.has_folder() {
        return Ok(BAD_DESCRIPTOR);
    }
    node.write_bytes(into, &[0, 0, 0, 0, 1, 0, 0, 0]).await?;
    Ok(SUCCESS)
}

pub(super) async fn prestat_name<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    if args[0] != ROOT || !node.files.inputs.has_folder() {
        return Ok(BAD_DESCRIPTOR);
    }
    if args[2] >= 1 {
        node.write_bytes(args[1] as u32, b".").await?;
    }
    Ok(SUCCESS)
}

/// What kind of thing it is, and what may be done with it.
pub(super) async fn about<P: Processor>(node: &NodeState<P>, fd: i64, into: u32) -> Result<i64> {
    let mut about = [0; 24];
    // A character device, so that the C library writes line by line; a folder; a file.
    let (kind, rights) = match fd {
        0 => (2, READ),
        1 | 2 => (2, WRITE),
        // So that the C library passes on what a program wants to do with a file, and it is refused when it is opened.
        ROOT if node.files.inputs.has_folder() => (3, -1),
        fd => match node.files.open.borrow().get(&fd) {
            Some(open) if open.folder.is_some() => (3, -1),
            Some(_) => (4, READ | SEEK),
            None => return Ok(BAD_DESCRIPTOR),
        },
    };
    about[0] = kind;
    about[8..16].copy_from_slice(&rights.to_le_bytes());
    about[16..24].copy_from_slice(&rights.to_le_bytes());
    node.write_bytes(into, &about).await?;
    Ok(SUCCESS)
}

pub(super) async fn path_open<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let &[folder, _, path, length, how, rights, _, _, into] = args else {
        return Ok(INVALID);
    };
    // To create (1) or to cut off (8).
    if how & (1 | 8) != 0 || rights & WRITE != 0 {
        return Ok(READ_ONLY);
    }
    let opened = match named(node, folder, path, length).await? {
        // That is asked for where it must be a folder.
        Ok(opened) if how & 2 != 0 && opened.folder.is_none() => return Ok(NO_FOLDER),
        Ok(opened) => opened,
        Err(why) => return Ok(why),
    };
    let fd = {
        let mut open = node.files.open.borrow_mut();
        let fd = (ROOT + 1..).find(|fd| !open.contains_key(fd)).unwrap_or(i64::MAX);
        open.insert(fd, opened);
        fd
    };
    node.write_bytes(into as u32, &(fd as u32).to_le_bytes()).await?;
    Ok(SUCCESS)
}

/// What is at a path in the program's memory, which leads on from a folder.
async fn named<P: Processor>(node: &NodeState<P>, folder: i64, path: i64, length: i64) -> Result<Result<Open, i64>> {
    let from = match folder {
        ROOT => Some(String::new()),
        fd => node.files.with(fd, |open| open.folder.as_ref().map(|folder| format!("{}/", folder.path))).flatten(),
    };
    let Some(from) = from else {
        return Ok(Err(BAD_DESCRIPTOR));
    };
    let path = node.read_bytes(path as u32, length as u32).await?;
    Ok(String::from_utf8(path).map_err(|_| MISSING).and_then(|path| {
        let path = if path.starts_with('/') { path } else { from + &path };
        node.files.open(path)
    }))
}

/// Bytes before a name in a list of a folder.
const BEFORE_NAME: usize = 24;

/// The names in a folder from a place on, as many as there is room for, the last of them cut off.
pub(super) async fn list<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let &[fd, into, room, from, used] = args else {
        return Ok(INVALID);
    };
    let Some(entries) = node.files.entries(fd) else {
        return Ok(BAD_DESCRIPTOR);
    };
    let room = room as u32 as usize;
    let mut bytes: Vec<u8> = Vec::new();
    for (number, (name, kind)) in entries.iter().enumerate().skip(from.max(0) as usize) {
        if bytes.len() >= room {
            break;
        }
        // Where the next one begins; a number that is not 0; length and kind of the name.
        let mut entry = [0; BEFORE_NAME];
        entry[0..8].copy_from_slice(&(number as u64 + 1).to_le_bytes());
        entry[8..16].copy_from_slice(&(number as u64 + 1).to_le_bytes());
        entry[16..20].copy_from_slice(&(name.len() as u32).to_le_bytes());
        entry[20] = *kind;
        bytes.extend(entry);
        bytes.extend(name.as_bytes());
    }
    bytes.truncate(room);
    node.write_bytes(into as u32, &bytes).await?;
    node.write_bytes(used as u32, &(bytes.len() as u32).to_le_bytes()).await?;
    Ok(SUCCESS)
}

impl Descriptors {
    /// The names in a folder that is open, with what WASI calls their kinds: itself and the one above first, as elsewhere.
    fn entries(&self, fd: i64) -> Option<Vec<(String, u8)>> {
        let listed = match fd {
            ROOT => self.inputs.list(".").ok()?,
            fd => self.with(fd, |open| open.folder.as_ref().map(|folder| folder.listed.clone())).flatten()?,
        };
        let kind = |kind: Kind| match kind {
            Kind::Folder => 3,
            Kind::File => 4,
            Kind::Other => 0,
        };
        let dots = [".", ".."].map(|name| (name.to_string(), 3));
        Some(dots.into_iter().chain(listed.iter().map(|one| (one.name.clone(), kind(one.kind)))).collect())
    }
}

pub(super) async fn read<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let mut wanted = Vec::new();
    for index in 0..args[2] as u32 {
        let vector = (args[1] as u32).wrapping_add(8 * index);
        wanted.push((read_word(node, vector).await?, read_word(node, vector.wrapping_add(4)).await?));
    }
    if node.files.with(args[0], |open| open.folder.is_some()) == Some(true) {
        return Ok(FOLDER);
    }
    let mut done = 0;
    for (into, length) in wanted {
        let part = node.files.with(args[0], |open| {
            let rest = open.bytes.get(open.at as usize..).unwrap_or_default();
            let part = rest[..rest.len().min(length as usize).min(MOST_READ - done)].to_vec();
            open.at += part.len() as u64;
            part
        });
        let Some(part) = part else {
            return Ok(BAD_DESCRIPTOR);
        };
        done += part.len();
        node.write_bytes(into, &part).await?;
        if part.len() < length as usize {
            break;
        }
    }
    node.write_bytes(args[3] as u32, &(done as u32).to_le_bytes()).await?;
    Ok(SUCCESS)
}

/// `whence`: from the beginning, from here, from the end.
pub(super) async fn seek<P: Processor>(
    node: &NodeState<P>,
    fd: i64,
    (offset, whence): (i64, i64),
    into: u32,
) -> Result<i64> {
    if fd <= 2 {
        return Ok(CANNOT_SEEK);
    }
    let moved = node.files.with(fd, |open| {
        let from = match whence {
            0 => 0,
            1 => open.at as i64,
            _ => open.bytes.len() as i64,
        };
        let at = from.checked_add(offset).and_then(|at| u64::try_from(at).ok())?;
        open.at = at;
        Some(at)
    });
    match moved {
        None => Ok(BAD_DESCRIPTOR),
        Some(None) => Ok(INVALID),
        Some(Some(at)) => {
            node.write_bytes(into, &at.to_le_bytes()).await?;
            Ok(SUCCESS)
        }
    }
}

/// What `stat` tells: kind and size. There are no times.
pub(super) async fn stat<P: Processor>(node: &NodeState<P>, fd: i64, into: u32) -> Result<i64> {
    let about = match fd {
        0..=2 => (2, 0),
        ROOT if node.files.inputs.has_folder() => (3, 0),
        fd => match node.files.with(fd, |open| about_of(open)) {
            Some(about) => about,
            None => return Ok(BAD_DESCRIPTOR),
        },
    };
    write_stat(node, about, into).await
}

pub(super) async fn path_stat<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    match named(node, args[0], args[2], args[3]).await? {
        Ok(opened) => write_stat(node, about_of(&opened), args[4] as u32).await,
        Err(why) => Ok(why),
    }
}

/// Kind and size.
fn about_of(open: &Open) -> (u8, usize) {
    (if open.folder.is_some() { 3 } else { 4 }, open.bytes.len())
}

async fn write_stat<P: Processor>(node: &NodeState<P>, (kind, size): (u8, usize), into: u32) -> Result<i64> {
    let mut stat = [0; 64];
    stat[16] = kind;
    stat[24] = 1;
    stat[32..40].copy_from_slice(&(size as u64).to_le_bytes());
    node.write_bytes(into, &stat).await?;
    Ok(SUCCESS)
}
