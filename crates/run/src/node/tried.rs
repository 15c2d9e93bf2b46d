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
    /// When the handlers had become many: before, nobody looks at the clock.
    since: Option<u64>,
    /// How many handlers of its block have run on this node since.
    handlers: u64,
    /// How often it has been stopped, and for how long it has waited, in nanoseconds.
    stopped: u32,
    took: u64,
}

impl Tried {
    /// An access may be refused for a half longer than a whole run may stand still: what that is waiting for all nodes tell together.
    pub(super) fn limit(&mut self, stall: Option<Duration>) {
        self.limit = stall.map(|stall| u64::try_from(stall.as_nanos()).unwrap_or(u64::MAX) / 2 * 3);
    }

    /// An access begins to wait.
    pub(super) fn begins(&mut self) {
        *self = Tried { limit: self.limit, ..Tried::default() };
    }

    /// It has waited for so long, once more.
    pub(super) fn stopped(&mut self, took: u64) {
        self.stopped = self.stopped.saturating_add(1);
        self.took += took;
    }

    /// Whether that was not the first time.
    pub(super) fn is_stopped_again(&self) -> bool {
        self.stopped > 0
    }

    /// For how long it has waited in all.
    pub(super) fn took(&self) -> u64 {
        self.took
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
        let now = self.clock();
        let waited = now.saturating_sub(*self.tried.since.get_or_insert(now));
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
        let error = error.note(format!("node {}: {}", self.core.me, self.told(None)));
        Err(error.help("the protocol may refuse a request and be asked again for ever: `trivium check` looks for that (livelock, starvation). An access may wait for a half more than --stall-limit seconds; 0: for ever"))
    }
}
