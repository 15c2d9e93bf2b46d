//! The host's code for a program is kept from one run to the next, and only believed as it was written.

use crate::world;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};
use trivium_guest::{Build, NodeOutcome, Program, Shelf};

/// A shelf, and what a program gives that is kept on it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// How a program ends that ends with this exit code.
    fn exit_code(&self, code: i32, build: Build) -> i32 {
        let shelf = Shelf::at(self.folder.path()).expect("a shelf");
        let text = format!(
            "(module (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))
                (memory (export \"memory\") 1)
                (func (export \"_start\") (call $exit (i32.const {code}))))"
        );
        let program = Program::load(&wat::parse_str(text).expect("the test's own text"), "text").expect("a program");
        match world::run_alone(&program.kept_on(shelf), build, 0, 0).0 {
            NodeOutcome::Finished { exit_code } => exit_code,
            other => panic!("{other:?}"),
        }
    }

    fn kept(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path()).expect("the shelf");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("listed").path()).collect();
        files.sort();
        files
    }

    /// The file that is there besides these.
    fn besides(&self, before: &[PathBuf]) -> PathBuf {
        let new: Vec<PathBuf> = self.kept().into_iter().filter(|file| !before.contains(file)).collect();
        assert_eq!(new.len(), 1, "{new:?}");
        new[0].clone()
    }
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("kept")
}

#[test]
fn what_is_kept_is_what_runs_as_long_as_it_is_as_it_was_written() {
    let place = Place { folder: tempfile::tempdir().expect("a directory") };
    assert_eq!(place.exit_code(7, Build::Fast), 7);
    let seven = place.besides(&[]);
    let before = place.kept();
    assert_eq!(place.exit_code(9, Build::Fast), 9);
    let nine = place.besides(&before);
    let (code_of_seven, code_of_nine) = (read(&seven), read(&nine));

    // Nothing is compiled where something is kept: that would make a new file.
    let file = || fs::metadata(&seven).expect("kept").ino();
    let kept = file();
    assert_eq!(place.exit_code(7, Build::Fast), 7);
    assert_eq!(file(), kept, "it is taken");

    let mut damaged = code_of_nine.clone();
    *damaged.last_mut().expect("not empty") ^= 1;
    let short = &code_of_seven[..code_of_seven.len() / 2];
    // As our own files are, but what is in it is no code.
    let name = seven.file_stem().expect("a name").to_string_lossy();
    let hash: String = Sha256::digest(format!("{name}\n")).iter().map(|byte| format!("{byte:02x}")).collect();
    let other = format!("trivium keeps 2 {hash}\n");
    // Whole, but kept under another name: another program would run.
    for wrong in [&code_of_nine[..], &damaged, short, other.as_bytes(), b"", b"\n"] {
        fs::write(&seven, wrong).expect("written");
        assert_eq!(place.exit_code(7, Build::Fast), 7);
        assert!(read(&seven) == code_of_seven, "it is replaced");
    }
}

/// What would never end when it is read is no kept file.
#[test]
fn what_is_no_file_is_not_read() {
    let place = Place { folder: tempfile::tempdir().expect("a directory") };
    assert_eq!(place.exit_code(7, Build::Fast), 7);
    let seven = place.besides(&[]);
    fs::remove_file(&seven).expect("removed");
    assert!(Command::new("mkfifo").arg(&seven).status().expect("mkfifo").success());
    assert_eq!(place.exit_code(7, Build::Fast), 7);
    assert!(fs::metadata(&seven).expect("kept").is_file(), "it is replaced");
    fs::remove_file(&seven).expect("removed");
    std::os::unix::fs::symlink("/dev/zero", &seven).expect("linked");
    assert_eq!(place.exit_code(7, Build::Fast), 7);
}

#[test]
fn each_build_is_kept_by_itself() {
    let place = Place { folder: tempfile::tempdir().expect("a directory") };
    for (files, build) in [(1, Build::Fast), (2, Build::Reference), (2, Build::Fast), (2, Build::Reference)] {
        assert_eq!(place.exit_code(7, build), 7);
        assert_eq!(place.kept().len(), files);
    }
}
