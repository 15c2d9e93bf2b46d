//! Places in protocol text, and the text itself, so that every later message can point at its cause.

use std::fmt;
use trivium_diagnostic::Place;

pub use trivium_diagnostic::printable;

/// A range of bytes in one source file of a protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Which file of the [`SourceMap`].
    pub file: u16,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A place as people write it: file, line, column, the latter two from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file's name as it was given.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The files that a protocol was read from: its own and those that it `use`s.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<(String, String)>,
}

impl SourceMap {
    /// Adds a file and returns its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u16 {
        self.files.push((name.into(), text.into()));
        (self.files.len() - 1) as u16
    }

    /// The text of a file.
    pub fn text(&self, file: u16) -> &str {
        &self.files[file as usize].1
    }

    /// The name of a file as it was given.
    pub fn name(&self, file: u16) -> &str {
        &self.files[file as usize].0
    }

    /// All files, in the order in which they were read.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Line and column of a span's first byte.
    pub fn place(&self, span: Span) -> Position {
        let text = self.text(span.file);
        let mut start = (span.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            file: self.name(span.file).to_string(),
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
        }
    }

    /// A span as a diagnostic has it, with its line.
    pub fn quoted(&self, span: Span) -> Place {
        Place::in_text(self.name(span.file), self.text(span.file), span.start as usize..span.end as usize)
    }

    /// The same of a span that may be none of these files'.
    pub fn known_place(&self, span: Span) -> Option<Position> {
        ((span.file as usize) < self.files.len()).then(|| self.place(span))
    }

    /// The whole line in which a span starts, without its end of line.
    pub fn line(&self, span: Span) -> &str {
        let text = self.text(span.file);
        let start = (span.start as usize).min(text.len());
        let from = text.as_bytes()[..start].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let to = text.as_bytes()[start..].iter().position(|&b| b == b'\n').map_or(text.len(), |at| start + at);
        text.get(from..to).unwrap_or("").trim_end_matches('\r')
    }

    /// The words of a span.
    pub fn excerpt(&self, span: Span) -> &str {
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("")
    }
}
