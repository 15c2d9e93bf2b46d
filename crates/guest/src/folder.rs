//! The folder of a program as one node sees it: as it was at the start, with the node's own changes. Nodes do not see each
//! other's, and nothing is changed on the host here.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::inputs::{EntryKind, Inputs, LARGEST, Listed, Refused, There};

/// As many links as systems follow.
const MOST_LINKS: u32 = 40;

/// What a node has made of a name in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// A file with these bytes.
    Written(Arc<Vec<u8>>),
    /// A folder.
    Folder,
    /// Nothing is there any more.
    Removed,
}

impl FileChange {
    /// SHA-256 of a file's bytes, in hexadecimal.
    pub fn hash(&self) -> Option<String> {
        let FileChange::Written(bytes) = self else { return None };
        Some(Sha256::digest(&**bytes).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// A file, as long as it has a name or is open.
pub(crate) struct Content {
    pub(crate) bytes: Arc<Vec<u8>>,
    changed: bool,
}

impl Content {
    fn shared(bytes: Arc<Vec<u8>>, changed: bool) -> Rc<RefCell<Content>> {
        Rc::new(RefCell::new(Content { bytes, changed }))
    }

    /// What a node that cannot change anything reads.
    pub(crate) fn fixed(bytes: Arc<Vec<u8>>) -> Rc<RefCell<Content>> {
        Content::shared(bytes, false)
    }

    /// Puts bytes to a place, behind zeros if that lies beyond the end. How many bytes more that takes of the host's memory.
    pub(crate) fn write(&mut self, at: u64, bytes: &[u8]) -> Result<u64, Refused> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let end = at.checked_add(bytes.len() as u64).filter(|end| *end <= LARGEST).ok_or(Refused::TooLarge)?;
        let longer = end.max(self.bytes.len() as u64);
        let takes = self.resize(longer)?;
        Arc::make_mut(&mut self.bytes)[at as usize..end as usize].copy_from_slice(bytes);
        Ok(takes)
    }

    /// Cuts it off, or puts zeros behind it. How many bytes more that takes of the host's memory.
    pub(crate) fn resize(&mut self, bytes: u64) -> Result<u64, Refused> {
        if bytes > LARGEST {
            return Err(Refused::TooLarge);
        }
        let before = if Arc::strong_count(&self.bytes) > 1 { 0 } else { self.bytes.capacity() };
        if bytes == 0 {
            self.bytes = Arc::default();
        }
        let all = Arc::make_mut(&mut self.bytes);
        all.resize(bytes as usize, 0);
        self.changed = true;
        Ok(all.capacity().saturating_sub(before) as u64)
    }
}

/// What a node knows of a name, where that may differ from what was there at the start.
#[derive(Clone)]
enum Entry {
    File(Rc<RefCell<Content>>),
    Folder,
    Gone,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Nothing,
    Folder,
    File,
    /// A link of so many bytes.
    Link(usize),
    Other,
}

/// How something is opened.
#[derive(Clone, Copy, Default)]
pub(crate) struct How {
    /// Links at the end are followed.
    pub(crate) follow: bool,
    pub(crate) create: bool,
    /// It must not be there.
    pub(crate) exclusive: bool,
    pub(crate) truncate: bool,
    /// It must be a folder.
    pub(crate) folder: bool,
    pub(crate) write: bool,
}

impl How {
    fn changes(self) -> bool {
        self.create || self.truncate || self.write
    }
}

/// What was opened.
pub(crate) enum Opened {
    File(Rc<RefCell<Content>>),
    /// Its name, and what is in it.
    Folder(String, Arc<Vec<Listed>>),
}

/// A path, and the name of the folder that it leads on from.
#[derive(Clone, Copy)]
pub(crate) struct From<'a> {
    pub(crate) folder: &'a str,
    pub(crate) path: &'a str,
}

/// The folder as a node sees it. Names are paths in it without links, and without `.` and `..`; its own is nothing.
pub(crate) struct Folder {
    inputs: Arc<Inputs>,
    entries: RefCell<BTreeMap<String, Entry>>,
}

fn above(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(above, _)| above)
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_string() } else { format!("{folder}/{name}") }
}

impl Folder {
    pub(crate) fn new(inputs: Arc<Inputs>) -> Folder {
        Folder { inputs, entries: RefCell::default() }
    }

