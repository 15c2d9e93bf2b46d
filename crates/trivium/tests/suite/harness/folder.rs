//! A folder for a test's own files, which has the same name in each run: what is compiled from them is then found again where programs are kept.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// It goes away with its contents.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Is locked as long as the folder is somebody's.
    _lock: Option<File>,
}

impl Folder {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// An empty folder, named by the test that asks and by how many it has asked for before. Where another run of the same tests has that one, some other.
pub fn folder() -> Folder {
    static ASKED: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());
    let test = std::thread::current().name().unwrap_or("nameless").to_string();
    let number = {
        let mut asked = ASKED.lock().unwrap();
        let number = asked.entry(test.clone()).or_default();
        *number += 1;
        *number
    };
    // Short, since there are lines that are cut where they get long.
    let mut hash = DefaultHasher::new();
    (env!("CARGO_MANIFEST_DIR"), env!("CARGO_CRATE_NAME"), test, number).hash(&mut hash);
    known(&format!("{:08x}", hash.finish() as u32))
        .unwrap_or_else(|_| Folder { path: tempfile::tempdir().unwrap().keep(), _lock: None })
}

/// The folder of this name, if nobody else has it.
fn known(name: &str) -> std::io::Result<Folder> {
    let folders = std::env::temp_dir().join("trivium-tests");
    std::fs::create_dir_all(&folders)?;
    let lock = File::create(folders.join(format!("{name}.lock")))?;
    lock.try_lock()?;
    let path = folders.join(name);
    // Of a run that was killed.
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir(&path)?;
    Ok(Folder { path, _lock: Some(lock) })
}
