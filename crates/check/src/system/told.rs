//! What handlers are told while they run, where they might have been told otherwise (`docs/semantics.md`, section 6): each such course
//! of an event is a transition of its own.

use serde::{Deserialize, Serialize};
use trivium_engine::Node;

/// One thing that a handler was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Told {
    /// Whether there is room in an outgoing queue.
    Room(bool),
    /// Which node a loop over a set or `pick` takes.
    Takes {
        /// This one.
        takes: Node,
        /// So many others that it might have taken have a lower number.
        lower: u32,
    },
}

impl Told {
    /// In which way of those that were possible: there is room in the first, and the least node is taken.
    pub(crate) fn way(self) -> u32 {
        match self {
            Told::Room(is_room) => u32::from(!is_room),
            Told::Takes { lower, .. } => lower,
        }
    }
}

/// What the handlers of one event were told, in order: ``it takes node 2, then node 1; its queue says: room``.
pub(crate) fn sentence(told: &[Told]) -> Option<String> {
    let alike = |a: &Told, b: &Told| std::mem::discriminant(a) == std::mem::discriminant(b);
    let parts: Vec<String> = told
        .chunk_by(alike)
        .map(|part| {
            let words = |separator| part.iter().map(|told| told.word()).collect::<Vec<_>>().join(separator);
            match part[0] {
                Told::Room(_) => format!("its queue says: {}", words(", ")),
                Told::Takes { .. } => format!("it takes {}", words(", then ")),
            }
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

impl Told {
    fn word(self) -> String {
        match self {
            Told::Room(is_room) => if is_room { "room" } else { "no room" }.into(),
            Told::Takes { takes, .. } => format!("node {takes}"),
        }
    }
}
