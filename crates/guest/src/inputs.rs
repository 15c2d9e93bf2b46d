//! What a program may read: standard input, and the files of one folder. Each is read once and whole, and so is the list of each folder
//! in it, so that all nodes and all runs of a command read the same. What nodes write is in `folder`: nothing here is changed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use trivium_diagnostic::{Code, Diagnostic};

mod copied;

use copied::Copied;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The largest file that a program may read, in bytes: its memory is no larger than a few of them.
pub(crate) const LARGEST: u64 = 1 << 28;

/// Why a file cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Refused {
    Missing,
    NotAllowed,
    Outside,
    Folder,
    /// It is no folder.
    NoFolder,
    TooLarge,
    ReadOnly,
    /// It is there already.
    There,
    NotEmpty,
    /// It is a link, or links lead round in a ring.
    Link,
    /// The folder itself.
    Busy,
    Invalid,
    /// What is not done here.
    Unsupported,
}

/// What lies at a name in the folder, links not followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum There {
    Nothing,
    Folder,
    File,
    /// A link, and what it says.
    Link(PathBuf),
    /// A device, a pipe.
    Other,
}

/// One of the names in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) kind: EntryKind,
}

/// What a name in a folder leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum EntryKind {
    Folder,
    File,
    /// What cannot be opened: a device, a pipe, a link that leads out.
    Other,
}

/// What the nodes of a program may read.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Absolute, without links in it.
    folder: Option<PathBuf>,
    /// Whether there is a standard input.
    standard: bool,
    stdin: OnceLock<Arc<Vec<u8>>>,
    /// Files that were opened, by their path in the folder.
    files: Mutex<BTreeMap<String, Arc<Vec<u8>>>>,
    /// Folders that were listed, by their path in the folder; that itself is `.`.
    folders: Mutex<BTreeMap<String, Arc<Vec<Listed>>>>,
    /// What was found at names.
    found: Mutex<BTreeMap<String, Result<There, Refused>>>,
    /// Whether nodes may change what they see of the folder.
    writable: bool,
    /// Whether files can be made in folders.
    takes_files: Mutex<BTreeMap<String, bool>>,
    /// What another process has read, in place of what is on this host.
    copy: Option<Copied>,
}

