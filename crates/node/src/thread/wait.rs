//! For what a thread of a program waits, and what it is granted.

use crate::space::Purpose;
use trivium_engine::Object;
use trivium_protocol::OpId;

/// For what a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Access to a block.
    Access(Object),
    /// The return of a protocol call.
    Call {
        /// Of which protocol.
        protocol: usize,
        /// Which call.
        op: OpId,
        /// On which object.
        object: Object,
    },
    /// The barrier of all nodes.
    Barrier(Purpose),
    /// A change of a word in a block.
    Change {
        /// Which block.
        block: Object,
        /// The word's address.
        address: u32,
        /// Its bytes.
        size: u32,
    },
    /// The home of a page.
    Page(usize),
    /// The frame of a page that is being given up.
    Frame(usize),
    /// That its engine hears of what it has told it.
    Told,
    /// The answer to one of its requests: it has as many outstanding as it can.
    Answer,
    /// The end of a time for which the program sleeps: a moment on the node's clock.
    Sleep(u64),
    /// The end of the run: the program has ended, with this exit code.
    End(i32),
}

/// An access that was stopped, and is guaranteed to complete before any later event of its object on this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// The tag allows it.
    Tag,
    /// It has been performed on the node's memory, whatever the tag, and has read this.
    Complete(u64),
}
