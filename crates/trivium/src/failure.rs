//! How a command ends when it does not end well.

use std::fmt;
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

/// What is printed to standard error, and the exit code.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// `error: what`, ` --> place`, `help: remedy`.
    pub text: String,
    /// The error of a program that had begun, which has said something by then.
    pub of_program: Option<Box<NodeError>>,
}

impl Failure {
    /// Bad input: what is wrong and what to do.
    pub fn input(what: impl fmt::Display, help: impl fmt::Display) -> Failure {
        Failure::new(BAD_INPUT, what, help)
    }

    /// Any failure.
    pub fn new(code: u8, what: impl fmt::Display, help: impl fmt::Display) -> Failure {
        let help = help.to_string();
        let help = if help.is_empty() { String::new() } else { format!("help: {help}\n") };
        Failure { code, text: format!("error: {what}\n{help}"), of_program: None }
    }

    /// Bad input in a file: what is wrong, where, and what to do.
    pub fn at(what: impl fmt::Display, place: impl fmt::Display, help: impl fmt::Display) -> Failure {
        Failure::input(format!("{what}\n --> {place}"), help)
    }

    /// The same, with something that one should know about it.
    pub fn noting(mut self, note: &str) -> Failure {
        self.text.push_str(&format!("note: {note}\n"));
        self
    }

    /// What went wrong, without place and remedy.
    pub fn what(&self) -> &str {
        let first = self.text.lines().next().unwrap_or_default();
        first.strip_prefix("error: ").unwrap_or(first)
    }

    /// A text that already has the form of an error.
    pub fn rendered(code: u8, text: impl Into<String>) -> Failure {
        let mut text = text.into();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Failure { code, text, of_program: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It may quote names and lines of a file.
        f.write_str(&trivium_protocol::source::printable(&self.text))
    }
}

/// An error of a simulation or a run as the command line tells it.
pub fn told(error: &NodeError) -> Failure {
    let code = match error.blame {
        Blame::Subject => of_program(error.exit_code),
        Blame::Input => BAD_INPUT,
    };
    let of_program = error.said.is_some().then(|| Box::new(error.clone()));
    Failure { of_program, ..Failure::rendered(code, format!("error: {error}")) }
}
