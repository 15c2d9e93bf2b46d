//! Prefetches (`docs/semantics.md`, section 2): requests for which the program does not wait.

use super::NodeState;
use super::queued::Incoming;
use trivium_engine::{Event, Object};
use trivium_guest::SHARED_BASE;
use trivium_node::{EventNumber, NodeError, resume_threads};
use trivium_protocol::EventKind;

impl NodeState {
    /// The program hints that it may load from, or store to, the block that an address lies in. The next poll point handles it; what cannot
    /// be requested is ignored.
    pub(super) fn prefetch_block(&mut self, address: u32, write: bool) {
        let kind = if write { EventKind::PrefetchWrite } else { EventKind::Prefetch };
        let Some(offset) = address.checked_sub(SHARED_BASE).map(u64::from) else { return };
        let Some(protocol) = self.core.protocol_at(offset) else { return };
        let block = self.core.block_of(offset);
        if self.core.is_placed(offset) && !self.is_hinted(block) && self.core.is_prefetch_useful(protocol, block, kind)
        {
            self.measured.counts.prefetches += 1;
            self.raise(protocol, &Event::local(kind, block, 0), EventNumber::default());
            self.polls.next = self.polls.next.min(self.measured.counts.instructions);
        }
    }

    /// Whether a prefetch of a block has not been handled yet.
    pub(super) fn is_hinted(&self, block: Object) -> bool {
        let is_its = |incoming: &Incoming| matches!(incoming, Incoming::Local(own) if own.event.kind.is_hint() && own.event.object == block);
        self.queued.inbox.iter().any(is_its)
    }

    /// A prefetch has its turn, if it may still bring anything. With a cache it is a request from now on.
    pub(super) fn hint(&mut self, protocol: usize, event: &Event) -> Result<(), NodeError> {
        if !self.core.is_prefetch_useful(protocol, event.object, event.kind) {
            // An access that has joined it makes its own request.
            if self.core.protocols.cached[protocol] {
                resume_threads(self, event.object, &());
            }
            return Ok(());
        }
        self.core.hears_prefetch(protocol, event);
        self.dispatch(protocol, None, event)
    }
}
