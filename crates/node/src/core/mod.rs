//! A node as far as no time is concerned: its records, its view of the address space, its payloads, its schedule.

mod own;
mod placed;
mod tags;
mod unchecked;

pub(crate) use own::OwnRecords;

use crate::error::NodeError;
use crate::records::{Blocked, Lines, Locks, Protocols, Records, Schedule, Slot, Stores, Usage};
use crate::space::{BlockTags, NodeMemory, Pages, Parts, Payloads, Space};
use crate::thread::NodeThreads;
use placed::Placed;
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::rc::Rc;
use trivium_diagnostic::Code;
use trivium_engine::number::fit;
use trivium_engine::{Fault, Node, Object};
use trivium_guest::{AccessKind, SHARED_BASE};
use trivium_protocol::{Access, BLOCK, EventKind, NODE, RoleId, StateId};

/// Whether a block's tag allows an access.
#[inline]
pub fn allows(tag: Access, kind: AccessKind) -> bool {
    match kind {
        AccessKind::Read => tag >= Access::Read,
        AccessKind::Write => tag == Access::Write,
    }
}

/// A node as far as no time is concerned. `C` is what is kept of why a deferred event is tried again.
pub struct NodeCore<C> {
    /// Its number.
    pub me: Node,
    /// The protocols of the run.
    pub protocols: Rc<Protocols>,
    /// Who allocated what, and where homes are.
    pub space: Rc<RefCell<Space>>,
    /// Of each region, the protocol that it was bound to after its allocation, if it was.
    pub bound: Vec<Option<usize>>,
    /// Homes of objects beside blocks that programs have given them.
    pub(crate) placed: Placed,
    /// Whether the parallel phase has started.
    pub has_started: bool,
    /// The records of its roles.
    pub records: Records,
    /// Data in the hands of its handlers.
    pub payloads: Payloads,
    /// What its engine still has to do besides what arrives.
    pub schedule: Schedule<C>,
    /// Its copy of shared memory.
    pub memory: NodeMemory,
    /// What it may do with its blocks.
    pub tags: BlockTags,
    /// Which pages have a home that it knows.
    pub pages: Pages,
    /// What is kept where processors are cached.
    pub lines: Lines,
    /// Which blocks it has stored to, where only one node may.
    pub(crate) stores: Stores,
    /// How many allocations its program has made and given back.
    pub space_calls: usize,
    /// The threads of its program.
    pub threads: NodeThreads,
    /// How protocol calls are used, where a protocol assumes something about it.
    pub usage: Usage,
    /// What it has shared of its private memory.
    pub parts: Parts,
    /// What its program's atomic operations show of locks.
    pub locks: Locks,
    /// What has blocked its receive queue, where a message may stall.
    pub blocked: Blocked,
    /// The block whose home was asked for last, and that home, where no first touch decides it: a handler asks several times.
    asked_home: Cell<(Object, Node)>,
    /// The first block that the running handler has met whose home is not known here.
    homeless: Cell<Option<Object>>,
}

impl<C> NodeCore<C> {
    /// A node that nothing has happened on.
    pub fn new(me: Node, protocols: Rc<Protocols>, space: Rc<RefCell<Space>>) -> NodeCore<C> {
        NodeCore {
            me,
            records: Records::new(&protocols.engines),
            protocols,
            space,
            bound: Vec::new(),
            placed: Placed::default(),
            has_started: false,
            payloads: Payloads::default(),
            schedule: Schedule::default(),
            memory: NodeMemory::Plain(Vec::new()),
            tags: BlockTags::default(),
            pages: Pages::default(),
            lines: Lines::default(),
            stores: Stores::default(),
            space_calls: 0,
            threads: NodeThreads::default(),
            usage: Usage::default(),
            parts: Parts::default(),
            locks: Locks::default(),
            blocked: Blocked::default(),
            asked_home: Cell::new((Object { kind: NODE, id: 0 }, me)),
            homeless: Cell::new(None),
        }
    }

