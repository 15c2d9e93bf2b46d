//! What is wrong, where, and what to do about it: one form of error for all of Trivium, as text and as JSON.
//!
//! It must not know protocols, programs, machines or commands: who finds a mistake says all of that in words, and gives it a
//! [`Code`] by which scripts know its kind.
//!
//! ```
//! use trivium_diagnostic::{Code, Diagnostic, Place};
//! let place = Place::in_text("ring.tri", "lane main fifo\nmessage Go on man\n", 29..32);
//! let wrong = Diagnostic::new(Code::Name, "there is no lane `man`").at(place).help("did you mean `main`?");
//! assert_eq!(
//!     wrong.to_string(),
//!     "error: there is no lane `man`\n --> ring.tri:2:15\n  |\n2 | message Go on man\n  |               ^^^\nhelp: did you mean `main`?"
//! );
//! ```

mod code;
mod place;
mod render;

pub use code::Code;
pub use place::{Place, Quoted};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One mistake, or one thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Its kind, by a name that stays.
    pub code: Code,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where, the place to look at first; none if it has no place.
    pub places: Vec<Place>,
    /// What else one should know: who waits for what, from where a function was called.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Without place, notes and help.
    pub fn new(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, message: message.into(), places: Vec::new(), notes: Vec::new(), help: None }
    }

    /// The same at `place`, which is looked at before those that it has.
    pub fn at(mut self, place: impl Into<Place>) -> Diagnostic {
        self.places.insert(0, place.into());
        self
    }

    /// The same with one note more.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// The same with what to do about it; an empty text is none.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into()).filter(|help| !help.is_empty());
        self
    }

    /// The place to look at first.
    pub fn place(&self) -> Option<&Place> {
        self.places.first()
    }
}

impl std::error::Error for Diagnostic {}

/// All that is wrong with one input, in the order in which it is told: at least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Each by itself.
    pub list: Vec<Diagnostic>,
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Diagnostics {
        Diagnostics { list: vec![one] }
    }
}

impl std::error::Error for Diagnostics {}

/// A text as a terminal may show it: control characters, by which a file could move the cursor or hide a line, are replaced by
/// `\u{fffd}`, one for one. Line feeds and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    let stray = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    match text.contains(stray) {
        true => text.replace(stray, "\u{fffd}").into(),
        false => text.into(),
    }
}
