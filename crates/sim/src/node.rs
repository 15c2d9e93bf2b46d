//! A node: processor, cache, bus, memory, engine and network interface, and all that is on its way to them.
//!
//! A node touches nothing of another node. What it does to others it posts ([`Post`]), at least the machine's
//! lookahead later; so nodes can be simulated in any order within a window of that length.

use crate::agenda::Agenda;
use crate::blame::Log;
use crate::bus::Bus;
use crate::cache::Cache;
use crate::counters::Counters;
use crate::error::SimError;
use crate::event::{Arrival, Credit, Data, Key, Local, Post, Posted, Signal};
use crate::forced::Times;
use crate::frames::Frames;
use crate::interface::Interface;
use crate::lines::Lines;
use crate::mechanisms::Handling;
use crate::memory::Memory;
use crate::processor::Compute;
use crate::records::{Place, Records};
use crate::shared::Shared;
use crate::space::Space;
use crate::timeline::Cause;
use crate::trace::Note;
use crate::usage::Usage;
use crate::watch::{FirstStore, TagChange};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use trivium_engine::number::fit;
use trivium_engine::{Args, Event, Fault, Node, Object};
use trivium_lang::protocol::{Access, BLOCK, EventKind, MessageId, NODE, RoleId, StateId};

/// Something that a thread keeps until the state of an instance changes.
#[derive(Clone, Debug)]
pub struct Held {
    /// Of which protocol.
    pub protocol: usize,
    /// Of which role.
    pub role: RoleId,
    /// What the thread wants.
    pub event: Event,
}

/// One node. Its fields are in the order in which they are looked at: what each visit of the node looks at, what its
/// accesses and handlers do, and the rest.
#[repr(C)]
pub struct NodeState {
    /// The last moment at which anything took effect.
    pub(crate) now: u64,
    /// When the engine can take the next event.
    pub(crate) engine_free: u64,
    /// What all nodes share.
    pub shared: Rc<Shared>,
    /// Its number.
    pub me: Node,
    /// Whether it is recorded what leads to what.
    pub recording: bool,
    pub(crate) inbox: Agenda<Arrival>,
    pub(crate) signals: Agenda<Signal>,
    /// Credits on their way back. They only matter to messages that wait, so they are taken when something is sent.
    pub(crate) credits: Agenda<Credit>,
    pub(crate) replays: VecDeque<(usize, RoleId, Object)>,
    /// What it has posted to others since the world looked.
    pub outbox: Vec<Post>,
    /// The compute processor.
    pub compute: Compute,
    /// How many events this node has caused.
    caused: u64,
    /// What has been counted.
    pub counters: Counters,
    /// Its cache.
    pub cache: Cache,
    /// The bus.
    pub bus: Bus,
    /// Its copy of shared memory.
    pub memory: Memory,
    /// Tags by block: 0 not known yet, else 1 + access.
    pub tags: Vec<u8>,
    /// Which pages have a home that this node knows.
    pub mapped: Vec<bool>,
    /// Of each region, the protocol that it was bound to after its allocation, if it was.
    pub(crate) bound: Vec<Option<usize>>,
    /// Who allocated what, and where homes are.
    pub space: Rc<RefCell<Space>>,
    /// The network interface.
    pub interface: Interface,
    /// The handler that is running.
    pub(crate) handling: Box<Handling>,
    /// What is in its place while none runs.
    pub(crate) resting: Option<Box<Handling>>,
    pub(crate) records: Records,
    pub(crate) payloads: Vec<Option<Box<Data>>>,
    pub(crate) free_payloads: Vec<u32>,
    /// Tag changes since the world looked.
    pub tag_changes: Vec<TagChange>,
    pub(crate) held: Vec<Held>,
    /// Messages sent, by protocol and kind.
    sent_of: Vec<u64>,
    /// How many messages it has sent.
    pub(crate) sent: u64,
    /// First stores to blocks since the world looked.
    pub first_stores: Vec<FirstStore>,
    /// Of each block, 1 + the phase of this node's latest store, where that is watched.
    pub(crate) stored: Vec<u64>,
    /// Its processor's lines, where processors are cached.
    pub(crate) lines: Lines,
    /// Its memory for pages of other homes.
    pub(crate) frames: Frames,
    pub(crate) timers: FxHashMap<(usize, RoleId, Object), u64>,
    /// How protocol calls are used, where a protocol assumes something about it.
    pub(crate) usage: Usage,
    /// What made each instance in `replays` try again, if that is recorded.
    pub(crate) replay_causes: FxHashMap<(usize, RoleId, Object), Cause>,
    /// Times that are forced, where an order of events is.
    pub(crate) forced: Option<Box<Times>>,
    /// Notes for a trace since the world looked, if they are kept.
    pub notes: Vec<Note>,
    /// Up to where the processor's time has been noted.
    pub(crate) noted_until: u64,
    /// What went wrong on it.
    pub failure: Option<SimError>,
    /// What it has seen, if somebody is to be blamed for misses.
    pub(crate) blame: Option<Box<Log>>,
}

