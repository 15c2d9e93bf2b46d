//! Files of results: written whole or not at all where that is possible, and never in place of what is no ordinary file.

use crate::Failure;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;
use trivium_diagnostic::Code;

/// Files beside those that are being written: removed also when a second signal ends the process.
static BESIDE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes what has been written so far of files that are not whole. For the end of the process: they cannot be finished
/// afterwards.
pub fn forsake() {
    let beside = BESIDE.lock().unwrap_or_else(PoisonError::into_inner);
    beside.iter().for_each(|path| _ = std::fs::remove_file(path));
    // Nobody puts a file in its place any more, and none begins.
    std::mem::forget(beside);
}

/// A file that is being written.
pub struct OutFile {
    /// As the user named it.
    path: PathBuf,
    to: To,
}

/// Where the bytes go.
enum To {
    /// Beside the file, in whose place they are put when all are there: what links lead to.
    Beside(Beside, PathBuf),
    /// Straight into a device, a pipe, or what else is no ordinary file.
    Straight(File),
}

impl OutFile {
    /// Begins to write a file. Links are followed; a file that is there stays until [`OutFile::finish`], and then keeps its mode.
    ///
    /// # Errors
    /// The folder is not there, or one may not write there.
    pub fn open(path: &Path) -> Result<OutFile, Failure> {
        let to = To::open(path)?;
        Ok(OutFile { path: path.to_path_buf(), to })
    }

    /// The file is whole: it is put in its place.
    ///
    /// # Errors
    /// It could not be written, or cannot be put there.
    pub fn finish(self, written: io::Result<()>) -> Result<(), Failure> {
        let placed = written.and_then(|()| match self.to {
            To::Beside(file, place) => file.persist(&place),
            To::Straight(mut file) => file.flush(),
        });
        placed.map_err(|error| not_written(&self.path, &error))
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Beside(file, _) => file.file.write(bytes),
            To::Straight(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Beside(file, _) => file.file.flush(),
            To::Straight(file) => file.flush(),
        }
    }
}

/// What is written before it is put in its place.
struct Beside {
    file: NamedTempFile,
}

impl Beside {
    /// A new file in a folder, with the mode of one that is there.
    fn of(folder: &Path, there: Option<&Metadata>) -> io::Result<Beside> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".trivium-");
        // A new file is like any other: what the user's umask leaves.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = Beside::new(&builder, folder)?;
        if let Some(there) = there {
            file.file.as_file().set_permissions(there.permissions())?;
        }
        Ok(file)
    }

    fn new(builder: &tempfile::Builder, folder: &Path) -> io::Result<Beside> {
        let mut beside = BESIDE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = builder.tempfile_in(folder)?;
        beside.push(file.path().to_path_buf());
        Ok(Beside { file })
    }

    fn persist(mut self, place: &Path) -> io::Result<()> {
        self.file.flush()?;
        std::fs::rename(self.file.path(), place)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Where it has been put in its place there is nothing of its name any more.
        BESIDE.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| path != self.file.path());
    }
}

impl To {
    fn open(path: &Path) -> Result<To, Failure> {
        let wrong = |error: io::Error| not_written(path, &error);
        match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(wrong(io::ErrorKind::IsADirectory.into())),
            Ok(there) if !there.is_file() => {
                Ok(To::Straight(OpenOptions::new().write(true).open(path).map_err(wrong)?))
            }
            Ok(there) => {
                // One may not replace what one may not write, even where the folder would allow it.
                OpenOptions::new().write(true).open(path).map_err(wrong)?;
                let place = path.canonicalize().map_err(wrong)?;
                To::beside(&place, Some(&there)).map_err(|error| match error.kind() {
                    io::ErrorKind::PermissionDenied => no_file_beside(path, &place),
                    _ => wrong(error),
                })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                end_of_links(path).and_then(|place| To::beside(&place, None)).map_err(wrong)
            }
            Err(error) => Err(wrong(error)),
        }
    }

    fn beside(place: &Path, there: Option<&Metadata>) -> io::Result<To> {
        Ok(To::Beside(Beside::of(folder_of(place), there)?, place.to_path_buf()))
    }
}

/// A whole file that is not yet in its place.
pub struct Staged {
    file: Beside,
    place: PathBuf,
}

