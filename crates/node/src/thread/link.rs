//! What a linked load remembers, for the conditional store after it.

use trivium_engine::Object;

/// The word of a thread's last linked load, as long as its node has not lost the copy that it was loaded from.
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
}
