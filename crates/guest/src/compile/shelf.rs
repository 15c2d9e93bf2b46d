//! Where compiled programs are kept from one run to the next.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::error::Error;

/// The first line of a kept file, before the hash of the rest.
const MARK: &str = "trivium keeps 1 ";

/// A folder in which files are kept whole or not at all. Nothing that is in it is believed unseen: a file that is
/// not as it was written is as good as none.
#[derive(Debug, Clone)]
pub struct Shelf {
    folder: PathBuf,
    library: PathBuf,
    why_not: Option<String>,
    /// A folder that goes away with the shelf.
    _passing: Option<Arc<TempDir>>,
}

impl Shelf {
    /// The user's: `trivium` in `XDG_CACHE_HOME`, else in `.cache` at home. Without such a folder, or where it cannot
    /// be written or belongs to someone else, one that goes away with this shelf.
    ///
    /// # Errors
    /// There is no place for temporary files either.
    pub fn of_user() -> Result<Shelf, Error> {
        let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        match set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache"))) {
            Some(cache) => match usable(&cache.join("trivium")) {
                Ok(folder) => Ok(Shelf::lasting(folder)),
                Err(why) => Shelf::passing(why),
            },
            None => Shelf::passing("neither HOME nor XDG_CACHE_HOME names a folder".to_string()),
        }
    }

    /// This folder, which is made if it is missing, if it can be used; else one that goes away. The compiler's C library,
    /// which takes long to build, is the user's all the same.
    ///
    /// # Errors
    /// There is no place for temporary files either.
    pub fn at(folder: &Path) -> Result<Shelf, Error> {
        let library = Shelf::of_user().ok().filter(|user| user.why_not.is_none()).map(|user| user.library);
        let shelf = usable(folder).map_or_else(Shelf::passing, |folder| Ok(Shelf::lasting(folder)))?;
        Ok(Shelf { library: library.unwrap_or_else(|| shelf.library.clone()), ..shelf })
    }

    fn lasting(folder: PathBuf) -> Shelf {
        Shelf { library: folder.join("zig"), folder, why_not: None, _passing: None }
    }

    fn passing(why: String) -> Result<Shelf, Error> {
        let made = tempfile::Builder::new().prefix("trivium-").tempdir();
        let made = made.map_err(|error| {
            Error::new(format!("there is no place to compile programs in: {error}"))
                .at(std::env::temp_dir().display().to_string())
                .help("name a folder that you may write to in TMPDIR")
        })?;
        let shelf = Shelf::lasting(made.path().to_path_buf());
        Ok(Shelf { why_not: Some(why), _passing: Some(Arc::new(made)), ..shelf })
    }

    /// Where things are kept.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the compiler keeps its C library.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// Why nothing is kept for the next run, if so.
    pub fn why_not(&self) -> Option<&str> {
        self.why_not.as_deref()
    }

    /// A private folder on the shelf, which goes away.
    pub(crate) fn scratch(&self) -> Result<TempDir, Error> {
        tempfile::Builder::new().prefix("work-").tempdir_in(&self.folder).map_err(|error| {
            Error::new(format!("the folder of compiled programs cannot be written: {error}"))
                .at(self.folder.display().to_string())
                .help("is there room? name another folder in XDG_CACHE_HOME")
        })
    }

    /// What was kept under this name, if it is there and as it was written.
    pub(crate) fn take(&self, name: &str) -> Option<Vec<u8>> {
        if self.why_not.is_some() {
            return None;
        }
        let bytes = fs::read(self.folder.join(name)).ok()?;
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
        (head == format!("{MARK}{}", super::sha256(rest)).as_bytes()).then(|| rest.to_vec())
    }

    /// Keeps it under this name. Another process that does so at once writes the same.
    ///
    /// # Errors
    /// It could not be written: nothing is kept.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if self.why_not.is_some() {
            return Ok(());
        }
        let mut file = tempfile::Builder::new().prefix("work-").tempfile_in(&self.folder)?;
        io::Write::write_all(&mut file, format!("{MARK}{}\n", super::sha256(bytes)).as_bytes())?;
        io::Write::write_all(&mut file, bytes)?;
        file.persist(self.folder.join(name)).map(drop).map_err(|error| error.error)
    }
}

/// The folder by its absolute path, made if it was missing; or why not.
fn usable(folder: &Path) -> Result<PathBuf, String> {
    let why = |error: io::Error| format!("{}: {error}", folder.display());
    let folder = std::path::absolute(folder).map_err(why)?;
    if !folder.is_dir() {
        make(&folder).map_err(why)?;
    }
    // Permissions do not tell all: a disk may be read-only.
    let mine = tempfile::tempfile_in(&folder).and_then(|file| file.metadata()).map_err(why)?;
    let about = fs::metadata(&folder).map_err(why)?;
    own(&folder, &about, &mine)?;
    Ok(folder)
}

#[cfg(unix)]
fn make(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// What others may write is not believed: it would be run. `mine` is of a file that this process has made.
#[cfg(unix)]
fn own(folder: &Path, about: &fs::Metadata, mine: &fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    if about.uid() != mine.uid() {
        return Err(format!("{} belongs to another user", folder.display()));
    }
    if about.mode() & 0o002 != 0 {
        return Err(format!("everyone may write to {}", folder.display()));
    }
    Ok(())
}

#[cfg(not(unix))]
fn own(_: &Path, _: &fs::Metadata, _: &fs::Metadata) -> Result<(), String> {
    Ok(())
}
