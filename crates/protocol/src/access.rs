//! The right to access a block, and what a processor's cache has of it.

use std::fmt;

/// The right to access a block that a state gives the local thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Loads and stores fault.
    #[default]
    None,
    /// Loads proceed, stores fault.
    Read,
    /// Loads and stores proceed.
    Write,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::None => "none",
            Access::Read => "read",
            Access::Write => "write",
        })
    }
}

/// What a processor's cache has of a block, where processors are cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Line {
    /// Nothing.
    #[default]
    Absent,
    /// A copy that may be read.
    Shared,
    /// The only copy, which may be written.
    Exclusive,
    /// It has given the block up, and the engine has not heard of it yet.
    Leaving,
}

impl Line {
    /// All of them, in the order of their numbers in `probe`.
    pub const ALL: [Line; 4] = [Line::Absent, Line::Shared, Line::Exclusive, Line::Leaving];

    /// The access that it gives to the processor.
    pub fn access(self) -> Access {
        match self {
            Line::Absent | Line::Leaving => Access::None,
            Line::Shared => Access::Read,
            Line::Exclusive => Access::Write,
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Line::Absent => "absent",
            Line::Shared => "shared",
            Line::Exclusive => "exclusive",
            Line::Leaving => "leaving",
        })
    }
}
