//! The text with its changes. Each token that the user has written stands in the column where it was written, so that the compiler's messages
//! are about the user's own file.

use crate::edits::{ABOUT, Edits, MOVED};
use crate::lex::{Lexed, token_at};
use crate::place::Places;

/// Puts changes into a text.
pub(crate) fn emit(lexed: &Lexed, edits: &Edits, places: &Places) -> String {
    let mut out = Out { text: String::with_capacity(lexed.text.len() * 5 / 4), line: 0, lexed, places, away: None };
    let mut end = 0;
    for (number, token) in lexed.tokens.iter().enumerate() {
        let gap = &lexed.text[end..token.start];
        let (before, instead, after) = edits.of(number);
        let column = places.column(number);
        // White space of its own line makes room for padding.
        let kept = if column.is_some() && gap.contains('\n') { gap.trim_end_matches([' ', '\t']) } else { gap };
        out.push(kept);
        out.change(before, number);
        match instead {
            Some(text) => out.change(text, number),
            None => {
                out.place(number);
                out.push(&lexed.text[token.start..token.end]);
            }
        }
        out.change(after, number);
        end = token.end;
    }
    out.push(&lexed.text[end..]);
    out.text
}

struct Out<'a> {
    text: String,
    /// Where the present line begins.
    line: usize,
    lexed: &'a Lexed<'a>,
    places: &'a Places,
    /// The token that was last written in another place than its own: lines are counted from there.
    away: Option<usize>,
}

impl Out<'_> {
    fn push(&mut self, text: &str) {
        if let Some(end) = text.rfind('\n') {
            self.line = self.text.len() + end + 1;
        }
        self.text.push_str(text);
    }

    /// Text of a change at a token, parts of which may be about others (see [`about`](crate::edits::about)). Each word of it stands where the token that it is about
    /// was written.
    fn change(&mut self, text: &str, at: usize) {
        let mut parts = text.split(ABOUT);
        self.words(parts.next().unwrap_or_default(), at);
        while let (Some(token), Some(text)) = (parts.next(), parts.next()) {
            let moved = token.strip_prefix(MOVED);
            let token = moved.unwrap_or(token).parse().expect("a token's number");
            if moved.is_some() {
                self.goes_to(token, self.away.unwrap_or(at));
            }
            self.words(text, token);
        }
        if let Some(away) = self.away.take() {
            self.goes_to(at, away);
            self.away = None;
        }
    }

    /// Goes from the line of a token to that of another.
    fn goes_to(&mut self, token: usize, from: usize) {
        let place = |token: usize| (self.lexed.tokens[token].file, self.lexed.tokens[token].line);
        if place(token) != place(from) {
            self.mark(token);
        }
        self.away = Some(token);
    }

    /// Puts text that is about a token.
    fn words(&mut self, text: &str, about: usize) {
        let mut at = 0;
        let mut is_own_line = false;
        while let Some(first) = text[at..].chars().next() {
            let rest = &text[at..];
            let starts_line = at == 0 || text[..at].ends_with('\n');
            let length = if first == '#' && starts_line {
                // A marker: what follows stands elsewhere.
                is_own_line = true;
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some((_, length)) = token_at(rest) {
                if !is_own_line {
                    self.place(about);
                }
                length
            } else {
                first.len_utf8()
            };
            self.push(&rest[..length]);
            at += length;
        }
    }

    /// Goes to the column of a token, on a line of its own if it is too late for that.
    fn place(&mut self, token: usize) {
        let Some(column) = self.places.column(token) else { return };
        if self.text.len() - self.line > column - 1 {
            self.mark(token);
        }
        let padding = column - 1 - (self.text.len() - self.line);
        self.push(&" ".repeat(padding));
    }

    /// Begins a line that counts as that of a token.
    fn mark(&mut self, token: usize) {
        let token = &self.lexed.tokens[token];
        let name = self.lexed.files[token.file].replace('\\', "\\\\").replace('"', "\\\"");
        self.push(&format!("\n# {} \"{name}\"\n", token.line));
    }
}
