//! Processors with caches of their own (`docs/semantics.md`, section 8): where the contents of blocks lie, and what
//! leaves the cache.
//!
//! The program's memory is what its processor's cache holds. The engine's copies of blocks, the home's memory, lie
//! here: contents go from one to the other only when a handler fills or takes a line, or when a line leaves. A line of
//! the protocol is a block; it is held exactly when the modelled cache holds all its lines, so that the hits
//! of compiled code are the processor's hits, and whatever needs the place of one of them drives the block out.

use crate::events::{Arrival, Local};
use crate::machine::price::Transaction;
use crate::node::processor::{Doing, Wait};
use crate::node::{Held, NodeState};
use crate::store::payload::Data;
use crate::store::space::shared_u32;
use crate::timing::cache::LineState;
use crate::timing::pricing::Primitive;
use rustc_hash::FxHashMap;
use trivium_engine::number::index;
use trivium_engine::{CacheLine, Object};
use trivium_guest::SHARED_BASE;
use trivium_lang::protocol::{Access, BLOCK, EventKind, Line, Response};

/// What a node keeps where processors are cached.
#[derive(Default)]
pub(crate) struct Lines {
    /// Blocks of which the cache has something, or of which its interface remembers something.
    held: FxHashMap<u32, CacheLine>,
    /// The engine's copies: of a home the memory, else a buffer.
    copies: FxHashMap<u32, Box<[u8]>>,
    /// Buffers that are emptied when the handler ends.
    buffers: Vec<u32>,
    /// Contents on their way from the cache to the engine.
    leaving: FxHashMap<u32, Box<Data>>,
}

impl Lines {
    /// Whether the engine has yet to hear that a block has left the cache.
    pub(crate) fn is_leaving(&self, block: Object) -> bool {
        block.kind == BLOCK && self.held.get(&block.id).is_some_and(|line| line.line == Line::Leaving)
    }

    fn line(&self, block: Object) -> CacheLine {
        self.held.get(&block.id).copied().unwrap_or_default()
    }

    fn set(&mut self, block: Object, line: CacheLine) {
        if line == CacheLine::default() {
            self.held.remove(&block.id);
        } else {
            self.held.insert(block.id, line);
        }
    }

    /// A handler has ended: the engine's buffers are empty again.
    pub(crate) fn empty_buffers(&mut self) {
        for block in self.buffers.drain(..) {
            self.copies.remove(&block);
        }
    }
}

impl NodeState {
    /// Whether the running handler's protocol has cached processors.
    pub(crate) fn is_cached(&self) -> bool {
        self.shared.cached[self.handling.protocol]
    }

    /// The engine's copy of a block.
    fn copy_of(&mut self, block: Object) -> &mut [u8] {
        if !self.blocks.lines.copies.contains_key(&block.id) {
            let mut bytes = vec![0; index(self.shared.block)];
            if self.home_of(block) == self.me {
                // Before anybody has cached it, memory is all that there is.
                let read = self.blocks.memory.read(self.offset_of(block), &mut bytes);
                self.trouble_of(read);
            } else {
                self.blocks.lines.buffers.push(block.id);
            }
            self.blocks.lines.copies.insert(block.id, bytes.into());
        }
        self.blocks.lines.copies.get_mut(&block.id).expect("it is there now")
    }

    /// The engine's copy of the block at an offset, from there on.
    fn copy_from(&mut self, offset: u64) -> &mut [u8] {
        let from = index(offset % self.shared.block);
        &mut self.copy_of(self.block_of(offset))[from..]
    }

    /// Reads the engine's copies from an offset on.
    pub(crate) fn read_copies(&mut self, offset: u64, into: &mut [u8]) {
        let mut done = 0;
        while done < into.len() {
            let copy = self.copy_from(offset + done as u64);
            let count = copy.len().min(into.len() - done);
            into[done..done + count].copy_from_slice(&copy[..count]);
            done += count;
        }
    }

