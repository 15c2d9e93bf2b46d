//! Preprocessed text to tokens, each with the file and line that line markers give it. Never fails: what it does not know becomes
//! [`Kind::Unknown`].

/// What a token is. Its spelling is in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Name,
    /// A preprocessing number.
    Number,
    /// A string, its prefix included.
    Text,
    /// A character constant.
    Character,
    /// Punctuation.
    Mark,
    /// Something that is no token of C.
    Unknown,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    /// Where it begins in the preprocessed text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The file that it stands in: a number in [`Lexed::files`].
    pub file: usize,
    /// The line in this file, from 1.
    pub line: usize,
    /// Whether the file is a system header.
    pub system: bool,
}

/// A text and its tokens.
pub(crate) struct Lexed<'a> {
    pub text: &'a str,
    /// The last one is [`Kind::End`].
    pub tokens: Vec<Token>,
    /// Files by number, as line markers name them.
    pub files: Vec<String>,
}

impl Lexed<'_> {
    /// How a token is written.
    pub(crate) fn word(&self, token: usize) -> &str {
        let token = &self.tokens[token];
        &self.text[token.start..token.end]
    }

    /// The text from a token to another, both included, on one line: what the preprocessor says in between is left out.
    pub(crate) fn words(&self, first: usize, last: usize) -> String {
        (first..=last).map(|token| self.word(token)).collect::<Vec<_>>().join(" ")
    }
}

/// Longer ones stand before their own beginnings. `:=`, `:-` and `::` of dialects are made of marks that touch, since C has `a ? b :-c`.
const MARKS: [&str; 47] = [
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=", "/=", "%=", "+=",
    "-=", "&=", "^=", "|=", "{", "}", "(", ")", "[", "]", ";", ",", ".", "&", "*", "+", "-", "~", "!", "/", "%", "<",
    ">", "^", "|", "?", ":", "=", "#",
];

/// The tokens of a text.
pub(crate) fn lex(text: &str) -> Lexed<'_> {
    let mut lexer =
        Lexer { text, at: 0, line: 1, file: 0, system: false, files: vec![String::new()], tokens: Vec::new() };
    while lexer.next() {}
    Lexed { text, tokens: lexer.tokens, files: lexer.files }
}

/// How many bytes the token at the start of a text has, and what it is. None at white space and at the end.
pub(crate) fn token_at(rest: &str) -> Option<(Kind, usize)> {
    let first = rest.chars().next()?;
    if first.is_whitespace() {
        return None;
    }
    let prefix = ["u8", "u", "U", "L", ""]
        .into_iter()
        .find(|p| rest[..].strip_prefix(p).is_some_and(|r| r.starts_with(['"', '\''])));
    if let Some(prefix) = prefix {
        return Some(quoted(rest, prefix.len()));
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
    if first.is_ascii_digit() || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return Some((Kind::Number, number(rest)));
    }
    if is_part(first) {
        return Some((Kind::Name, rest.find(|c| !is_part(c)).unwrap_or(rest.len())));
    }
    let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
    Some(mark.map_or((Kind::Unknown, first.len_utf8()), |mark| (Kind::Mark, mark.len())))
}

/// A string or character that begins behind a prefix of so many bytes; unknown if it is not closed on its line.
fn quoted(rest: &str, prefix: usize) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    let quote = bytes[prefix];
    let mut at = prefix + 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        if bytes[at] == quote {
            return (if quote == b'"' { Kind::Text } else { Kind::Character }, at + 1);
        }
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    let mut end = at.min(bytes.len());
    while !rest.is_char_boundary(end) {
        end += 1;
    }
    (Kind::Unknown, end)
}

