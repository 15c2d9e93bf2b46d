//! One line for each event that an engine dispatched: what `--trace` writes.

use serde::Serialize;

/// An event and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Handled {
    /// The cycle of its dispatch.
    pub cycle: u64,
    /// On which node.
    pub node: u16,
    /// `protocol.EVENT`.
    pub event: String,
    /// Who sent the message, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<u16>,
    /// About which object: its kind and number.
    pub object: String,
    /// The role that answered.
    pub role: String,
    /// Its state before.
    pub before: String,
    /// Its state after.
    pub after: String,
    /// `handled`, `deferred`, `held` or `passed`.
    pub disposition: String,
    /// What it sent: `NAME to NODE`.
    pub sends: Vec<String>,
    /// The cycle at which the handler ended.
    pub end: u64,
}
