//! An access of a program to shared memory, once for all live nodes: the page, what handlers have done for it, the tag; and what the engine is
//! asked for where the tag does not allow it. What all that costs, or leaves to be seen, the node's host says ([`AccessHost`]).

use super::{CallHost, ProgramAccess};
use crate::core::{NodeCore, allows};
use crate::error::NodeError;
use crate::handler::pending;
use crate::thread::{Awaited, EventNumber, Grant, RUNNING, Wait};
use trivium_diagnostic::Code;
use trivium_engine::number::fit;
use trivium_engine::{Event, Object};
use trivium_guest::{AccessKind, AccessStep, ProgramFault, SHARED_BASE};
use trivium_protocol::{Access, BLOCK, EventKind, Response};

/// An access that a tag has stopped.
#[derive(Clone, Copy, Debug)]
pub struct Stopped {
    /// To which block.
    pub block: Object,
    /// What the event is about: the block, or the object whose image it is.
    pub object: Object,
    /// Of which protocol.
    pub protocol: usize,
    /// What the engine is asked for.
    pub event: EventKind,
    /// The block's tag.
    pub tag: Access,
}

/// What of an access depends on where its node lives.
pub trait AccessHost: CallHost {
    /// By what way an access comes to shared memory.
    type Way: Copy;

    /// Whether the node may use the memory at a byte offset: its page has a home that is known, and so on. If not, the thread waits.
    ///
    /// # Errors
    /// It never may.
    fn may_use(&mut self, offset: u64, access: &ProgramAccess) -> Result<bool, ProgramFault>;

    /// A handler has performed the access.
    fn is_complete(&mut self, access: &ProgramAccess, block: Object, way: Self::Way);

    /// The access happens, by this tag; whether it had been stopped before, and was granted.
    ///
    /// # Errors
    /// It cannot be looked at.
    fn happens(
        &mut self,
        access: &ProgramAccess,
        block: (Object, Access),
        was_granted: bool,
        way: Self::Way,
    ) -> Result<(), ProgramFault>;

    /// The tag stops the access.
    ///
    /// # Errors
    /// It cannot be looked at.
    fn is_stopped(&mut self, access: &ProgramAccess, block: Object, way: Self::Way) -> Result<(), ProgramFault>;

    /// Whether the engine may be asked for access to a block; if not, the thread waits until it may.
    fn may_ask(&mut self, block: Object, access: &ProgramAccess) -> bool {
        let _ = (block, access);
        true
    }

    /// Whether a prefetch of the block is under way, besides those of which the engine has heard.
    fn is_prefetched(&self, block: Object) -> bool;

    /// The engine is to hear of a stopped access, by an event with this number; by none if the thread joins a request for the block that is
    /// under way.
    fn asks(&mut self, stopped: &Stopped, number: Option<EventNumber>, access: &ProgramAccess, way: Self::Way);
}

/// An access to shared memory, of at most 8 bytes inside an aligned word; what it has been granted, if it had been stopped.
///
/// # Errors
/// It cannot happen.
#[inline]
pub fn reach_shared<N: AccessHost>(
    node: &mut N,
    access: &ProgramAccess,
    grant: Option<Grant>,
    way: N::Way,
) -> Result<AccessStep, ProgramFault> {
    let offset = u64::from(access.address - SHARED_BASE);
    let block = node.core().block_of(offset);
    if !node.may_use(offset, access)? {
        return Ok(AccessStep::Wait);
    }
    if let Some(Grant::Complete(read)) = grant {
        node.is_complete(access, block, way);
        return Ok(AccessStep::Complete(read));
    }
    if access.kind == AccessKind::Write
        && let Err(error) = node.core().check_home_writes(offset, block)
    {
        return Err(node.fail(error));
    }
    let tag = node.core_mut().tag(block);
    if allows(tag, access.kind) {
        node.core_mut().threads[RUNNING].goes_on();
        node.happens(access, (block, tag), grant.is_some(), way)?;
        return Ok(AccessStep::Go);
    }
    node.is_stopped(access, block, way)?;
    stop(node, access, (offset, block, tag), way)?;
    Ok(AccessStep::Wait)
}

