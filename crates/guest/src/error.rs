//! Errors found before a program runs.

use std::fmt;

/// What is wrong with an input, where, and what to do about it. All of them are bad input in the
/// sense of the command line: exit code 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// The file, or the function of the program, in which it is wrong.
    pub place: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Error {
    /// An error without place and help.
    pub fn new(what: impl Into<String>) -> Error {
        Error { what: what.into(), place: None, help: None }
    }

    /// The same error, at `place`.
    pub fn at(mut self, place: impl Into<String>) -> Error {
        self.place = Some(place.into());
        self
    }

    /// The same error, with what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Error {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        if let Some(place) = &self.place {
            write!(f, "\n --> {place}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
