//! Counts that every result has.

use serde::Serialize;

/// Access faults by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Misses {
    /// Loads of blocks without access.
    pub read: u64,
    /// Stores to blocks without access.
    pub write: u64,
    /// Stores to blocks that could be read.
    pub upgrade: u64,
}

/// The greatest memory of a program, in bytes: not the host's, so that it is the same in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryUsed {
    /// Of one node: its program's globals, stack and heap.
    pub private: u64,
    /// Of all nodes together: what was allocated to be shared. Each node may have copies of it.
    pub shared: u64,
}

impl MemoryUsed {
    /// That of several nodes together.
    pub fn join(&mut self, other: MemoryUsed) {
        self.private = self.private.max(other.private);
        self.shared = self.shared.max(other.shared);
    }
}