    /// Writes them.
    pub(crate) fn write_copies(&mut self, offset: u64, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let copy = self.copy_from(offset + done as u64);
            let count = copy.len().min(bytes.len() - done);
            copy[..count].copy_from_slice(&bytes[done..done + count]);
            done += count;
        }
    }

    fn requests(&self, block: Object) -> bool {
        self.compute.doing == Doing::Waiting(Wait::Access(block))
    }

    /// The line's access becomes what its state gives, for the processor and for those who watch.
    fn show_line(&mut self, block: Object, protocol: usize, line: CacheLine, time: u64) {
        let (from, to) = (self.tag(block), line.line.access());
        self.blocks.lines.set(block, line);
        if from == to {
            return;
        }
        self.blocks.tags[block.id as usize] = 1 + to as u8;
        self.blame_tag(block, from, to, self.handling.evicts, time);
        let (address, bytes) = (SHARED_BASE + shared_u32(self.offset_of(block)), shared_u32(self.shared.block));
        if to < from {
            self.model.cache.lower(address, bytes, to == Access::Read);
        }
        if self.shared.watched[protocol] {
            self.note_tag(protocol, block, to, time);
        }
    }

    pub(crate) fn line_of(&self, block: Object) -> Line {
        self.blocks.lines.line(block).line
    }

    /// See [`trivium_engine::Mechanisms::fill`].
    pub(crate) fn fill_line(&mut self, block: Object, to: Line) -> bool {
        if !self.requests(block) {
            return false;
        }
        self.handling.effects.push(Primitive::FillLine);
        self.handling.changed.push(block);
        let mut line = self.blocks.lines.line(block);
        let fills = line.fill(to);
        if fills {
            let bytes = self.copy_of(block).to_vec();
            let written = self.blocks.memory.write(self.offset_of(block), &bytes);
            self.trouble_of(written);
        }
        let (protocol, time) = (self.handling.protocol, self.handling.start);
        self.show_line(block, protocol, line, time);
        if fills {
            self.bring_in(block, to, time);
        }
        true
    }

    /// The lines of a block come into the modelled cache; what was in their places leaves.
    fn bring_in(&mut self, block: Object, to: Line, time: u64) {
        let held = if to == Line::Shared { LineState::Shared } else { LineState::Exclusive };
        let address = SHARED_BASE + shared_u32(self.offset_of(block));
        let step = index(self.shared.machine.cache.line);
        for address in (address..address + shared_u32(self.shared.block)).step_by(step) {
            self.make_room(address, time);
            self.model.cache.fill(address, held);
        }
    }

    /// See [`trivium_engine::Mechanisms::upgrade`].
    pub(crate) fn upgrade_line(&mut self, block: Object) -> bool {
        if !self.requests(block) {
            return false;
        }
        self.handling.effects.push(Primitive::FillLine);
        self.handling.changed.push(block);
        let mut line = self.blocks.lines.line(block);
        line.upgrade();
        let (protocol, time) = (self.handling.protocol, self.handling.start);
        self.show_line(block, protocol, line, time);
        true
    }

    /// See [`trivium_engine::Mechanisms::take`].
    pub(crate) fn take_line(&mut self, block: Object, to: Line) {
        self.handling.effects.push(Primitive::TakeLine);
        self.handling.changed.push(block);
        let mut bytes = vec![0; index(self.shared.block)];
        let read = self.blocks.memory.read(self.offset_of(block), &mut bytes);
        self.trouble_of(read);
        self.copy_of(block).copy_from_slice(&bytes);
        let mut line = self.blocks.lines.line(block);
        line.take(to, self.requests(block));
        let (protocol, time) = (self.handling.protocol, self.handling.start);
        self.show_line(block, protocol, line, time);
    }

    /// See [`trivium_engine::Mechanisms::invalidate`].
    pub(crate) fn invalidate_line(&mut self, block: Object) {
        self.handling.effects.push(Primitive::InvalidateLine);
        self.handling.changed.push(block);
        let mut line = self.blocks.lines.line(block);
        line.invalidate(self.requests(block));
        let (protocol, time) = (self.handling.protocol, self.handling.start);
        self.show_line(block, protocol, line, time);
    }

    /// The processor's request for a block has been answered.
    pub(crate) fn answered_line(&mut self, block: Object) {
        let mut line = self.blocks.lines.line(block);
        line.answered();
        self.blocks.lines.set(block, line);
    }

    /// The place of a line in the modelled cache is needed: a block that has a line there leaves, if its protocol
    /// has cached processors.
    pub(crate) fn make_room(&mut self, address: u32, time: u64) {
        if !self.shared.any_cached {
            return;
        }
        let Some(other) = self.model.cache.displaced(address).filter(|&other| other >= SHARED_BASE) else { return };
        let block = self.block_of(u64::from(other - SHARED_BASE));
        let protocol = self.protocol_at(self.offset_of(block));
        let Some(protocol) = protocol.filter(|&p| self.shared.cached[p]) else { return };
        if self.evict_line(block, protocol, time, time) {
            // The engine hears of it before the processor goes on past this cycle.
            self.compute.limit = self.compute.limit.min(time);
        }
    }

    /// The cache gives a block up although nothing needs its place, and the engine hears of it at cycle `heard`.
    pub(crate) fn give_up_line(&mut self, block: u32, heard: u64) {
        let block = Object { kind: BLOCK, id: block };
        if let Some(protocol) = self.protocol_at(self.offset_of(block)) {
            self.evict_line(block, protocol, self.now, heard);
        }
    }

    /// The cache gives a block up. Whether the engine hears of it, which it does at cycle `heard`.
    fn evict_line(&mut self, block: Object, protocol: usize, time: u64, heard: u64) -> bool {
        let engine = self.shared.engines[protocol].clone();
        let role = engine.role_for(EventKind::Evict, BLOCK, self.home_of(block) == self.me);
        let is_told = role.is_some_and(|role| engine.answers(role, EventKind::Evict));
        let mut line = self.blocks.lines.line(block);
        if line.line.access() == Access::None {
            return false;
        }
        line.evict(is_told);
        if line.written_back {
            let mut bytes = vec![0; index(self.shared.block)];
            let read = self.blocks.memory.read(self.offset_of(block), &mut bytes);
            self.trouble_of(read);
            self.blocks.lines.leaving.insert(block.id, Box::new(Data { bytes, places: Vec::new() }));
            for _ in 0..self.shared.block / self.shared.machine.cache.line {
                self.model.bus.book(Transaction::WriteBack, time);
            }
        }
        let before = std::mem::replace(&mut self.handling.evicts, true);
        self.show_line(block, protocol, line, time);
        self.handling.evicts = before;
        let leaves = line.line == Line::Leaving;
        if leaves {
            let left = self.local(protocol, line.clone().left(), block);
            self.raise(heard, Arrival::Local(left));
        }
        leaves
    }

    /// The engine is about to hear of what left the cache: the event with its data, unless its role holds it.
    pub(crate) fn hear(&mut self, mut local: Box<Local>) -> Option<Box<Local>> {
        let &mut Local { protocol, ref mut event, .. } = &mut *local;
        let cached = self.shared.cached[protocol];
        if !cached || !matches!(event.kind, EventKind::Evict | EventKind::WriteBack) {
            return Some(local);
        }
        let (engine, block) = (self.shared.engines[protocol].clone(), event.object);
        if let Some(role) = engine.role_for(event.kind, BLOCK, self.home_of(block) == self.me)
            && let Some(record) = self.record_of(protocol, role, block)
            && *engine.response(role, engine.state(role, record), event.kind) == Response::Hold
        {
            self.schedule.held.push(Held { protocol, role, event: *event });
            return None;
        }
        let mut line = self.blocks.lines.line(block);
        line.left();
        self.blocks.lines.set(block, line);
        event.payload = self.blocks.lines.leaving.remove(&block.id).map(|data| self.keep(data));
        Some(local)
    }
}
