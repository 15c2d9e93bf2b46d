//! The host's code for a program is kept from one run to the next, and only believed as it was written.

mod world;

use std::fs;
use std::path::{Path, PathBuf};

use trivium_guest::{Build, Outcome, Program, Shelf};

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
            Outcome::Finished { exit_code } => exit_code,
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

    // Nothing is compiled where something is kept: another program in its place would run.
    fs::write(&seven, &code_of_nine).expect("written");
    assert_eq!(place.exit_code(7, Build::Fast), 9);

    let mut damaged = code_of_nine.clone();
    *damaged.last_mut().expect("not empty") ^= 1;
    let short = &code_of_seven[..code_of_seven.len() / 2];
    // As our own files are, but what is in it is no code.
    let other = b"trivium keeps 1 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n";
    for wrong in [&damaged[..], short, other, b"", b"\n"] {
        fs::write(&seven, wrong).expect("written");
        assert_eq!(place.exit_code(7, Build::Fast), 7);
        assert!(read(&seven) == code_of_seven, "it is replaced");
    }
}

#[test]
fn each_build_is_kept_by_itself() {
    let place = Place { folder: tempfile::tempdir().expect("a directory") };
    for (files, build) in [(1, Build::Fast), (2, Build::Reference), (2, Build::Fast), (2, Build::Reference)] {
        assert_eq!(place.exit_code(7, build), 7);
        assert_eq!(place.kept().len(), files);
    }
}
