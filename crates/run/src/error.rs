//! Why a run could not begin, or went wrong.

use serde::{Deserialize, Serialize};
use std::fmt;
use trivium_engine::Node;
use trivium_guest::Place;
use trivium_node::{NodeError, Unfit};

/// An error with its cause, its place and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// Whether an input is wrong, and not the program or the protocol.
    pub is_input: bool,
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// `file:line:column`, or what stands for it.
    pub place: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Further lines.
    pub notes: Vec<String>,
}

impl RunError {
    /// The program or the protocol is wrong.
    pub fn subject(what: impl Into<String>) -> RunError {
        RunError { is_input: false, what: what.into(), place: None, help: None, notes: Vec::new() }
    }

    /// An input is wrong.
    pub fn input(what: impl Into<String>) -> RunError {
        RunError { is_input: true, ..RunError::subject(what) }
    }

    /// The same error, at `place`.
    pub fn at(self, place: impl Into<String>) -> RunError {
        RunError { place: Some(place.into()), ..self }
    }

    /// The same error, with what to do about it.
    pub fn help(self, help: impl Into<String>) -> RunError {
        RunError { help: Some(help.into()), ..self }
    }

    /// The same error, with a further line.
    pub fn note(mut self, note: impl Into<String>) -> RunError {
        self.notes.push(note.into());
        self
    }

    /// The same error, with where the program of a node stood, the innermost call first.
    pub fn standing(mut self, node: Node, stack: &[Place]) -> RunError {
        let own = stack.iter().position(|place| !place.is_library()).unwrap_or(0);
        if let Some((file, line)) = stack.get(own).and_then(|place| place.line.as_ref()) {
            self.place.get_or_insert(format!("{file}:{line}"));
        }
        let mut names: Vec<&str> = stack.iter().take(own + 1).map(|place| place.function.as_str()).collect();
        names.dedup();
        let within = if names.is_empty() { String::new() } else { format!(" in {}", names.join(", called by ")) };
        self.notes.insert(0, format!("node {node}{within}"));
        self
    }
}

impl fmt::Display for RunError {
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

impl std::error::Error for RunError {}

impl From<NodeError> for RunError {
    fn from(error: NodeError) -> RunError {
        RunError { notes: error.notes, help: error.help, ..RunError::subject(error.what) }
    }
}

impl From<Unfit> for RunError {
    fn from(unfit: Unfit) -> RunError {
        RunError { place: unfit.place, help: unfit.help, ..RunError::input(unfit.what) }
    }
}

impl From<trivium_guest::Error> for RunError {
    fn from(error: trivium_guest::Error) -> RunError {
        RunError { place: error.place, help: error.help, ..RunError::input(error.what) }
    }
}
