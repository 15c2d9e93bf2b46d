//! What a program may read, all of it at once, as bytes for a process that opens nothing.

use super::{Inputs, LARGEST, Listed, Refused, There};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trivium_diagnostic::{Code, Diagnostic};

/// Names in a folder that goes to other processes, at most.
const NAMES: usize = 100_000;

/// What another process has read.
#[derive(Debug, Default)]
pub(super) struct Copied {
    pub(super) stdin: Arc<Vec<u8>>,
    pub(super) has_folder: bool,
    names: BTreeMap<String, Result<There, Refused>>,
    files: BTreeMap<String, Result<Arc<Vec<u8>>, Refused>>,
    folders: BTreeMap<String, Result<Arc<Vec<Listed>>, Refused>>,
    inside: BTreeMap<PathBuf, Result<String, Refused>>,
}

/// What stands before the bytes of standard input and of all files, in the order of their names.
#[derive(Serialize, Deserialize)]
struct Head {
    stdin: usize,
    has_folder: bool,
    names: Vec<(String, Result<There, Refused>)>,
    files: Vec<(String, Result<usize, Refused>)>,
    folders: Vec<(String, Result<Vec<Listed>, Refused>)>,
    inside: Vec<(PathBuf, Result<String, Refused>)>,
}

impl Copied {
    pub(super) fn at(&self, name: &str) -> Result<There, Refused> {
        match name {
            "" if self.has_folder => Ok(There::Folder),
            _ => self.names.get(name).cloned().unwrap_or(if self.has_folder {
                Ok(There::Nothing)
            } else {
                Err(Refused::Missing)
            }),
        }
    }

    pub(super) fn inside(&self, absolute: &Path) -> Result<String, Refused> {
        self.inside.get(absolute).cloned().unwrap_or(Err(Refused::Missing))
    }

    pub(super) fn open(&self, name: &str) -> Result<Arc<Vec<u8>>, Refused> {
        self.files.get(name).cloned().unwrap_or(Err(Refused::Missing))
    }

    pub(super) fn list(&self, name: &str) -> Result<Arc<Vec<Listed>>, Refused> {
        self.folders.get(name).cloned().unwrap_or(Err(Refused::Missing))
    }

    /// Reads a folder and all below it.
    fn read(&mut self, inputs: &Inputs, folder: &str, bytes: &mut u64) -> Result<(), Diagnostic> {
        let listed = inputs.list(if folder.is_empty() { "." } else { folder });
        let names: Vec<String> = listed.iter().flat_map(|all| all.iter().map(|one| one.name.clone())).collect();
        self.folders.insert(if folder.is_empty() { ".".into() } else { folder.into() }, listed);
        for name in names {
            let name = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let there = match inputs.at(&name) {
                // No program of ours can name where it leads.
                Ok(There::Link(target)) if target.to_str().is_none() => Ok(There::Other),
                there => there,
            };
            match &there {
                Ok(There::Folder) => self.read(inputs, &name, bytes)?,
                Ok(There::File) => {
                    let file = inputs.open(&name);
                    *bytes += file.as_ref().map_or(0, |file| file.len() as u64);
                    self.files.insert(name.clone(), file);
                }
                Ok(There::Link(target)) if target.is_absolute() => {
                    self.inside.insert(target.clone(), inputs.inside(target));
                }
                _ => {}
            }
            self.names.insert(name, there);
            if *bytes > LARGEST || self.names.len() > NAMES {
                let what = format!(
                    "the folder that the program may read has more than {} MiB or {NAMES} names, and all of it goes to every process",
                    LARGEST >> 20
                );
                return Err(
                    Diagnostic::new(Code::File, what).help("name a folder that has only what the program reads")
                );
            }
        }
        Ok(())
    }

