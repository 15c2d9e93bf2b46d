//! Any text, and protocols with mistakes of all kinds: the compiler answers, with a place inside the text.

use crate::mutant::{compiled, config, protocols, slip, slipped};
use proptest::prelude::*;
use std::path::Path;
use trivium_diagnostic::Diagnostics;
use trivium_lang::lexer::lex;
use trivium_lang::{Options, c_header, compile, show};

/// Words and marks of the language, and some that are not.
const WORDS: [&str; 97] = [
    "protocol",
    "use",
    "promises",
    "assume",
    "param",
    "lane",
    "object",
    "record",
    "message",
    "op",
    "role",
    "extend",
    "replace",
    "invariant",
    "scenario",
    "loop",
    "until",
    "break",
    "return",
    "forbid",
    "read",
    "waive",
    "of",
    "everywhere",
    "defers",
    "up",
    "to",
    "var",
    "action",
    "task",
    "state",
    "otherwise",
    "impossible",
    "defer",
    "on",
    "when",
    "as",
    "write",
    "evict",
    "after",
    "send",
    "with",
    "block",
    "memory",
    "list",
    "payload",
    "goto",
    "resume",
    "complete",
    "start",
    "yield",
    "install",
    "at",
    "copy",
    "assert",
    "await",
    "all",
    "from",
    "or",
    "while",
    "waiting",
    "lower",
    "none",
    "if",
    "else",
    "for",
    "in",
    "let",
    "is",
    "sender",
    "me",
    "home",
    "nodes",
    "set",
    "node",
    "bool",
    "word",
    "true",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "..",
    "=",
    "+=",
    "-",
    ",",
    ":",
    "?",
    "\n",
    "x",
    "Ping",
    "9223372036854775807",
    "\"t\"",
    "\u{1f980}",
];

fn judge(text: &str) -> Result<(), TestCaseError> {
    judge_in(Path::new("p.tri"), text)
}

fn judge_in(path: &Path, text: &str) -> Result<(), TestCaseError> {
    let protocol = match compiled(path, text, &[]) {
        Ok(protocol) => protocol,
        Err(errors) => return placed(&errors),
    };
    // What compiles can be shown, and compiles again to the same.
    prop_assert!(!show::table(&protocol).is_empty());
    prop_assert!(!show::markdown(&protocol).is_empty());
    prop_assert!(show::dot(&protocol).starts_with("digraph"));
    prop_assert!(show::svg(&protocol).ends_with("</svg>\n"));
    prop_assert!(c_header(&protocol).contains("#endif"));
    prop_assert!(show::json(&protocol).is_object());
    let again = compiled(path, text, &[]).expect("it has just been compiled");
    prop_assert_eq!(format!("{again:?}"), format!("{protocol:?}"));
    Ok(())
}

fn placed(errors: &Diagnostics) -> Result<(), TestCaseError> {
    prop_assert!(!errors.list.is_empty());
    for error in &errors.list {
        let place = error.place().expect("a place");
        let quoted = place.quoted.as_ref().expect("a line of the file");
        let last = quoted.text.chars().count() as u32 + 1;
        prop_assert!(place.line >= Some(1) && (Some(1)..=Some(last)).contains(&place.column), "{error:?}");
        prop_assert!(!error.message.is_empty());
    }
    prop_assert!(errors.to_string().starts_with("error: "));
    Ok(())
}

