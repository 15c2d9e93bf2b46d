//! Handlers run, and no processor goes on: requests are refused and made again for ever, for instance.

use super::World;
use trivium_node::{NodeError, Wait};

impl World {
    /// From when on it is said that nothing goes on, if nothing does until then: every program that has not ended has waited since then less
    /// the limit, for something that no clock brings. `u64::MAX` if it is early to say, or something goes on; nothing happens any more before cycle `now`.
    /// Which node is simulated first does not decide it.
    pub(super) fn stalled_until(&self, now: u64) -> u64 {
        if now.saturating_sub(self.shared.went_on.get()) < self.stall_limit / 2 {
            return u64::MAX;
        }
        let mut latest = 0;
        for node in &self.nodes {
            let state = node.borrow();
            match state.thread().wait {
                None | Some(Wait::Sleep(_)) => return u64::MAX,
                Some(_) => latest = latest.max(state.compute.clock()),
            }
        }
        if self.finished == self.nodes.len() { u64::MAX } else { latest.saturating_add(self.stall_limit) }
    }

    /// Whether nothing goes on in this part of a world, where cycle `next` is the next in which something happens; something may go on in another part.
    pub(crate) fn has_stalled(&self, next: u64) -> bool {
        next < u64::MAX && next >= self.stalled_until(next)
    }

    /// No processor goes on: who waits, for what, for whom.
    pub(super) fn no_progress(&mut self) -> NodeError {
        let limit = self.stall_limit;
        let what = format!("no progress: for {limit} cycles handlers ran, and no access and no call came to its end");
        let help = "the protocol may refuse a request and be asked again for ever; or finite lanes are too short. `trivium check` looks for both (starvation, deadlock). --stall-limit sets another number of cycles; 0: none";
        self.who_waits(NodeError::subject(what)).help(help)
    }
}
