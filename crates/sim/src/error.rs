//! Why a simulation could not be set up, or went wrong.

use std::fmt;
use trivium_node::{NodeError, Said, Unfit};

/// Whose fault it is, which decides the exit code of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The program or the protocol is wrong: a trap, a deadlock, a fault of the protocol.
    Subject,
    /// The machine, the options or another input is wrong.
    Input,
}

/// An error with its cause, its place and a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimError {
    /// Whose fault it is.
    pub blame: Blame,
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// `file:line:column`, or what stands for it.
    pub place: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Further lines: who waits for what.
    pub notes: Vec<String>,
    /// The phase and the block in which several nodes store, where none but one may.
    pub race: Option<Box<(u64, u32)>>,
    /// What the programs had said by then, if they had begun.
    pub said: Option<Box<Said>>,
}

impl SimError {
    /// The program or the protocol is wrong.
    pub fn subject(what: impl Into<String>) -> SimError {
        SimError {
            blame: Blame::Subject,
            what: what.into(),
            place: None,
            help: None,
            notes: Vec::new(),
            race: None,
            said: None,
        }
    }

    /// An input is wrong.
    pub fn input(what: impl Into<String>) -> SimError {
        SimError { blame: Blame::Input, ..SimError::subject(what) }
    }

    /// The same error, at `place`.
    pub fn at(mut self, place: impl Into<String>) -> SimError {
        self.place = Some(place.into());
        self
    }

    /// The same error, with what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> SimError {
        self.help = Some(help.into());
        self
    }

    /// The same error, with a further line.
    pub fn note(mut self, note: impl Into<String>) -> SimError {
        self.notes.push(note.into());
        self
    }
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        if let Some(place) = &self.place {
            write!(f, "\n --> {place}")?;
        }
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SimError {}

/// What a program or a protocol did wrong on a node.
impl From<NodeError> for SimError {
    fn from(error: NodeError) -> SimError {
        SimError { notes: error.notes, help: error.help, ..SimError::subject(error.what) }
    }
}

/// The program and the protocols do not go together.
impl From<Unfit> for SimError {
    fn from(unfit: Unfit) -> SimError {
        SimError { place: unfit.place, help: unfit.help, ..SimError::input(unfit.what) }
    }
}
