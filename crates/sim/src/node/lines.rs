//! Processors with caches of their own (`docs/semantics.md`, section 8): where the contents of blocks lie, and what
//! leaves the cache.
//!
//! The program's memory is what its processor's cache holds. The engine's copies of blocks, the home's memory, lie
//! here: contents go from one to the other only when a handler fills or takes a line, or when a line leaves. A line of
//! the protocol is a block; it is held exactly when the modelled cache holds all its lines, so that the hits
//! of compiled code are the processor's hits, and whatever needs the place of one of them drives the block out.

use crate::events::{Arrival, Local};
use crate::machine::price::Transaction;
use crate::node::NodeState;
use crate::timing::cache::LineState;
use trivium_engine::Object;
use trivium_engine::number::index;
use trivium_guest::SHARED_BASE;
use trivium_node::{Data, EventNumber, HandlerMemory, Held, shared_u32};
use trivium_protocol::{Access, BLOCK, EventKind, Line, Response};

impl NodeState {
    /// The cache's line of a block gives another access at cycle `time`: for the processor, and for those who watch.
    pub(super) fn note_line(&mut self, (block, protocol): (Object, usize), from: Access, to: Access, time: u64) {
        self.blame_tag(block, from, to, self.handling.evicts, time);
        let (address, bytes) =
            (SHARED_BASE + shared_u32(self.core.offset_of(block)), shared_u32(self.shared.protocols.block));
        if to < from {
            self.model.cache.lower(address, bytes, to == Access::Read);
        }
        if self.shared.protocols.watched[protocol] {
            self.note_tag(protocol, block, to, time);
        }
    }

    /// The lines of a block come into the modelled cache; what was in their places leaves.
    pub(super) fn bring_in(&mut self, block: Object, to: Line) {
        let (protocol, time) = (self.handling.effects.protocol, self.handling.start);
        let held = if to == Line::Shared { LineState::Shared } else { LineState::Exclusive };
        let address = SHARED_BASE + shared_u32(self.core.offset_of(block));
        let step = index(self.shared.machine.cache.line);
        for address in (address..address + shared_u32(self.shared.protocols.block)).step_by(step) {
            if self.must_keep_displaced(address) {
                self.evict_line(block, protocol, time, time);
                return;
            }
            self.make_room(address, time);
            self.model.cache.fill(address, held);
        }
    }

    /// Whether a line would have to leave of a block for which a request is outstanding. What a prefetch has brought then leaves at once.
    fn must_keep_displaced(&mut self, address: u32) -> bool {
        let displaced = self.model.cache.displaced(address).filter(|&other| other >= SHARED_BASE);
        displaced.is_some_and(|other| self.core.requests(self.core.block_of(u64::from(other - SHARED_BASE))))
    }

    /// The place of a line in the modelled cache is needed: a block that has a line there leaves, if its protocol
    /// has cached processors.
    pub(crate) fn make_room(&mut self, address: u32, time: u64) {
        if !self.shared.protocols.any_cached {
            return;
        }
        let Some(other) = self.model.cache.displaced(address).filter(|&other| other >= SHARED_BASE) else { return };
        let block = self.core.block_of(u64::from(other - SHARED_BASE));
        let protocol = self.core.protocol_at(self.core.offset_of(block));
        let Some(protocol) = protocol.filter(|&p| self.shared.protocols.cached[p]) else { return };
        if self.evict_line(block, protocol, time, time) {
            // The engine hears of it before the processor goes on past this cycle.
            self.compute.limit = self.compute.limit.min(time);
        }
    }

    /// The cache gives a block up although nothing needs its place, and the engine hears of it at cycle `heard`.
    pub(crate) fn give_up_line(&mut self, block: u32, heard: u64) {
        let block = Object { kind: BLOCK, id: block };
        if let Some(protocol) = self.core.protocol_at(self.core.offset_of(block)) {
            self.evict_line(block, protocol, self.now, heard);
        }
    }

    /// The cache gives a block up. Whether the engine hears of it, which it does at cycle `heard`.
    fn evict_line(&mut self, block: Object, protocol: usize, time: u64, heard: u64) -> bool {
        let engine = self.shared.protocols.engines[protocol].clone();
        let (evict, object) = self.core.event_of_line(EventKind::Evict, block);
        let role = engine.role_for(evict, object.kind, self.core.is_at_home(protocol, object));
        let is_told = role.is_some_and(|role| engine.answers(role, EventKind::Evict));
        let mut line = self.core.lines.line(block);
        if line.line.access() == Access::None {
            return false;
        }
        line.evict(is_told);
        if line.written_back {
            let mut bytes = vec![0; index(self.shared.protocols.block)];
            let read = self.core.memory.read(self.core.offset_of(block), &mut bytes);
            self.trouble_of(read);
            self.core.lines.leave(block, Box::new(Data { bytes, places: Vec::new() }));
            for _ in 0..self.shared.protocols.block / self.shared.machine.cache.line {
                self.model.bus.book(Transaction::WriteBack, time);
            }
        }
        let before = std::mem::replace(&mut self.handling.evicts, true);
        if let Some((from, to)) = self.core.set_line(block, line) {
            self.note_line((block, protocol), from, to, time);
        }
        self.handling.evicts = before;
        let leaves = line.line == Line::Leaving;
        if leaves {
            let left = self.local(protocol, line.clone().left(), object);
            self.raise(heard, Arrival::Local(left));
        }
        leaves
    }

    /// The engine is about to hear of what left the cache: the event with its data, unless its role holds it.
    pub(crate) fn hear(&mut self, mut local: Box<Local>) -> Option<Box<Local>> {
        let &mut Local { protocol, ref mut event, .. } = &mut *local;
        let cached = self.shared.protocols.cached[protocol];
        if !cached || !matches!(event.kind, EventKind::Evict | EventKind::WriteBack) {
            return Some(local);
        }
        let (engine, object) = (self.shared.protocols.engines[protocol].clone(), event.object);
        let block = self.core.line_of(protocol, object);
        if let Some(role) = engine.role_for(event.kind, object.kind, self.core.is_at_home(protocol, object))
            && let Some(record) = self.core.record_of(protocol, role, object)
            && *engine.response(role, engine.state(role, record), event.kind) == Response::Hold
        {
            let (number, since) = (EventNumber::default(), self.now);
            self.core.schedule.hold(Held { protocol, role, event: *event, number, since });
            return None;
        }
        let mut line = self.core.lines.line(block);
        line.left();
        self.core.lines.set(block, line);
        event.payload = self.core.lines.take_left(block).map(|data| self.core.payloads.keep(data));
        Some(local)
    }
}
