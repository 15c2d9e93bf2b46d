//! Accesses of the program: what it may do by itself, and what a handler has to be asked for.

use super::sharing::Halt;
use super::{Doing, Grant, Mapped, NodeState, Wait};
use crate::wire::Control;
use trivium_engine::number::fit;
use trivium_engine::{Event, Object};
use trivium_guest::{AccessKind, AccessStep, ProgramFault, SHARED_BASE};
use trivium_node::{Awaited, Claimed, NodeError, pending, shared_u32};
use trivium_protocol::{Access, EventKind};

/// Private memory is allowed in pieces of so many bytes.
const PRIVATE_LINE: u32 = 4096;

impl NodeState {
    /// An access of at most 8 bytes inside an aligned word; it waits until that may happen.
    pub(super) fn reach(&mut self, address: u32, size: u32, kind: AccessKind, value: u64) -> Result<AccessStep, Halt> {
        if address < SHARED_BASE {
            return Ok(self.reach_private(address, kind)?);
        }
        let offset = u64::from(address - SHARED_BASE);
        let block = self.core.block_of(offset);
        self.map(offset)?;
        if kind == AccessKind::Write {
            self.check_home_writes(offset, block)?;
        }
        // Where the program has returned to its thread meanwhile, the access is only looked at again.
        let mut waits = self.waits_for_access();
        if !waits {
            if self.allows(block, kind) {
                return Ok(self.goes(block, kind));
            }
            self.tried.begins();
        }
        let step = loop {
            if !std::mem::take(&mut waits) {
                let size = fit(size, "the size of an access, which is at most 16 bytes");
                self.pending = pending(offset, size, value, self.atomic.as_ref());
                self.pending_kind = kind;
                self.fault(offset, block, kind)?;
            }
            let took = match self.tried.is_stopped_again() {
                false => self.wait_for_access(block)?,
                true => self.wait(Wait::Access(block))?,
            };
            self.tried.stopped(took);
            match self.grant.take() {
                Some(Grant::Tag) => break self.goes(block, kind),
                Some(Grant::Complete(read)) => {
                    if kind == AccessKind::Write {
                        self.note_store(block);
                    }
                    break AccessStep::Complete(read);
                }
                None if self.allows(block, kind) => break self.goes(block, kind),
                None => {}
            }
        };
        self.core.thread.goes_on();
        self.latency.add(self.tried.took());
        Ok(step)
    }

    /// An access to private memory. Where that is shared, the tag of its block decides, unless nobody wants that: then compiled code may
    /// do by this address what it may do by the shared one.
    fn reach_private(&mut self, address: u32, kind: AccessKind) -> Result<AccessStep, ProgramFault> {
        let looked_at = if self.checks_unchecked { self.core.parts.offset_of(address) } else { None };
        if let Some(offset) = looked_at {
            let block = self.core.block_of(offset);
            let tag = self.tag(block);
            self.core.check_unchecked(address, kind, block, tag).map_err(|error| self.fail(error))?;
            self.publish_own(block, tag);
        } else if let Some(tags) = &self.published {
            tags.set(address & !(PRIVATE_LINE - 1), PRIVATE_LINE, true, true);
        }
        Ok(AccessStep::Go)
    }

    /// What has become shared of private memory is looked at from now on, unless nobody wants that.
    pub(super) fn forget_private(&mut self, address: u32, bytes: u32) {
        if let Some(tags) = self.published.as_ref().filter(|_| self.checks_unchecked) {
            tags.forbid(address, bytes);
        }
    }

    fn allows(&mut self, block: Object, kind: AccessKind) -> bool {
        trivium_node::allows(self.tag(block), kind)
    }

    /// The access happens, and those after it need not ask as long as nothing is assumed about them.
    fn goes(&mut self, block: Object, kind: AccessKind) -> AccessStep {
        if kind == AccessKind::Write {
            self.note_store(block);
        }
        let tag = self.tag(block);
        self.publish(block, tag, kind == AccessKind::Write);
        AccessStep::Go
    }

    /// Tells compiled code what it may do with a block. Stores that are watched have to ask once: they do not come with loads.
    pub(super) fn publish(&mut self, block: Object, tag: Access, is_store: bool) {
        let Some(tags) = &self.published else { return };
        let protocols = &self.core.protocols;
        let is_watched = || {
            let protocol = self.core.protocol_at(self.core.offset_of(block));
            protocol.is_none_or(|protocol| protocols.one_writer[protocol] || protocols.home_writes[protocol])
        };
        let stores = tag == Access::Write && (is_store || !is_watched());
        let address = SHARED_BASE + shared_u32(self.core.offset_of(block));
        tags.set(address, shared_u32(protocols.block), tag >= Access::Read, stores);
        self.publish_own(block, tag);
    }

    /// The same by the block's private address, if it lies in what this node has shared. Nobody watches stores there.
    fn publish_own(&self, block: Object, tag: Access) {
        let Some(tags) = self.published.as_ref().filter(|_| self.checks_unchecked && !self.core.parts.is_empty())
        else {
            return;
        };
        let bytes = self.core.protocols.block;
        if let Some(private) = self.core.parts.private_of(self.core.offset_of(block), bytes) {
            tags.set(private.start, shared_u32(bytes), tag >= Access::Read, tag == Access::Write);
        }
    }

