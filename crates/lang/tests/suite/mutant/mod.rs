//! Shipped protocols with mistakes: what is still a protocol, and what is none. Tests of several crates use this.
#![allow(dead_code)]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trivium_diagnostic::Diagnostics;
use trivium_lang::lexer::{Token, TokenKind, lex};
use trivium_lang::mutate::{Mutation, mutations, with_change};
use trivium_lang::{Options, compile};
use trivium_protocol::Protocol;
use trivium_protocol::source::SourceMap;

/// A test of so many cases, the same in every run; or of as many others as the variable `PROPTEST_CASES` says.
pub fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig { failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::default() };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => default,
        None => ProptestConfig { cases, rng_seed: RngSeed::Fixed(2), ..default },
    }
}

/// All protocols of the repository, the broken ones too: their files, in order, and texts.
pub fn protocols() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let mut files: Vec<PathBuf> = [root.clone(), root.join("broken")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "tri"))
        .collect();
    files.sort();
    assert!(files.len() > 20, "the protocols are not where they should be");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    files.into_iter().map(read).collect()
}

/// Compiles a text that stands in place of a file; what it uses is what the file does.
pub fn compiled(path: &Path, text: &str, params: &[(String, i64)]) -> Result<Protocol, Diagnostics> {
    let load = |name: &str| std::fs::read_to_string(name).map_err(|e| e.to_string());
    compile(&path.display().to_string(), text, &Options { params: params.to_vec(), load: Some(&load) })
}

/// The same with the sizes that `check` takes, where it is a protocol.
pub fn small(path: &Path, text: &str) -> Option<Arc<Protocol>> {
    let protocol = compiled(path, text, &[]).ok()?;
    compiled(path, text, &protocol.sizes_to_check()).ok().map(Arc::new)
}

/// A mistake that often leaves a protocol. Numbers choose among what there is.
#[derive(Clone, Copy, Debug)]
pub enum Slip {
    /// A word, number or mark becomes another one of its sort that the text has.
    Exchange(usize, usize),
    /// A line is left out.
    LeaveOut(usize),
    /// A line stands twice.
    Double(usize),
    /// Two lines stand in each other's place.
    Swap(usize, usize),
    /// One of the mistakes that `trivium mutate` makes.
    Mutate(usize),
    /// A step that answers a thread stands where none did: which place, and which step.
    Answer(usize, usize),
    /// What answers a load or a store answers a hint, too.
    Prefetch(usize),
}

/// One of them.
pub fn slip() -> impl Strategy<Value = Slip> {
    let at = 0usize..1 << 16;
    prop_oneof![
        6 => (at.clone(), at.clone()).prop_map(|(a, b)| Slip::Exchange(a, b)),
        2 => at.clone().prop_map(Slip::LeaveOut),
        1 => at.clone().prop_map(Slip::Double),
        1 => (at.clone(), at.clone()).prop_map(|(a, b)| Slip::Swap(a, b)),
        3 => at.prop_map(Slip::Mutate),
    ]
}

/// One that has to do with who is let go, completed or answered.
pub fn answering() -> impl Strategy<Value = Slip> {
    let at = 0usize..1 << 16;
    prop_oneof![
        4 => (at.clone(), 0usize..STEPS.len()).prop_map(|(at, step)| Slip::Answer(at, step)),
        1 => at.prop_map(Slip::Prefetch),
    ]
}

/// Steps that answer a thread.
const STEPS: [&str; 5] = ["resume", "complete", "return", "return 1", "defer"];

/// A text with something after one of the places at which one of these words stands.
fn with_after(text: &str, words: &[&str], at: usize, insert: &str) -> String {
    let mut ends: Vec<usize> =
        words.iter().flat_map(|word| text.match_indices(word).map(|(from, _)| from + word.len())).collect();
    ends.sort_unstable();
    match ends.get(at % ends.len().max(1)) {
        Some(&end) => format!("{}{insert}{}", &text[..end], &text[end..]),
        None => text.to_string(),
    }
}