/// Access control stops an access, and the engine hears of it.
fn stop<N: AccessHost>(
    node: &mut N,
    access: &ProgramAccess,
    (offset, block, tag): (u64, Object, Access),
    way: N::Way,
) -> Result<(), ProgramFault> {
    let size = fit(access.size, "the size of an access, which is at most 16 bytes");
    let core = node.core_mut();
    let thread = &mut core.threads[RUNNING];
    thread.pending = pending(offset, size, access.value, thread.atomic.as_ref());
    thread.pending_kind = access.kind;
    let modifies = thread.atomic.is_some();
    let Some(protocol) = core.protocol_at(offset) else {
        return Err(ProgramFault::new(format!("node {}: shared offset {offset:#x} is not allocated", core.me)));
    };
    if core.threads[RUNNING].told.is_some() {
        // What a thread says comes to its engine in order: what it has told it comes first.
        node.waits(Wait::Told);
        return Ok(());
    }
    let event = match access.kind {
        AccessKind::Read => EventKind::Read,
        AccessKind::Write if modifies => {
            core.protocols.engines[protocol].event_of_rmw(core.is_at_home(protocol, block))
        }
        AccessKind::Write => EventKind::Write,
    };
    if !node.may_ask(block, access) {
        return Ok(());
    }
    let (event, object) = node.core().event_of_line(event, block);
    let stopped = Stopped { block, object, protocol, event, tag };
    let is_prefetched = node.is_prefetched(block);
    let core = node.core_mut();
    // A processor with a cache makes no second request.
    let joins = core.protocols.cached[protocol] && (is_prefetched || core.lines.line(block).hinted);
    let number = match joins {
        true => {
            core.threads[RUNNING].joins(block);
            None
        }
        false => Some(core.threads[RUNNING].asks(Awaited::Access(block))),
    };
    node.asks(&stopped, number, access, way);
    Ok(())
}

impl<C> NodeCore<C> {
    /// A store is to happen at a byte offset: one that is not at the block's home, where its protocol assumes that there is none.
    ///
    /// # Errors
    /// It is one.
    #[inline]
    pub fn check_home_writes(&self, offset: u64, block: Object) -> Result<(), NodeError> {
        let Some(protocol) = self.protocol_at(offset) else { return Ok(()) };
        if !self.protocols.home_writes[protocol] || self.home_of_block(block) == self.me {
            return Ok(());
        }
        let (me, home) = (self.me, self.home_of_block(block));
        let what = format!("node {me} writes block {}, whose home is node {home}", block.id);
        let help = format!(
            "the protocol `{}` assumes `home_writes`: let each node write its own part only, allocated on that node",
            self.protocols.engines[protocol].protocol().name
        );
        Err(NodeError::subject(Code::Program, what).help(help))
    }

    /// Whether a store to a block is this node's first in a phase between two barriers, and its protocol assumes that nobody else makes one.
    #[inline]
    pub fn is_first_store(&mut self, block: Object, phase: u64) -> bool {
        if !self.protocols.any_one_writer {
            return false;
        }
        let protocol = self.protocol_at(self.offset_of(block));
        if !protocol.is_some_and(|protocol| self.protocols.one_writer[protocol]) {
            return false;
        }
        self.stores.is_first(block, phase)
    }

    /// Whether the prefetch of a block would be answered by a handler, and would bring anything.
    pub fn is_prefetch_useful(&mut self, protocol: usize, block: Object, kind: EventKind) -> bool {
        let engine = self.protocols.engines[protocol].clone();
        let Some(role) = engine.role_for(kind, BLOCK, self.is_at_home(protocol, block)) else { return false };
        engine.answers(role, kind)
            && kind.wants().is_some_and(|wanted| self.tag(block) < wanted)
            && !self.lines.line(block).hinted
            && matches!(engine.response(role, self.state_of(protocol, role, block), kind), Response::Handle(_))
            && !self.stalls_there(protocol, role, &Event::local(kind, block, 0))
    }

    /// The engine hears of the prefetch of a block. With a cache it is a request from now on.
    pub fn hears_prefetch(&mut self, protocol: usize, event: &Event) {
        if self.protocols.cached[protocol] {
            let mut line = self.lines.line(event.object);
            line.hint();
            self.lines.set(event.object, line);
        }
    }
}
