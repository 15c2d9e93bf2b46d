//! How a command ends when it does not end well.

use serde_json::{Value, json};
use std::fmt;
use trivium_diagnostic::{Code, Diagnostic, Diagnostics, Place};
use trivium_sim::{Blame, NodeError};

/// The subject is wrong: a violated property, a wrong answer, a deadlock, a trap of the program.
pub const WRONG: u8 = 1;
/// Bad input or usage.
pub const BAD_INPUT: u8 = 2;
/// A limit was met, or Ctrl-C.
pub const INCOMPLETE: u8 = 3;

/// The exit code where a program has ended with `code`: the same, as systems have it (its lowest eight bits), but for those that mean
/// something of Trivium's own.
pub fn of_program(code: i32) -> u8 {
    match code as u8 {
        0..=INCOMPLETE => WRONG,
        code => code,
    }
}

/// What is told on standard error, and the exit code.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// What is wrong, in the order in which it is told; nothing where another rank tells it.
    pub errors: Vec<Diagnostic>,
    /// What the C compiler has said, which people read in place of the errors: editors find files and lines in its own words.
    pub said: Option<String>,
    /// The error of a program that had begun, which has said something by then.
    pub of_program: Option<Box<NodeError>>,
}

impl Failure {
    /// Bad input: what is wrong and what to do.
    pub fn input(code: Code, what: impl fmt::Display, help: impl fmt::Display) -> Failure {
        Failure::new((BAD_INPUT, code), what, help)
    }

    /// Any failure, with its exit code and its kind.
    pub fn new((exit, code): (u8, Code), what: impl fmt::Display, help: impl fmt::Display) -> Failure {
        Failure::of(exit, Diagnostic::new(code, what.to_string()).help(help.to_string()))
    }

    /// Bad input in a file: what is wrong, where, and what to do.
    pub fn at(code: Code, what: impl fmt::Display, place: impl fmt::Display, help: impl fmt::Display) -> Failure {
        let place = Place::from(place.to_string());
        Failure::of(BAD_INPUT, Diagnostic::new(code, what.to_string()).help(help.to_string()).at(place))
    }

    /// With an exit code, and nothing else than this.
    pub fn of(exit: u8, error: Diagnostic) -> Failure {
        Failure { code: exit, errors: vec![error], ..Failure::default() }
    }

    /// With an exit code, and nothing to tell: somebody else does.
    pub fn silent(exit: u8) -> Failure {
        Failure { code: exit, ..Failure::default() }
    }

    /// The same, with something that one should know about it.
    pub fn noting(mut self, note: &str) -> Failure {
        if let Some(last) = self.errors.last_mut() {
            last.notes.push(note.into());
        }
        self
    }

    /// What went wrong first, without place and remedy.
    pub fn what(&self) -> &str {
        self.errors.first().map_or("", |error| &error.message)
    }
}

/// Bad input.
impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Failure {
        Failure::of(BAD_INPUT, error)
    }
}

/// All that is wrong with a protocol's or a program's text.
impl From<Diagnostics> for Failure {
    fn from(wrong: Diagnostics) -> Failure {
        Failure { code: BAD_INPUT, errors: wrong.list, ..Failure::default() }
    }
}

/// Errors one after the other, with an empty line between them.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(said) = &self.said {
            return f.write_str(&trivium_protocol::source::printable(said));
        }
        for (i, error) in self.errors.iter().enumerate() {
            writeln!(f, "{}{error}", if i > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

/// The error of a program that had begun, as its result has it under `error`.
pub fn summary(error: &NodeError) -> Value {
    let Diagnostic { message, places, notes, help, .. } = &*error.diagnostic;
    json!({ "what": message, "place": places.first().map(Place::to_string), "notes": notes, "help": help })
}

/// An error of a simulation or a run as the command line tells it.
pub fn told(error: &NodeError) -> Failure {
    let code = match error.blame {
        Blame::Subject => of_program(error.exit_code),
        Blame::Input => BAD_INPUT,
    };
    let of_program = error.said.is_some().then(|| Box::new(error.clone()));
    Failure { of_program, ..Failure::of(code, (*error.diagnostic).clone()) }
}
