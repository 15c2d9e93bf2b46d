//! What is wrong with a source: place, cause, remedy.

use crate::lex::Lexed;
use crate::place::Places;
use std::fmt;

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

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The user's own file.
    pub file: String,
    /// The line in it, from 1.
    pub line: usize,
    /// The column, from 1, in bytes as C compilers tell it, if the file could be read.
    pub column: Option<usize>,
    /// The line's text, if the file could be read.
    pub text: Option<String>,
    /// How many bytes of it are meant.
    pub width: usize,
    /// What to do about it.
    pub help: Option<String>,
}

/// All mistakes of a file, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    /// Never empty.
    pub list: Vec<Mistake>,
}

impl Mistakes {
    pub(crate) fn new(lexed: &Lexed, places: &Places, mut wrong: Vec<Wrong>) -> Mistakes {
        wrong.sort_by_key(|wrong| wrong.first);
        let told = wrong.into_iter().map(|wrong| {
            let token = &lexed.tokens[wrong.first];
            let column = places.column(wrong.first);
            let last = places.written(wrong.last).filter(|_| lexed.tokens[wrong.last].line == token.line);
            let end = last.map(|column| column + lexed.word(wrong.last).len());
            let own = if places.written(wrong.first).is_some() { lexed.word(wrong.first).len() } else { 1 };
            let width = end.zip(column).map_or(own, |(end, column)| end.saturating_sub(column)).max(1);
            Mistake {
                message: wrong.message,
                file: lexed.files[token.file].clone(),
                line: token.line,
                column,
                text: places.line(lexed, wrong.first).map(str::to_string),
                width,
                help: wrong.help,
            }
        });
        let mut list: Vec<Mistake> = told.collect();
        list.dedup_by(|a, b| (&a.message, a.line, a.column) == (&b.message, b.line, b.column));
        Mistakes { list }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.list.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            render(f, diagnostic)?;
        }
        Ok(())
    }
}

/// Without characters that would move a terminal's cursor.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '?' } else { c }).collect()
}

fn render(f: &mut fmt::Formatter<'_>, d: &Mistake) -> fmt::Result {
    writeln!(f, "error: {}", printable(&d.message))?;
    let number = d.line.to_string();
    let margin = " ".repeat(number.len());
    match (d.column, &d.text) {
        (Some(column), Some(text)) => {
            writeln!(f, "{margin}--> {}:{number}:{column}", printable(&d.file))?;
            let before = text.get(..column - 1).unwrap_or("");
            let lead: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            let meant = text.get(column - 1..(column - 1 + d.width).min(text.len())).unwrap_or("");
            writeln!(f, "{margin} |")?;
            writeln!(f, "{number} | {}", printable(text))?;
            writeln!(f, "{margin} | {lead}{}", "^".repeat(meant.chars().count().max(1)))?;
        }
        _ => writeln!(f, "{margin}--> {}:{number}", printable(&d.file))?,
    }
    if let Some(help) = &d.help {
        writeln!(f, "help: {help}")?;
    }
    Ok(())
}
