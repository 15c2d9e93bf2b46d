//! Files of results: written whole or not at all where that is possible, and never in place of what is no ordinary file.

use crate::Failure;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that is being written.
pub struct OutFile {
    /// As the user named it.
    path: PathBuf,
    to: To,
}

/// Where the bytes go.
enum To {
    /// Beside the file, in whose place they are put when all are there: what links lead to.
    Beside(NamedTempFile, PathBuf),
    /// Straight into a device, a pipe, or what else is no ordinary file.
    Straight(File),
}

impl OutFile {
    /// Begins to write a file. Links are followed; a file that is there stays until [`OutFile::finish`], and then keeps its mode.
    ///
    /// # Errors
    /// The folder is not there, or one may not write there.
    pub fn open(path: &Path) -> Result<OutFile, Failure> {
        let to = To::open(path).map_err(|error| not_written(path, &error))?;
        Ok(OutFile { path: path.to_path_buf(), to })
    }

    /// The file is whole: it is put in its place.
    ///
    /// # Errors
    /// It could not be written, or cannot be put there.
    pub fn finish(self, written: io::Result<()>) -> Result<(), Failure> {
        let placed = written.and_then(|()| match self.to {
            To::Beside(file, place) => file.persist(place).map(|_| ()).map_err(|error| error.error),
            To::Straight(mut file) => file.flush(),
        });
        placed.map_err(|error| not_written(&self.path, &error))
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Beside(file, _) => file.write(bytes),
            To::Straight(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Beside(file, _) => file.flush(),
            To::Straight(file) => file.flush(),
        }
    }
}

impl To {
    fn open(path: &Path) -> io::Result<To> {
        match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => Ok(To::Straight(OpenOptions::new().write(true).open(path)?)),
            Ok(there) => {
                // One may not replace what one may not write, even where the folder would allow it.
                OpenOptions::new().write(true).open(path)?;
                To::beside(path.canonicalize()?, Some(&there))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => To::beside(end_of_links(path)?, None),
            Err(error) => Err(error),
        }
    }

    fn beside(place: PathBuf, there: Option<&Metadata>) -> io::Result<To> {
        let folder = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".trivium-");
        // A new file is like any other: what the user's umask leaves.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder)?;
        if let Some(there) = there {
            file.as_file().set_permissions(there.permissions())?;
        }
        Ok(To::Beside(file, place))
    }
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

/// Looks whether files can be written, before much time is spent on what shall stand in them. Nothing is changed.
///
/// # Errors
/// One of them cannot.
pub fn can_be_written<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), Failure> {
    for path in paths {
        let is_special = std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
        // A pipe would wait for its reader.
        if !is_special {
            OutFile::open(path)?;
        }
    }
    Ok(())
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
    Failure::at(format!("the file cannot be written: {why}"), path.display(), "nothing was written; name another file")
}
