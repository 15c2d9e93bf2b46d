//! An access that is tried again and again and does not come to its end, whatever else goes on (`docs/semantics.md`, section 5).

use super::NodeState;
use std::time::Duration;
use trivium_diagnostic::Code;
use trivium_engine::Object;
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
    /// Whether there is one; how often it has waited, and for how long, in nanoseconds.
    is_stopped: bool,
    waits: u32,
    took: u64,
}

impl Tried {
    /// An access may be refused for a half longer than a whole run may stand still: what that is waiting for all nodes tell together.
    pub(super) fn limit(&mut self, stall: Option<Duration>) {
        self.limit = stall.map(|stall| u64::try_from(stall.as_nanos()).unwrap_or(u64::MAX) / 2 * 3);
    }

    /// An access is stopped, for the first time or again.
    pub(super) fn begins(&mut self) {
        if !std::mem::replace(&mut self.is_stopped, true) {
            *self = Tried { limit: self.limit, is_stopped: true, ..Tried::default() };
        }
    }

    /// It has waited for so long, once more.
    pub(super) fn waited(&mut self, took: u64) {
        self.waits = self.waits.saturating_add(1);
        self.took += took;
    }

    /// Whether it has waited before.
    pub(super) fn has_waited(&self) -> bool {
        self.waits > 0
    }

    /// An access happens: if it had been stopped, for how long it has waited in all.
    #[inline]
    pub(super) fn ends(&mut self) -> Option<u64> {
        std::mem::take(&mut self.is_stopped).then_some(self.took)
    }
}

impl NodeState {
    /// A handler of an object has run; the program may wait for it.
    ///
    /// # Errors
    /// It has waited with one access longer than it may, while handlers ran in great number.
    #[inline]
    pub(super) fn tries(&mut self, object: Object) -> Result<(), NodeError> {
        if !self.thread().waits_for(object) {
            return Ok(());
        }
        self.tried.handlers += 1;
        if self.tried.handlers.is_multiple_of(REFUSALS) { self.is_refused(object) } else { Ok(()) }
    }

    #[cold]
    fn is_refused(&mut self, object: Object) -> Result<(), NodeError> {
        let Some(limit) = self.tried.limit else { return Ok(()) };
        let now = self.look_at_clock();
        let waited = now.saturating_sub(*self.tried.since.get_or_insert(now));
        if waited < limit {
            return Ok(());
        }
        let what = if self.thread().loads() { "load" } else { "store" };
        let error = NodeError::subject(
            Code::Progress,
            format!(
                "no progress of an access: node {} has waited for {:.1} s with a {what} at shared offset {:#x} (block {}), and {} handlers of the block have run on it meanwhile",
                self.core.me,
                waited as f64 / 1e9,
                self.thread().pending.address,
                object.id,
                self.tried.handlers
            ),
        );
        let error = error.note(format!("node {}: {}", self.core.me, self.told(None)));
        Err(error.help("the protocol may refuse a request and be asked again for ever: `trivium check` looks for that (livelock, starvation). An access may wait for a half more than --stall-limit seconds; 0: for ever"))
    }
}
