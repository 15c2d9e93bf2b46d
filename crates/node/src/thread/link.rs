//! What a linked load remembers, for the conditional store after it.

use trivium_engine::Object;

/// The word of a thread's last linked load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its block.
    pub block: Object,
    /// Its address.
    pub address: u32,
    /// Its bytes.
    pub size: u32,
    /// What it was.
    pub value: u64,
    /// Whether the node still has the copy that it was loaded from, and no conditional store has been tried since.
    pub is_kept: bool,
}
