//! C11 with GNU's extensions, as far as headers and programs use them: recursive descent over tokens. What is read is given types, and handed to the dialect:
//! a function's body as a tree, at its end; expressions outside of functions one by one. Nothing is kept but the changes. After a mistake, reading goes on behind it.

mod declarations;
mod declarators;
mod expressions;
mod parallel;
mod shapes;
mod specifiers;
mod statements;

use crate::Dialect;
use crate::diagnostics::Wrong;
use crate::dialect::{c_star, c_star_interpret, split_c};
use crate::draft::{Draft, Meaning};
use crate::edits::Edits;
use crate::lex::{Kind, Lexed, Token};
use crate::scope::Scopes;
use crate::tree::{Body, Expression, LocalVariable, Statement, Whole};
use crate::types::{ParallelShape, Type};
use std::rc::Rc;

/// What is to be changed, or what is wrong.
pub(crate) struct Parsed {
    pub edits: Edits,
    pub wrong: Vec<Wrong>,
}

/// A mistake was noted; whoever can go on behind it does.
pub(crate) struct Failed;

pub(crate) type Parse<T> = Result<T, Failed>;

/// Most levels of what stands in each other: a pair of parentheses is two. Clang takes 256 brackets.
const DEEPEST: usize = 512;

pub(crate) struct Parser<'a> {
    draft: Draft<'a>,
    at: usize,
    scopes: Scopes,
    dialect: Dialect,
    deep: usize,
    /// Whether the pointer that was last read is `const` itself.
    pointer_is_const: bool,
    /// Whether a `:` now ends the middle of a conditional expression.
    in_middle: bool,
    /// The dimension whose left index is read.
    axis: Option<usize>,
    /// The shape that is current in what is read.
    current: Option<Rc<ParallelShape>>,
    /// Parallel variables of the declaration that was read last.
    locals: Vec<LocalVariable>,
    /// The function that is read, without its body yet.
    function: Body,
    /// How many statements and declarations of C*'s own were read.
    own_statements: usize,
    /// Whether the declaration that was read last has become several.
    has_split: bool,
    /// The type of the statement expression that has just ended.
    value_of_block: Type,
    /// The whole expressions of the function's body that is read.
    wholes: Vec<Whole>,
}

/// Reads a whole text. `meaning`: of C*.
pub(crate) fn parse<'a>(lexed: &'a Lexed<'a>, dialect: Dialect, meaning: Meaning<'a>) -> Parsed {
    let mut parser = Parser {
        draft: Draft::new(lexed, meaning),
        at: 0,
        scopes: Scopes::new(),
        dialect,
        deep: 0,
        pointer_is_const: false,
        in_middle: false,
        axis: None,
        current: None,
        locals: Vec::new(),
        function: Body::default(),
        own_statements: 0,
        has_split: false,
        value_of_block: Type::unknown(),
        wholes: Vec::new(),
    };
    parser.unit();
    match dialect {
        Dialect::C => {}
        Dialect::SplitC => {
            split_c::begin(&mut parser.draft);
            split_c::end(&mut parser.draft);
        }
        Dialect::CStar => match meaning {
            Meaning::Compiled => c_star::end(&mut parser.draft),
            Meaning::Interpreted { .. } => c_star_interpret::end(&mut parser.draft),
        },
    }
    // Nobody could mend a system header; what is not understood there stays unknown.
    parser.draft.wrong.retain(|wrong| !wrong.hidden);
    Parsed { edits: parser.draft.edits, wrong: parser.draft.wrong }
}

