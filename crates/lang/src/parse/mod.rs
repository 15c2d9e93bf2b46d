//! Tokens to [`ast`](crate::ast). It goes on after a mistake, so that one run tells several.
//!
//! Items are recovered at the next word that starts an item at the beginning of a line, statements at the
//! next line or closing brace.

mod bodies;
mod expressions;
mod ghosts;
mod items;
mod roles;
mod statements;

use crate::ast::*;
use crate::diagnostics::Mistakes;
use crate::lexer::{LONGEST_NAME, Token, TokenKind};
use std::collections::BTreeSet;
use trivium_diagnostic::Code;
use trivium_protocol::source::Span;

/// Parses a file's tokens. Mistakes go to `diagnostics`; what could be read is returned.
pub fn parse(tokens: &[Token], diagnostics: &mut Mistakes) -> File {
    let mut parser =
        Parser { tokens, at: 0, diagnostics, nesting: 0, depth: 0, operators: 0, misnamed: BTreeSet::new() };
    parser.file()
}

/// How deeply expressions and statements may nest: enough for people, too little for the stack to overflow.
const MAX_DEPTH: u32 = 100;

/// How many operators a statement's expressions may have, for the same reason: `a + b + c` is a deep tree.
const MAX_OPERATORS: u32 = 200;

/// Marks that something could not be read; the mistake has been noted.
struct Lost;

type Parsed<T> = Result<T, Lost>;

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    diagnostics: &'a mut Mistakes,
    /// Inside brackets a new line does not end an expression.
    nesting: u32,
    depth: u32,
    /// How many operators the present expression has.
    operators: u32,
    /// Words of the language that the file has used as names.
    misnamed: BTreeSet<String>,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn span(&self) -> Span {
        self.token().span
    }

    fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn advance(&mut self) -> &Token {
        let at = self.at;
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        &self.tokens[at]
    }

    fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(&self.token().kind, TokenKind::Mark(m) if *m == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token().kind, TokenKind::Name(n) if n == word)
    }

    fn next_is_word(&self, word: &str) -> bool {
        matches!(self.tokens.get(self.at + 1).map(|t| &t.kind), Some(TokenKind::Name(n)) if n == word)
    }

    /// The name that stands after the present word, in its line.
    fn name_behind(&self) -> Option<&str> {
        match self.tokens.get(self.at + 1) {
            Some(Token { kind: TokenKind::Name(name), first: false, .. }) => Some(name),
            _ => None,
        }
    }

    fn next_is_mark(&self, mark: &str) -> bool {
        matches!(self.tokens.get(self.at + 1).map(|t| &t.kind), Some(TokenKind::Mark(m)) if *m == mark)
    }

    fn eat_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Notes that something else was expected here.
    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let token = self.token();
        if matches!(&token.kind, TokenKind::Name(name) if self.misnamed.contains(name)) {
            return Err(Lost);
        }
        let found = match &token.kind {
            TokenKind::Name(n) => format!("`{n}`"),
            TokenKind::Int(i) => format!("`{i}`"),
            TokenKind::Text(t) => format!("\"{t}\""),
            TokenKind::Mark(m) => format!("`{m}`"),
            TokenKind::Unknown(u) if u.chars().all(char::is_control) => {
                format!("the control character {}, which no protocol may have", u.escape_unicode())
            }
            TokenKind::Unknown(u) if u.starts_with('"') => format!("{u}, a text without its closing quote"),
            TokenKind::Unknown(u) if u.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("`{u}`, which is not a whole number of 64 bits")
            }
            TokenKind::Unknown(u) if u.len() > LONGEST_NAME => format!("a name of more than {LONGEST_NAME} bytes"),
            TokenKind::Unknown(u) => format!("`{u}`, which is not part of the language"),
            TokenKind::End => "the end of the file".to_string(),
        };
        let span = token.span;
        let help = match &token.kind {
            TokenKind::Mark("/") if self.is_star_next() => Some("a comment begins with `//` and ends with its line"),
            TokenKind::Mark("=") => Some("`==` compares; `=` assigns, in a statement of its own"),
            TokenKind::Name(word) if what == "`{`" && WITHOUT_BRACES.contains(&word.as_str()) => {
                Some("what depends on a condition stands in braces: `if c { .. }`")
            }
            TokenKind::Mark(sign) => elsewhere(sign),
            TokenKind::Unknown(sign) => elsewhere(sign),
            TokenKind::Name(word) if matches!(what, "a statement" | "an expression") => elsewhere(word),
            _ => None,
        };
        let error = self.diagnostics.error(Code::Syntax, span, format!("expected {what}, found {found}"));
        if let Some(help) = help {
            error.help(help);
        }
        Err(Lost)
    }

    fn is_star_next(&self) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|token| token.kind == TokenKind::Mark("*"))
    }

    fn need_mark(&mut self, mark: &str) -> Parsed<Span> {
        if self.is_mark(mark) { Ok(self.advance().span) } else { self.expected(&format!("`{mark}`")) }
    }

    fn need_word(&mut self, word: &str) -> Parsed<Span> {
        if self.is_word(word) { Ok(self.advance().span) } else { self.expected(&format!("`{word}`")) }
    }

    fn name(&mut self, what: &str) -> Parsed<Ident> {
        match &self.token().kind {
            TokenKind::Name(text) if !RESERVED.contains(&text.as_str()) => {
                let ident = Ident { text: text.clone(), span: self.token().span };
                self.advance();
                Ok(ident)
            }
            TokenKind::Name(text) if what.ends_with("name") => self.misnamed(text.clone(), what),
            _ => self.expected(what),
        }
    }

    /// A word of the language stands where a name should. If a name could go on like that, it is taken for one, and what
    /// follows from it is not told again.
    fn misnamed(&mut self, text: String, what: &str) -> Parsed<Ident> {
        let span = self.token().span;
        if !self.misnamed.contains(&text) {
            let message = format!("`{text}` is a word of the language, and cannot be {what}");
            self.diagnostics.error(Code::Name, span, message).help("choose another name");
        }
        let goes_on = matches!(self.tokens.get(self.at + 1).map(|token| &token.kind), Some(TokenKind::Mark(_)));
        if !goes_on {
            return Err(Lost);
        }
        self.misnamed.insert(text.clone());
        self.advance();
        Ok(Ident { text, span })
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.span();
            self.diagnostics
                .error(Code::Syntax, span, format!("this is nested more than {MAX_DEPTH} deep"))
                .help("simplify it");
            return Err(Lost);
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Counts an operator of the present statement.
    fn operator(&mut self, span: Span) -> Parsed<()> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            self.diagnostics
                .error(Code::Syntax, span, format!("this has more than {MAX_OPERATORS} operators"))
                .help("take parts of it out with `let`");
            return Err(Lost);
        }
        Ok(())
    }

    /// `item, item, ..` until something that is not a comma.
    fn listed<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = vec![item(self)?];
        while self.eat_mark(",") {
            list.push(item(self)?);
        }
        Ok(list)
    }

    /// `( item, item )`, or nothing at all.
    fn bracketed<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        if !self.eat_mark("(") {
            return Ok(list);
        }
        self.nesting += 1;
        let mut go = || -> Parsed<()> {
            if !self.is_mark(")") {
                list = self.listed(&mut item)?;
            }
            self.need_mark(")")?;
            Ok(())
        };
        let done = go();
        self.nesting -= 1;
        done.map(|()| list)
    }

    /// Goes on behind a mistake: to the next line, or to the brace that closes the present block.
    fn skip_statement(&mut self, before: usize) {
        self.pass_statement();
        self.lose(before);
    }

    /// The same where something else than a statement was to be read.
    fn skip_member(&mut self, before: usize) {
        self.pass_statement();
        self.diagnostics.lost_declarations = true;
        if self.at == before {
            self.advance();
        }
    }

    /// What stands between a token and this one means nothing: nobody knows what its names would have been.
    fn lose(&mut self, before: usize) {
        let end = self.at.min(self.tokens.len());
        let names = self.tokens[before.min(end)..end].iter().filter_map(|token| match &token.kind {
            TokenKind::Name(name) => Some(name.clone()),
            _ => None,
        });
        self.diagnostics.lost.extend(names);
    }

    fn pass_statement(&mut self) {
        let mut depth = 0;
        loop {
            if self.at_end() {
                return;
            }
            if self.is_mark("{") {
                depth += 1;
            } else if self.is_mark("}") {
                if depth == 0 {
                    return;
                }
                depth -= 1;
            }
            self.advance();
            if depth == 0 && (self.token().first || self.is_mark(";")) {
                return;
            }
        }
    }

    /// Goes on behind a mistake: to the next word at the start of a line that starts an item.
    fn skip_item(&mut self) {
        loop {
            self.advance();
            let token = self.token();
            match &token.kind {
                TokenKind::End => return,
                TokenKind::Name(n) if token.first && ITEMS.contains(&n.as_str()) => return,
                _ => {}
            }
        }
    }
}