/// What to do to the tokens of a protocol.
#[derive(Clone, Debug)]
enum Change {
    Delete(usize),
    Double(usize),
    Swap(usize, usize),
    Replace(usize, usize),
    Insert(usize, usize),
    /// Deletes from one token to another.
    Cut(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0usize..1 << 16;
    prop_oneof![
        at.clone().prop_map(Change::Delete),
        at.clone().prop_map(Change::Double),
        (at.clone(), at.clone()).prop_map(|(a, b)| Change::Swap(a, b)),
        (at.clone(), 0..WORDS.len()).prop_map(|(a, w)| Change::Replace(a, w)),
        (at.clone(), 0..WORDS.len()).prop_map(|(a, w)| Change::Insert(a, w)),
        (at, 0usize..12).prop_map(|(a, n)| Change::Cut(a, n)),
    ]
}

/// The tokens of a text with the white space before each.
fn pieces(text: &str) -> Vec<String> {
    let (tokens, _) = lex(0, text);
    let mut pieces = Vec::new();
    let mut from = 0;
    for token in tokens {
        let to = token.span.end as usize;
        pieces.push(text[from..to].to_string());
        from = to;
    }
    pieces
}

fn changed(text: &str, changes: &[Change]) -> String {
    let mut pieces = pieces(text);
    for change in changes {
        let count = pieces.len();
        if count == 0 {
            break;
        }
        let here = |i: &usize| i % count;
        match change {
            Change::Delete(i) => drop(pieces.remove(here(i))),
            Change::Double(i) => pieces.insert(here(i), pieces[here(i)].clone()),
            Change::Swap(i, j) => pieces.swap(here(i), here(j)),
            Change::Replace(i, w) => pieces[here(i)] = format!(" {}", WORDS[*w]),
            Change::Insert(i, w) => pieces.insert(here(i), format!(" {}", WORDS[*w])),
            Change::Cut(i, n) => drop(pieces.drain(here(i)..(here(i) + n).min(count))),
        }
    }
    pieces.concat()
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        judge(&text)?;
    }

    #[test]
    fn any_words_are_answered(words in prop::collection::vec(0..WORDS.len(), 0..120)) {
        let words: Vec<&str> = words.iter().map(|w| WORDS[*w]).collect();
        judge(&words.join(" "))?;
        judge(&format!("protocol p\nlane main buffered\nrole home of block {{ state S: write {{ on evict {{ {} }} }} }}", words.join(" ")))?;
    }