    /// Waits until the home of a page is known.
    pub(super) fn map(&mut self, offset: u64) -> Result<(), Halt> {
        let page = self.core.space.borrow().page_of(offset);
        if self.waits_for_page() {
            self.wait(Wait::Page(page))?;
        }
        if self.mapped.get(page) == Some(&Mapped::Yes) {
            return Ok(());
        }
        if offset >= self.core.space.borrow().bytes() {
            let what = format!("node {}: shared offset {offset:#x} is not allocated", self.core.me);
            return Err(ProgramFault::new(what).into());
        }
        self.ask_for(page);
        while self.mapped[page] != Mapped::Yes {
            self.wait(Wait::Page(page))?;
        }
        Ok(())
    }

    /// Asks where a page lives, if that is not known.
    pub(super) fn ask_for(&mut self, page: usize) {
        if page >= self.mapped.len() {
            self.mapped.resize(page + 16, Mapped::No);
        }
        if self.mapped[page] != Mapped::No {
            return;
        }
        let (by_first_touch, manager) = {
            let space = self.core.space.borrow();
            (space.by_first_touch(page), space.manager(page))
        };
        if !by_first_touch {
            self.mapped[page] = Mapped::Yes;
        } else if manager == self.core.me {
            let Claimed { contents_at, .. } = self.core.space.borrow_mut().claim(page, self.core.me);
            self.mapped[page] = if contents_at.is_some() { Mapped::Asked } else { Mapped::Yes };
            if let Some(old) = contents_at {
                self.tell(old, &Control::Move { page, to: self.core.me });
            }
        } else {
            self.mapped[page] = Mapped::Asked;
            self.tell(manager, &Control::Claim { page });
        }
    }

    /// A store elsewhere than at the home, where a protocol assumes that there is none.
    fn check_home_writes(&mut self, offset: u64, block: Object) -> Result<(), ProgramFault> {
        let Some(protocol) = self.core.protocol_at(offset) else { return Ok(()) };
        let (home, me) = (self.core.home_of(block), self.core.me);
        if !self.core.protocols.home_writes[protocol] || home == me {
            return Ok(());
        }
        let help = format!(
            "the protocol `{}` assumes `home_writes`: let each node write its own part only, allocated on that node",
            self.core.protocols.engines[protocol].protocol().name
        );
        let what = format!("node {me} writes block {}, whose home is node {home}", block.id);
        Err(self.fail(NodeError::subject(what).help(help)))
    }

    /// Notes the first store to a block between two barriers, if its protocol assumes that nobody else makes one.
    fn note_store(&mut self, block: Object) {
        if !self.core.protocols.any_one_writer {
            return;
        }
        let protocol = self.core.protocol_at(self.core.offset_of(block));
        if !protocol.is_some_and(|protocol| self.core.protocols.one_writer[protocol]) {
            return;
        }
        let at = block.id as usize;
        if at >= self.is_stored.len() {
            self.is_stored.resize(at + 64, 0);
        }
        if self.is_stored[at] != self.phase + 1 {
            self.is_stored[at] = self.phase + 1;
            self.stored.push(block.id);
        }
    }

    /// Node 0 is told of stores before their phase is over. Two nodes that store to one block may wait for ever just because of that,
    /// and nobody should then be told of a deadlock. A store that waits counts: it was to happen in this phase.
    pub(super) fn tell_stores_so_far(&mut self) {
        if !self.core.protocols.any_one_writer {
            return;
        }
        if let Doing::Waiting(Wait::Access(block)) = self.doing
            && self.pending_kind == AccessKind::Write
        {
            self.note_store(block);
        }
        let blocks = self.stored.get(self.told_stores..).unwrap_or_default().to_vec();
        self.told_stores = self.stored.len();
        if !blocks.is_empty() {
            self.whisper(0, &Control::StoredSoFar { phase: self.phase, blocks });
        }
    }

    /// A phase between two barriers ends: what was stored in it is told, and stores ask again.
    pub(super) fn next_phase(&mut self) {
        if self.core.protocols.any_one_writer {
            let blocks = std::mem::take(&mut self.stored);
            self.told_stores = 0;
            for &id in &blocks {
                let block = Object { kind: trivium_protocol::BLOCK, id };
                let tag = self.tag(block);
                self.publish(block, tag, false);
            }
            self.tell(0, &Control::Stored { phase: self.phase, blocks });
        }
        self.phase += 1;
    }

    /// Access control stops an access, and a handler hears of it.
    fn fault(&mut self, offset: u64, block: Object, kind: AccessKind) -> Result<(), ProgramFault> {
        let Some(protocol) = self.core.protocol_at(offset) else {
            return Err(ProgramFault::new(format!(
                "node {}: shared offset {offset:#x} is not allocated",
                self.core.me
            )));
        };
        let event = match kind {
            AccessKind::Read => {
                self.counts.read_faults += 1;
                EventKind::Read
            }
            AccessKind::Write => {
                self.counts.write_faults += 1;
                self.counts.upgrades += u64::from(self.tag(block) == Access::Read);
                match self.atomic {
                    Some(_) => self.core.protocols.engines[protocol].event_of_rmw(self.core.is_at_home(block)),
                    None => EventKind::Write,
                }
            }
        };
        if self.joins_prefetch(protocol, block) {
            self.core.thread.joins(block);
        } else {
            let number = self.core.thread.asks(Awaited::Access(block));
            self.raise(protocol, &Event::local(event, block, 0), number);
        }
        Ok(())
    }

    /// Whether the program runs.
    pub(super) fn is_running(&self) -> bool {
        self.doing == Doing::Running
    }
}
