//! Prefetches (`docs/semantics.md`, section 2): requests for which the program does not wait.

use super::{Incoming, Mapped, NodeState};
use trivium_engine::{Event, Object};
use trivium_guest::SHARED_BASE;
use trivium_node::{EventNumber, NodeError};
use trivium_protocol::{BLOCK, EventKind, Response};

impl NodeState {
    /// The program hints that it may load from, or store to, the block that an address lies in. The next poll point handles it; what cannot
    /// be requested is ignored.
    pub(super) fn prefetch(&mut self, address: u32, write: bool, instructions: u64) {
        let kind = if write { EventKind::PrefetchWrite } else { EventKind::Prefetch };
        let Some(offset) = address.checked_sub(SHARED_BASE).map(u64::from) else { return };
        let Some(protocol) = self.core.protocol_at(offset) else { return };
        let block = self.core.block_of(offset);
        if self.is_placed(offset) && !self.is_hinted(block) && self.is_useful(protocol, block, kind) {
            self.counts.prefetches += 1;
            self.raise(protocol, &Event::local(kind, block, 0), EventNumber::default());
            self.next_poll = self.next_poll.min(instructions);
        }
    }

    /// Whether the home of a byte's page is known; nobody asks for it.
    fn is_placed(&self, offset: u64) -> bool {
        let page = self.core.space.borrow().page_of(offset);
        self.mapped.get(page) == Some(&Mapped::Yes) || !self.core.space.borrow().by_first_touch(page)
    }

    /// Whether a prefetch of a block has not been handled yet.
    fn is_hinted(&self, block: Object) -> bool {
        let is_its = |incoming: &Incoming| matches!(incoming, Incoming::Local(own) if own.event.kind.is_hint() && own.event.object == block);
        self.inbox.iter().any(is_its)
    }

    /// Whether the prefetch of a block would be answered by a handler, and would bring anything.
    fn is_useful(&mut self, protocol: usize, block: Object, kind: EventKind) -> bool {
        let engine = self.core.protocols.engines[protocol].clone();
        let Some(role) = engine.role_for(kind, BLOCK, self.core.is_at_home(block)) else { return false };
        engine.answers(role, kind)
            && kind.wants().is_some_and(|wanted| self.tag(block) < wanted)
            && !self.lines.line(block).hinted
            && matches!(engine.response(role, self.core.state_of(protocol, role, block), kind), Response::Handle(_))
    }

    /// Whether an access joins a prefetch of its block: a processor with a cache makes no second request.
    pub(super) fn joins_prefetch(&self, protocol: usize, block: Object) -> bool {
        self.core.protocols.cached[protocol] && (self.lines.line(block).hinted || self.is_hinted(block))
    }

    /// A prefetch has its turn, if it may still bring anything. With a cache it is a request from now on.
    pub(super) fn hint(&mut self, protocol: usize, event: &Event) -> Result<(), NodeError> {
        if !self.is_useful(protocol, event.object, event.kind) {
            // An access that has joined it makes its own request.
            if self.core.protocols.cached[protocol] {
                self.resume_access(event.object);
            }
            return Ok(());
        }
        if self.core.protocols.cached[protocol] {
            let mut line = self.lines.line(event.object);
            line.hint();
            self.lines.set(event.object, line);
        }
        self.dispatch(protocol, None, event)
    }
}
