//! What is changed of a text: at tokens, so that all else stays as it is.

use std::collections::BTreeMap;

/// Stands around the number of the token that the text behind it is about.
pub(crate) const ABOUT: char = '\u{1}';

/// Text of a change that is about a token: what the compiler says about it, it says at the token's place.
pub(crate) fn about(token: usize, text: &str) -> String {
    format!("{ABOUT}{token}{ABOUT}{text}")
}

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

    /// What stands before a token, in its place if that has changed, and behind it.
    pub(crate) fn of(&self, token: usize) -> (&str, Option<&str>, &str) {
        (
            self.before.get(&token).map_or("", String::as_str),
            self.instead.get(&token).map(String::as_str),
            self.after.get(&token).map_or("", String::as_str),
        )
    }
}
