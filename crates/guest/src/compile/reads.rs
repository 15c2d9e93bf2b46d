//! What a compilation has read, so that it can be told later whether it would read the same again.
//!
//! The compiler names the files that it read. It does not name those for which it looked in vain: a header that
//! appears in a folder which is searched earlier shadows the one that was read. So the places are noted at which a file
//! would have been found before, or could be.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::shelf::sha256;

/// What was read, and where nothing was.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reads {
    /// Files with the SHA-256 of what was in them.
    files: Vec<(PathBuf, String)>,
    /// Paths at which there was no file.
    absent: Vec<PathBuf>,
}

impl Reads {
    /// Of a compilation that began then. `files` are those that it says it read; `folders` those that it searches,
    /// beside the folders of the files; `library` is the compiler's own folder, which is known by the compiler.
    ///
    /// None: it cannot be told what the result depends on (a file changed meanwhile, or is read in a way that the
    /// compiler does not tell).
    pub(super) fn note(files: &[PathBuf], folders: &[PathBuf], library: &Path, begun: SystemTime) -> Option<Reads> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut searched: BTreeSet<PathBuf> = folders.iter().cloned().collect();
        let mut reads = Reads::default();
        for file in files.iter().collect::<BTreeSet<_>>() {
            if let Ok(within) = file.strip_prefix(library) {
                names.extend(endings(within.to_str()?));
                continue;
            }
            let about = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
            if changed(&about)? >= begun {
                return None;
            }
            let bytes = fs::read(file).ok()?;
            names.extend(endings(file.to_str()?));
            names.extend(named_in(&bytes)?);
            searched.insert(file.parent()?.to_path_buf());
            reads.files.push((file.clone(), sha256(&bytes)));
        }
        for folder in searched {
            let places = names.iter().map(|name| folder.join(name));
            reads.absent.extend(places.filter(|place| !place.is_file() && place.to_str().is_some()));
        }
        Some(reads)
    }

    /// Whether all is as it was.
    pub(super) fn hold(&self) -> bool {
        let same = |(file, hash): &(PathBuf, String)| fs::read(file).is_ok_and(|bytes| sha256(&bytes) == *hash);
        self.files.iter().all(same) && !self.absent.iter().any(|place| place.is_file())
    }
}

/// When the file was last changed in any way. Of this time, unlike that of the last writing, programs cannot say what
/// they like.
fn changed(about: &fs::Metadata) -> Option<SystemTime> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let seconds = std::time::Duration::from_secs(u64::try_from(about.ctime()).ok()?);
        let rest = std::time::Duration::from_nanos(u64::try_from(about.ctime_nsec()).ok()?);
        Some(SystemTime::UNIX_EPOCH + seconds + rest)
    }
    #[cfg(not(unix))]
    about.modified().ok()
}

/// All names by which an `#include` may have meant this path: a folder that is searched and what was written are put
/// together with a slash.
fn endings(path: &str) -> impl Iterator<Item = String> {
    let starts = path.match_indices('/').map(|(at, _)| at + 1).collect::<Vec<_>>();
    std::iter::once(0)
        .chain(starts)
        .map(|at| path[at..].trim_start_matches('/').to_string())
        .collect::<Vec<_>>()
        .into_iter()
}

/// The names in quotes or angle brackets after `include`, `embed` and the like (`__has_include` asks for files that may
/// be missing). None: the text reads files in another way, or asks for them under names that are not there to see.
fn named_in(text: &[u8]) -> Option<Vec<String>> {
    let text = String::from_utf8_lossy(text);
    if text.contains(".incbin") {
        return None;
    }
    let mut names = Vec::new();
    for line in text.lines() {
        for word in ["include", "embed", "import"] {
            for (at, _) in line.match_indices(word) {
                let asks = line[..at].ends_with("__has_");
                let after = line[at + word.len()..].trim_start_matches("_next").trim_start();
                let after = after.strip_prefix('(').unwrap_or(after).trim_start();
                let close = match after.chars().next() {
                    Some('"') => '"',
                    Some('<') => '>',
                    // `defined(__has_include)` asks for nothing.
                    Some(first) if asks && (first.is_alphabetic() || first == '_') => return None,
                    _ => continue,
                };
                names.extend(after[1..].split_once(close).map(|(name, _)| name.trim_start_matches('/').to_string()));
            }
        }
    }
    Some(names)
}

/// The files that a rule for `make` names after its colon.
pub(super) fn of_rule(rule: &str) -> Vec<PathBuf> {
    let Some((_, sources)) = rule.split_once(": ") else {
        return Vec::new();
    };
    let mut files = Vec::new();
    let mut file = String::new();
    let mut letters = sources.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('\n')) | ('\\', Some('\r')) => {}
            ('\\', Some(' ' | '#' | '\\')) => file.extend(letters.next()),
            ('$', Some('$')) => file.extend(letters.next()),
            (letter, _) if letter.is_whitespace() => {
                if !file.is_empty() {
                    files.push(PathBuf::from(std::mem::take(&mut file)));
                }
                if letter == '\n' && !files.is_empty() && letters.peek().is_some_and(|next| !next.is_whitespace()) {
                    // Rules of `-MP` follow.
                    break;
                }
            }
            (letter, _) => file.push(letter),
        }
    }
    if !file.is_empty() {
        files.push(PathBuf::from(file));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_names_its_files() {
        let rule = "x: a\\ b.c \\\n  c$$d.h \\\n  /e/f\\#.h\n";
        assert_eq!(of_rule(rule), ["a b.c", "c$d.h", "/e/f#.h"].map(PathBuf::from));
        assert_eq!(of_rule("x: a.c b.h\n\nb.h:\n"), ["a.c", "b.h"].map(PathBuf::from));
        assert!(of_rule("").is_empty());
    }

    #[test]
    fn what_is_named_is_seen() {
        let text = b"#include \"a.h\"\n# include <b/c.h>\n#embed \"d\"\n#if __has_include(<e.h>)\n#include MACRO\n";
        assert_eq!(named_in(text).unwrap(), ["a.h", "b/c.h", "d", "e.h"]);
        assert_eq!(named_in(b"#if defined(__has_include) && 1\n").unwrap(), Vec::<String>::new());
        assert_eq!(named_in(b"#if __has_include(NAME)\n"), None);
        assert_eq!(named_in(b"__asm__(\".incbin \\\"x\\\"\");"), None);
        assert_eq!(endings("/a/b.h").collect::<Vec<_>>(), ["a/b.h", "a/b.h", "b.h"]);
    }
}