impl NodeState {
    /// A node at rest.
    pub fn new(me: Node, shared: Rc<Shared>, space: Rc<RefCell<Space>>, seed: u64) -> NodeState {
        let machine = &shared.machine;
        NodeState {
            me,
            cache: Cache::new(&machine.cache),
            bus: Bus::new(&machine.bus).noting(shared.traced.is_some()),
            interface: Interface::new(machine, me, shared.nodes, seed),
            space,
            memory: Memory::Plain(Vec::new()),
            compute: Compute::new(machine.processor.cpi),
            counters: Counters::default(),
            sent_of: vec![0; shared.kinds_before(shared.engines.len())],
            lines: Lines::default(),
            frames: Frames::default(),
            tags: Vec::new(),
            bound: Vec::new(),
            mapped: Vec::new(),
            records: Records::new(&shared.engines),
            payloads: Vec::new(),
            free_payloads: Vec::new(),
            inbox: Agenda::default(),
            signals: Agenda::default(),
            credits: Agenda::default(),
            replays: VecDeque::new(),
            held: Vec::new(),
            timers: FxHashMap::default(),
            engine_free: 0,
            now: 0,
            caused: 0,
            outbox: Vec::new(),
            tag_changes: Vec::new(),
            notes: Vec::new(),
            noted_until: 0,
            first_stores: Vec::new(),
            stored: Vec::new(),
            forced: None,
            handling: Box::default(),
            resting: None,
            usage: Usage::default(),
            recording: shared.traced.is_some() || shared.blamed,
            blame: shared.blamed.then(Box::default),
            replay_causes: FxHashMap::default(),
            sent: 0,
            failure: None,
            shared,
        }
    }

    /// The block of a byte offset.
    pub fn block_of(&self, offset: u64) -> Object {
        Object { kind: BLOCK, id: self.shared.block_number(offset) }
    }

    /// The byte offset of a block.
    pub fn offset_of(&self, block: Object) -> u64 {
        u64::from(block.id) * self.shared.block
    }

    /// The home of an object (the node itself for its agent).
    pub fn home_of(&self, object: Object) -> Node {
        match object.kind {
            NODE => self.me,
            BLOCK => self.space.borrow().home(self.offset_of(object)).unwrap_or(0),
            _ => fit(object.id % self.shared.nodes, "a node, of which there are at most 256"),
        }
    }

    /// The tag of a block of an allocated page whose home is known.
    pub fn tag(&mut self, block: Object) -> Access {
        let at = block.id as usize;
        if at >= self.tags.len() {
            self.tags.resize(at + 64, 0);
        }
        if self.tags[at] == 0 {
            self.tags[at] = 1 + self.first_access(block) as u8;
        }
        [Access::None, Access::Read, Access::Write][self.tags[at] as usize - 1]
    }

    /// The access of a block that nobody has touched: that of its role's first state.
    pub(crate) fn first_access(&self, block: Object) -> Access {
        let Some(protocol) = self.protocol_at(self.offset_of(block)) else { return Access::None };
        let engine = &self.shared.engines[protocol];
        let role = engine.tag_role(self.home_of(block) == self.me);
        role.map_or(Access::None, |role| engine.protocol().roles[role.index()].states[0].access)
    }

    /// A place in the order of events for something that this node causes.
    #[inline(always)]
    pub(crate) fn key(&mut self, time: u64) -> Key {
        self.caused += 1;
        Key::new(time, self.me, self.caused)
    }

    /// An event of this node, without arguments.
    pub(crate) fn local(&mut self, protocol: usize, kind: EventKind, object: Object) -> Box<Local> {
        let spare = self.shared.spare.borrow_mut().local();
        match spare {
            None => Box::new(Local { protocol, event: Event::local(kind, object, 0), cause: None }),
            Some(mut local) => {
                let event = &mut local.event;
                (event.kind, event.object, event.sender, event.thread) = (kind, object, 0, 0);
                event.payload = None;
                event.args.assign(&Args::NONE);
                (local.protocol, local.cause) = (protocol, None);
                local
            }
        }
    }

