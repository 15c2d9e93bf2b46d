//! What is wrong with a source: place, cause, remedy.

use crate::lex::Lexed;
use crate::place::Places;
use std::ops::{Range, RangeInclusive};
use trivium_diagnostic::{Code, Diagnostic, Diagnostics, Place, Quoted};

/// A mistake as the parser notes it: by tokens.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub first: usize,
    pub last: usize,
    pub message: String,
    pub help: Option<String>,
    /// Whether it is in a system header, of which nobody need be told.
    pub hidden: bool,
}

impl Wrong {
    /// Adds what to do about it.
    pub(crate) fn help(&mut self, help: impl Into<String>) {
        self.help = Some(help.into());
    }
}

/// All mistakes of a file, in the order of the text.
pub(crate) fn diagnostics(lexed: &Lexed, places: &Places, mut wrong: Vec<Wrong>) -> Diagnostics {
    wrong.sort_by_key(|wrong| wrong.first);
    let mut list: Vec<Diagnostic> = wrong
        .into_iter()
        .map(|wrong| {
            let place = place(lexed, places, wrong.first..=wrong.last);
            Diagnostic::new(Code::Syntax, wrong.message).help(wrong.help.unwrap_or_default()).at(place)
        })
        .collect();
    list.dedup_by(|a, b| (&a.message, &a.places) == (&b.message, &b.places));
    Diagnostics { list }
}

/// Where some tokens stand, as far as they are in one line: in the file's own words, if it could be read.
fn place(lexed: &Lexed, places: &Places, tokens: RangeInclusive<usize>) -> Place {
    let (first, last) = (*tokens.start(), *tokens.end());
    let token = &lexed.tokens[first];
    let file = lexed.files[token.file].clone();
    let line = Some(fit(token.line));
    let (Some(column), Some(text)) = (places.column(first), places.line(lexed, first)) else {
        return Place { file, line, column: None, quoted: None };
    };
    let end = places.written(last).filter(|_| lexed.tokens[last].line == token.line);
    let end = end.map(|column| column + lexed.word(last).len());
    let own = if places.written(first).is_some() { lexed.word(first).len() } else { 1 };
    let width = end.map_or(own, |end| end.saturating_sub(column)).max(1);
    // Tokens are counted in bytes, people count characters.
    let characters = |bytes: Range<usize>| fit(text.get(bytes).unwrap_or("").chars().count());
    let meant = characters(column - 1..(column - 1 + width).min(text.len())).max(1);
    let quoted = Some(Quoted { text: text.to_string(), length: meant });
    Place { file, line, column: Some(characters(0..column - 1) + 1), quoted }
}

fn fit(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
