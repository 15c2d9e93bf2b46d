//! Text to tokens. Never fails: what it does not know becomes [`TokenKind::Unknown`].

use trivium_protocol::source::Span;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Name(String),
    /// A whole number.
    Int(i64),
    /// Text in double quotes.
    Text(String),
    /// Punctuation, such as `{` or `+=`.
    Mark(&'static str),
    /// Something that is not part of the language.
    Unknown(String),
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
    /// Whether it is the first of its line.
    pub first: bool,
}

const MARKS: [&str; 29] = [
    "..", "+=", "-=", "==", "!=", "<=", ">=", "{", "}", "(", ")", "[", "]", ",", ":", ";", ".", "=", "<", ">", "+",
    "-", "*", "/", "%", "?", "@", "&", "|",
];

/// The tokens of a text, the last of them [`TokenKind::End`]; and the comment at its head.
pub fn lex(file: u16, text: &str) -> (Vec<Token>, String) {
    let mut lexer = Lexer { file, text, at: 0, first: true, tokens: Vec::new(), about: Vec::new() };
    while lexer.next() {}
    (lexer.tokens, lexer.about.join("\n"))
}

/// Most bytes of a name: tables have columns as wide as their names.
pub const LONGEST_NAME: usize = 200;

/// A control character that moves a terminal's cursor or changes its colours: it may stand nowhere, not even in a comment, since
/// names and comments are printed.
fn stray(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

struct Lexer<'a> {
    file: u16,
    text: &'a str,
    at: usize,
    first: bool,
    tokens: Vec<Token>,
    about: Vec<String>,
}

impl Lexer<'_> {
    fn push(&mut self, kind: TokenKind, start: usize) {
        let span = Span { file: self.file, start: start as u32, end: self.at as u32 };
        self.tokens.push(Token { kind, span, first: self.first });
        self.first = false;
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !keep(c)).unwrap_or(rest.len());
    }

    /// Takes one token, or white space, or a comment; false at the end.
    fn next(&mut self) -> bool {
        let start = self.at;
        let rest = &self.text[start..];
        let Some(c) = rest.chars().next() else {
            self.first = true;
            self.push(TokenKind::End, start);
            return false;
        };
        if c == '\n' {
            self.first = true;
            self.at += 1;
        } else if stray(c) {
            self.at += c.len_utf8();
            self.push(TokenKind::Unknown(c.to_string()), start);
        } else if c.is_whitespace() {
            self.at += c.len_utf8();
        } else if rest.starts_with("//") {
            self.take_while(|c| c != '\n' && !stray(c));
            if self.tokens.is_empty() {
                self.about.push(self.text[start + 2..self.at].trim().to_string());
            }
        } else if c.is_alphabetic() || c == '_' {
            self.take_while(|c| c.is_alphanumeric() || c == '_');
            let name = self.text[start..self.at].to_string();
            self.push(if name.len() <= LONGEST_NAME { TokenKind::Name(name) } else { TokenKind::Unknown(name) }, start);
        } else if c.is_ascii_digit() {
            self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            let word = self.text[start..self.at].replace('_', "");
            let number = match word.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16),
                None => word.parse(),
            };
            let kind =
                number.map_or_else(|_| TokenKind::Unknown(self.text[start..self.at].to_string()), TokenKind::Int);
            self.push(kind, start);
        } else if c == '"' {
            self.at += 1;
            self.take_while(|c| c != '"' && c != '\n' && !stray(c));
            let inner = self.text[start + 1..self.at].to_string();
            if self.text[self.at..].starts_with('"') {
                self.at += 1;
                self.push(TokenKind::Text(inner), start);
            } else {
                self.push(TokenKind::Unknown(self.text[start..self.at].to_string()), start);
            }
        } else if let Some(mark) = MARKS.iter().find(|m| rest.starts_with(**m)) {
            self.at += mark.len();
            self.push(TokenKind::Mark(mark), start);
        } else {
            self.at += c.len_utf8();
            self.push(TokenKind::Unknown(c.to_string()), start);
        }
        true
    }
}