/// The length of a preprocessing number: `1.5e-3f`, `0x1p+4`.
fn number(rest: &str) -> usize {
    let mut last = ' ';
    let ends = |c: char| {
        let signed = matches!(last, 'e' | 'E' | 'p' | 'P') && matches!(c, '+' | '-');
        let inside = c.is_alphanumeric() || matches!(c, '.' | '_') || signed;
        last = c;
        !inside
    };
    rest.find(ends).unwrap_or(rest.len())
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    file: usize,
    system: bool,
    files: Vec<String>,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn push(&mut self, kind: Kind, end: usize) {
        let (start, file, line, system) = (self.at, self.file, self.line, self.system);
        self.tokens.push(Token { kind, start, end, file, line, system });
        self.line += self.text[start..end].matches('\n').count();
        self.at = end;
    }

    /// Takes a token, white space or a directive; false at the end.
    fn next(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else {
            self.push(Kind::End, self.at);
            return false;
        };
        if first == '\n' {
            self.line += 1;
            self.at += 1;
        } else if first == '#' && self.text[..self.at].rsplit('\n').next().is_none_or(|line| line.trim().is_empty()) {
            self.directive();
        } else if let Some((kind, length)) = token_at(rest) {
            self.push(kind, self.at + length);
        } else {
            self.at += first.len_utf8();
        }
        true
    }

    /// A line marker (`# 12 "file" 1 3`, `#line 12 "file"`), or a pragma, which is left where it is.
    fn directive(&mut self) {
        let rest = &self.text[self.at..];
        let line = rest.split('\n').next().unwrap_or(rest);
        let words = line[1..].trim_start();
        if words.strip_prefix("pragma").is_some_and(|rest| rest.trim_start().starts_with("cstar ")) {
            // The only one that is a program's: a declaration of C*.
            self.push(Kind::Mark, self.at + line.len());
            return;
        }
        self.at += line.len();
        let words = words.strip_prefix("line").unwrap_or(words).trim_start();
        let digits = words.find(|c: char| !c.is_ascii_digit()).unwrap_or(words.len());
        let Ok(number) = words[..digits].parse::<usize>() else { return };
        // The end of the marker's own line counts.
        self.line = number.saturating_sub(1);
        let Some((name, flags)) = words[digits..].trim_start().strip_prefix('"').and_then(|rest| rest.rsplit_once('"'))
        else {
            return;
        };
        let name = unescaped(name);
        self.file = self.files.iter().position(|file| *file == name).unwrap_or_else(|| {
            self.files.push(name);
            self.files.len() - 1
        });
        self.system = flags.split_whitespace().any(|flag| flag == "3");
    }
}

fn unescaped(name: &str) -> String {
    let mut plain = String::new();
    let mut letters = name.chars();
    while let Some(letter) = letters.next() {
        plain.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_the_lines_of_markers() {
        let lexed =
            lex("# 1 \"a.c\"\nint x;\n# 7 \"/h \\\"1\\\".h\" 1 3\n  y = 1.5e-3f;\n# 3 \"a.c\" 2\nz\n#pragma once\nw\n");
        let told: Vec<_> = lexed
            .tokens
            .iter()
            .enumerate()
            .map(|(i, t)| (lexed.word(i), &lexed.files[t.file][..], t.line, t.system))
            .collect();
        let h = "/h \"1\".h";
        assert_eq!(
            told,
            [
                ("int", "a.c", 1, false),
                ("x", "a.c", 1, false),
                (";", "a.c", 1, false),
                ("y", h, 7, true),
                ("=", h, 7, true),
                ("1.5e-3f", h, 7, true),
                (";", h, 7, true),
                ("z", "a.c", 3, false),
                ("w", "a.c", 5, false),
                ("", "a.c", 6, false)
            ]
        );
    }

    #[test]
    fn words_and_strings() {
        let lexed = lex("L\"a\\\"b\" u8'x' a->b>>=c ... .5 0x1p+4 x+++y '\\' @ ü");
        let words: Vec<_> = (0..lexed.tokens.len() - 1).map(|i| lexed.word(i)).collect();
        assert_eq!(
            words,
            [
                "L\"a\\\"b\"",
                "u8'x'",
                "a",
                "->",
                "b",
                ">>=",
                "c",
                "...",
                ".5",
                "0x1p+4",
                "x",
                "++",
                "+",
                "y",
                "'\\' @ ü"
            ]
        );
        assert_eq!(lexed.tokens[14].kind, Kind::Unknown);
    }
}