impl Parser<'_> {
    fn unit(&mut self) {
        while self.kind() != Kind::End {
            let begun = self.at;
            if self.external_declaration().is_err() {
                self.scopes.leave_to(1);
                self.end_body(None);
                self.draft.unevaluated = false;
                self.in_middle = false;
                self.axis = None;
                self.current = None;
                self.locals.clear();
                self.deep = 0;
                self.skip_declaration(begun);
            }
        }
    }

    /// Behind a declaration that is wrong: its `;`, or the `}` that closes its body. If brackets are not closed, behind the next of these marks.
    fn skip_declaration(&mut self, begun: usize) {
        let wrong = std::mem::replace(&mut self.at, begun);
        while self.kind() != Kind::End {
            let (is_body, is_group) = (self.is("{"), self.is("(") || self.is("["));
            if is_body || is_group {
                self.skip_group();
            } else {
                self.at += 1;
            }
            if self.kind() == Kind::End {
                break;
            }
            let ends_line = self.token().line != self.draft.token_at(self.at - 1).line;
            if self.word_at(self.at - 1) == ";" || is_body && (ends_line || self.begins_declaration_here()) {
                return;
            }
        }
        self.at = wrong.max(begun);
        while self.kind() != Kind::End {
            self.at += 1;
            if [";", "}"].contains(&self.word_at(self.at - 1)) {
                return;
            }
        }
    }

    /// Whether what stands here does not go on with what a `}` has ended: `struct { .. } x`, `{ .. }, y`.
    fn begins_declaration_here(&self) -> bool {
        !self.is_one_of(&[";", ",", "=", "*"]) && self.kind() != Kind::Name
    }

    /// The token here; behind the end, the end.
    pub(crate) fn token(&self) -> &Token {
        self.draft.token_at(self.at)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.token().kind
    }

    pub(crate) fn word(&self) -> &str {
        self.word_at(self.at)
    }

    pub(crate) fn word_at(&self, token: usize) -> &str {
        self.draft.word_at(token)
    }

    /// Whether this is that mark or keyword.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.word() == word
    }

    pub(crate) fn is_next(&self, word: &str) -> bool {
        self.word_at(self.at + 1) == word
    }

    pub(crate) fn is_one_of(&self, words: &[&str]) -> bool {
        words.contains(&self.word())
    }

    /// Whether these two marks stand here and touch: `:=`.
    pub(crate) fn is_pair(&self, at: usize, first: &str, second: &str) -> bool {
        let tokens = &self.draft.lexed.tokens;
        self.dialect == Dialect::SplitC
            && at + 1 < tokens.len()
            && self.word_at(at) == first
            && self.word_at(at + 1) == second
            && tokens[at].end == tokens[at + 1].start
    }

    pub(crate) fn eat(&mut self, word: &str) -> bool {
        let is = self.is(word);
        if is {
            self.at += 1;
        }
        is
    }

    pub(crate) fn expect(&mut self, word: &str) -> Parse<()> {
        if self.eat(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Notes that something else should stand here.
    pub(crate) fn expected(&mut self, what: &str) -> Failed {
        let found = match self.kind() {
            Kind::End => "the end of the file".to_string(),
            _ => format!("`{}`", self.word()),
        };
        self.error(self.at, self.at, format!("{what} is expected here, not {found}"));
        Failed
    }

    /// Notes a mistake.
    pub(crate) fn error(&mut self, first: usize, last: usize, message: impl Into<String>) -> &mut Wrong {
        self.draft.error(first, last, message)
    }

    /// Goes in one level.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.deep >= DEEPEST {
            self.error(self.at, self.at, format!("this is nested deeper than {DEEPEST} levels"));
            return Err(Failed);
        }
        self.deep += 1;
        let result = read(self);
        self.deep = self.deep.saturating_sub(1);
        result
    }

    /// Behind the bracket that closes the one here.
    pub(crate) fn skip_group(&mut self) {
        let mut open = 0usize;
        while self.kind() != Kind::End {
            match self.word() {
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" => open = open.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
    }

    /// A token behind the bracket that closes the one there.
    pub(crate) fn behind_group(&mut self, open: usize) -> usize {
        let at = std::mem::replace(&mut self.at, open);
        self.skip_group();
        std::mem::replace(&mut self.at, at)
    }

    /// Keeps a whole expression until its function ends; outside of functions it goes to the dialect at once. `used`: whether its value is.
    pub(crate) fn whole(&mut self, expression: Expression, used: bool) {
        let whole = Whole { expression, used, unevaluated: self.draft.unevaluated };
        if self.draft.in_function {
            self.wholes.push(whole);
        } else {
            self.decide(&Body { wholes: vec![whole], ..Body::default() });
        }
    }

    /// A function's body has ended, or could not be read to its end.
    fn end_body(&mut self, block: Option<Statement>) {
        let wholes = std::mem::take(&mut self.wholes);
        let body = Body { block, wholes, ..std::mem::take(&mut self.function) };
        self.decide(&body);
        self.draft.in_function = false;
    }

    /// Lets the dialect say what becomes of what was read.
    fn decide(&mut self, body: &Body) {
        match self.dialect {
            Dialect::C => {}
            Dialect::SplitC => split_c::body(&mut self.draft, body),
            Dialect::CStar => match self.draft.meaning {
                Meaning::Compiled => {
                    // What cstar.h declares if CSTAR_NAIVE is defined, CSTAR_CALLS, and CSTAR_TREES.
                    self.draft.is_naive = self.scopes.find("cstar_naive").is_some();
                    self.draft.has_calls = self.scopes.find("cstar_calls").is_some();
                    self.draft.has_trees = self.scopes.find("cstar_trees").is_some();
                    c_star::body(&mut self.draft, body);
                }
                Meaning::Interpreted { .. } => c_star_interpret::body(&mut self.draft, body),
            },
        }
    }

    /// A constant, or GNU's range of them: `1 ... 3`.
    fn constant_or_range(&mut self) -> Parse<()> {
        let first = self.conditional()?;
        self.whole(first, true);
        if self.eat("...") {
            let last = self.conditional()?;
            self.whole(last, true);
        }
        Ok(())
    }

    /// A whole expression, whose value is used.
    pub(crate) fn full_expression(&mut self) -> Parse<Type> {
        let expression = self.expression()?;
        let ty = expression.ty.clone();
        self.whole(expression, true);
        Ok(ty)
    }
}
