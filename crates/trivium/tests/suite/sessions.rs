//! Sessions at a terminal: `sessions/*.txt` are commands with all that they print.
//!
//! A line `$ trivium ..` is run at the repository's root; below it stands what it prints to standard output, then what
//! it prints to standard error with `! ` before each line, then `[exit N]` if N is not 0. Host times are `_`.
//! `UPDATE=1 cargo test -p trivium --test suite sessions::` writes what is found; look at the difference before you commit it.

use crate::harness;
use std::path::Path;

/// A session's text with what its commands print now.
fn rerun(text: &str) -> String {
    let mut found = String::new();
    for line in text.lines() {
        if line.starts_with("# ") {
            found.push_str(&format!("{line}\n"));
        } else if let Some(command) = line.strip_prefix("$ trivium") {
            if found.contains("$ ") {
                found.push('\n');
            }
            found.push_str(&format!("{line}\n{}", run(command)));
        }
    }
    found
}

fn run(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let run = harness::trivium(&words);
    let code = run.code.expect("the program ends by itself");
    assert!(!run.err.contains("panicked"), "{command}: {}", run.err);
    if code == 2 {
        assert!(run.err.starts_with("error: "), "{command}: {}", run.err);
        assert!(
            run.err.lines().any(|line| line.starts_with("help: ")) || run.err.contains("--> "),
            "{command}: {}",
            run.err
        );
        assert_eq!(run.out, "", "{command}: a result in spite of bad input");
    }
    let mut text: String = run.out.lines().map(|line| format!("{}\n", without_host(line))).collect();
    text.extend(run.err.lines().map(|line| format!("! {line}").trim_end().to_string() + "\n"));
    if code != 0 {
        text.push_str(&format!("[exit {code}]\n"));
    }
    text
}

/// Without what depends on the host: its time, and how much of its memory is in use.
fn without_host(line: &str) -> String {
    for (start, end) in [("seconds       ", ""), ("  \"host_seconds\": ", ","), ("  \"seconds\": ", ",")] {
        if line.starts_with(start) {
            return format!("{start}_{end}");
        }
    }
    match line.strip_prefix("states        ").and_then(|rest| rest.split_once(" (")) {
        Some((states, _)) => format!("states        {states} (_)"),
        None => line.trim_end().to_string(),
    }
}

#[test]
fn sessions_go_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 3, "the sessions are not where they should be");
    let mut wrong = Vec::new();
    for path in paths {
        let written = std::fs::read_to_string(&path).unwrap();
        let found = rerun(&written);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, found).unwrap();
        } else if found != written {
            wrong.push(difference(&path, &written, &found));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first line that is not as written, with the command that it belongs to.
fn difference(path: &Path, written: &str, found: &str) -> String {
    let same = written.lines().zip(found.lines()).take_while(|(w, f)| w == f).count();
    let command = found.lines().take(same + 1).filter(|line| line.starts_with("$ ")).last().unwrap_or_default();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_string();
    format!("{}:{}: {command}\nwritten: {}\nfound:   {}", path.display(), same + 1, line(written), line(found))
}