impl Inputs {
    /// This process's standard input, and the files of a folder if one is named. Nothing is read before the program reads
    /// it.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn new(folder: Option<&Path>) -> Result<Inputs, Diagnostic> {
        let folder = folder.map(|folder| {
            let real = folder.canonicalize().ok().filter(|real| real.is_dir());
            real.ok_or_else(|| {
                Diagnostic::new(Code::File, "there is no such folder for the program to read")
                    .at(folder.display().to_string())
                    .help("name the folder that has the program's files")
            })
        });
        Ok(Inputs { folder: folder.transpose()?, standard: true, ..Inputs::default() })
    }

    /// What was read so far: `stdin` if there was anything, `file NAME`, and `folder NAME` (of its names and what they lead to), each with
    /// its SHA-256 in hexadecimal.
    pub fn hashes(&self) -> Vec<(String, String)> {
        let hash = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let stdin = self.stdin.get().filter(|bytes| !bytes.is_empty());
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let files = files.iter().map(|(name, bytes)| (format!("file {name}"), hash(bytes)));
        let folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let folders = folders.iter().map(|(name, listed)| {
            let names: String = listed.iter().map(|one| format!("{}\0{:?}\0", one.name, one.kind)).collect();
            (format!("folder {name}"), hash(names.as_bytes()))
        });
        stdin.map(|bytes| ("stdin".to_string(), hash(bytes))).into_iter().chain(files).chain(folders).collect()
    }

    /// Nodes may change what they see of the folder: each its own. Nothing is changed on the host ([`ProgramNode::changes`](crate::ProgramNode::changes)).
    pub fn writable(self) -> Inputs {
        Inputs { writable: true, ..self }
    }

    /// The folder without links in it, if nodes may change what they see of it.
    pub fn written(&self) -> Option<&Path> {
        self.folder.as_deref().filter(|_| self.writable)
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    pub(crate) fn has_folder(&self) -> bool {
        self.folder.is_some() || self.copy.as_ref().is_some_and(|copy| copy.has_folder)
    }

    /// What lies at a name whose folder is no link; as it was when it was first looked at.
    pub(crate) fn at(&self, name: &str) -> Result<There, Refused> {
        if let Some(copy) = &self.copy {
            return copy.at(name);
        }
        let folder = self.folder.as_ref().ok_or(Refused::Missing)?;
        if name.is_empty() {
            return Ok(There::Folder);
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.entry(name.to_string()).or_insert_with(|| look_at(&folder.join(name))).clone()
    }

    /// Where an absolute path that a link says leads to in the folder.
    pub(crate) fn inside(&self, absolute: &Path) -> Result<String, Refused> {
        if let Some(copy) = &self.copy {
            return copy.inside(absolute);
        }
        let folder = self.folder.as_ref().ok_or(Refused::Missing)?;
        let real = absolute.canonicalize().map_err(|error| of_system(&error))?;
        Ok(real.strip_prefix(folder).map_err(|_| Refused::Outside)?.display().to_string())
    }

    /// Whether a file may be written over.
    pub(crate) fn may_write(&self, name: &str) -> Result<(), Refused> {
        let (real, _) = self.real(name)?;
        fs::OpenOptions::new().write(true).open(real).map(drop).map_err(|error| of_system(&error))
    }

    /// Whether names may be made and removed in a folder.
    pub(crate) fn may_change(&self, folder: &str) -> Result<(), Refused> {
        let (real, name) = self.real(if folder.is_empty() { "." } else { folder })?;
        let mut takes = self.takes_files.lock().unwrap_or_else(PoisonError::into_inner);
        let takes = takes.entry(name).or_insert_with(|| tempfile::tempfile_in(real).is_ok());
        if *takes { Ok(()) } else { Err(Refused::NotAllowed) }
    }

    pub(crate) fn stdin(&self) -> Arc<Vec<u8>> {
        let read = || {
            if let Some(copy) = &self.copy {
                return copy.stdin.clone();
            }
            let mut bytes = Vec::new();
            if self.standard {
                // What cannot be read is as if it had ended.
                let _ = std::io::stdin().lock().take(LARGEST).read_to_end(&mut bytes);
            }
            Arc::new(bytes)
        };
        self.stdin.get_or_init(read).clone()
    }

    /// A file of the folder. Links are followed as long as they stay in it.
    pub(crate) fn open(&self, path: &str) -> Result<Arc<Vec<u8>>, Refused> {
        if let Some(copy) = &self.copy {
            let bytes = copy.open(path)?;
            self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_string(), bytes.clone());
            return Ok(bytes);
        }
        let (real, name) = self.real(path)?;
        let about = fs::metadata(&real).map_err(|error| of_system(&error))?;
        if about.is_dir() {
            return Err(Refused::Folder);
        }
        // Devices and pipes do not end, or not in the same way twice.
        if !about.is_file() {
            return Err(Refused::NotAllowed);
        }
        if about.len() > LARGEST {
            return Err(Refused::TooLarge);
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = files.get(&name) {
            return Ok(bytes.clone());
        }
        let bytes = Arc::new(fs::read(&real).map_err(|error| of_system(&error))?);
        files.insert(name, bytes.clone());
        Ok(bytes)
    }

    /// The names in a folder, in their order; links are followed as in [`Inputs::open`].
    pub(crate) fn list(&self, path: &str) -> Result<Arc<Vec<Listed>>, Refused> {
        if let Some(copy) = &self.copy {
            let listed = copy.list(path)?;
            self.folders.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_string(), listed.clone());
            return Ok(listed);
        }
        let (real, name) = self.real(path)?;
        let name = if name.is_empty() { ".".to_string() } else { name };
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listed) = folders.get(&name) {
            return Ok(listed.clone());
        }
        let mut listed = Vec::new();
        for entry in fs::read_dir(&real).map_err(|error| of_system(&error))? {
            // What is not text no program of ours can name.
            let Ok(entry) = entry.map_err(|error| of_system(&error))?.file_name().into_string() else { continue };
            let about = self.real(&format!("{name}/{entry}")).ok().and_then(|(real, _)| fs::metadata(real).ok());
            let kind = match about {
                Some(about) if about.is_dir() => EntryKind::Folder,
                Some(about) if about.is_file() => EntryKind::File,
                _ => EntryKind::Other,
            };
            listed.push(Listed { name: entry, kind });
        }
        listed.sort();
        let listed = Arc::new(listed);
        folders.insert(name, listed.clone());
        Ok(listed)
    }

    /// Where a path of the program leads, and how that is called in the folder: nothing for the folder itself.
    fn real(&self, path: &str) -> Result<(PathBuf, String), Refused> {
        let folder = self.folder.as_ref().ok_or(Refused::Missing)?;
        // An absolute path replaces the folder, and is found to lie outside.
        let real = folder.join(path).canonicalize().map_err(|error| of_system(&error))?;
        let inside = real.strip_prefix(folder).map_err(|_| Refused::Outside)?.display().to_string();
        Ok((real, inside))
    }
}

fn look_at(path: &Path) -> Result<There, Refused> {
    let about = match fs::symlink_metadata(path) {
        Err(error) if of_system(&error) == Refused::Missing => return Ok(There::Nothing),
        about => about.map_err(|error| of_system(&error))?,
    };
    Ok(match about.file_type() {
        kind if kind.is_dir() => There::Folder,
        kind if kind.is_file() => There::File,
        kind if kind.is_symlink() => There::Link(fs::read_link(path).map_err(|error| of_system(&error))?),
        _ => There::Other,
    })
}

fn of_system(error: &std::io::Error) -> Refused {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Refused::Missing,
        _ => Refused::NotAllowed,
    }
}
