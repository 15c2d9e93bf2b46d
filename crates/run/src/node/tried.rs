//! An access that is tried again and again and does not come to its end, whatever else goes on (`docs/semantics.md`, section 5).

use super::{Doing, NodeState, Wait};
use std::time::Duration;
use trivium_engine::Object;
use trivium_guest::AccessKind;
use trivium_node::NodeError;

/// So many handlers of one block run on a node while an access of its program waits for the block, before that access may be said to make no
/// progress: the limit of the Split-C specification for refusals of one operation (section 8). The clock is looked at so often only.
const REFUSALS: u64 = 10_000;

/// The access with which a program waits, and what has been done about it.
#[derive(Debug, Default)]
pub(super) struct Tried {
    /// It may wait for so many nanoseconds.
    limit: Option<u64>,
    /// When it began.
    since: u64,
    /// How many handlers of its block have run on this node since.
    handlers: u64,
}

impl Tried {
    /// An access may be refused for a half longer than a whole run may stand still: what that is waiting for all nodes tell together.
    pub(super) fn limit(&mut self, stall: Option<Duration>) {
        self.limit = stall.map(|stall| u64::try_from(stall.as_nanos()).unwrap_or(u64::MAX) / 2 * 3);
    }

    /// An access begins to wait.
    pub(super) fn begins(&mut self, now: u64) {
        (self.since, self.handlers) = (now, 0);
    }
}

impl NodeState {
    /// A handler of an object has run; the program may wait for it.
    ///
    /// # Errors
    /// It has waited with one access longer than it may, while handlers ran in great number.
    #[inline]
    pub(super) fn tries(&mut self, object: Object) -> Result<(), NodeError> {
        if self.doing != Doing::Waiting(Wait::Access(object)) {
            return Ok(());
        }
        self.tried.handlers += 1;
        if self.tried.handlers.is_multiple_of(REFUSALS) { self.is_refused(object) } else { Ok(()) }
    }

    #[cold]
    fn is_refused(&mut self, object: Object) -> Result<(), NodeError> {
        let Some(limit) = self.tried.limit else { return Ok(()) };
        let waited = self.clock().saturating_sub(self.tried.since);
        if waited < limit {
            return Ok(());
        }
        let what = if self.pending_kind == AccessKind::Read { "load" } else { "store" };
        let error = NodeError::subject(format!(
            "no progress of an access: node {} has waited for {:.1} s with a {what} at shared offset {:#x} (block {}), and {} handlers of the block have run on it meanwhile",
            self.core.me,
            waited as f64 / 1e9,
            self.pending.address,
            object.id,
            self.tried.handlers
        ));
        let error = error.note(format!("node {}: {}", self.core.me, self.told()));
        Err(error.help("the protocol may refuse a request and be asked again for ever: `trivium check` looks for that (livelock, starvation). An access may wait for a half more than --stall-limit seconds; 0: for ever"))
    }
}