impl Staged {
    /// Writes a file that is to be at `place`, in a folder on the way there. It keeps the mode of a file that is there.
    ///
    /// # Errors
    /// It cannot be written, nor can what is there.
    pub fn write(place: &Path, folder: &Path, bytes: &[u8]) -> io::Result<Staged> {
        let there = std::fs::symlink_metadata(place).ok().filter(Metadata::is_file);
        if there.is_some() {
            OpenOptions::new().write(true).open(place)?;
        }
        let mut file = Beside::of(folder, there.as_ref())?;
        file.file.write_all(bytes)?;
        // Some systems tell only now that there is no room.
        file.file.as_file().sync_all()?;
        Ok(Staged { file, place: place.to_path_buf() })
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// It cannot be put there.
    pub fn put(self) -> io::Result<()> {
        self.file.persist(&self.place)
    }
}

fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// One may write the file, but make none in its folder: a result would not be written whole or not at all.
fn no_file_beside(path: &Path, place: &Path) -> Failure {
    let what = format!(
        "the file cannot be written: a result is written beside it first, and you may not make files in its folder {}",
        folder_of(place).display()
    );
    Failure::at(
        Code::File,
        what,
        path.display(),
        "nothing was written; name a file in another folder, or print the result: > FILE",
    )
}

/// Where a file will be that is not there yet: a link may lead to it.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    /// As many links as systems follow.
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        match std::fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new(".")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("links lead round in a ring"))
}

/// Writes a file.
///
/// # Errors
/// The file cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = OutFile::open(path)?;
    let written = file.write_all(bytes);
    file.finish(written)
}

/// Looks whether files can be written, before much time is spent on what shall stand in them: each is another one, and none is
/// among those that are `read`. Nothing is changed.
///
/// # Errors
/// One of them cannot.
pub fn can_be_written<'p>(
    paths: impl IntoIterator<Item = &'p PathBuf>,
    read: impl IntoIterator<Item = &'p Path>,
) -> Result<(), Failure> {
    let read: Vec<(FileIdentity, &Path)> =
        read.into_iter().filter_map(|path| Some((FileIdentity::of(path)?, path))).collect();
    let mut written: Vec<(FileIdentity, &Path)> = Vec::new();
    for path in paths {
        let is_special = std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
        // A pipe would wait for its reader, and takes as many results as there are.
        if is_special {
            continue;
        }
        OutFile::open(path)?;
        let Some(place) = FileIdentity::of(path) else { continue };
        if let Some((_, input)) = read.iter().find(|(known, _)| *known == place) {
            let what = format!("the command reads {}, and would write a result in its place", input.display());
            return Err(Failure::at(Code::File, what, path.display(), "nothing was written; name another file"));
        }
        if let Some((_, other)) = written.iter().find(|(known, _)| *known == place) {
            let what = format!("two results would be written into one file, which is also called {}", other.display());
            return Err(Failure::at(
                Code::File,
                what,
                path.display(),
                "nothing was written; name another file for one of them",
            ));
        }
        written.push((place, path));
    }
    Ok(())
}

/// Whether both paths lead to one file.
pub fn are_same(one: &Path, other: &Path) -> bool {
    FileIdentity::of(one).is_some_and(|place| FileIdentity::of(other) == Some(place))
}

/// What tells a file from others, whatever it is called.
#[derive(PartialEq, Eq)]
enum FileIdentity {
    /// A file that is there.
    #[cfg(unix)]
    Numbered { device: u64, number: u64 },
    /// Its path without links.
    Named(PathBuf),
}

impl FileIdentity {
    /// None if no file can be there.
    fn of(path: &Path) -> Option<FileIdentity> {
        #[cfg(unix)]
        if let Ok(there) = std::fs::metadata(path) {
            use std::os::unix::fs::MetadataExt as _;
            return Some(FileIdentity::Numbered { device: there.dev(), number: there.ino() });
        }
        let end = end_of_links(path).ok()?;
        Some(FileIdentity::Named(folder_of(&end).canonicalize().ok()?.join(end.file_name()?)))
    }
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    // The system's own words would name the temporary file.
    let why = match error.kind() {
        io::ErrorKind::NotFound => "its folder does not exist".to_string(),
        io::ErrorKind::PermissionDenied => "you may not write there".to_string(),
        io::ErrorKind::IsADirectory => "it is a folder".to_string(),
        io::ErrorKind::StorageFull => "there is no room".to_string(),
        io::ErrorKind::Other => error.to_string(),
        kind => kind.to_string(),
    };
    Failure::at(
        Code::File,
        format!("the file cannot be written: {why}"),
        path.display(),
        "nothing was written; name another file",
    )
}
