//! Kinds of diagnostics.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal),* $(,)?) => {
        /// The kind of a diagnostic. Its name stays from version to version; a new kind may be added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Code {
            $($(#[doc = $doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Code {
            /// All of them, with what they mean.
            pub const ALL: &[(Code, &str)] = &[$((Code::$variant, concat!($($doc,)*).trim_ascii_start())),*];

            /// Its name, as JSON has it.
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }
        }
    };
}

codes! {
    /// The text of a protocol cannot be read: a word is missing, or stands where it means nothing.
    Syntax = "syntax",
    /// Nothing of this name is there, or it is there twice.
    Name = "name",
    /// A protocol, lane, message, call, role or state cannot be declared as it is.
    Declaration = "declaration",
    /// A value of one type stands where another is needed, or is outside its range.
    Type = "type",
    /// A role's states do not answer an event, or answer it twice.
    Answer = "answer",
    /// A lane's messages could wait for each other, or a handler sends where it may not.
    Lane = "lane",
    /// A handler, call or body cannot be as it is written.
    Handler = "handler",
    /// A promise, assumption, invariant, ghost or scenario cannot be as it is written.
    Claim = "claim",
    /// A file that extends another does not fit it.
    Extension = "extension",
    /// A protocol is too large for so many nodes, or for what an engine holds.
    Size = "size",
    /// A search cannot be made as it was asked for.
    Search = "search",
    /// A protocol cannot be written in another language.
    Export = "export",
    /// A machine's description is wrong.
    Machine = "machine",
    /// A compiler refused a program.
    Compiler = "compiler",
    /// A WebAssembly module is no program that Trivium runs.
    Module = "module",
    /// A program cannot begin, or makes a call as it cannot be made.
    Program = "program",
    /// A program was ended by a trap, as by a division by zero.
    Trap = "trap",
    /// A protocol's handler did what cannot be: an event was declared impossible, an assertion failed.
    Fault = "fault",
    /// A protocol broke a promise that is looked at while programs run.
    Promise = "promise",
    /// A program broke what its protocol assumes.
    Assumption = "assumption",
    /// Nothing can happen any more, and not all have ended.
    Deadlock = "deadlock",
    /// Much happens, and no program goes on.
    Progress = "progress",
    /// A replay or an order that was asked for does not go as it says.
    Replay = "replay",
    /// Ranks of a parallel run cannot work together.
    Ranks = "ranks",
    /// The host refuses memory, processors or threads.
    Host = "host",
    /// The command line cannot be read, or its options do not fit each other.
    Usage = "usage",
    /// A file or folder cannot be read or written.
    File = "file",
    /// A study's files are wrong, or a run of it failed.
    Study = "study",
    /// Trivium itself has made a mistake.
    Internal = "internal",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