/// A text with mistakes, made one after the other.
pub fn slipped(text: &str, slips: &[Slip]) -> String {
    slips.iter().fold(text.to_string(), |text, slip| match *slip {
        Slip::Exchange(at, with) => exchanged(&text, at, with),
        Slip::LeaveOut(at) => of_lines(&text, |lines, here| {
            lines.remove(here(at));
        }),
        Slip::Double(at) => of_lines(&text, |lines, here| lines.insert(here(at), lines[here(at)])),
        Slip::Swap(a, b) => of_lines(&text, |lines, here| lines.swap(here(a), here(b))),
        Slip::Mutate(at) => mutated(&text, at),
        Slip::Answer(at, step) => with_after(&text, &["{ ", "; "], at, &format!("{}; ", STEPS[step % STEPS.len()])),
        Slip::Prefetch(at) => with_after(&text, &["on read", "on write"], at, ", prefetch"),
    })
}

/// Lines that say something are changed; which ones there are does not depend on comments.
fn of_lines<'t>(text: &'t str, change: impl Fn(&mut Vec<&'t str>, &dyn Fn(usize) -> usize)) -> String {
    let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let mut lines: Vec<&str> = text.lines().filter(says).collect();
    if lines.is_empty() {
        return String::new();
    }
    let count = lines.len();
    change(&mut lines, &|at| at % count);
    lines.join("\n") + "\n"
}

/// A text with one of the mistakes that can be made in it alone: files that it uses stay as they are.
fn mutated(text: &str, at: usize) -> String {
    let mut sources = SourceMap::default();
    sources.add("alone", without_uses(text));
    let all = mutations(&sources).unwrap_or_default();
    match all.get(at % all.len().max(1)) {
        Some(mutation) => with_change_in(text, mutation),
        None => text.to_string(),
    }
}

/// A text in which lines that begin with `use` are blank.
fn without_uses(text: &str) -> String {
    let line = |line: &str| if line.starts_with("use ") { " ".repeat(line.len()) } else { line.to_string() };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn with_change_in(text: &str, mutation: &Mutation) -> String {
    let mut sources = SourceMap::default();
    sources.add("alone", text);
    with_change(&sources, mutation.span, &mutation.with)
}

/// A protocol with those of the mistakes that leave one, and its text. `None`: the file itself is none, or no mistake is left.
pub fn mutant(path: &Path, text: &str, slips: &[Slip]) -> Option<(Arc<Protocol>, String)> {
    let mut mutant = None;
    let mut text = text.to_string();
    for slip in slips {
        let next = slipped(&text, &[*slip]);
        if next != text
            && let Some(protocol) = small(path, &next)
        {
            mutant = Some(protocol);
            text = next;
        }
    }
    mutant.map(|protocol| (protocol, text))
}

/// What may stand in each other's place.
fn sort(token: &Token) -> Option<&'static str> {
    match &token.kind {
        TokenKind::Name(name) if name.starts_with(char::is_uppercase) => Some("Name"),
        TokenKind::Name(_) => Some("name"),
        TokenKind::Int(_) => Some("number"),
        TokenKind::Mark("==" | "!=" | "<" | ">" | "<=" | ">=") => Some("comparison"),
        TokenKind::Mark("+" | "-" | "*" | "/" | "%" | "|" | "&") => Some("operator"),
        TokenKind::Mark("=" | "+=" | "-=") => Some("assignment"),
        _ => None,
    }
}

fn exchanged(text: &str, at: usize, with: usize) -> String {
    let (tokens, _) = lex(0, text);
    let span = |token: &Token| token.span.start as usize..token.span.end as usize;
    let mut sorts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut able: Vec<&Token> = Vec::new();
    for token in &tokens {
        if let Some(sort) = sort(token) {
            able.push(token);
            let words = sorts.entry(sort).or_default();
            if !words.contains(&&text[span(token)]) {
                words.push(&text[span(token)]);
            }
        }
    }
    let Some(token) = able.get(at % able.len().max(1)) else { return text.to_string() };
    let words = &sorts[sort(token).expect("it is able")];
    format!("{}{}{}", &text[..token.span.start as usize], words[with % words.len()], &text[token.span.end as usize..])
}
