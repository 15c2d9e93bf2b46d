//! What nodes send each other, as bytes and as events that have come.

pub(crate) mod compact;
pub(crate) mod spare;
pub(crate) mod wire;