    /// The block of a byte offset.
    #[inline]
    pub fn block_of(&self, offset: u64) -> Object {
        Object { kind: BLOCK, id: self.protocols.block_number(offset) }
    }

    /// The number of the block of a byte offset, if that is allocated under a protocol, and its home is known here.
    pub fn known_block(&self, protocol: usize, offset: u64) -> Option<u32> {
        let space = self.space.borrow();
        let page = space.page_of(offset);
        let is_known = offset < space.bytes() && (!space.by_first_touch(page) || self.pages.is_known(page));
        (is_known && self.protocol_at(offset) == Some(protocol)).then(|| self.block_of(offset).id)
    }

    /// The block that is this node's line of an object: its image, or the block itself.
    #[inline]
    pub fn line_of(&self, protocol: usize, object: Object) -> Object {
        self.protocols.images.block(protocol, object, self.me)
    }

    /// The event of a block's line, as the block's protocol answers it: about the block, or about the object whose image the block is.
    pub fn event_of_line(&self, kind: EventKind, block: Object) -> (EventKind, Object) {
        match self.protocols.images.object(block) {
            None => (kind, block),
            Some(object) if kind.wants().is_some() => (EventKind::Image, object),
            Some(object) => (kind, object),
        }
    }

    /// The byte offset of a block.
    #[inline]
    pub fn offset_of(&self, block: Object) -> u64 {
        u64::from(block.id) * self.protocols.block
    }

    /// The home of a block.
    #[inline]
    pub fn home_of_block(&self, block: Object) -> Node {
        self.space.borrow().home(self.offset_of(block)).unwrap_or(0)
    }

    /// The home of an object of a protocol (the node itself for its agent).
    #[inline]
    pub fn home_of(&self, protocol: usize, object: Object) -> Node {
        match object.kind {
            NODE => self.me,
            BLOCK => self.home_of_block(object),
            _ => match self.placed.home(protocol, object) {
                Some(home) => home,
                None => fit(object.id % self.protocols.nodes, "the number of a node"),
            },
        }
    }

    /// The home of an object, as a handler sees it. A block has one that this node knows: else the block is noted
    /// ([`NodeCore::check_homes`]), and the run must end with the error that it makes.
    #[inline(always)]
    pub fn home_for_handler(&self, protocol: usize, object: Object) -> Node {
        let (asked, home) = self.asked_home.get();
        if asked == object { home } else { self.look_up_home(protocol, object) }
    }

    /// The same of an object that was not asked for last.
    #[inline(never)]
    fn look_up_home(&self, protocol: usize, object: Object) -> Node {
        let home = self.home_of(protocol, object);
        if object.kind != BLOCK {
            self.placed.asked(protocol, object);
        } else {
            let space = self.space.borrow();
            let offset = self.offset_of(object);
            let page = space.page_of(offset);
            let is_allocated = offset < space.bytes();
            let moves = space.by_first_touch(page);
            if is_allocated && !moves {
                self.asked_home.set((object, home));
            } else if !(is_allocated && self.pages.is_known(page)) && self.homeless.get().is_none() {
                self.homeless.set(Some(object));
            }
        }
        home
    }

    /// The handler that has just run, at this place, is about no block, and has named none, whose home this node does not know.
    ///
    /// # Errors
    /// It is, or has.
    #[inline]
    pub fn check_homes(&self, at: &dyn Display) -> Result<(), NodeError> {
        self.homeless.get().map_or(Ok(()), |block| Err(self.is_homeless(block, at)))
    }

    #[cold]
    fn is_homeless(&self, block: Object, at: &dyn Display) -> NodeError {
        let offset = self.offset_of(block);
        let address = u64::from(SHARED_BASE) + offset;
        let why = match offset < self.space.borrow().bytes() {
            true => "its page is placed by first touch, and this node has not learned where",
            false => "no program has allocated it",
        };
        NodeError::subject(
            Code::Fault,
            format!(
                "{at}: a handler meets block {} (address {address:#x}), whose home nobody here knows: {why}",
                block.id
            ),
        )
        .help("a handler may name another block only where its node has accessed it, or has had a message about it")
    }

