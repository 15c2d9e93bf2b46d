//! Wrong programs in Split-C: `bad/split-c/*.sc`. Each says at its end what is told of it, and all of them end.
//!
//! A line `//$ sim ..` is a command, in which `FILE` is the program itself; the lines `//! ..` below it are what stands on standard error, and `//= N` is the
//! exit code. `UPDATE=1 cargo test -p trivium --test suite split_c_wrong::` writes what is found; look at the difference before you commit it.

use crate::harness::{self, command};
use crate::slow;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use trivium_guest::Shelf;

/// Longer than any of them takes, the C library's first build included.
const LIMIT: Duration = Duration::from_secs(240);

/// The least number of programs: fewer, and some have been lost.
const LEAST: usize = 70;

/// What a command says of a program, as it stands in the program's file. A program that is kept in the cache would be silent about its warnings.
fn told(file: &str, words: &str, cache: &Path) -> String {
    let arguments: Vec<&str> = words.split_whitespace().map(|word| if word == "FILE" { file } else { word }).collect();
    let mut child =
        command(&arguments).env("XDG_CACHE_HOME", cache).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut said = String::new();
        pipe.read_to_string(&mut said).unwrap();
        said
    });
    let begun = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code().expect("the program ends by itself");
        }
        if begun.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{file}: `{words}` hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let said = reader.join().unwrap();
    assert!(!said.contains("panicked"), "{said}");
    assert!(code != 0, "{file}: `{words}` finds nothing wrong");
    let place = format!("{file}:");
    let line = said.split(&place).nth(1).and_then(|rest| rest.chars().next());
    let named = said.contains(&format!(" {file}\n"));
    assert!(line.is_some_and(|digit| digit.is_ascii_digit()) || named, "{file}: no line is told:\n{said}");
    let mut text = format!("//$ {words}\n");
    let mut is_library = false;
    for line in said.lines() {
        is_library = line.starts_with("split-c.h:") || is_library && line.contains(" | ");
        let line = without_cycle(&line.replace(file, "FILE"));
        let line = if is_library { without_line(&line) } else { line };
        writeln!(text, "{}", format!("//! {line}").trim_end()).unwrap();
    }
    writeln!(text, "//= {code}").unwrap();
    text
}

/// Without the cycle, which changes with the library.
fn without_cycle(line: &str) -> String {
    let Some((before, rest)) = line.split_once(" cycle ") else { return line.to_string() };
    format!("{before} cycle _{}", rest.trim_start_matches(|digit: char| digit.is_ascii_digit()))
}

/// Without the number of a line of the library.
fn without_line(line: &str) -> String {
    let Some(first) = line.find(|digit: char| digit.is_ascii_digit()) else { return line.to_string() };
    format!("{}_{}", &line[..first], line[first..].trim_start_matches(|digit: char| digit.is_ascii_digit()))
}

/// A program with what is told of it now.
fn rerun(path: &Path, text: &str, cache: &Path) -> String {
    let file = format!("crates/trivium/tests/bad/split-c/{}", path.file_name().unwrap().to_str().unwrap());
    let program = text.lines().take_while(|line| !line.starts_with("//$ "));
    let mut found: String = program.map(|line| format!("{line}\n")).collect();
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//$ ")).collect();
    assert!(!commands.is_empty(), "{file}: there is no command");
    found.extend(commands.iter().map(|words| told(&file, words, cache)));
    found
}

/// A folder without programs. The compiler's C library, which takes long to build, is the user's.
fn fresh_cache() -> crate::harness::Folder {
    let cache = crate::harness::folder();
    std::fs::create_dir(cache.path().join("trivium")).unwrap();
    let users = Shelf::of_user().unwrap();
    std::fs::create_dir_all(users.library()).unwrap();
    std::os::unix::fs::symlink(users.library(), cache.path().join("trivium/zig")).unwrap();
    cache
}

#[test]
fn each_is_told_with_its_place() {
    let folder = harness::root().join("crates/trivium/tests/bad/split-c");
    let cache = fresh_cache();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "sc"));
    paths.sort();
    assert!(paths.len() >= LEAST, "{} programs", paths.len());
    if std::env::var_os("UPDATE").is_none() {
        paths = paths.into_iter().step_by(slow::all_or(1, 8)).collect();
    }
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let written = std::fs::read_to_string(path).unwrap();
                    let found = rerun(path, &written, cache.path());
                    if std::env::var_os("UPDATE").is_some() {
                        std::fs::write(path, found).unwrap();
                    } else if found != written {
                        let name = path.file_name().unwrap().display();
                        wrong.lock().unwrap().push(format!("{name} is written:\n{written}\nand is found:\n{found}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
