//! Prefetches (`docs/semantics.md`, section 2): requests for which the processor does not wait, and how many requests it may have
//! outstanding at once.

use super::NodeState;
use crate::events::Arrival;
use crate::node::threads::When;
use crate::reports::counters::Spent;
use trivium_engine::{Event, Object};
use trivium_guest::SHARED_BASE;
use trivium_node::{Wait, resume_threads};
use trivium_protocol::{EventKind, Line};

/// A request of the processor for which nobody waits.
struct Outstanding {
    block: Object,
    protocol: usize,
    /// Whether its handler has begun.
    heard: bool,
}

/// Those that are not answered yet, in the order in which they were made.
#[derive(Default)]
pub(crate) struct Prefetches(Vec<Outstanding>);

impl NodeState {
    /// The program hints that it may load from, or store to, the block that an address lies in. What cannot be requested is ignored. Whether it
    /// goes on; if not, it waits until one of its requests is answered.
    pub(super) fn prefetch_block(&mut self, address: u32, write: bool) -> bool {
        let kind = if write { EventKind::PrefetchWrite } else { EventKind::Prefetch };
        let spent = if write { Spent::Write } else { Spent::Read };
        let wanted = self.prefetchable(address, kind);
        if let Some((_, block)) = wanted {
            self.translate(address);
            if self.waits_for_answer(block, spent) {
                return false;
            }
        }
        self.stall(self.shared.machine.processor.prefetch, spent);
        if let Some((protocol, block)) = wanted {
            self.request(protocol, block, kind);
        }
        true
    }

    /// The protocol and block of an address, if the block's role answers the prefetch of it now.
    fn prefetchable(&mut self, address: u32, kind: EventKind) -> Option<(usize, Object)> {
        let offset = u64::from(address.checked_sub(SHARED_BASE)?);
        let protocol = self.core.protocol_at(offset)?;
        let block = self.core.block_of(offset);
        (!self.has_prefetched(block)
            && self.core.is_placed(offset)
            && self.is_in_memory(offset)
            && self.is_useful(protocol, block, kind))
        .then_some((protocol, block))
    }

    /// Whether the prefetch of a block would be answered by a handler, and would bring anything.
    fn is_useful(&mut self, protocol: usize, block: Object, kind: EventKind) -> bool {
        // The cache may have to give up a shared line, which it may not while a request for the block is outstanding.
        let line = self.core.lines.line(block).line;
        let is_free = line == Line::Absent || line == Line::Shared && self.forced.is_some();
        (is_free || !self.shared.protocols.cached[protocol]) && self.core.is_prefetch_useful(protocol, block, kind)
    }

    /// The request goes on the bus, as that of an access does, and the processor goes on.
    fn request(&mut self, protocol: usize, block: Object, kind: EventKind) {
        self.counts.counters.prefetches += 1;
        let (at, _) = self.model.abort(&self.shared.machine, false, self.compute.clock());
        let hint = self.local(protocol, kind, block);
        self.prefetches.0.push(Outstanding { block, protocol, heard: false });
        self.raise(at, Arrival::Local(hint));
        // The engine hears of it before the processor goes on past this cycle.
        self.compute.limit = self.compute.limit.min(at);
    }

    /// Whether as many requests are outstanding as the processor can have, none of them for this block; it then waits until one is answered.
    pub(super) fn waits_for_answer(&mut self, block: Object, spent: Spent) -> bool {
        let most = self.shared.machine.processor.outstanding;
        let waits = most.is_some_and(|most| self.prefetches.0.len() as u64 >= most) && !self.has_prefetched(block);
        if waits {
            self.wait(Wait::Answer, spent);
        }
        waits
    }

    /// Whether a prefetch of the block is outstanding.
    pub(super) fn has_prefetched(&self, block: Object) -> bool {
        self.prefetches.0.iter().any(|request| request.block == block)
    }

    /// The engine is about to hear of a prefetch: whether it still may bring anything. With a cache it is a request from now on.
    pub(super) fn hears_prefetch(&mut self, protocol: usize, event: &Event) -> bool {
        let block = event.object;
        let at = self.prefetches.0.iter().position(|request| request.block == block && !request.heard);
        if !self.is_useful(protocol, block, event.kind) {
            if let Some(at) = at {
                self.prefetches.0.remove(at);
                self.has_answer(self.now);
            }
            // An access that has joined it makes its own request.
            if self.shared.protocols.cached[protocol] {
                let now = (self.now, None);
                resume_threads(self, block, &When { resumed: now.clone(), ended: now });
            }
            return false;
        }
        if let Some(at) = at {
            self.prefetches.0[at].heard = true;
        }
        self.core.hears_prefetch(protocol, event);
        true
    }

    /// A handler has ended, whose answers reach the processor at cycle `at`: prefetches that it has answered are no longer outstanding.
    /// Without a cache, one is answered when its block's role is in no waiting state.
    pub(super) fn look_at_prefetches(&mut self, at: u64) {
        if self.prefetches.0.is_empty() {
            return;
        }
        let mut requests = std::mem::take(&mut self.prefetches.0);
        let before = requests.len();
        requests.retain(|request| !request.heard || self.is_unanswered(request));
        let answered = requests.len() < before;
        self.prefetches.0 = requests;
        if answered {
            self.has_answer(at);
        }
    }

    fn is_unanswered(&self, request: &Outstanding) -> bool {
        if self.shared.protocols.cached[request.protocol] {
            return self.core.lines.line(request.block).hinted;
        }
        let engine = &self.shared.protocols.engines[request.protocol];
        engine.tag_role(self.core.is_at_home(request.protocol, request.block)).is_some_and(|role| {
            let state = self.core.state_of(request.protocol, role, request.block);
            engine.protocol().roles[role.index()].states[state.index()].waiting
        })
    }

    /// A request has been answered: a processor that waits for that goes on at cycle `at`.
    fn has_answer(&mut self, at: u64) {
        if self.thread().wait == Some(Wait::Answer) {
            self.wake(at, &None);
        }
    }
}
