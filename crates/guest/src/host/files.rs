//! Descriptors of WASI preview 1 for standard input, the folder of a program, and its files.

use super::errno::{
    BAD_DESCRIPTOR, BUSY, CANNOT_SEEK, FOLDER, INVALID, LINK, MISSING, NO_FOLDER, NOT_ALLOWED, NOT_EMPTY, OUTSIDE,
    READ_ONLY, SUCCESS, THERE, TOO_LARGE, UNSUPPORTED,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use wasmtime::Result;

use super::NodeState;
use super::wasi::{MOST_WRITTEN, vectors};
use crate::folder::{Content, FileChange, Folder, From, How, Opened, What};
use crate::inputs::{EntryKind, Inputs, Listed, Refused};
use crate::processor::Processor;

/// The descriptor of the folder.
const ROOT: i64 = 3;

// Rights of WASI preview 1: to read, to seek, to write.
const READ: i64 = 1 << 1;
const SEEK: i64 = 1 << 2;
const WRITE: i64 = 1 << 6;

/// The flag of a descriptor whose writes go to the end.
const APPEND: i64 = 1;

/// The greatest number of bytes that one call reads: a C library asks again for the rest.
const MOST_READ: usize = 1 << 20;

/// What is open.
enum Open {
    File(OpenFile),
    /// The path of a folder in that of the program, and what was in it when it was opened.
    Folder(String, Arc<Vec<Listed>>),
}

struct OpenFile {
    content: Rc<RefCell<Content>>,
    at: u64,
    /// Of [`READ`] and [`WRITE`].
    rights: i64,
    appends: bool,
}

/// What a node has open, and the folder as it sees it.
pub(crate) struct Descriptors {
    inputs: Arc<Inputs>,
    folder: Folder,
    open: RefCell<BTreeMap<i64, Open>>,
    /// Whether its processor has been told of something that it may not write.
    told_refused: Cell<bool>,
}

impl Descriptors {
    pub(crate) fn new(inputs: Arc<Inputs>) -> Descriptors {
        let folder = Folder::new(inputs.clone());
        Descriptors { inputs, folder, open: RefCell::default(), told_refused: Cell::new(false) }
    }

    /// What the node has changed of the folder.
    pub(crate) fn changes(&self) -> BTreeMap<String, FileChange> {
        self.folder.changes()
    }

    /// Does something with what is open; standard input is, when it is first asked for.
    fn with<T>(&self, fd: i64, act: impl FnOnce(&mut Open) -> T) -> Option<T> {
        let mut open = self.open.borrow_mut();
        if fd == 0 && !open.contains_key(&0) {
            let content = Content::fixed(self.inputs.stdin());
            open.insert(0, Open::File(OpenFile { content, at: 0, rights: READ, appends: false }));
        }
        open.get_mut(&fd).map(act)
    }

    /// Does something with a file that is open, and may be used in this way.
    fn with_file<T>(
        &self,
        fd: i64,
        right: i64,
        act: impl FnOnce(&mut OpenFile) -> std::result::Result<T, i64>,
    ) -> std::result::Result<T, i64> {
        let done = self.with(fd, |open| match open {
            Open::Folder(..) => Err(FOLDER),
            Open::File(file) if file.rights & right != right => Err(BAD_DESCRIPTOR),
            Open::File(file) => act(file),
        });
        done.unwrap_or(Err(BAD_DESCRIPTOR))
    }

    /// The folder behind a descriptor.
    fn folder_of(&self, fd: i64) -> Option<String> {
        if fd == ROOT && self.inputs.has_folder() {
            return Some(String::new());
        }
        self.with(fd, |open| match open {
            Open::Folder(path, _) => Some(path.clone()),
            Open::File(_) => None,
        })
        .flatten()
    }
}

/// The error number of what is refused.
fn number(refused: Refused) -> i64 {
    match refused {
        Refused::Missing => MISSING,
        Refused::NotAllowed => NOT_ALLOWED,
        Refused::Outside => OUTSIDE,
        Refused::Folder => FOLDER,
        Refused::NoFolder => NO_FOLDER,
        Refused::TooLarge => TOO_LARGE,
        Refused::ReadOnly => READ_ONLY,
        Refused::There => THERE,
        Refused::NotEmpty => NOT_EMPTY,
        Refused::Link => LINK,
        Refused::Busy => BUSY,
        Refused::Invalid => INVALID,
        Refused::Unsupported => UNSUPPORTED,
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
        fd => match node.files.open.borrow().get(&fd) {
            Some(Open::File(file)) => file.rights & if to_write { WRITE } else { READ } != 0,
            Some(Open::Folder(..)) => !to_write,
            None => false,
        },
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
    let (kind, rights, flags) = match fd {
        0 => (2, READ, 0),
        1 | 2 => (2, WRITE, 0),
        // So that the C library passes on what a program wants to do with a file, and it is refused when it is opened.
        ROOT if node.files.inputs.has_folder() => (3, -1, 0),
        fd => match node.files.open.borrow().get(&fd) {
            Some(Open::Folder(..)) => (3, -1, 0),
            Some(Open::File(file)) => (4, file.rights | SEEK, if file.appends { APPEND } else { 0 }),
            None => return Ok(BAD_DESCRIPTOR),
        },
    };
    about[0] = kind;
    about[2..4].copy_from_slice(&(flags as u16).to_le_bytes());
    about[8..16].copy_from_slice(&rights.to_le_bytes());
    about[16..24].copy_from_slice(&rights.to_le_bytes());
    node.write_bytes(into, &about).await?;
    Ok(SUCCESS)
}

/// Whether writes go to the end; nothing that is open waits, and all of it is written at once.
pub(super) fn set_flags<P>(node: &NodeState<P>, fd: i64, flags: i64) -> i64 {
    if fd <= 2 || (fd == ROOT && node.files.inputs.has_folder()) {
        return SUCCESS;
    }
    let set = |open: &mut Open| {
        if let Open::File(file) = open {
            file.appends = flags & APPEND != 0;
        }
    };
    node.files.with(fd, set).map_or(BAD_DESCRIPTOR, |()| SUCCESS)
}

pub(super) async fn path_open<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let &[folder, lookup, path, length, how, rights, _, flags, into] = args else {
        return Ok(INVALID);
    };
    let how = How {
        follow: lookup & 1 != 0,
        create: how & 1 != 0,
        folder: how & 2 != 0,
        exclusive: how & 4 != 0,
        truncate: how & 8 != 0,
        write: rights & WRITE != 0,
    };
    let opened = at(node, (folder, path, length), |files, from| files.folder.open(from, how)).await?;
    let opened = match opened {
        Ok(Opened::File(content)) => {
            let (rights, appends) = (rights & (READ | WRITE), flags & APPEND != 0);
            Open::File(OpenFile { content, at: 0, rights, appends })
        }
        Ok(Opened::Folder(name, listed)) => Open::Folder(name, listed),
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

/// A path in the program's memory: the descriptor of a folder, an address, a length.
type Path = (i64, i64, i64);

async fn path_of<P: Processor>(
    node: &NodeState<P>,
    (folder, path, length): Path,
) -> Result<std::result::Result<(String, String), i64>> {
    let Some(folder) = node.files.folder_of(folder) else {
        return Ok(Err(BAD_DESCRIPTOR));
    };
    let path = node.read_bytes(path as u32, length as u32).await?;
    Ok(String::from_utf8(path).map(|path| (folder, path)).map_err(|_| MISSING))
}

/// Does something at a path in the program's memory. The processor is told what first was refused since nothing may be written.
async fn at<P: Processor, T>(
    node: &NodeState<P>,
    path: Path,
    act: impl FnOnce(&Descriptors, From) -> std::result::Result<T, Refused>,
) -> Result<std::result::Result<T, i64>> {
    let (folder, path) = match path_of(node, path).await? {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    let done = act(&node.files, From { folder: &folder, path: &path });
    if matches!(done, Err(Refused::ReadOnly)) && !node.files.told_refused.replace(true) {
        node.processor.borrow_mut().refused_to_write(&path);
    }
    Ok(done.map_err(number))
}

/// What is done to one path and gives nothing.
pub(super) async fn change<P: Processor>(
    node: &NodeState<P>,
    path: Path,
    act: impl FnOnce(&Folder, From) -> std::result::Result<(), Refused>,
) -> Result<i64> {
    let done = at(node, path, |files, from| act(&files.folder, from)).await?;
    Ok(done.map_or_else(|why| why, |()| SUCCESS))
}

pub(super) async fn rename<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let &[folder, path, length, to_folder, to_path, to_length] = args else {
        return Ok(INVALID);
    };
    let (to_folder, to_path) = match path_of(node, (to_folder, to_path, to_length)).await? {
        Ok(found) => found,
        Err(why) => return Ok(why),
    };
    let to = From { folder: &to_folder, path: &to_path };
    change(node, (folder, path, length), |files, from| files.rename(from, to)).await
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
            ROOT => self.folder.list("").ok()?,
            fd => self
                .with(fd, |open| match open {
                    Open::Folder(_, listed) => Some(listed.clone()),
                    Open::File(_) => None,
                })
                .flatten()?,
        };
        let kind = |kind: EntryKind| match kind {
            EntryKind::Folder => 3,
            EntryKind::File => 4,
            EntryKind::Other => 0,
        };
        let dots = [".", ".."].map(|name| (name.to_string(), 3));
        Some(dots.into_iter().chain(listed.iter().map(|one| (one.name.clone(), kind(one.kind)))).collect())
    }
}

/// Reads at a place, or where the last one ended.
pub(super) async fn read<P: Processor>(
    node: &NodeState<P>,
    (fd, list, count): (i64, i64, i64),
    place: Option<i64>,
    into: u32,
) -> Result<i64> {
    let wanted = vectors(node, list, count).await?;
    if fd != 0 && fd <= 2 {
        return Ok(BAD_DESCRIPTOR);
    }
    if place.is_some_and(|at| at < 0) {
        return Ok(INVALID);
    }
    let mut done = 0;
    for (to, length) in wanted {
        let part = node.files.with_file(fd, READ, |file| {
            let from = place.map_or(file.at, |at| at as u64 + done as u64);
            let content = file.content.borrow();
            let rest = usize::try_from(from).ok().and_then(|from| content.bytes.get(from..)).unwrap_or_default();
            let part = rest[..rest.len().min(length as usize).min(MOST_READ - done)].to_vec();
            if place.is_none() {
                file.at += part.len() as u64;
            }
            Ok(part)
        });
        let part = match part {
            Ok(part) => part,
            Err(why) => return Ok(why),
        };
        done += part.len();
        node.write_bytes(to, &part).await?;
        if part.len() < length as usize {
            break;
        }
    }
    node.write_bytes(into, &(done as u32).to_le_bytes()).await?;
    Ok(SUCCESS)
}

/// Writes at a place, or where the last one ended, or to the end.
pub(super) async fn write<P: Processor>(
    node: &NodeState<P>,
    (fd, list, count): (i64, i64, i64),
    place: Option<i64>,
    into: u32,
) -> Result<i64> {
    if place.is_some_and(|at| at < 0) {
        return Ok(INVALID);
    }
    let mut bytes = Vec::new();
    for (from, length) in vectors(node, list, count).await? {
        let room = MOST_WRITTEN - bytes.len() as u32;
        bytes.extend(node.read_bytes(from, length.min(room)).await?);
        if length >= room {
            break;
        }
    }
    let written = node.files.with_file(fd, WRITE, |file| {
        let mut content = file.content.borrow_mut();
        let end = content.bytes.len() as u64;
        let at = place.map_or(if file.appends { end } else { file.at }, |at| at as u64);
        let takes = content.write(at, &bytes).map_err(number)?;
        if place.is_none() {
            file.at = at + bytes.len() as u64;
        }
        Ok(takes)
    });
    match written {
        Ok(takes) => node.processor.borrow_mut().takes(takes),
        Err(why) => return Ok(why),
    }
    node.write_bytes(into, &(bytes.len() as u32).to_le_bytes()).await?;
    Ok(SUCCESS)
}

/// Cuts a file off, or puts zeros behind it; to at least so many bytes if it must only have room.
pub(super) fn resize<P: Processor>(node: &NodeState<P>, fd: i64, bytes: Option<i64>, at_least: bool) -> i64 {
    let Some(bytes) = bytes.and_then(|bytes| u64::try_from(bytes).ok()) else {
        return INVALID;
    };
    let resized = node.files.with_file(fd, WRITE, |file| {
        let mut content = file.content.borrow_mut();
        if at_least && content.bytes.len() as u64 >= bytes {
            return Ok(0);
        }
        content.resize(bytes).map_err(number)
    });
    match resized {
        Ok(takes) => {
            node.processor.borrow_mut().takes(takes);
            SUCCESS
        }
        // As other systems say.
        Err(BAD_DESCRIPTOR) if node.files.open.borrow().contains_key(&fd) => INVALID,
        Err(why) => why,
    }
}

/// What has nothing to do for what is open.
pub(super) fn nothing<P>(node: &NodeState<P>, fd: i64) -> i64 {
    let is_open =
        fd <= 2 || (fd == ROOT && node.files.inputs.has_folder()) || node.files.open.borrow().contains_key(&fd);
    if is_open { SUCCESS } else { BAD_DESCRIPTOR }
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
    let moved = node.files.with_file(fd, 0, |file| {
        let from = match whence {
            0 => 0,
            1 => file.at as i64,
            _ => file.content.borrow().bytes.len() as i64,
        };
        let at = from.checked_add(offset).and_then(|at| u64::try_from(at).ok()).ok_or(INVALID)?;
        file.at = at;
        Ok(at)
    });
    match moved {
        // As of other folders: there is nothing to find.
        Err(FOLDER) => Ok(INVALID),
        Err(why) => Ok(why),
        Ok(at) => {
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
        fd => {
            let about = node.files.with(fd, |open| match open {
                Open::Folder(..) => (3, 0),
                Open::File(file) => (4, file.content.borrow().bytes.len()),
            });
            match about {
                Some(about) => about,
                None => return Ok(BAD_DESCRIPTOR),
            }
        }
    };
    write_stat(node, about, into).await
}

pub(super) async fn path_stat<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let &[folder, lookup, path, length, into] = args else {
        return Ok(INVALID);
    };
    let follow = lookup & 1 != 0;
    match at(node, (folder, path, length), |files, from| files.folder.about(from, follow)).await? {
        Ok((what, bytes)) => {
            let kind = match what {
                What::Folder => 3,
                What::Link(_) => 7,
                What::File | What::Other | What::Nothing => 4,
            };
            write_stat(node, (kind, bytes), into as u32).await
        }
        Err(why) => Ok(why),
    }
}

async fn write_stat<P: Processor>(node: &NodeState<P>, (kind, size): (u8, usize), into: u32) -> Result<i64> {
    let mut stat = [0; 64];
    stat[16] = kind;
    stat[24] = 1;
    stat[32..40].copy_from_slice(&(size as u64).to_le_bytes());
    node.write_bytes(into, &stat).await?;
    Ok(SUCCESS)
}
