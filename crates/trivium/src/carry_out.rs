//! Carries out on the host what a program has changed of its folder: files are written beside their places first, so that a
//! full disk is found before anything has changed, and then put there.

use crate::Failure;
use crate::out_file::{Staged, are_same};
use std::io;
use std::path::{Path, PathBuf};
use trivium_diagnostic::Code;
use trivium_guest::FileChange;
use trivium_sim::Changed;

/// One thing to do; they are done in this order.
enum FileStep {
    /// Something that is in the way of what is to be there.
    Clear(PathBuf),
    Make(PathBuf),
    Put(Staged),
    Remove(PathBuf),
}

impl FileStep {
    fn carry_out(self) -> io::Result<()> {
        match self {
            FileStep::Clear(path) | FileStep::Remove(path) => match std::fs::symlink_metadata(&path) {
                Ok(there) if there.is_dir() => std::fs::remove_dir(&path),
                Ok(_) => std::fs::remove_file(&path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
            },
            FileStep::Make(path) => std::fs::create_dir(path),
            FileStep::Put(staged) => staged.put(),
        }
    }
}

/// Carries out changes of the folder, which lies at `real` without links, and tells of each whether it was. None of them may be in the place of
/// one of the command's `results`.
///
/// # Errors
/// What could not be done, and what was done by then.
pub fn carry_out(real: &Path, changes: &mut [Changed], results: &[&PathBuf]) -> Result<(), Failure> {
    for changed in changes.iter() {
        let place = real.join(&changed.path);
        if results.iter().any(|result| are_same(result, &place)) {
            let what = "the program has changed a file in the place of which a result of the command is written";
            return Err(Failure::at(
                Code::File,
                what,
                place.display(),
                "nothing was changed in the folder; name another file for the result",
            ));
        }
    }
    let steps = steps(real, changes).map_err(|(path, error)| {
        let what = format!("what the program wrote cannot be kept: {}", why(&error));
        Failure::at(Code::File, what, real.join(path).display(), "nothing was changed in the folder")
    })?;
    for (number, step) in steps {
        if let Err(error) = step.carry_out() {
            let names = |done: bool| {
                let names: Vec<&str> =
                    changes.iter().filter(|one| one.carried_out == done).map(|one| one.path.as_str()).collect();
                if names.is_empty() { "nothing".to_string() } else { names.join(", ") }
            };
            let what = format!("what the program changed could be carried out only in part: {}", why(&error));
            let help = format!("done: {}; not done: {}", names(true), names(false));
            return Err(Failure::at(Code::File, what, real.join(&changes[number].path).display(), help));
        }
        changes[number].carried_out = true;
    }
    Ok(())
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "there is no room".into(),
        io::ErrorKind::PermissionDenied => "you may not write there".into(),
        _ => error.to_string(),
    }
}

/// What is to be done, with the number of the change that it is for. Contents are written meanwhile, beside.
fn steps(real: &Path, changes: &[Changed]) -> Result<Vec<(usize, FileStep)>, (String, io::Error)> {
    let (mut clear, mut make, mut put, mut remove) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let cleared: Vec<&str> =
        changes.iter().filter(|one| is_in_the_way(real, one)).map(|one| one.path.as_str()).collect();
    for (number, changed) in changes.iter().enumerate() {
        let place = real.join(&changed.path);
        match &changed.what {
            FileChange::Written(bytes) => {
                let staged = stage(real, &place, bytes).map_err(|error| (changed.path.clone(), error))?;
                put.push((number, FileStep::Put(staged)));
            }
            FileChange::Folder => make.push((number, FileStep::Make(place.clone()))),
            FileChange::Removed => {
                let is_cleared = cleared.iter().any(|above| changed.path.starts_with(&format!("{above}/")));
                match is_cleared {
                    true => clear.push((number, FileStep::Clear(place.clone()))),
                    false => remove.push((number, FileStep::Remove(place.clone()))),
                }
            }
        }
        if cleared.contains(&changed.path.as_str()) {
            clear.push((number, FileStep::Clear(place)));
        }
    }
    // What is in a folder goes before the folder: changes are in the order of their paths.
    clear.reverse();
    remove.reverse();
    Ok(clear.into_iter().chain(make).chain(put).chain(remove).collect())
}

/// Whether something of another kind lies where something is to be.
fn is_in_the_way(real: &Path, changed: &Changed) -> bool {
    let Ok(there) = std::fs::symlink_metadata(real.join(&changed.path)) else { return false };
    match changed.what {
        FileChange::Written(_) => there.is_dir(),
        FileChange::Folder => true,
        FileChange::Removed => false,
    }
}

/// Writes a file's contents beside its place, or beside the first folder on the way there that is yet to be made.
fn stage(real: &Path, place: &Path, bytes: &[u8]) -> io::Result<Staged> {
    let is_folder = |path: &&Path| std::fs::symlink_metadata(path).is_ok_and(|there| there.is_dir());
    let folder = place.ancestors().skip(1).take_while(|above| above.starts_with(real)).find(is_folder);
    let folder = folder.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    // It did not when the program looked.
    if !folder.canonicalize()?.starts_with(real) {
        return Err(io::Error::other("the path leads out of the folder now"));
    }
    Staged::write(place, folder, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn changed(path: &str, what: FileChange) -> Changed {
        Changed { path: path.into(), change: "", bytes: None, sha256: None, nodes: vec![0], carried_out: false, what }
    }

    /// A folder that is to be removed, into which somebody else has put a file since.
    #[test]
    fn what_is_carried_out_only_in_part_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("old")).unwrap();
        std::fs::write(real.join("old/new"), "").unwrap();
        let mut changes = [
            changed("a", FileChange::Written(Arc::new(b"x".to_vec()))),
            changed("old", FileChange::Removed),
            changed("zzz", FileChange::Removed),
        ];
        let told = carry_out(&real, &mut changes, &[]).unwrap_err().to_string();
        for word in ["only in part", "old\n", "done: a, zzz; not done: old"] {
            assert!(told.contains(word), "`{word}` is missing in {told}");
        }
        assert_eq!(changes.map(|one| one.carried_out), [true, false, true]);
        assert_eq!(std::fs::read_to_string(real.join("a")).unwrap(), "x");
    }

    /// A file in place of a folder, and a folder in place of a file.
    #[test]
    fn what_is_in_the_way_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("one/deep")).unwrap();
        std::fs::write(real.join("one/deep/file"), "").unwrap();
        std::fs::write(real.join("two"), "").unwrap();
        let text = || FileChange::Written(Arc::new(b"x".to_vec()));
        let mut changes = [
            changed("one", text()),
            changed("one/deep", FileChange::Removed),
            changed("one/deep/file", FileChange::Removed),
            changed("two", FileChange::Folder),
            changed("two/file", text()),
        ];
        carry_out(&real, &mut changes, &[]).unwrap();
        assert!(changes.iter().all(|one| one.carried_out));
        let read = |name: &str| std::fs::read_to_string(real.join(name)).unwrap();
        assert_eq!((read("one"), read("two/file")), ("x".into(), "x".into()));
        // A result would be written in the place of one of them.
        let result = real.join("one");
        let told = carry_out(&real, &mut changes, &[&result]).unwrap_err().to_string();
        assert!(told.contains("in the place of which"), "{told}");
    }
}
