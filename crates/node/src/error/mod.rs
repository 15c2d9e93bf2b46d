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
use trivium_diagnostic::{Code, Diagnostic, Place};
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

/// What is wrong, whose fault it is, and what is known beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeError {
    /// Whose fault it is.
    pub blame: Blame,
    /// What is wrong, where, and what to do about it; its notes say who waits for what.
    pub diagnostic: Box<Diagnostic>,
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
    pub fn subject(code: Code, message: impl Into<String>) -> NodeError {
        NodeError::of(Blame::Subject, Diagnostic::new(code, message))
    }

    /// An input is wrong.
    pub fn input(code: Code, message: impl Into<String>) -> NodeError {
        NodeError::from(Diagnostic::new(code, message))
    }

    fn of(blame: Blame, diagnostic: Diagnostic) -> NodeError {
        NodeError { blame, diagnostic: Box::new(diagnostic), tells_all: false, exit_code: 0, about: None, said: None }
    }

    /// The same error, at `place`.
    pub fn at(self, place: impl Into<Place>) -> NodeError {
        NodeError { diagnostic: Box::new(self.diagnostic.at(place)), ..self }
    }

    /// The same error, with what to do about it.
    pub fn help(self, help: impl Into<String>) -> NodeError {
        NodeError { diagnostic: Box::new(self.diagnostic.help(help)), ..self }
    }

    /// The same error, with a further line.
    pub fn note(self, note: impl Into<String>) -> NodeError {
        NodeError { diagnostic: Box::new(self.diagnostic.note(note)), ..self }
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
        if let (Some(line), []) = (&line, &*self.diagnostic.places) {
            self.diagnostic.places.push(line.into());
        }
        let is_told = |line: &String| self.diagnostic.place().is_some_and(|place| place.to_string() == *line);
        let at = line.filter(|line| !is_told(line)).map_or(String::new(), |line| format!(" at {line}"));
        let mut names = SourceLocation::functions(stack, own);
        names.dedup();
        let within = if names.is_empty() { String::new() } else { format!(" in {}", names.join(", called by ")) };
        self.diagnostic.notes.insert(0, format!("{who}{at}{within}"));
        let callers: Vec<String> = {
            let callers = stack.iter().skip(own + 1).filter(|place| !place.is_translation());
            callers.map(SourceLocation::to_string).collect()
        };
        if !callers.is_empty() {
            self.diagnostic.notes.insert(1, format!("called from {}", short(callers)));
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
        self.diagnostic.fmt(f)
    }
}

impl std::error::Error for NodeError {}

/// What is wrong before a program runs is an input.
impl From<Diagnostic> for NodeError {
    fn from(diagnostic: Diagnostic) -> NodeError {
        NodeError::of(Blame::Input, diagnostic)
    }
}
