//! The text with its changes. Each token that the user has written stands in the column where it was written, so that the compiler's messages
//! are about the user's own file.

use crate::edits::{ABOUT, Edits};
use crate::lex::{Lexed, Token};
use crate::place::Places;

/// Puts changes into a text.
pub(crate) fn emit(lexed: &Lexed, edits: &Edits, places: &Places) -> String {
    let mut out = Out { text: String::with_capacity(lexed.text.len() * 5 / 4), line: 0 };
    let mut end = 0;
    for (number, token) in lexed.tokens.iter().enumerate() {
        let gap = &lexed.text[end..token.start];
        let (before, instead, after) = edits.of(number);
        let column = places.written(number);
        // White space of its own line makes room for padding.
        let kept = if column.is_some() && gap.contains('\n') { gap.trim_end_matches([' ', '\t']) } else { gap };
        out.push(kept);
        out.change(before, lexed, places);
        let text = instead.unwrap_or(&lexed.text[token.start..token.end]);
        if let Some(column) = column.filter(|_| !text.is_empty()) {
            out.place(column, token, lexed);
        }
        match instead {
            Some(text) => out.change(text, lexed, places),
            None => out.push(text),
        }
        out.change(after, lexed, places);
        end = token.end;
    }
    out.push(&lexed.text[end..]);
    out.text
}

struct Out {
    text: String,
    /// Where the present line begins.
    line: usize,
}

impl Out {
    fn push(&mut self, text: &str) {
        if let Some(end) = text.rfind('\n') {
            self.line = self.text.len() + end + 1;
        }
        self.text.push_str(text);
    }

    /// Text of a change, parts of which may be about tokens (see [`about`](crate::edits::about)).
    fn change(&mut self, text: &str, lexed: &Lexed, places: &Places) {
        let mut parts = text.split(ABOUT);
        self.push(parts.next().unwrap_or_default());
        while let (Some(token), Some(text)) = (parts.next(), parts.next()) {
            let token: usize = token.parse().expect("a token's number");
            if let Some(column) = places.column(token) {
                self.place(column, &lexed.tokens[token], lexed);
            }
            self.push(text);
        }
    }

    /// Goes to the column where a token is written, on a line of its own if it is too late for that.
    fn place(&mut self, column: usize, token: &Token, lexed: &Lexed) {
        if self.text.len() - self.line > column - 1 {
            let name = lexed.files[token.file].replace('\\', "\\\\").replace('"', "\\\"");
            self.push(&format!("\n# {} \"{name}\"\n", token.line));
        }
        let padding = column - 1 - (self.text.len() - self.line);
        self.push(&" ".repeat(padding));
    }
}
