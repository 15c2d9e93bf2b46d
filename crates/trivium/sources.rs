//! A fingerprint of sources, for the build script: what is kept of one simulator is not taken for another's.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// A number made of the names and contents of these files, and of all files in these folders.
///
/// # Errors
/// One of them cannot be read.
pub fn fingerprint(root: &Path, parts: &[&str]) -> io::Result<u64> {
    let mut files = Vec::new();
    for part in parts {
        collect(&root.join(part), &mut files)?;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in &files {
        // Not the root: the same sources elsewhere are the same simulator.
        file.strip_prefix(root).unwrap_or(file).hash(&mut hasher);
        std::fs::read(file)?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}