    /// Something for this node's own engine.
    #[inline(always)]
    pub(crate) fn raise(&mut self, time: u64, arrival: Arrival) {
        let key = self.key(time);
        self.inbox.insert(key, arrival);
    }

    /// Something for another node, or this one.
    #[inline(always)]
    pub(crate) fn post(&mut self, to: Node, time: u64, what: Posted) {
        let key = self.key(time);
        if to == self.me { self.accept(Post { to, key, what }) } else { self.outbox.push(Post { to, key, what }) }
    }

    /// Whether it has done anything since the world looked that others can feel.
    pub(crate) fn has_reached_others(&self) -> bool {
        !self.outbox.is_empty() || self.compute.arrived.is_some()
    }

    /// Something from another node, or this one.
    #[inline(always)]
    pub fn accept(&mut self, post: Post) {
        match post.what {
            Posted::Arrival(arrival) => {
                self.inbox.insert(post.key, arrival);
            }
            Posted::Signal(signal) => {
                self.signals.insert(post.key, signal);
            }
            Posted::Credit(credit) => {
                self.credits.insert(post.key, credit);
            }
        }
    }

    /// Data become a payload.
    pub(crate) fn keep(&mut self, data: Box<Data>) -> trivium_engine::Payload {
        match self.free_payloads.pop() {
            Some(at) => {
                self.payloads[at as usize] = Some(data);
                trivium_engine::Payload(at)
            }
            None => {
                self.payloads.push(Some(data));
                trivium_engine::Payload(fit(self.payloads.len() - 1, "a handle, which has 32 bits"))
            }
        }
    }

    /// A payload is no longer needed.
    pub(crate) fn forget(&mut self, payload: trivium_engine::Payload) {
        if let Some(data) = self.payloads[payload.0 as usize].take() {
            self.free_payloads.push(payload.0);
            self.shared.spare.borrow_mut().keep_data(data);
        }
    }

    /// The place of a record, which begins as its role says if nobody has touched it.
    pub(crate) fn begun(&mut self, protocol: usize, role: RoleId, object: Object) -> (Place, Result<(), Fault>) {
        let (place, is_new) = self.records.place(protocol, role, object);
        if !is_new || !self.shared.engines[protocol].has_initially(role) {
            return (place, Ok(()));
        }
        let made = self.first_record(protocol, role, object);
        (place, made.map(|first| self.records.at_mut(place).copy_from_slice(&first)))
    }

    fn first_record(&self, protocol: usize, role: RoleId, object: Object) -> Result<Vec<u8>, Fault> {
        let engine = &self.shared.engines[protocol];
        engine.first_record(role, object, self.me, self.home_of(object), &mut |_, _| {})
    }

    /// The state of a record, touched or not.
    pub(crate) fn state_of(&self, protocol: usize, role: RoleId, object: Object) -> StateId {
        let engine = &self.shared.engines[protocol];
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
    pub(crate) fn begin_here(&mut self, protocol: usize, object: Object) -> Result<(), Fault> {
        let engine = self.shared.engines[protocol].clone();
        let mut objects = vec![object, Object { kind: NODE, id: 0 }];
        objects.dedup();
        for object in objects {
            let is_home = object.kind != NODE && self.home_of(object) == self.me;
            for role in engine.roles_of(object.kind, is_home).filter(|role| engine.has_initially(*role)) {
                self.begun(protocol, role, object).1?;
            }
        }
        Ok(())
    }

    pub(crate) fn record_of(&self, protocol: usize, role: RoleId, object: Object) -> Option<&[u8]> {
        self.records.find(protocol, role, object)
    }

    /// A message has been handed to the interface.
    pub(crate) fn count_sent(&mut self, protocol: usize, message: MessageId) {
        self.sent_of[self.shared.kinds_before(protocol) + message.index()] += 1;
    }

    fn sent_by_kind(&self) -> BTreeMap<(usize, u16), u64> {
        let of = |protocol: usize| {
            let from = self.shared.kinds_before(protocol);
            let counts = self.sent_of[from..self.shared.kinds_before(protocol + 1)].iter().enumerate();
            counts
                .filter(|(_, count)| **count > 0)
                .map(move |(kind, &count)| ((protocol, fit(kind, "a kind of message, which has 16 bits")), count))
        };
        (0..self.shared.engines.len()).flat_map(of).collect()
    }

    /// What the node's program, or its engine, has made of its cycles so far.
    pub fn counted(&self) -> Counters {
        Counters {
            cycles: self.compute.clock(),
            instructions: self.compute.instructions(),
            compute: self.compute.computed(),
            bus_busy: self.bus.busy(),
            by_kind: self.sent_by_kind(),
            ..self.counters.clone()
        }
    }
}
