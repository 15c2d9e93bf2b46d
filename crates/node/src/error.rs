//! What programs and protocols do wrong on a node.

use std::fmt;

/// An error of a program or a protocol, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeError {
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// Further lines.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl NodeError {
    /// An error without a remedy.
    pub fn new(what: impl Into<String>) -> NodeError {
        NodeError { what: what.into(), notes: Vec::new(), help: None }
    }

    /// The same error, with a further line.
    pub fn note(mut self, note: impl Into<String>) -> NodeError {
        self.notes.push(note.into());
        self
    }

    /// The same error, with what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> NodeError {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for NodeError {}
