//! Reads the files that a user names: regular files of a bounded size, whole, at once.
//!
//! A pipe would be waited for, and a device such as `/dev/zero` never ends; neither is what somebody means who names a
//! protocol. It must never know what is in a file.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Most bytes of a file that people write: a protocol, a machine, a study.
pub const WRITTEN: u64 = 16 << 20;

/// Most bytes of a file that programs make: a WebAssembly module, a recording.
pub const MADE: u64 = 1 << 30;

/// With this begins why a file was not read that is there but is no text.
pub const NOT_TEXT: &str = "it is not text";

/// What to do about such a file.
pub const SAVE_AS_TEXT: &str = "save it as text in UTF-8, or give another file";

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What it is, in words that go on after "it cannot be read: ".
    pub why: String,
    /// Whether there is no such file at all.
    pub missing: bool,
    /// The line, from 1, in which a text stops being one.
    pub line: Option<usize>,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Unread {
        let why = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "there is no such file".to_string(),
            io::ErrorKind::IsADirectory => "this is a folder".to_string(),
            io::ErrorKind::PermissionDenied => "you may not read it".to_string(),
            _ => error.to_string(),
        };
        Unread { why, missing: error.kind() == io::ErrorKind::NotFound, line: None }
    }
}

fn unread(why: impl Into<String>) -> Unread {
    Unread { why: why.into(), missing: false, line: None }
}

/// Opens a regular file, by its path or by a link to it. It does not wait for anybody, as opening a pipe would.
///
/// # Errors
/// There is none, or it is something else.
pub fn open(path: &Path) -> Result<File, Unread> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK);
    }
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(unread("this is a folder"));
    }
    if !kind.is_file() {
        return Err(unread("this is a pipe or a device; only regular files are read"));
    }
    Ok(file)
}

/// A regular file of at most so many bytes, whole.
///
/// # Errors
/// There is none, it is something else, or it is larger.
pub fn read(path: &Path, at_most: u64) -> Result<Vec<u8>, Unread> {
    let file = open(path)?;
    let too_large = || unread(format!("it is larger than {} MB, the most that is read", at_most >> 20));
    if file.metadata()?.len() > at_most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile; and files of /proc have no length.
    file.take(at_most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > at_most {
        return Err(too_large());
    }
    Ok(bytes)
}

/// A file of text that people write, of at most [`WRITTEN`] bytes.
///
/// # Errors
/// As [`read`]; also that it is no text: not UTF-8, or with a zero byte in it.
pub fn read_text(path: &Path) -> Result<String, Unread> {
    text(read(path, WRITTEN)?)
}

/// The text that these bytes are. A byte order mark at the beginning, which some editors write, is not part of it.
///
/// # Errors
/// They are not UTF-8, or there is a zero byte among them.
pub fn text(bytes: Vec<u8>) -> Result<String, Unread> {
    let line = |before: &[u8]| Some(before.iter().filter(|&&byte| byte == b'\n').count() + 1);
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return Err(Unread { line: line(&bytes[..at]), ..unread(format!("{NOT_TEXT}: it has a zero byte")) });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        Unread { line: line(before), ..unread(format!("{NOT_TEXT} in UTF-8")) }
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_string(),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let why = |path: &Path| read(path, 5).unwrap_err().why;
        assert_eq!(why(folder.path()), "this is a folder");
        assert_eq!(why(Path::new("/dev/zero")), "this is a pipe or a device; only regular files are read");
        assert!(read(&folder.path().join("none"), 5).unwrap_err().missing);
        let path = folder.path().join("a");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        std::fs::write(&path, "123456").unwrap();
        assert_eq!(why(&path), "it is larger than 0 MB, the most that is read");
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(why(&pipe).starts_with("this is a pipe"));
    }

    #[test]
    fn text_has_no_zero_bytes_and_no_mark() {
        assert_eq!(text(b"\xef\xbb\xbfa\n".to_vec()).unwrap(), "a\n");
        let wrong = text(b"a\nb\0".to_vec()).unwrap_err();
        assert_eq!((wrong.why.as_str(), wrong.line), ("it is not text: it has a zero byte", Some(2)));
        assert_eq!(text(b"\n\n\xff".to_vec()).unwrap_err().line, Some(3));
    }
}
