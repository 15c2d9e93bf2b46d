//! Memory for blocks of other homes, where a machine has little of it: which pages have a frame, and which page gives
//! its own up (`docs/semantics.md`, section 9).
//!
//! A page gets a frame when its node's program first wants a block of it. When all are taken, the page that has had one
//! for longest is given up (Reinhardt, Pfile and Wood 1998, `evict_page`: first in, first out): the engine hears `evict` of each of its
//! blocks that the node holds, and the program waits until none is left. A processor with a cache of its own keeps blocks there.

use crate::events::Arrival;
use crate::node::NodeState;
use crate::reports::counters::Spent;
use crate::reports::timeline::Cause;
use std::collections::VecDeque;
use std::ops::Range;
use trivium_diagnostic::Code;
use trivium_engine::{Disposition, Event, Object, Outcome};
use trivium_guest::ProgramFault;
use trivium_node::{CallHost, NodeError, Wait, shared_u32};
use trivium_protocol::{Access, BLOCK, EventKind, Response, RoleId};

/// The frames of a node.
#[derive(Default)]
pub(crate) struct Frames {
    /// Pages that have one, the oldest first.
    pages: VecDeque<usize>,
    /// Of each page, whether it has one.
    present: Vec<bool>,
    /// Blocks whose `evict` is on its way to the engine, or deferred.
    asked: Vec<u32>,
    /// Blocks whose `evict` has been handled, and of which the node still has contents: they are leaving.
    leaving: Vec<u32>,
}

impl Frames {
    fn has(&self, page: usize) -> bool {
        self.present.get(page).copied().unwrap_or(false)
    }

    fn give(&mut self, page: usize) {
        if self.present.len() <= page {
            self.present.resize(page + 16, false);
        }
        self.present[page] = true;
        self.pages.push_back(page);
    }

    fn take(&mut self, pages: Range<usize>) {
        self.pages.retain(|page| !pages.contains(page));
        self.present.iter_mut().take(pages.end).skip(pages.start).for_each(|present| *present = false);
    }
}

impl NodeState {
    /// Whether the page of a byte offset is in memory; if not, the processor waits until it has a frame.
    ///
    /// # Errors
    /// Its frame cannot be had: no page can be given up.
    pub(crate) fn bring_page(&mut self, offset: u64, spent: Spent) -> Result<bool, ProgramFault> {
        let Some(most) = self.shared.machine.memory.frames else { return Ok(true) };
        if !self.needs_frame(offset) {
            return Ok(true);
        }
        let page = self.core.space.borrow().page_of(offset);
        if self.blocks.frames.has(page) {
            return Ok(true);
        }
        while self.blocks.frames.pages.len() as u64 >= most {
            let Some(&oldest) = self.blocks.frames.pages.iter().find(|&&page| self.can_be_given_up(page)) else {
                let error = self.no_frame(page);
                return Err(self.fail(error));
            };
            let now = self.compute.clock();
            if !self.has_gone(oldest) {
                self.ask_for_blocks(oldest, now);
                self.wait(Wait::Frame(oldest), spent);
                return Ok(false);
            }
            self.free_frame(oldest);
        }
        self.blocks.frames.give(page);
        Ok(true)
    }

    /// Whether a block at this offset lies in a frame here: it has another home, and a tag.
    fn needs_frame(&self, offset: u64) -> bool {
        let block = self.core.block_of(offset);
        let protocol = self.core.protocol_at(offset);
        protocol.is_some_and(|p| !self.shared.protocols.cached[p]) && self.core.home_of_block(block) != self.core.me
    }

    /// Whether memory at this offset is there to be read and written.
    pub(crate) fn is_in_memory(&self, offset: u64) -> bool {
        self.shared.machine.memory.frames.is_none()
            || !self.needs_frame(offset)
            || self.blocks.frames.has(self.core.space.borrow().page_of(offset))
    }

    fn blocks_of_page(&self, page: usize) -> Range<u32> {
        let blocks = self.shared.machine.memory.page / self.shared.protocols.block;
        shared_u32(page as u64 * blocks)..shared_u32((page as u64 + 1) * blocks)
    }

    /// What the present state of the node's role says to `evict`, and its record, if there is one.
    fn holder(&self, block: u32) -> Option<(usize, RoleId, Option<&[u8]>)> {
        let object = Object { kind: BLOCK, id: block };
        let protocol = self.core.protocol_at(self.core.offset_of(object))?;
        let role = self.shared.protocols.engines[protocol].tag_role(false)?;
        Some((protocol, role, self.core.record_of(protocol, role, object)))
    }

    fn answers_evict(&self, block: u32) -> bool {
        self.may_answer_evict(block) && !self.evict_stalls(block)
    }

    /// Whether the present state answers `evict`, if it does not stall.
    fn may_answer_evict(&self, block: u32) -> bool {
        let Some((protocol, role, _)) = self.holder(block) else { return false };
        let engine = &self.shared.protocols.engines[protocol];
        let state = self.core.state_of(protocol, role, Object { kind: BLOCK, id: block });
        engine.answers(role, EventKind::Evict)
            && matches!(engine.response(role, state, EventKind::Evict), Response::Handle(_) | Response::Defer)
    }

    fn evict_stalls(&self, block: u32) -> bool {
        let event = Event::local(EventKind::Evict, Object { kind: BLOCK, id: block }, 0);
        self.holder(block).is_some_and(|(protocol, role, _)| self.core.stalls_there(protocol, role, &event))
    }

