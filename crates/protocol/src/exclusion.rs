//! Why events are impossible in states: what in a protocol's text says so.

use crate::source::Span;
use crate::{EventKind, StateId};

/// Why an event is impossible in a state, or is if no guard there holds.
#[derive(Clone, Debug)]
pub struct Exclusion {
    /// The state.
    pub state: StateId,
    /// The event.
    pub event: EventKind,
    /// What says so.
    pub by: ExcludedBy,
    /// Where that was written.
    pub span: Span,
}

/// What in a protocol's text says that an event is impossible in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExcludedBy {
    /// `on EVENT impossible` of the state.
    Clause,
    /// A line `in STATE on EVENT impossible` of the role.
    Exception,
    /// `otherwise impossible` of the state or of its `await`.
    State,
    /// `otherwise impossible` of the role.
    Role,
}
