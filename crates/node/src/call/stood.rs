//! Where programs stand, in the words of errors and results.

use crate::error::NodeError;
use crate::space::{Allocation, Space};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use trivium_guest::{DebugInfo, SHARED_BASE};

/// Where the program of a node stood when a run was cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stood {
    /// The node.
    pub node: usize,
    /// In a simulation, its processor's clock; of one that waits, that of the wait's beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<u64>,
    /// What it did, or what it waited for.
    pub doing: String,
    /// The function, and the line where it is known; nothing if it had not begun, or had ended.
    pub at: Option<String>,
}

impl Stood {
    /// What it did, and where: `waits at the barrier; at hello.c:5 in main`.
    pub fn text(&self) -> String {
        format!("{}{}", self.doing, self.place())
    }

    /// The end of that sentence; nothing where the place is not known.
    pub fn place(&self) -> String {
        self.at.as_deref().map_or(String::new(), standing_at)
    }
}

/// Where a program stands, at the end of a sentence: a line where it is known, or the function alone.
pub fn standing_at(place: &str) -> String {
    if place.contains(':') { format!("; at {place}") } else { format!("; {place}") }
}

/// What a node does that waits at the barrier.
pub const AT_BARRIER: &str = "waits at the barrier";

/// What a node does that has left `main`; its code follows if it is not 0.
pub const LEFT_MAIN: &str = "has left main";

/// The same with its code.
pub fn has_left(exit_code: i32) -> String {
    if exit_code == 0 { LEFT_MAIN.into() } else { format!("{LEFT_MAIN}, with code {exit_code}") }
}

/// What is said of a wait at the barrier where these nodes, with their exit codes, will not come.
pub fn cannot_come(left: &BTreeMap<usize, i32>) -> String {
    let names: Vec<String> = left.keys().map(ToString::to_string).collect();
    match names.len() {
        0 => String::new(),
        1 => format!(", which node {} cannot reach: it has left main", names[0]),
        _ => format!(", which nodes {} cannot reach: they have left main", names.join(", ")),
    }
}

/// The first words where nothing can happen any more, and somebody waits.
pub const DEADLOCK: &str = "deadlock: nothing can happen any more, and not all nodes have finished";

/// The first words where all nodes have finished, and messages stall.
pub const LEFT_OVER: &str = "deadlock: all nodes have finished, and messages stall that nobody will ever handle";

/// The remedy where messages stall, and nothing else is left.
pub const STALLS: &str = "a message stalls as long as its receiver's answer is `stall`, and keeps back what is after it on its lane: `trivium check` on the protocol finds such a deadlock; if it finds none, the program never does what the message waits for";

/// The remedy where an access waits, and some nodes have ended.
pub const ACCESS_WAITS: &str = "an access waits for its protocol: `trivium check` on it finds the shortest counterexample that ends in a deadlock; if it finds none, a node has left main before it did what the access waits for";

/// A deadlock with its remedy. Where nodes have ended before others, the remedy is theirs, and so is the exit code: the first that is not 0.
pub fn with_remedy(error: NodeError, left: &BTreeMap<usize, i32>) -> NodeError {
    let exit_code = left.values().copied().find(|&code| code != 0).unwrap_or(0);
    let error = NodeError { exit_code, ..error };
    if left.is_empty() {
        return error.help("`trivium check` on the protocol finds the shortest counterexample that ends in a deadlock; if it finds none, look at the program's locks and barriers");
    }
    error.help("a node that leaves main early comes to no barrier and releases no lock any more: let every node do what the others wait for, also where it fails; trivium_fail ends the run for all")
}

/// A place in shared memory, and what a node's copy of it holds.
pub fn data_text(space: &Space, map: Option<&DebugInfo>, address: u32, value: Option<u64>) -> String {
    let offset = u64::from(address.saturating_sub(SHARED_BASE));
    let within = match space.region_of(offset).filter(|_| address >= SHARED_BASE) {
        None => String::new(),
        Some(region) => format!(", {}", byte_of(&space.allocation(region, map), offset)),
    };
    let value = value.map_or(String::new(), |value| format!(", which is {value} here"));
    format!("{address:#x}{within}{value}")
}

/// A byte of an allocation.
pub fn byte_of(allocation: &Allocation, offset: u64) -> String {
    match offset - allocation.offset {
        0 => format!("the beginning of `{}`", allocation.name),
        from => format!("byte {from} of `{}`", allocation.name),
    }
}
