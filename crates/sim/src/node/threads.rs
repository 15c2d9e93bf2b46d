//! When threads of a node go on, and its events start again, after a handler.

use crate::events::{Arrival, Local};
use crate::node::NodeState;
use crate::reports::timeline::Cause;
use trivium_engine::Thread;
use trivium_node::{GoesOn, Held, Instance, ThreadHost};

/// When what a handler did takes effect, and why.
pub struct When {
    /// For threads that it lets go on.
    pub resumed: (u64, Cause),
    /// For all else: when it has ended.
    pub ended: (u64, Cause),
}

impl ThreadHost for NodeState {
    type When = When;

    fn goes_on(&mut self, thread: Thread, why: GoesOn, when: &When) {
        let (at, cause) = &when.resumed;
        match why {
            GoesOn::Returned(is_barrier) => {
                self.compute.barriers += u64::from(is_barrier);
                self.wake(*at, cause);
            }
            GoesOn::Access => {
                let is_granted = self.core.threads[thread].grant.is_some();
                let at = if is_granted { *at } else { self.retry_time(*at) };
                self.wake(at.max(self.compute.trapped), cause);
                self.compute.cause.clone_from(cause);
            }
            GoesOn::Changed => self.wake(when.ended.0, &when.ended.1),
        }
    }

    fn is_due(&mut self, instance: Instance, when: &When) {
        let cause = self.recording.then(|| when.ended.1.clone());
        self.core.schedule.due(instance, cause);
    }

    fn raise_again(&mut self, held: Held, when: &When) {
        let (end, cause) = &when.ended;
        let at = if held.event.has_caller() { self.retry_time(*end) } else { *end };
        let Held { protocol, event, number, since, .. } = held;
        let held = event.has_caller().then_some(since);
        self.raise(at, Arrival::Local(Box::new(Local { protocol, event, number, held, cause: cause.clone() })));
    }
}