/// Words that start an item.
const ITEMS: &[&str] = &[
    "use",
    "check",
    "promises",
    "assume",
    "processor",
    "param",
    "lane",
    "share",
    "object",
    "record",
    "message",
    "event",
    "op",
    "role",
    "extend",
    "ghost",
    "invariant",
    "scenario",
    "waits",
    "waive",
    "protocol",
];

/// Words with which statements begin that people write after a condition without braces.
const WITHOUT_BRACES: [&str; 6] = ["return", "goto", "send", "lower", "complete", "resume"];

/// Words with which statements begin.
const STATEMENTS: [&str; 22] = [
    "let",
    "if",
    "for",
    "send",
    "goto",
    "lower",
    "return",
    "start",
    "install",
    "copy",
    "perform",
    "assert",
    "await",
    "resume",
    "complete",
    "defer",
    "stall",
    "yield",
    "impossible",
    "free",
    "fill",
    "take",
];

/// What stands here for a word or a sign of other languages.
fn elsewhere(word: &str) -> Option<&'static str> {
    Some(match word {
        "!" => "`not` negates: `if not done { .. }`; `!=` compares",
        "&" => "`and` joins conditions; a set is changed by `+`, `-` and `in`",
        "|" => "`or` joins conditions; two sets are joined by `+`",
        "?" => "a choice between two values is `if c { .. } else { .. }`",
        "while" | "loop" | "do" | "until" => {
            "every handler ends, so that a loop goes over a set, a list or a range: `for x in S while CONDITION { .. }`"
        }
        "break" | "continue" => "a loop ends early by a condition in its head: `for x in S while CONDITION { .. }`",
        "switch" | "case" | "match" => "several cases are `if .. { } else if .. { } else { }`",
        "int" | "bool" => {
            "a variable of a handler is `let n = ..`; one of a record is declared in its role: `var n: 0..7`"
        }
        _ => return None,
    })
}

/// Words that cannot be names.
const RESERVED: [&str; 22] = [
    "if",
    "else",
    "for",
    "in",
    "is",
    "and",
    "or",
    "not",
    "let",
    "on",
    "when",
    "send",
    "goto",
    "await",
    "otherwise",
    "while",
    "true",
    "false",
    "none",
    "state",
    "var",
    "role",
];
