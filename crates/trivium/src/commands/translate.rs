//! `trivium translate`, and what the compiler asks about languages that extend C.

use super::program;
use crate::arguments::Translate;
use crate::{Failure, output};
use std::path::PathBuf;
use trivium_diagnostic::Diagnostics;
use trivium_front::{Dialect, explain, interpreted, translate as translated};
use trivium_guest::Translator;

/// Prints the C that a program becomes.
pub fn translate(arguments: &Translate) -> Result<u8, Failure> {
    let text = program::in_c(&arguments.program, arguments.cc.as_deref())?;
    let text = if arguments.whole { text } else { of_file(&text, &arguments.program.display().to_string()) };
    output::write(arguments.out.as_ref(), &text)?;
    Ok(0)
}

/// What of a text the markers of lines give to a file, or to no file at all (`<split-c>`, `<c-star>`). What the translation has broken into pieces, for the
/// sake of columns, is put together again: a line is what was a line.
fn of_file(text: &str, file: &str) -> String {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let (mut is_own, mut number) = (false, 1);
    for line in text.lines() {
        let marked = line.strip_prefix("# ").and_then(|rest| rest.split_once(' '));
        if let Some((Ok(marked), name)) = marked.map(|(number, name)| (number.parse(), name.split('"').nth(1))) {
            let is_of_none = name.is_some_and(|name| OF_NO_FILE.contains(&name));
            is_own = name == Some(file) || is_of_none;
            number = if is_of_none { usize::MAX } else { marked };
            continue;
        }
        match lines.last_mut() {
            _ if !is_own => {}
            Some((last, before)) if *last == number && number != usize::MAX => {
                before.push_str(line.trim_start());
            }
            Some(_) => lines.push((number, line.to_string())),
            None if line.trim().is_empty() => {}
            None => lines.push((number, line.to_string())),
        }
        number = number.saturating_add(1);
    }
    lines.iter().map(|(_, line)| format!("{}\n", without_padding(line))).collect()
}

/// What markers name that stands in no file of the user's.
const OF_NO_FILE: [&str; 2] = ["<split-c>", "<c-star>"];

/// Without white space in the midst of a line beyond what parts words, outside of strings.
fn without_padding(line: &str) -> String {
    let begin = line.len() - line.trim_start().len();
    let mut plain = line[..begin].to_string();
    let mut quote = None;
    let mut last = ' ';
    for letter in line[begin..].trim_end().chars() {
        if matches!(letter, '"' | '\'') && last != '\\' {
            quote = if quote == Some(letter) { None } else { quote.or(Some(letter)) };
        }
        if quote.is_some() || letter != ' ' || last != ' ' {
            plain.push(letter);
        }
        last = letter;
    }
    plain
}

/// All that Trivium knows of languages that extend C.
pub(super) struct FrontEnd;

/// The languages that are compiled so: C itself is not.
fn dialect(ending: &str) -> Option<Dialect> {
    Dialect::of_ending(ending).filter(|dialect| *dialect != Dialect::C)
}

fn source(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok()
}

impl Translator for FrontEnd {
    fn takes(&self, ending: &str) -> bool {
        dialect(ending).is_some()
    }

    /// By the program itself, which may have been built anew.
    fn version(&self) -> String {
        let about = std::env::current_exe().and_then(std::fs::metadata);
        about.map(|about| format!("{} {:?}", about.len(), about.modified().ok())).unwrap_or_default()
    }

    fn header(&self, ending: &str) -> Option<&'static str> {
        match dialect(ending)? {
            Dialect::C => None,
            Dialect::SplitC => Some("split-c.h"),
            Dialect::CStar => Some("cstar.h"),
        }
    }

    /// A loop of C* asks at each position what is the same for all of a run: whether some are not active. Then it becomes two loops, as at `-O3`.
    fn flags(&self, ending: &str) -> &'static [&'static str] {
        match dialect(ending) {
            Some(Dialect::CStar) => &["-mllvm", "-enable-nontrivial-unswitch"],
            _ => &[],
        }
    }

    fn translate(&self, ending: &str, preprocessed: &str) -> Result<String, Diagnostics> {
        let dialect = dialect(ending).expect("one that it takes");
        translated(preprocessed, dialect, &source)
    }

    fn explain(&self, said: &str) -> String {
        explain(said, &source)
    }
}

/// C*, as `trivium interpret` has it.
pub(super) struct Interpreter {
    /// Whether each parallel statement tells what it has done.
    pub tells: bool,
}

impl Translator for Interpreter {
    fn takes(&self, ending: &str) -> bool {
        dialect(ending) == Some(Dialect::CStar)
    }

    fn version(&self) -> String {
        format!("interpreted {} {}", self.tells, FrontEnd.version())
    }

    fn header(&self, _: &str) -> Option<&'static str> {
        Some("cstar-interpret.h")
    }

    fn flags(&self, _: &str) -> &'static [&'static str] {
        &[]
    }

    fn translate(&self, _: &str, preprocessed: &str) -> Result<String, Diagnostics> {
        interpreted(preprocessed, self.tells, &source)
    }

    fn explain(&self, said: &str) -> String {
        explain(said, &source)
    }
}

/// What is compiled with programs of a language, and linked into them.
pub(super) struct Needed {
    /// The language, as messages call it.
    pub language: &'static str,
    /// The library's name.
    pub name: &'static str,
    /// A source among the headers.
    pub source: &'static str,
    /// Flags of the linker, which the user's own override.
    pub flags: &'static [&'static str],
    /// Whether what it defines goes before what the C library does.
    pub overrides: bool,
    /// The function that programs begin with.
    pub entry: &'static str,
}

/// What Split-C's programs begin with, in bytes, their stack of 1 MiB included: 16 MiB a processor, so that 64 processors have room in shared memory.
const SPLIT_C: Needed = Needed {
    language: "Split-C",
    name: "split-c",
    source: "split-c.c",
    flags: &["-Wl,--initial-memory=17825792"],
    overrides: false,
    entry: "splitc_main",
};

/// The library of C* decides which node prints.
const C_STAR: Needed =
    Needed { language: "C*", name: "cstar", source: "cstar.c", flags: &[], overrides: true, entry: "main" };

/// The library of programs in C* that are interpreted. What the C compiler warns about it has said of the compiled program.
pub(super) const C_STAR_INTERPRETED: Needed = Needed {
    language: "C*",
    name: "cstar-interpret",
    source: "cstar-interpret.c",
    flags: &["-w"],
    overrides: false,
    entry: "main",
};

/// What these files need beside them.
pub(super) fn needed_by(files: &[PathBuf]) -> Option<&'static Needed> {
    let has = |ending: &str| files.iter().any(|file| file.extension().is_some_and(|found| found == ending));
    if has("sc") {
        return Some(&SPLIT_C);
    }
    has("cs").then_some(&C_STAR)
}
