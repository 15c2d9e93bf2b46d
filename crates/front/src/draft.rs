//! A translation in the making: the text, what is to be changed of it, and what is wrong with it.

use crate::diagnostics::Wrong;
use crate::dialect::c_star::Summary;
use crate::edits::Edits;
use crate::lex::{Lexed, Token};
use crate::place::Places;
use crate::types::{ParallelShape, Signature};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A spread array at file scope, which must be allocated.
pub(crate) struct Storage {
    pub name: String,
    /// The token of the name.
    pub token: usize,
    /// How many elements in all, in C.
    pub count: String,
}

/// A declaration of a shape.
pub(crate) struct FileShape {
    pub name: String,
    /// The object in C.
    pub object: String,
    /// Whether it is `extern`.
    pub is_elsewhere: bool,
    pub rank: usize,
    /// How many nodes are below each other, and side by side; 0 if nothing is said.
    pub blocks: (u32, u32),
}

/// Who names a variable at file scope.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linkage {
    /// This file alone, which defines it.
    Own,
    /// Others may; this file defines it.
    Defined,
    /// Another file defines it.
    Elsewhere,
}

/// A parallel variable at file scope.
pub(crate) struct FileVariable {
    pub name: String,
    pub linkage: Linkage,
    pub shape: Rc<ParallelShape>,
    /// Of an array of them.
    pub dimensions: usize,
    /// What it has at each position in the beginning, in C; zero if nothing is said.
    pub initial: Option<String>,
}

/// `splitc_main`, as it was defined.
pub(crate) struct Main {
    /// Whether it takes arguments.
    pub takes_arguments: bool,
    /// Whether it gives a number.
    pub gives: bool,
}

/// What becomes of C*'s parallel statements.
#[derive(Clone, Copy)]
pub(crate) enum Meaning<'a> {
    /// Loops over the positions of a node.
    Compiled,
    /// One operator after the other, at all positions. With places: each statement tells what it has done, with its text.
    Interpreted { told: Option<&'a Places> },
}

/// What the parser and a dialect write into.
pub(crate) struct Draft<'a> {
    pub lexed: &'a Lexed<'a>,
    pub meaning: Meaning<'a>,
    pub edits: Edits,
    pub wrong: Vec<Wrong>,
    /// Whether what is read stands in a function.
    pub in_function: bool,
    /// Whether what is read is an operand of `sizeof` or `typeof`.
    pub unevaluated: bool,
    /// Spread arrays that this file defines.
    pub storage: Vec<Storage>,
    pub main: Option<Main>,
    /// Whether the file has a `splitc_main` or a `main`.
    pub has_main: bool,
    /// Shapes of C* that this file declares, in all of its declarations.
    pub shapes: Vec<FileShape>,
    /// Parallel variables that it declares.
    pub parallel: Vec<FileVariable>,
    /// Functions with something parallel, by their names.
    pub functions: HashMap<String, Rc<Signature>>,
    /// What is known of C*'s functions whose bodies were read, by their names.
    pub summaries: HashMap<String, Summary>,
    /// Whether barriers stand around each communication, needed or not.
    pub is_naive: bool,
    /// Whether what C* gets and sends goes by a protocol's calls.
    pub has_calls: bool,
    /// Whether a single value of C* goes to all nodes through a tree.
    pub has_trees: bool,
    /// Functions that only this file names.
    pub statics: HashSet<String>,
    /// Functions that system headers declare.
    pub of_headers: HashSet<String>,
    temporaries: usize,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(lexed: &'a Lexed<'a>, meaning: Meaning<'a>) -> Draft<'a> {
        let (edits, wrong, storage) = (Edits::default(), Vec::new(), Vec::new());
        Draft {
            lexed,
            meaning,
            edits,
            wrong,
            in_function: false,
            unevaluated: false,
            storage,
            main: None,
            has_main: false,
            shapes: Vec::new(),
            parallel: Vec::new(),
            functions: HashMap::new(),
            summaries: HashMap::new(),
            is_naive: false,
            has_calls: false,
            has_trees: false,
            statics: HashSet::new(),
            of_headers: HashSet::new(),
            temporaries: 0,
        }
    }

    /// How a token is written; the end of the text behind it.
    pub(crate) fn word_at(&self, token: usize) -> &str {
        self.lexed.word(token.min(self.lexed.tokens.len() - 1))
    }

    /// A token; the end behind it.
    pub(crate) fn token_at(&self, token: usize) -> &Token {
        &self.lexed.tokens[token.min(self.lexed.tokens.len() - 1)]
    }

    /// Notes a mistake. In a system header, nobody could do anything about it: what is declared there stays unknown.
    pub(crate) fn error(&mut self, first: usize, last: usize, message: impl Into<String>) -> &mut Wrong {
        let end = self.lexed.tokens.len() - 1;
        let (first, last) = (first.min(end), last.min(end));
        let wrong = Wrong { first, last, message: message.into(), help: None, hidden: self.lexed.tokens[first].system };
        self.wrong.push(wrong);
        self.wrong.last_mut().expect("just pushed")
    }

    /// A name that nobody else has.
    pub(crate) fn temporary(&mut self, of: &str) -> String {
        self.temporaries += 1;
        format!("{of}_{}", self.temporaries)
    }
}
