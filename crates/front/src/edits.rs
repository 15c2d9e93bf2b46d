//! What is changed of a text: at tokens, so that all else stays as it is.

use crate::lex::Lexed;
use std::collections::BTreeMap;

/// Stands around the number of the token that the text behind it is about.
pub(crate) const ABOUT: char = '\u{1}';

/// Text of a change that is about a token: what the compiler says about it, it says at the token's place.
pub(crate) fn about(token: usize, text: &str) -> String {
    format!("{ABOUT}{token}{ABOUT}{text}")
}

/// Before the number of a token in such a text: the text stood there, so that its line is told too.
pub(crate) const MOVED: char = '@';

/// Changes, by the number of the token that they belong to. Who encloses something changes it after what is inside, and stands outside it.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    before: BTreeMap<usize, String>,
    after: BTreeMap<usize, String>,
    instead: BTreeMap<usize, String>,
}

impl Edits {
    /// Puts text before a token, outside of what is there.
    pub(crate) fn before(&mut self, token: usize, text: &str) {
        self.before.entry(token).or_default().insert_str(0, text);
    }

    /// Puts text before a token, inside of what is there.
    pub(crate) fn just_before(&mut self, token: usize, text: &str) {
        self.before.entry(token).or_default().push_str(text);
    }

    /// Puts text behind a token, outside of what is there.
    pub(crate) fn after(&mut self, token: usize, text: &str) {
        self.after.entry(token).or_default().push_str(text);
    }

    /// Puts text in place of a token.
    pub(crate) fn instead(&mut self, token: usize, text: &str) {
        self.instead.insert(token, text.to_string());
    }

    /// Takes a token away.
    pub(crate) fn remove(&mut self, token: usize) {
        self.instead(token, "");
    }

    /// The text of a range of tokens with its changes so far, to be put elsewhere: each token of it is still about the place where the user wrote it.
    pub(crate) fn text(&self, lexed: &Lexed, first: usize, last: usize) -> String {
        let mut text = String::new();
        for token in first..=last {
            let (before, instead, after) = self.of(token);
            for part in [before, instead.unwrap_or_else(|| lexed.word(token)), after] {
                if !part.is_empty() {
                    text.push_str(&format!("{ABOUT}{MOVED}{token}{ABOUT}{part} "));
                }
            }
        }
        text
    }

    /// Takes a range of tokens away, with all changes in it, and puts text in its place.
    pub(crate) fn replace(&mut self, first: usize, last: usize, text: &str) {
        for token in first..=last {
            self.before.remove(&token);
            self.after.remove(&token);
            self.remove(token);
        }
        self.instead(first, text);
    }

    /// Makes other texts of the changes of a range of tokens.
    pub(crate) fn map(&mut self, first: usize, last: usize, change: &dyn Fn(&str) -> String) {
        for texts in [&mut self.before, &mut self.after, &mut self.instead] {
            texts.range_mut(first..=last).for_each(|(_, text)| *text = change(text));
        }
    }

    /// What stands before a token, in its place if that has changed, and behind it.
    pub(crate) fn of(&self, token: usize) -> (&str, Option<&str>, &str) {
        (
            self.before.get(&token).map_or("", String::as_str),
            self.instead.get(&token).map(String::as_str),
            self.after.get(&token).map_or("", String::as_str),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::emit;
    use crate::place::Places;

    /// A part that is moved keeps its changes, and each word of it is told at its own line and column.
    #[test]
    fn a_range_of_tokens_moves_with_its_changes() {
        let source = "f(1);\nx =\n   g(y + 2);\nh();\n";
        let text = format!("# 1 \"a.c\"\n{source}");
        let lexed = crate::lex::lex(&text);
        let places = Places::new(&lexed, &|name| (name == "a.c").then(|| source.to_string()));
        let at = |word: &str| (0..lexed.tokens.len()).find(|token| lexed.word(*token) == word).unwrap();
        let (first, last) = (at("y"), at("2"));
        let mut edits = Edits::default();
        edits.after(first, "[0]");
        let moved = edits.text(&lexed, first, last);
        edits.replace(first, last, "t");
        edits.before(at("f"), &format!("t = {moved};"));
        // One line of the compiler's for one of the user's: `translate` does the same for readers.
        let emitted = emit(&lexed, &edits, &places);
        let mut lines = vec![String::new(); 5];
        let mut line = 1;
        for text in emitted.lines() {
            match text.strip_prefix("# ").and_then(|rest| rest.split_once(' ')) {
                Some((number, _)) => line = number.parse().unwrap(),
                None => {
                    lines[line].push_str(text.trim());
                    line += 1;
                }
            }
        }
        assert_eq!(lines[1..], ["t=f(1);", "x =", "y[0] + 2;g(t    );", "h();"], "{emitted}");
        let column = |word: &str| emitted.lines().find_map(|line| line.find(word).map(|at| at + 1));
        assert_eq!((column("y"), column("2")), (Some(6), Some(10)), "{emitted}");
    }
}
