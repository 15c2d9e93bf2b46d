//! What programs and protocols do wrong on nodes, and what keeps them from beginning.

mod counts;
mod faults;
mod said;

pub use counts::{MemoryUsed, Misses};
pub(crate) use faults::blame;
pub use faults::of_fault;
pub use said::{NodeSaid, Said, Saying};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use trivium_guest::{DebugInfo, SourceLocation};

/// So many calls of a stack are told.
const CALLS: usize = 6;

/// Whose fault it is, which decides the exit code of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Blame {
    /// The program or the protocol is wrong: a trap, a deadlock, a fault of the protocol.
    Subject,
    /// The machine, the options or another input is wrong.
    Input,
}

/// What an error is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum About {
    /// The phase and the block in which several nodes store, where none but one may.
    Race(u64, u32),
    /// An address in a node's private memory, and the range of that in which its block lies.
    Own(u32, Range<u32>),
}

/// An error with its cause, its place and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeError {
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
    /// Whether the notes say what each node does.
    pub tells_all: bool,
    /// The code with which a program has left `main` before others, who cannot go on without it; 0 where none has with another.
    pub exit_code: i32,
    /// What it is about, where more can be found out of that.
    pub about: Option<Box<About>>,
    /// What the programs had said by then, if they had begun. It is told by the nodes that said it, and not sent with the error.
    #[serde(skip)]
    pub said: Option<Box<Said>>,
}

impl NodeError {
    /// The program or the protocol is wrong.
    pub fn subject(what: impl Into<String>) -> NodeError {
        NodeError {
            blame: Blame::Subject,
            what: what.into(),
            place: None,
            help: None,
            notes: Vec::new(),
            tells_all: false,
            exit_code: 0,
            about: None,
            said: None,
        }
    }

    /// An input is wrong.
    pub fn input(what: impl Into<String>) -> NodeError {
        NodeError { blame: Blame::Input, ..NodeError::subject(what) }
    }

    /// The same error, at `place`.
    pub fn at(self, place: impl Into<String>) -> NodeError {
        NodeError { place: Some(place.into()), ..self }
    }

    /// The same error, with what to do about it.
    pub fn help(self, help: impl Into<String>) -> NodeError {
        NodeError { help: Some(help.into()), ..self }
    }

    /// The same error, with a further line.
    pub fn note(mut self, note: impl Into<String>) -> NodeError {
        self.notes.push(note.into());
        self
    }

    /// The same error, with the names of the variables that it is about, as the program's debug information tells them: asked for only if
    /// it is about some.
    pub fn naming<'a>(self, map: impl FnOnce() -> Option<DebugInfo<'a>>) -> NodeError {
        let Some(About::Own(address, block)) = self.about.as_deref() else { return self };
        let Some(map) = map() else { return self };
        let (own, beside): (Vec<_>, Vec<_>) =
            map.variables(block).into_iter().partition(|variable| variable.place.contains(address));
        let Some(own) = own.first() else { return self };
        let within = match address - own.place.start {
            0 => String::new(),
            byte => format!("byte {byte} of "),
        };
        let beside: Vec<String> = beside.iter().map(|variable| format!("`{}`", variable.name)).collect();
        let beside = match beside.is_empty() {
            true => String::new(),
            false => format!("; the block also holds {}", beside.join(", ")),
        };
        let note = format!("{address:#x} is {within}`{}`{beside}", own.name);
        self.note(note)
    }

    /// The same error, with where the program of `who` stood, the innermost call first. If it has a place already, as one of a protocol has, both are told.
    pub fn standing(mut self, who: &str, stack: &[SourceLocation]) -> NodeError {
        let own = stack.iter().position(|place| !place.is_library()).unwrap_or(0);
        let line = stack.get(own).and_then(|place| place.line.as_ref()).map(|(file, line)| format!("{file}:{line}"));
        let at = line.filter(|line| self.place.get_or_insert_with(|| line.clone()) != line);
        let at = at.map_or(String::new(), |line| format!(" at {line}"));
        let mut names = SourceLocation::functions(stack, own);
        names.dedup();
        let within = if names.is_empty() { String::new() } else { format!(" in {}", names.join(", called by ")) };
        self.notes.insert(0, format!("{who}{at}{within}"));
        let callers: Vec<String> = {
            let callers = stack.iter().skip(own + 1).filter(|place| !place.is_translation());
            callers.map(SourceLocation::to_string).collect()
        };
        if !callers.is_empty() {
            self.notes.insert(1, format!("called from {}", short(callers)));
        }
        self
    }
}

/// The first of some calls; what repeats, as recursion does, is told once.
fn short(mut calls: Vec<String>) -> String {
    calls.dedup();
    let more = if calls.len() > CALLS { ", ..." } else { "" };
    calls.truncate(CALLS);
    format!("{}{more}", calls.join(", from "))
}

impl fmt::Display for NodeError {
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

impl std::error::Error for NodeError {}

/// A program cannot be made ready.
impl From<trivium_guest::Error> for NodeError {
    fn from(error: trivium_guest::Error) -> NodeError {
        NodeError { place: error.place, help: error.help, ..NodeError::input(error.what) }
    }
}
