//! Accesses of the program: what it may do by itself, and what a handler has to be asked for.

use super::NodeState;
use crate::packets::wire::Control;
use trivium_engine::{Event, Object};
use trivium_guest::{AccessKind, AccessStep, ProgramFault, SHARED_BASE};
use trivium_node::{
    AccessHost, CallHost, Claimed, EventNumber, Mapped, ProgramAccess, RUNNING, Stopped, Wait, reach_shared, shared_u32,
};
use trivium_protocol::Access;

/// Private memory is allowed in pieces of so many bytes.
const PRIVATE_LINE: u32 = 4096;

/// A phase between two barriers, in which only one node may store to a block of some protocols.
#[derive(Default)]
pub(super) struct Phase {
    number: u64,
    /// Blocks that this node has stored to in it, and how many of these node 0 knows already.
    stored: Vec<u32>,
    told: usize,
}

impl NodeState {
    /// An access of at most 8 bytes inside an aligned word: whether it may happen, or has, or has to wait.
    pub(super) fn reach_for(&mut self, access: &ProgramAccess) -> Result<AccessStep, ProgramFault> {
        if access.address < SHARED_BASE {
            return self.reach_private(access.address, access.kind);
        }
        let grant = self.thread_mut().grant.take();
        let step = reach_shared(self, access, grant, ())?;
        if step != AccessStep::Wait
            && let Some(took) = self.tried.ends()
        {
            self.measured.latency.add(took);
        }
        Ok(step)
    }

    /// An access to private memory. Where that is shared, the tag of its block decides, unless nobody wants that: then compiled code may
    /// do by this address what it may do by the shared one.
    fn reach_private(&mut self, address: u32, kind: AccessKind) -> Result<AccessStep, ProgramFault> {
        let looked_at = if self.checks_unchecked { self.core.parts.offset_of(address) } else { None };
        if let Some(offset) = looked_at {
            let block = self.core.block_of(offset);
            let tag = self.core.tag(block);
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

    /// Whether the home of a page is known; if not, the program waits until it is.
    pub(super) fn map(&mut self, offset: u64) -> Result<bool, ProgramFault> {
        let page = self.core.space.borrow().page_of(offset);
        if self.core.pages.is_known(page) {
            return Ok(true);
        }
        if offset >= self.core.space.borrow().bytes() {
            let what = format!("node {}: shared offset {offset:#x} is not allocated", self.core.me);
            return Err(ProgramFault::new(what));
        }
        self.ask_for(page);
        let is_known = self.core.pages.is_known(page);
        if !is_known {
            self.waits(Wait::Page(page));
        }
        Ok(is_known)
    }

    /// Asks where a page lives, if that is not known.
    pub(super) fn ask_for(&mut self, page: usize) {
        if self.core.pages.of(page) != Mapped::No {
            return;
        }
        let (by_first_touch, manager) = {
            let space = self.core.space.borrow();
            (space.by_first_touch(page), space.manager(page))
        };
        if !by_first_touch {
            self.core.pages.put(page, Mapped::Yes);
        } else if manager == self.core.me {
            let Claimed { contents_at, .. } = self.core.space.borrow_mut().claim(page, self.core.me);
            self.core.pages.put(page, if contents_at.is_some() { Mapped::Asked } else { Mapped::Yes });
            if let Some(old) = contents_at {
                self.tell(old, &Control::Move { page, to: self.core.me });
            }
        } else {
            self.core.pages.put(page, Mapped::Asked);
            self.tell(manager, &Control::Claim { page });
        }
    }

    /// Notes the first store to a block between two barriers, if its protocol assumes that nobody else makes one.
    fn note_store(&mut self, block: Object) {
        if self.core.is_first_store(block, self.phase.number) {
            self.phase.stored.push(block.id);
        }
    }

    /// Node 0 is told of stores before their phase is over. Two nodes that store to one block may wait for ever just because of that,
    /// and nobody should then be told of a deadlock. A store that waits counts: it was to happen in this phase.
    pub(super) fn tell_stores_so_far(&mut self) {
        if !self.core.protocols.any_one_writer {
            return;
        }
        if let Some(Wait::Access(block)) = self.thread().wait
            && !self.thread().loads()
        {
            self.note_store(block);
        }
        let blocks = self.phase.stored.get(self.phase.told..).unwrap_or_default().to_vec();
        self.phase.told = self.phase.stored.len();
        if !blocks.is_empty() {
            self.whisper(0, &Control::StoredSoFar { phase: self.phase.number, blocks });
        }
    }

    /// A phase between two barriers ends: what was stored in it is told, and stores ask again.
    pub(super) fn next_phase(&mut self) {
        if self.core.protocols.any_one_writer {
            let blocks = std::mem::take(&mut self.phase.stored);
            self.phase.told = 0;
            for &id in &blocks {
                let block = Object { kind: trivium_protocol::BLOCK, id };
                let tag = self.core.tag(block);
                self.publish(block, tag, false);
            }
            self.tell(0, &Control::Stored { phase: self.phase.number, blocks });
        }
        self.phase.number += 1;
    }

    /// Whether the program runs.
    pub(super) fn is_running(&self) -> bool {
        self.thread().is_running()
    }
}

impl AccessHost for NodeState {
    type Way = ();

    fn may_use(&mut self, offset: u64, _: &ProgramAccess) -> Result<bool, ProgramFault> {
        self.map(offset)
    }

    fn is_complete(&mut self, access: &ProgramAccess, block: Object, (): ()) {
        if access.kind == AccessKind::Write {
            self.note_store(block);
        }
    }

    /// Those after it need not ask as long as nothing is assumed about them.
    fn happens(
        &mut self,
        access: &ProgramAccess,
        (block, tag): (Object, Access),
        _: bool,
        (): (),
    ) -> Result<(), ProgramFault> {
        let is_store = access.kind == AccessKind::Write;
        if is_store {
            self.note_store(block);
        }
        self.publish(block, tag, is_store);
        Ok(())
    }

    fn is_stopped(&mut self, _: &ProgramAccess, _: Object, (): ()) -> Result<(), ProgramFault> {
        self.tried.begins();
        Ok(())
    }

    fn is_prefetched(&self, block: Object) -> bool {
        self.is_hinted(block)
    }

    fn asks(&mut self, stopped: &Stopped, number: Option<EventNumber>, access: &ProgramAccess, (): ()) {
        let &Stopped { block, object, protocol, event, tag } = stopped;
        match access.kind {
            AccessKind::Read => self.measured.counts.read_faults += 1,
            AccessKind::Write => {
                self.measured.counts.write_faults += 1;
                self.measured.counts.upgrades += u64::from(tag == Access::Read);
            }
        }
        if let Some(number) = number {
            self.raise(protocol, &Event::local(event, object, RUNNING), number);
        }
        self.waits(Wait::Access(block));
    }
}
