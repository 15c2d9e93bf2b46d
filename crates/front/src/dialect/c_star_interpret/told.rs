//! What a statement tells of itself, for who wants to see how a program goes on.

use super::expressions::Changed;
use super::{Meant, object};
use crate::draft::Meaning;
use crate::place::Places;

impl Meant<'_, '_> {
    /// Tells a statement of these tokens: its text, where it stands, which positions are active, and what has become of a variable.
    pub(super) fn tell(&mut self, (first, last): (usize, usize), changed: Option<Changed>, code: &mut String) {
        let Meaning::Interpreted { told: Some(places) } = self.draft.meaning else { return };
        let token = self.draft.token_at(first);
        let place = format!("{}:{}", self.draft.lexed.files[token.file], token.line);
        let text = self.source(places, first, last);
        let shape = object(&self.shape());
        code.push_str(&format!("cstar_tell({}, {}, &{shape}); ", quoted(&place), quoted(&text)));
        let Some(Changed { name: what, value, shape: of }) = changed else { return };
        let what = quoted(&self.source(places, what.0, what.1));
        let (name, of_object) = (self.temporary(), object(&of));
        code.push_str(&format!(
            "{{ __typeof_unqual__(({{ {value}; }})) *{name} __attribute__((cleanup(cstar_release))) = cstar_array(&{of_object}, sizeof *{name}); \
             for (int cstar_vp = 0; cstar_vp < {of_object}.state->all; cstar_vp++) {name}[cstar_vp] = {value}; \
             cstar_show({what}, &{of_object}, &{shape}, {name}, sizeof *{name}, {}); }} ",
            kind(&format!("*{name}"))
        ));
    }

    /// The text of tokens as it stands in its file, on one line.
    fn source(&self, places: &Places, first: usize, last: usize) -> String {
        let lexed = self.draft.lexed;
        let mut text = String::new();
        let mut line = 0;
        for token in first..=last {
            let now = lexed.tokens[token].line;
            if now == line {
                continue;
            }
            line = now;
            let Some(whole) = places.line(lexed, token) else { return lexed.words(first, last) };
            let end = (token..=last).take_while(|at| lexed.tokens[*at].line == line).last().unwrap_or(token);
            let begin = places.column(token).map_or(0, |column| column - 1);
            // To the end of the last token, or of the line if a macro stands there.
            let end = match places.written(end) {
                Some(column) => column - 1 + lexed.word(end).len(),
                None => whole.len(),
            };
            let part = whole.get(begin..end.max(begin)).unwrap_or(whole).trim();
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(part);
        }
        text
    }
}

/// How the values of an object's type are printed: a number that the library knows.
fn kind(object: &str) -> String {
    let integers = ["_Bool", "char", "signed char", "short", "int", "long", "long long"].map(|ty| format!("{ty}: 1"));
    let naturals = ["unsigned char", "unsigned short", "unsigned", "unsigned long", "unsigned long long"]
        .map(|ty| format!("{ty}: 2"));
    format!("_Generic({object}, {}, {}, float: 3, double: 3, default: 0)", integers.join(", "), naturals.join(", "))
}

/// A string of C.
fn quoted(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|letter| match letter {
            '"' | '\\' => format!("\\{letter}"),
            '\t' => " ".to_string(),
            '?' => "\\?".to_string(),
            letter => letter.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}