    /// What differs from the start, by name.
    pub(crate) fn changes(&self) -> BTreeMap<String, FileChange> {
        let changed = |(name, entry): (&String, &Entry)| {
            let change = match entry {
                Entry::File(content) => {
                    let content = content.borrow();
                    content.changed.then(|| FileChange::Written(content.bytes.clone()))
                }
                Entry::Folder => (self.first(name) != Ok(There::Folder)).then_some(FileChange::Folder),
                Entry::Gone => (self.first(name) != Ok(There::Nothing)).then_some(FileChange::Removed),
            };
            change.map(|change| (name.clone(), change))
        };
        self.entries.borrow().iter().filter_map(changed).collect()
    }

    /// What was there at the start.
    fn first(&self, name: &str) -> Result<There, Refused> {
        if !name.is_empty() && self.first(above(name))? != There::Folder {
            return Ok(There::Nothing);
        }
        self.inputs.at(name)
    }

    /// What is there now, links not followed.
    fn now(&self, name: &str) -> Result<There, Refused> {
        let entries = self.entries.borrow();
        match entries.get(name) {
            Some(Entry::File(_)) => return Ok(There::File),
            Some(Entry::Folder) => return Ok(There::Folder),
            Some(Entry::Gone) => return Ok(There::Nothing),
            None => {}
        }
        // A folder that the node has made has nothing of what was there before.
        match entries.get(above(name)) {
            Some(Entry::Folder) if !name.is_empty() => Ok(There::Nothing),
            _ => self.first(name),
        }
    }

    /// Where a path leads, and what is there. What is not there has a folder in which it could be.
    fn place(&self, from: From, follow: bool, links: u32) -> Result<(String, What), Refused> {
        if from.path.starts_with('/') {
            return Err(Refused::Outside);
        }
        let mut name = from.folder.to_string();
        let must_be_folder = from.path.ends_with('/') || from.path.ends_with("/.");
        let mut parts = from.path.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
        if from.path.is_empty() {
            return Err(Refused::Missing);
        }
        while let Some(part) = parts.next() {
            if part == ".." {
                if name.is_empty() {
                    return Err(Refused::Outside);
                }
                name = above(&name).to_string();
                continue;
            }
            let is_last = parts.peek().is_none();
            let follows = follow || must_be_folder || !is_last;
            let (here, what) = self.step(below(&name, part), follows, links)?;
            match what {
                What::Folder => name = here,
                What::File | What::Other if is_last && must_be_folder => return Err(Refused::NoFolder),
                what if is_last => return Ok((here, what)),
                What::Nothing => return Err(Refused::Missing),
                _ => return Err(Refused::NoFolder),
            }
        }
        Ok((name, What::Folder))
    }

    /// Where a name in a folder leads, if it may be a link.
    fn step(&self, name: String, follow: bool, links: u32) -> Result<(String, What), Refused> {
        let what = match self.now(&name)? {
            There::Nothing => What::Nothing,
            There::Folder => What::Folder,
            There::File => What::File,
            There::Other => What::Other,
            There::Link(target) if follow => {
                if links == MOST_LINKS {
                    return Err(Refused::Link);
                }
                if target.is_absolute() {
                    let inside = self.inputs.inside(&target)?;
                    return self.place(From { folder: "", path: &below(".", &inside) }, true, links + 1);
                }
                let target = target.to_str().ok_or(Refused::Missing)?;
                return self.place(From { folder: above(&name), path: target }, true, links + 1);
            }
            There::Link(target) => What::Link(target.as_os_str().len()),
        };
        Ok((name, what))
    }

    /// The file of this name, which is there.
    fn content(&self, name: &str) -> Result<Rc<RefCell<Content>>, Refused> {
        if let Some(Entry::File(content)) = self.entries.borrow().get(name) {
            return Ok(content.clone());
        }
        let content = Content::shared(self.inputs.open(name)?, false);
        self.set(name, Entry::File(content.clone()));
        Ok(content)
    }

    fn set(&self, name: &str, entry: Entry) {
        self.entries.borrow_mut().insert(name.to_string(), entry);
    }

