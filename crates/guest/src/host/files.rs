//! Descriptors of WASI preview 1 that can be read: standard input, the folder of a program, and its files.

use super::errno::{
    BAD_DESCRIPTOR, CANNOT_SEEK, FOLDER, INVALID, MISSING, NOT_ALLOWED, OUTSIDE, READ_ONLY, SUCCESS, TOO_LARGE,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use wasmtime::Result;

use super::NodeState;
use super::wasi::read_word;
use crate::inputs::{Inputs, Refused};
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
    bytes: Arc<Vec<u8>>,
    at: u64,
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

    fn open(&self, path: &str) -> Result<Arc<Vec<u8>>, i64> {
        self.inputs.open(path).map_err(|refused| match refused {
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
            open.insert(0, Open { bytes: self.inputs.stdin(), at: 0 });
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
        fd if node.files.open.borrow().contains_key(&fd) => (4, READ | SEEK),
        _ => return Ok(BAD_DESCRIPTOR),
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
    let bytes = match named(node, folder, path, length).await? {
        Ok(bytes) => bytes,
        Err(why) => return Ok(why),
    };
    let fd = {
        let mut open = node.files.open.borrow_mut();
        let fd = (ROOT + 1..).find(|fd| !open.contains_key(fd)).unwrap_or(i64::MAX);
        open.insert(fd, Open { bytes, at: 0 });
        fd
    };
    node.write_bytes(into as u32, &(fd as u32).to_le_bytes()).await?;
    Ok(SUCCESS)
}

/// The file at a path in the program's memory.
async fn named<P: Processor>(
    node: &NodeState<P>,
    folder: i64,
    path: i64,
    length: i64,
) -> Result<Result<Arc<Vec<u8>>, i64>> {
    if folder != ROOT {
        return Ok(Err(BAD_DESCRIPTOR));
    }
    let path = node.read_bytes(path as u32, length as u32).await?;
    Ok(String::from_utf8(path).map_err(|_| MISSING).and_then(|path| node.files.open(&path)))
}

pub(super) async fn read<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let mut wanted = Vec::new();
    for index in 0..args[2] as u32 {
        let vector = (args[1] as u32).wrapping_add(8 * index);
        wanted.push((read_word(node, vector).await?, read_word(node, vector.wrapping_add(4)).await?));
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
    let size = match fd {
        0..=2 => None,
        fd => match node.files.with(fd, |open| open.bytes.len()) {
            Some(size) => Some(size),
            None => return Ok(BAD_DESCRIPTOR),
        },
    };
    write_stat(node, size, into).await
}

pub(super) async fn path_stat<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    match named(node, args[0], args[2], args[3]).await? {
        Ok(bytes) => write_stat(node, Some(bytes.len()), args[4] as u32).await,
        Err(why) => Ok(why),
    }
}

async fn write_stat<P: Processor>(node: &NodeState<P>, size: Option<usize>, into: u32) -> Result<i64> {
    let mut stat = [0; 64];
    stat[16] = if size.is_some() { 4 } else { 2 };
    stat[24] = 1;
    stat[32..40].copy_from_slice(&(size.unwrap_or(0) as u64).to_le_bytes());
    node.write_bytes(into, &stat).await?;
    Ok(SUCCESS)
}
