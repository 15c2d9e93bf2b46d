//! How far a call of a program has come.

use trivium_engine::Object;
use trivium_guest::ReadModifyWrite;
use trivium_protocol::OpId;

/// How far a call has come that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flight {
    /// Nothing is left to do but to wait.
    Waits,
    /// A protocol has been called, and has not returned.
    Called {
        /// Which protocol.
        protocol: usize,
        /// Which of its calls.
        op: OpId,
    },
    /// A protocol is to be called about a block that this node cannot name yet.
    Calls {
        /// Which protocol.
        protocol: usize,
        /// Which of its calls.
        op: OpId,
        /// On which object.
        object: Object,
        /// The arguments besides.
        words: Vec<i64>,
    },
    /// A call with a body is to begin, about a block that this node cannot name yet.
    Names {
        /// Which protocol.
        protocol: usize,
        /// Which of its calls.
        op: OpId,
        /// About which object.
        object: Object,
    },
    /// A read-modify-write is tried.
    Modifies(ReadModifyWrite),
    /// A word is loaded, and its block remembered.
    Links {
        /// Its address.
        address: u32,
        /// Its bytes.
        size: u32,
        /// Whether the block is asked for as for a store.
        exclusive: bool,
    },
    /// A word is stored if the block is still remembered.
    StoresIf {
        /// Its address.
        address: u32,
        /// Its bytes.
        size: u32,
        /// The new word.
        value: u64,
        /// What the linked load gave.
        loaded: u64,
    },
    /// A word is looked at, which has been this when the program asked.
    Watches {
        /// Its address.
        address: u32,
        /// Its bytes.
        size: u32,
        /// What it has been.
        old: u64,
    },
    /// A prefetch waits until the processor can have one more request outstanding.
    Hints {
        /// The address.
        address: u32,
        /// Whether for a store.
        write: bool,
    },
}