    /// Whether an object that has a home has it here.
    #[inline]
    pub fn is_at_home(&self, protocol: usize, object: Object) -> bool {
        object.kind != NODE && self.home_of(protocol, object) == self.me
    }

    /// The protocol of a byte offset: that of its allocation, or the one that its region was bound to since.
    #[inline]
    pub fn protocol_at(&self, offset: u64) -> Option<usize> {
        let space = self.space.borrow();
        if !self.bound.is_empty()
            && let Some(Some(bound)) = space.region_of(offset).and_then(|region| self.bound.get(region))
        {
            return Some(*bound);
        }
        space.protocol(offset)
    }

    /// The access of a block that nobody has touched: that of its role's first state.
    pub fn first_access(&self, block: Object) -> Access {
        let Some(protocol) = self.protocol_at(self.offset_of(block)) else { return Access::None };
        let engine = &self.protocols.engines[protocol];
        let role = engine.tag_role(self.home_of_block(block) == self.me);
        role.map_or(Access::None, |role| engine.protocol().roles[role.index()].states[0].access)
    }

    /// The record of an instance, if it has been touched.
    #[inline]
    pub fn record_of(&self, protocol: usize, role: RoleId, object: Object) -> Option<&[u8]> {
        self.records.find(protocol, role, object)
    }

    /// The slot of a record, which begins as its role says if nobody has touched it; and what goes wrong there.
    #[inline(always)]
    pub fn begun(&mut self, protocol: usize, role: RoleId, object: Object) -> (Slot, Option<String>) {
        let (slot, is_new) = self.records.place(protocol, role, object);
        if is_new { (slot, self.begin_record(protocol, role, object, slot).err()) } else { (slot, None) }
    }

    /// A record that nobody has touched begins as its role says.
    #[inline(never)]
    fn begin_record(&mut self, protocol: usize, role: RoleId, object: Object, slot: Slot) -> Result<(), String> {
        self.records.must_fit()?;
        if self.protocols.engines[protocol].has_initially(role) {
            let first = self.first_record(protocol, role, object).map_err(|fault| fault.message)?;
            self.records.at_mut(slot).copy_from_slice(&first);
        }
        Ok(())
    }

    fn first_record(&self, protocol: usize, role: RoleId, object: Object) -> Result<Vec<u8>, Fault> {
        let engine = &self.protocols.engines[protocol];
        engine.first_record(role, object, self.me, self.home_of(protocol, object), &mut |_, _| {})
    }

    /// The state of a record, touched or not.
    pub fn state_of(&self, protocol: usize, role: RoleId, object: Object) -> StateId {
        let engine = &self.protocols.engines[protocol];
        match self.record_of(protocol, role, object) {
            Some(record) => engine.state(role, record),
            // What goes wrong there is told when the record is made.
            None if engine.has_initially(role) => {
                self.first_record(protocol, role, object).map_or(StateId(0), |first| engine.state(role, &first))
            }
            None => StateId(0),
        }
    }

    /// Records that say what they are at first are made where an assumption may look at them.
    ///
    /// # Errors
    /// What goes wrong where they are made.
    pub fn begin_here(&mut self, protocol: usize, object: Object) -> Result<(), String> {
        let engine = self.protocols.engines[protocol].clone();
        let agent = Object { kind: NODE, id: 0 };
        for object in [Some(object), (object != agent).then_some(agent)].into_iter().flatten() {
            let is_home = self.is_at_home(protocol, object);
            for role in engine.roles_of(object.kind, is_home).filter(|role| engine.has_initially(*role)) {
                self.begun(protocol, role, object).1.map_or(Ok(()), Err)?;
            }
        }
        Ok(())
    }
}
