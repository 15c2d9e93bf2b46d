//! An access that is tried again and again and does not come to its end, whatever else goes on (`docs/semantics.md`, section 5).

use crate::node::NodeState;
use trivium_diagnostic::Code;
use trivium_engine::{Event, Object};
use trivium_node::NodeError;

/// So many handlers of one block run on a node while an access of its program waits for the block, before that access is said to
/// make no progress: the limit of the Split-C specification for refusals of one operation (section 8).
const REFUSALS: u64 = 10_000;

/// The access with which a processor waits, and what has been done about it.
#[derive(Default)]
pub(crate) struct Tried {
    /// Instructions of the program before it, and its address: which access it is.
    access: (u64, u64),
    /// From when on the processor has waited with it.
    since: u64,
    /// How many handlers of its block have run on this node since.
    handlers: u64,
    /// Whether something went wrong with what its program does there.
    went_wrong: bool,
}

impl NodeState {
    /// A handler of an object has ended; the processor may wait for it.
    ///
    /// # Errors
    /// The processor has waited with one access longer than it may, and this was one handler too many.
    #[inline]
    pub(super) fn tries(&mut self, object: Object) -> Result<(), NodeError> {
        if !self.thread().waits_for(object) {
            return Ok(());
        }
        let access = (self.compute.executed().instructions, self.thread().pending.address);
        if self.tried.access != access || self.tried.handlers == 0 {
            self.tried = Tried { access, since: self.compute.clock(), ..Tried::default() };
        }
        self.tried.handlers += 1;
        let waited = self.now.saturating_sub(self.tried.since);
        if self.tried.handlers < REFUSALS || waited < self.shared.stall_limit.get() {
            return Ok(());
        }
        self.tried.went_wrong = true;
        Err(self.refused(object, waited))
    }

    /// The handler of an event fails, and the event is an access or a call of its program.
    #[cold]
    pub(super) fn goes_wrong(&mut self, event: Option<&Event>) {
        self.tried.went_wrong |= event.is_some_and(|event| event.has_caller());
    }

    /// What its program does next is another access.
    pub(super) fn tries_anew(&mut self) {
        self.tried.handlers = 0;
    }

    /// Whether something went wrong with what its program does now: it has made no progress for too long, or its handler has failed.
    pub(crate) fn stands_where_it_failed(&self) -> bool {
        self.tried.went_wrong
    }

    #[cold]
    fn refused(&self, object: Object, waited: u64) -> NodeError {
        let pending = self.thread().pending;
        let what = if self.thread().loads() { "load" } else { "store" };
        NodeError::subject(Code::Progress, format!(
            "no progress of an access: node {} has waited for {waited} cycles with a {what} at shared offset {:#x} (block {}), and {} handlers of the block have run on it meanwhile",
            self.core.me, pending.address, object.id, self.tried.handlers
        ))
        .help("the protocol may refuse a request and be asked again for ever: `trivium check` looks for that (livelock, starvation). --stall-limit sets another number of cycles; 0: none")
    }
}