    /// Bytes that are no text are refused where files are read; what is left of them is a text.
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        judge(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn protocols_with_mistakes_are_answered(which in any::<prop::sample::Index>(), changes in prop::collection::vec(change(), 1..6)) {
        let all = protocols();
        let (path, text) = which.get(&all);
        judge_in(path, &changed(text, &changes))?;
    }

    #[test]
    fn one_change_to_a_protocol_is_answered(which in any::<prop::sample::Index>(), change in change()) {
        let all = protocols();
        let (path, text) = which.get(&all);
        judge_in(path, &changed(text, &[change]))?;
    }

    /// These often leave a protocol.
    #[test]
    fn protocols_with_slips_are_answered(which in any::<prop::sample::Index>(), slips in prop::collection::vec(slip(), 1..4)) {
        let all = protocols();
        let (path, text) = which.get(&all);
        judge_in(path, &slipped(text, &slips))?;
    }

    /// A text that ends or goes on anywhere, in the middle of a word too.
    #[test]
    fn torn_protocols_are_answered(which in any::<prop::sample::Index>(), a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>()) {
        let all = protocols();
        let (path, text) = which.get(&all);
        let place = |index: &prop::sample::Index| (0..=index.index(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap();
        let (a, b) = (place(&a), place(&b));
        judge_in(path, &text[..a])?;
        judge_in(path, &format!("{}{}", &text[..a], &text[b..]))?;
    }
}

/// A protocol without one of its words or marks has one mistake. Where it keeps something from being read, nothing else is told that
/// would be right without it.
#[test]
fn what_follows_from_a_mistake_is_not_told() {
    let mut wrong = Vec::new();
    for (path, text) in protocols() {
        let (tokens, _) = lex(0, &text);
        // Some words of each, and of all sorts.
        for token in tokens.iter().skip(3).step_by(61) {
            let (start, end) = (token.span.start as usize, token.span.end as usize);
            let without = format!("{} {}", &text[..start], &text[end..]);
            let Err(found) = compiled(&path, &without, &[]) else { continue };
            let is_syntax = |code| code == trivium_diagnostic::Code::Syntax;
            if found.list.iter().any(|told| is_syntax(told.code)) {
                let more = found.list.iter().filter(|told| !is_syntax(told.code));
                wrong.extend(more.map(|told| format!("without `{}`:\n{told}", &text[start..end])));
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n\n"));
}

/// Each of these, a hundred thousand times, is an error and not the end of the stack.
#[test]
fn deep_nesting_is_an_error() {
    let many = 100_000;
    let inside = |body: String| {
        format!(
            "protocol p\nlane main buffered\nrole home of block {{ var x: 0..9\nstate S: write {{ on evict {{ {body} }} }} }}"
        )
    };
    let param = |value: String| {
        format!("protocol p\nparam k = {value}\nlane main buffered\nrole home of block {{ state S: write }}")
    };
    let texts = [
        param("(".repeat(many)),
        param("-".repeat(many) + "1"),
        param("1+".repeat(many) + "1"),
        param("{".repeat(many)),
        inside("if true { ".repeat(many)),
        inside("if true { } else ".repeat(many) + "{ }"),
        inside("x = ".to_string() + &"not ".repeat(many) + "true"),
        inside("x = x".to_string() + &".x".repeat(many)),
        inside("x".to_string() + &"()".repeat(many)),
        inside("x = ".to_string() + &"x[".repeat(many)),
        inside("x = 1".to_string() + &" or 1".repeat(many)),
        inside("await M { ".repeat(many)),
        inside("await M { } while waiting on X { ".repeat(many)),
        inside("for i in ".to_string() + &"x - ".repeat(many) + "x { }"),
        format!("protocol p\nrole r of block {{ var x: {} node }}", "set of ".repeat(many)),
        format!("protocol p\nrole r of block {{ var x: {} node }}", "list of ".repeat(many)),
        format!(
            "protocol p\nlane main buffered\nrole home of block {{ state S: write }}\ninvariant i: {} true",
            "all n: ".repeat(many)
        ),
        "role ".repeat(many),
        "{".repeat(many),
        "\n}".repeat(many),
    ];
    for text in texts {
        let result = compile("p.tri", &text, &Options::default());
        let errors = result.err().unwrap_or_else(|| panic!("accepted: {}", &text[..80.min(text.len())]));
        assert!(!errors.list.is_empty());
    }
}

/// Numbers at the edges of 64 bits do not overflow.
#[test]
fn great_numbers_are_answered() {
    let great = [
        "9223372036854775807",
        "-9223372036854775807 - 1",
        "nodes * 9223372036854775807",
        "nodes + 9223372036854775807",
    ];
    for a in great {
        for b in great {
            let text = format!(
                "protocol p\nlane main holds {a}\nmessage M on main\nrole home of block defers up to {a} {{\n\
                 var x: {a}..{b}\nvar y: 0..9 = {a}\nvar s: set of {a}..{b}\nvar l: list of 0..3 up to {b}\nstate S: write {{\n\
                 on evict {{ for i in {a}..{b} {{ send M to home }}; for i in x - 1 .. x + {b} {{ x = i * {a} }}; x = {a} * {b} - {b} / {a} % {b} }}\n\
                 on M {{ if room(main, {a}) {{ send M to me }} }} on after {b} {{ }} }} }}\n\
                 scenario z {{ at {a} {{ read({b}); write({a}, {b}); let v = {a} * {b} + read({b}); until read(0) == v % {b}; write(0, address({a}) + {b}) }} }}\nparam k = {a} in {b}..{a}\n"
            );
            let result = compile("p.tri", &text, &Options::default());
            // Whether they are accepted or not, one part at a time:
            for line in ["var x: A..B", "var s: set of A..B", "var l: list of 0..3 up to A"] {
                let line = line.replace('A', a).replace('B', b);
                let small = format!("protocol p\nlane main buffered\nrole home of block {{ {line}\nstate S: write }}");
                if let Ok(protocol) = compile("p.tri", &small, &Options::default()) {
                    assert!(!trivium_lang::show::table(&protocol).is_empty());
                }
            }
            assert!(result.is_err());
        }
    }
}