    /// Whether a block's role waits for something, so that it may answer later what it does not answer now.
    fn is_waiting(&self, block: u32) -> bool {
        let Some((protocol, role, Some(record))) = self.holder(block) else { return false };
        let engine = &self.shared.protocols.engines[protocol];
        let object = Object { kind: BLOCK, id: block };
        let state = &engine.protocol().roles[role.index()].states[engine.state(role, record).index()];
        !state.awaits.is_empty() || !engine.deferred(role, object, record).is_empty()
    }

    /// Whether the node has contents of a block (`docs/semantics.md`, section 1).
    fn holds(&self, block: u32) -> bool {
        // Nobody has touched it: the tag is that of its role's first state.
        let first = || self.core.first_access(Object { kind: BLOCK, id: block });
        self.core.tags.known(block).unwrap_or_else(first) != Access::None || self.keeps(block)
    }

    /// Whether it has them in a state without access.
    fn keeps(&self, block: u32) -> bool {
        let Some((protocol, role, Some(record))) = self.holder(block) else { return false };
        let engine = &self.shared.protocols.engines[protocol];
        engine.protocol().roles[role.index()].states[engine.state(role, record).index()].contents
    }

    fn can_be_given_up(&self, page: usize) -> bool {
        let page = self.blocks_of_page(page);
        page.into_iter().all(|block| {
            let leaves = || self.blocks.frames.leaving.contains(&block);
            !self.holds(block) || self.is_waiting(block) || self.may_answer_evict(block) || leaves()
        })
    }

    /// Whether nothing of a page is held, and nothing is on its way to be.
    fn has_gone(&self, page: usize) -> bool {
        let mut blocks = self.blocks_of_page(page);
        blocks.all(|block| !self.holds(block) && !self.is_waiting(block) && !self.blocks.frames.asked.contains(&block))
    }

    /// The engine is to hear at cycle `at` that the node wants to be rid of a page's blocks.
    fn ask_for_blocks(&mut self, page: usize, at: u64) {
        for block in self.blocks_of_page(page) {
            if self.blocks.frames.asked.contains(&block) || !self.holds(block) || !self.answers_evict(block) {
                continue;
            }
            let object = Object { kind: BLOCK, id: block };
            let Some(protocol) = self.core.protocol_at(self.core.offset_of(object)) else { continue };
            self.blocks.frames.asked.push(block);
            let eviction = self.local(protocol, EventKind::Evict, object);
            self.raise(at, Arrival::Local(eviction));
        }
    }

    fn free_frame(&mut self, page: usize) {
        self.blocks.frames.take(page..page + 1);
        self.model.drop_page(page as u64 * self.shared.machine.memory.page);
        self.counts.counters.pages_replaced += 1;
    }

    /// Whether the engine still has to hear that a block is to go: its state may have changed on the way.
    pub(crate) fn still_evicts(&mut self, protocol: usize, event: &Event, at: u64) -> bool {
        if self.shared.protocols.cached[protocol] || self.answers_evict(event.object.id) {
            return true;
        }
        self.blocks.frames.asked.retain(|&block| block != event.object.id);
        self.look_at_frames(at, &None);
        false
    }

    /// A handler has ended at cycle `end`: the processor goes on if it has given up what a frame waits for.
    pub(crate) fn given_up(
        &mut self,
        protocol: usize,
        event: Option<&Event>,
        outcome: &Outcome,
        end: u64,
        cause: &Cause,
    ) {
        if let Some(event) = event
            && event.kind == EventKind::Evict
            && outcome.disposition != Disposition::Deferred
            && !self.shared.protocols.cached[protocol]
        {
            self.blocks.frames.asked.retain(|&asked| asked != event.object.id);
            self.blocks.frames.leaving.push(event.object.id);
        }
        if !self.blocks.frames.leaving.is_empty() {
            let mut leaving = std::mem::take(&mut self.blocks.frames.leaving);
            leaving.retain(|&block| self.holds(block));
            self.blocks.frames.leaving = leaving;
        }
        self.look_at_frames(end, cause);
    }

    /// The processor goes on if the page for whose frame it waits has gone; else what can be asked for by now is.
    fn look_at_frames(&mut self, at: u64, cause: &Cause) {
        let Some(Wait::Frame(page)) = self.thread().wait else { return };
        if self.has_gone(page) {
            self.free_frame(page);
            self.wake(at, cause);
        } else {
            self.ask_for_blocks(page, at);
        }
    }

    /// The pages of a region lose their frames: it has come under another protocol.
    pub(crate) fn forget_frames(&mut self, pages: Range<usize>) {
        self.blocks.frames.take(pages);
    }

    fn no_frame(&self, page: usize) -> NodeError {
        let kept = self.blocks.frames.pages.front().copied().unwrap_or(0);
        let protocol = self.core.protocol_at(kept as u64 * self.shared.machine.memory.page);
        let name = protocol.map_or("", |p| self.shared.protocols.engines[p].protocol().name.as_str());
        let most = self.blocks.frames.pages.len();
        NodeError::subject(
            Code::Fault,
            format!(
                "node {} has no frame for page {page}: all {most} hold pages that cannot be given up",
                self.core.me
            ),
        )
        .note(format!("the oldest is page {kept}, under protocol `{name}`"))
        .help("use a protocol whose nodes answer `evict`, as in --protocol stache-pages, or more `memory.frames`")
    }
}
