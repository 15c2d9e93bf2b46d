//! Where compiled programs are kept from one run to the next.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use trivium_diagnostic::{Code, Diagnostic};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// The first line of a kept file, before the hash of its name and of the rest.
const MARK: &str = "trivium keeps 2 ";
/// With this begin the names of what is being made.
const WORK: &str = "work-";
/// How the names of kept files end.
const KEPT: &str = ".kept";
/// The most bytes of kept files. When there are more, those that were not used for longest go, down to three quarters.
const MOST_KEPT: u64 = 2 << 30;

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
    pub fn of_user() -> Result<Shelf, Diagnostic> {
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
    pub fn at(folder: &Path) -> Result<Shelf, Diagnostic> {
        let library = Shelf::of_user().ok().filter(|user| user.why_not.is_none()).map(|user| user.library);
        let shelf = usable(folder).map_or_else(Shelf::passing, |folder| Ok(Shelf::lasting(folder)))?;
        Ok(Shelf { library: library.unwrap_or_else(|| shelf.library.clone()), ..shelf })
    }

    fn lasting(folder: PathBuf) -> Shelf {
        Shelf { library: folder.join("zig"), folder, why_not: None, _passing: None }
    }

    fn passing(why: String) -> Result<Shelf, Diagnostic> {
        let made = tempfile::Builder::new().prefix("trivium-").tempdir();
        let made = made.map_err(|error| {
            Diagnostic::new(Code::File, format!("there is no place to compile programs in: {error}"))
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
    pub(crate) fn scratch(&self) -> Result<TempDir, Diagnostic> {
        tempfile::Builder::new().prefix(WORK).tempdir_in(&self.folder).map_err(|error| {
            Diagnostic::new(Code::File, format!("the folder of compiled programs cannot be written: {error}"))
                .at(self.folder.display().to_string())
                .help("is there room? name another folder in XDG_CACHE_HOME")
        })
    }

    /// What was kept under this name, if it is there and as it was written.
    pub(crate) fn take(&self, name: &str) -> Option<Vec<u8>> {
        if self.why_not.is_some() {
            return None;
        }
        let path = self.file(name);
        // Reading a pipe or a device might never end.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut file = fs::File::open(path).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
        if head != first_line(name, rest).as_bytes() {
            return None;
        }
        // It was used today: a file system that does not note it only lets it go earlier.
        let _ = file.set_modified(SystemTime::now());
        bytes.drain(..=end);
        Some(bytes)
    }

    /// Keeps it under this name. Another process that does so at once writes the same.
    ///
    /// # Errors
    /// It could not be written: nothing is kept.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if self.why_not.is_some() {
            return Ok(());
        }
        let mut file = tempfile::Builder::new().prefix(WORK).tempfile_in(&self.folder)?;
        io::Write::write_all(&mut file, format!("{}\n", first_line(name, bytes)).as_bytes())?;
        io::Write::write_all(&mut file, bytes)?;
        file.persist(self.file(name)).map_err(|error| error.error)?;
        self.make_room(MOST_KEPT)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{KEPT}"))
    }

    /// Removes what was not used for longest, if more than so many bytes are kept.
    fn make_room(&self, most: u64) -> io::Result<()> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another process may have removed it.
            let Ok(about) = entry.metadata() else { continue };
            if entry.file_name().to_string_lossy().starts_with(WORK) && is_left_over(&about) {
                // Its process was killed. Whoever else removes it too does no harm.
                let _ = if about.is_dir() { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
                continue;
            }
            if about.is_file() && entry.file_name().to_string_lossy().ends_with(KEPT) {
                kept.push((about.modified()?, entry.path(), about.len()));
            }
        }
        let mut total: u64 = kept.iter().map(|(_, _, bytes)| bytes).sum();
        if total <= most {
            return Ok(());
        }
        kept.sort();
        for (_, path, bytes) in kept {
            if total <= most / 4 * 3 {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= bytes;
            }
        }
        Ok(())
    }
}

/// Whether nobody works there any more: no compilation takes so long.
fn is_left_over(about: &fs::Metadata) -> bool {
    let since = about.modified().ok().and_then(|then| then.elapsed().ok());
    since.is_some_and(|since| since > std::time::Duration::from_secs(6 * 3600))
}

/// The first line of what is kept under a name. The name is in it: what was kept under another one is another program.
fn first_line(name: &str, bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{name}\n"));
    hash.update(bytes);
    format!("{MARK}{}", hexadecimal(&hash.finalize()))
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
    if about.mode() & 0o022 != 0 {
        return Err(format!("others may write to {}", folder.display()));
    }
    Ok(())
}

#[cfg(not(unix))]
fn own(_: &Path, _: &fs::Metadata, _: &fs::Metadata) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_a_killed_process_has_left_goes() {
        let folder = tempfile::tempdir().expect("a directory");
        let shelf = Shelf::lasting(folder.path().to_path_buf());
        let [old, new] = ["work-old", "work-new"].map(|name| folder.path().join(name));
        for work in [&old, &new] {
            fs::create_dir(work).unwrap();
            fs::write(work.join("main.o"), "x").unwrap();
        }
        let yesterday = SystemTime::now() - Duration::from_secs(24 * 3600);
        fs::File::open(&old).unwrap().set_modified(yesterday).unwrap();
        shelf.put("anything", b"y").unwrap();
        assert_eq!((old.exists(), new.exists()), (false, true));
    }

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let folder = tempfile::tempdir().expect("a directory");
        let shelf = Shelf::lasting(folder.path().to_path_buf());
        let names = ["first", "second", "third", "fourth"];
        for (age, name) in names.iter().rev().enumerate() {
            shelf.put(name, &[7; 1000]).expect("kept");
            let then = SystemTime::now() - Duration::from_secs(1000 * (age as u64 + 1));
            fs::File::open(shelf.file(name)).and_then(|file| file.set_modified(then)).expect("set");
        }
        fs::write(folder.path().join("not ours"), [0; 9000]).expect("written");
        let there = || names.map(|name| shelf.file(name).exists());
        shelf.make_room(5000).expect("room");
        assert_eq!(there(), [true; 4], "there is room");
        shelf.take("first").expect("kept");
        shelf.make_room(3000).expect("room");
        assert_eq!(there(), [true, false, false, true], "the first was used last");
        assert!(folder.path().join("not ours").exists());
    }
}