    fn written(&self) -> Result<Vec<u8>, Diagnostic> {
        let head = Head {
            stdin: self.stdin.len(),
            has_folder: self.has_folder,
            names: self.names.clone().into_iter().collect(),
            files: self
                .files
                .iter()
                .map(|(name, file)| (name.clone(), file.as_ref().map(|f| f.len()).map_err(|e| *e)))
                .collect(),
            folders: self
                .folders
                .iter()
                .map(|(name, all)| (name.clone(), all.as_ref().map(|all| all.to_vec()).map_err(|e| *e)))
                .collect(),
            inside: self.inside.clone().into_iter().collect(),
        };
        let head = serde_json::to_vec(&head).map_err(|error| {
            Diagnostic::new(Code::File, format!("the folder that the program may read cannot be sent: {error}"))
        })?;
        let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
        bytes.extend(head);
        bytes.extend_from_slice(&self.stdin);
        self.files.values().flatten().for_each(|file| bytes.extend_from_slice(file));
        Ok(bytes)
    }

    fn of(bytes: &[u8]) -> Option<Copied> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (head, mut rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let head: Head = serde_json::from_slice(head).ok()?;
        let mut take = |bytes: usize| {
            let (first, others) = rest.split_at_checked(bytes)?;
            rest = others;
            Some(Arc::new(first.to_vec()))
        };
        let stdin = take(head.stdin)?;
        let mut files = BTreeMap::new();
        for (name, file) in head.files {
            let file = match file {
                Ok(bytes) => Ok(take(bytes)?),
                Err(refused) => Err(refused),
            };
            files.insert(name, file);
        }
        Some(Copied {
            stdin,
            has_folder: head.has_folder,
            names: head.names.into_iter().collect(),
            files,
            folders: head.folders.into_iter().map(|(name, all)| (name, all.map(Arc::new))).collect(),
            inside: head.inside.into_iter().collect(),
        })
    }
}

impl Inputs {
    /// All that can be read, standard input among it if `with_stdin`, as bytes for another process ([`Inputs::copied`]).
    ///
    /// # Errors
    /// It is too much.
    pub fn copy(&self, with_stdin: bool) -> Result<Vec<u8>, Diagnostic> {
        let mut copy = Copied { has_folder: self.has_folder(), ..Copied::default() };
        if with_stdin {
            copy.stdin = self.stdin();
        }
        if copy.has_folder {
            copy.read(self, "", &mut 0)?;
        }
        copy.written()
    }

    /// What another process can read ([`Inputs::copy`]): nothing is opened here. Nothing if these are not such bytes.
    pub fn copied(bytes: &[u8]) -> Option<Inputs> {
        Some(Inputs { copy: Some(Copied::of(bytes)?), ..Inputs::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::EntryKind;
    use super::*;

    #[test]
    fn a_copy_has_what_the_folder_had() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("below")).unwrap();
        std::fs::write(at("below/data"), b"123").unwrap();
        std::fs::write(at("empty"), b"").unwrap();
        std::os::unix::fs::symlink("below/data", at("link")).unwrap();
        std::os::unix::fs::symlink(at("below"), at("absolute")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", at("out")).unwrap();
        let bytes = Inputs::new(Some(folder.path())).unwrap().copy(false).unwrap();
        let absolute = at("below");
        drop(folder);
        let copy = Inputs::copied(&bytes).unwrap();
        assert!(copy.has_folder() && !copy.is_writable() && copy.stdin().is_empty());
        assert_eq!(copy.open("below/data").unwrap().as_slice(), b"123");
        assert_eq!(copy.open("empty").unwrap().as_slice(), b"");
        assert_eq!(copy.open("missing"), Err(Refused::Missing));
        assert_eq!(copy.at("missing"), Ok(There::Nothing));
        assert_eq!(copy.at("link"), Ok(There::Link("below/data".into())));
        assert_eq!(copy.inside(&absolute), Ok("below".into()));
        assert_eq!(copy.inside(Path::new("/etc/passwd")), Err(Refused::Outside));
        let names: Vec<(String, EntryKind)> =
            copy.list(".").unwrap().iter().map(|one| (one.name.clone(), one.kind)).collect();
        let named = |name: &str, kind| (name.to_string(), kind);
        let all = [
            named("absolute", EntryKind::Folder),
            named("below", EntryKind::Folder),
            named("empty", EntryKind::File),
            named("link", EntryKind::File),
            named("out", EntryKind::Other),
        ];
        assert_eq!(names, all);
        assert_eq!(
            copy.hashes().iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["file below/data", "file empty", "folder ."]
        );
        assert!(Inputs::copied(&bytes[..bytes.len() - 1]).is_none() && Inputs::copied(&[]).is_none());
    }
}