    /// Whether names may be made in a folder, and removed from it.
    fn may_change(&self, folder: &str) -> Result<(), Refused> {
        if !self.inputs.is_writable() {
            return Err(Refused::ReadOnly);
        }
        match self.entries.borrow().get(folder) {
            Some(Entry::Folder) => Ok(()),
            _ => self.inputs.may_change(folder),
        }
    }

    /// Opens what is at a path, or makes a file there.
    pub(crate) fn open(&self, from: From, how: How) -> Result<Opened, Refused> {
        if how.changes() && !self.inputs.is_writable() {
            return Err(Refused::ReadOnly);
        }
        let exclusive = how.create && how.exclusive;
        let (name, what) = self.place(from, how.follow && !exclusive, 0)?;
        match what {
            What::Nothing if how.create && from.path.ends_with('/') => Err(Refused::Folder),
            What::Nothing if how.create && how.folder => Err(Refused::Invalid),
            What::Nothing if how.create => {
                self.may_change(above(&name))?;
                let content = Content::shared(Arc::default(), true);
                self.set(&name, Entry::File(content.clone()));
                Ok(Opened::File(content))
            }
            What::Nothing => Err(Refused::Missing),
            _ if exclusive => Err(Refused::There),
            What::Folder if how.write || how.truncate => Err(Refused::Folder),
            What::Folder => {
                let listed = self.list(&name)?;
                Ok(Opened::Folder(name, listed))
            }
            What::File if how.folder => Err(Refused::NoFolder),
            What::File => self.open_file(&name, how).map(Opened::File),
            What::Link(_) => Err(Refused::Link),
            What::Other => Err(Refused::NotAllowed),
        }
    }

    fn open_file(&self, name: &str, how: How) -> Result<Rc<RefCell<Content>>, Refused> {
        let is_own = self.entries.borrow().get(name).is_some_and(|entry| match entry {
            Entry::File(content) => content.borrow().changed,
            _ => false,
        });
        if (how.write || how.truncate) && !is_own {
            self.inputs.may_write(name)?;
        }
        if !how.truncate {
            return self.content(name);
        }
        let known = match self.entries.borrow().get(name) {
            Some(Entry::File(content)) => Some(content.clone()),
            _ => None,
        };
        // What was there before need not be read.
        let content = known.unwrap_or_else(|| Content::shared(Arc::default(), true));
        content.borrow_mut().resize(0)?;
        self.set(name, Entry::File(content.clone()));
        Ok(content)
    }

    /// What is at a path, and how many bytes a file or a link has.
    pub(crate) fn about(&self, from: From, follow: bool) -> Result<(What, usize), Refused> {
        let (name, what) = self.place(from, follow, 0)?;
        match what {
            What::Nothing => Err(Refused::Missing),
            What::Other => Err(Refused::NotAllowed),
            What::File => Ok((What::File, self.content(&name)?.borrow().bytes.len())),
            What::Link(bytes) => Ok((What::Link(bytes), bytes)),
            What::Folder => Ok((What::Folder, 0)),
        }
    }

    /// The names in a folder, in order.
    pub(crate) fn list(&self, folder: &str) -> Result<Arc<Vec<Listed>>, Refused> {
        let entries = self.entries.borrow();
        let first = match entries.get(folder) {
            Some(Entry::Folder) => Arc::default(),
            _ => self.inputs.list(if folder.is_empty() { "." } else { folder })?,
        };
        let inside = |name: &&String| above(name) == folder && !name.is_empty();
        if !entries.keys().any(|name| inside(&name)) {
            return Ok(first);
        }
        let mut all: BTreeMap<String, EntryKind> = first.iter().map(|one| (one.name.clone(), one.kind)).collect();
        for (name, entry) in entries.iter().filter(|(name, _)| inside(name)) {
            let own = name.rsplit('/').next().unwrap_or_default().to_string();
            match entry {
                Entry::File(_) => all.insert(own, EntryKind::File),
                Entry::Folder => all.insert(own, EntryKind::Folder),
                Entry::Gone => all.remove(&own),
            };
        }
        Ok(Arc::new(all.into_iter().map(|(name, kind)| Listed { name, kind }).collect()))
    }

    /// Removes a file, or a link.
    pub(crate) fn remove_file(&self, from: From) -> Result<(), Refused> {
        let (name, what) = self.place(from, false, 0)?;
        match what {
            What::Nothing => return Err(Refused::Missing),
            What::Folder => return Err(Refused::Folder),
            What::Other => return Err(Refused::NotAllowed),
            What::File | What::Link(_) => self.may_change(above(&name))?,
        }
        self.set(&name, Entry::Gone);
        Ok(())
    }

