//! Runs the program as its users do, from the repository's root.
#![allow(dead_code)]

mod folder;
pub mod labels;
pub mod live;
pub mod ranks;
pub mod shown;

pub use folder::{Folder, folder};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a run ended and what it said.
#[derive(Clone, Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The program, ready to be started.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trivium"));
    command.args(args).current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub fn trivium(args: &[&str]) -> Run {
    ended(command(args))
}

/// The same, where it may start ranks.
pub fn trivium_with_ranks(args: &[&str]) -> Run {
    let mut command = command(args);
    command.envs(ranks::ANYWHERE);
    ended(command)
}

fn ended(mut command: Command) -> Run {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

impl Run {
    /// The result, of a run that must have ended with this code.
    pub fn json(&self, code: i32) -> serde_json::Value {
        assert_eq!(self.code, Some(code), "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Ended with this code, told all of this on standard error, and nothing on standard output, unless results were asked for as JSON:
    /// there it is too.
    #[track_caller]
    pub fn refuses(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.err.contains("error: ") && !self.err.contains("panicked"), "{self:?}");
        if !self.out.is_empty() {
            let told = self.json(code);
            assert_eq!(told["exit_code"], code, "{self:?}");
            for diagnostic in told["diagnostics"].as_array().unwrap() {
                let message = diagnostic["message"].as_str().unwrap();
                assert!(self.err.contains(&format!("error: {message}\n")), "{self:?}");
            }
        }
        for word in words {
            assert!(self.err.contains(word), "`{word}` is missing in:\n{}", self.err);
        }
    }
}

/// The path of a new file in a folder, with this text.
pub fn in_file(folder: &Folder, name: &str, text: &str) -> String {
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_string()
}

/// The path of a file with this name and text, the same for the same text: so a program is compiled once for all that runs it.
pub fn lasting(name: &str, text: &str) -> PathBuf {
    let mut hash = DefaultHasher::new();
    text.hash(&mut hash);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("texts").join(format!("{:016x}", hash.finish()));
    let file = folder.join(name);
    if std::fs::read_to_string(&file).is_ok_and(|written| written == text) {
        return file;
    }
    std::fs::create_dir_all(&folder).unwrap();
    // Another test may write the same at this moment, or read it.
    let new = tempfile::NamedTempFile::new_in(&folder).unwrap();
    std::fs::write(new.path(), text).unwrap();
    new.persist(&file).unwrap();
    file
}

/// The keys of an object, in order.
pub fn keys(value: &serde_json::Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}")).keys().map(String::as_str).collect()
}

/// A browser, if one is installed.
pub fn chromium() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    folders.push("/usr/bin".into());
    let names = ["chromium", "chromium-browser", "google-chrome"];
    folders.iter().flat_map(|folder| names.map(|name| folder.join(name))).find(|path| path.is_file())
}