    pub(crate) fn remove_folder(&self, from: From) -> Result<(), Refused> {
        let (name, what) = self.place(from, false, 0)?;
        match what {
            What::Nothing => return Err(Refused::Missing),
            What::Folder if name.is_empty() => return Err(Refused::Busy),
            What::Folder => self.may_change(above(&name))?,
            _ => return Err(Refused::NoFolder),
        }
        if !self.list(&name)?.is_empty() {
            return Err(Refused::NotEmpty);
        }
        self.set(&name, Entry::Gone);
        Ok(())
    }

    pub(crate) fn make_folder(&self, from: From) -> Result<(), Refused> {
        let path = from.path.trim_end_matches('/');
        let (name, what) =
            self.place(From { path: if path.is_empty() { from.path } else { path }, ..from }, false, 0)?;
        if what != What::Nothing {
            return Err(Refused::There);
        }
        self.may_change(above(&name))?;
        self.set(&name, Entry::Folder);
        Ok(())
    }

    pub(crate) fn rename(&self, from: From, to: From) -> Result<(), Refused> {
        let (old, what) = self.place(from, false, 0)?;
        if what == What::Nothing {
            return Err(Refused::Missing);
        }
        // A folder may be given a name that ends in `/` before it is there.
        let path = if what == What::Folder { to.path.trim_end_matches('/') } else { to.path };
        let (new, there) = self.place(From { path, ..to }, false, 0)?;
        if old.is_empty() || new.is_empty() {
            return Err(Refused::Busy);
        }
        self.may_change(above(&old))?;
        self.may_change(above(&new))?;
        match (what, there) {
            // Where a link would lead from its new place, and whether that is outside, is not looked into.
            (What::Link(_), _) => Err(Refused::Unsupported),
            (What::File | What::Folder, _) if old == new => Ok(()),
            (What::File, What::Folder) => Err(Refused::Folder),
            (What::File, _) if path.ends_with('/') => Err(Refused::NoFolder),
            (What::File, _) => self.move_file(&old, &new),
            (What::Folder, _) if new.starts_with(&format!("{old}/")) => Err(Refused::Invalid),
            (What::Folder, What::Folder) if !self.list(&new)?.is_empty() => Err(Refused::NotEmpty),
            (What::Folder, What::Folder | What::Nothing) => self.move_folder(&old, &new),
            (What::Folder, _) => Err(Refused::NoFolder),
            (What::Nothing | What::Other, _) => Err(Refused::NotAllowed),
        }
    }

    fn move_file(&self, old: &str, new: &str) -> Result<(), Refused> {
        let content = self.content(old)?;
        content.borrow_mut().changed = true;
        self.set(old, Entry::Gone);
        self.set(new, Entry::File(content));
        Ok(())
    }

    fn move_folder(&self, old: &str, new: &str) -> Result<(), Refused> {
        let mut inside = BTreeSet::new();
        self.collect(old, &mut inside)?;
        // All or nothing: what cannot be read is found before anything is moved.
        for (name, _) in inside.iter().filter(|(_, is_file)| *is_file) {
            self.content(name)?;
        }
        self.set(new, Entry::Folder);
        for (name, is_file) in &inside {
            let moved = format!("{new}{}", &name[old.len()..]);
            match is_file {
                true => self.move_file(name, &moved)?,
                false => self.set(&moved, Entry::Folder),
            }
            self.set(name, Entry::Gone);
        }
        self.set(old, Entry::Gone);
        Ok(())
    }

    /// All names in a folder, and whether they are files.
    fn collect(&self, folder: &str, into: &mut BTreeSet<(String, bool)>) -> Result<(), Refused> {
        for one in self.list(folder)?.iter() {
            let name = below(folder, &one.name);
            match self.now(&name)? {
                There::Nothing => {}
                There::File => drop(into.insert((name, true))),
                There::Folder => {
                    self.collect(&name, into)?;
                    into.insert((name, false));
                }
                There::Link(_) | There::Other => return Err(Refused::Unsupported),
            }
        }
        Ok(())
    }
}
