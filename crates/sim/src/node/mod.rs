//! A node: processor, cache, bus, memory, engine and network interface, and all that is on its way to them.
//!
//! A node touches nothing of another node. What it does to others it posts ([`Post`]), at least the machine's
//! lookahead later; so nodes can be simulated in any order within a window of that length.

mod binding;
mod blame;
pub(crate) mod calls;
mod dispatch;
pub(crate) mod estimate;
pub(crate) mod forced;
mod frames;
mod lines;
pub(crate) mod mechanisms;
#[cfg(test)]
mod mechanisms_tests;
pub(crate) mod memory;
pub(crate) mod next;
mod notes;
pub(crate) mod processor;
pub(crate) mod script;
pub(crate) mod shared;
pub(crate) mod spare;
mod usage;
pub(crate) mod watch;

use crate::error::SimError;
use crate::events::queue::EventQueue;
use crate::events::{Arrival, Credit, Key, Local, Post, Posted, Signal};
use crate::node::forced::Times;
use crate::node::frames::Frames;
use crate::node::lines::Lines;
use crate::node::mechanisms::Handling;
use crate::node::memory::NodeMemory;
use crate::node::processor::Compute;
use crate::node::shared::Shared;
use crate::node::watch::{FirstStore, TagChange};
use crate::reports::blame::Log;
use crate::reports::counters::Counters;
use crate::reports::timeline::Cause;
use crate::reports::trace::Note;
use crate::store::payload::{Data, Payloads};
use crate::store::records::{Records, Slot};
use crate::store::space::Space;
use crate::store::usage::Usage;
use crate::timing::bus::Bus;
use crate::timing::cache::Cache;
use crate::timing::interface::Interface;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use trivium_engine::number::fit;
use trivium_engine::{Args, Event, Fault, Node, Object, Payload};
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

/// What is on its way to a node, in the order in which it takes effect, and from it to others.
#[derive(Default)]
pub(crate) struct Queues {
    /// For its engine.
    pub inbox: EventQueue<Arrival>,
    /// For the node itself.
    pub signals: EventQueue<Signal>,
    /// Credits on their way back. They only matter to messages that wait, so they are taken when something is sent.
    pub credits: EventQueue<Credit>,
    /// What it has posted to others since the world looked.
    pub outbox: Vec<Post>,
    /// How many events this node has caused.
    caused: u64,
}

/// What the node's engine still has to do besides what arrives.
#[derive(Default)]
pub(crate) struct Schedule {
    /// Instances whose oldest deferred event is due, in order.
    pub replays: VecDeque<(usize, RoleId, Object)>,
    /// What made each of them try again, if that is recorded.
    pub replay_causes: FxHashMap<(usize, RoleId, Object), Cause>,
    /// What threads keep until a state changes.
    pub held: Vec<Held>,
    /// Of each instance that has set a timer, the number of the last.
    pub timers: FxHashMap<(usize, RoleId, Object), u64>,
}

/// The parts of a node that take time.
pub(crate) struct Model {
    /// When the engine can take the next event.
    pub engine_free: u64,
    /// The processor's cache.
    pub cache: Cache,
    /// The bus.
    pub bus: Bus,
    /// The network interface.
    pub interface: Interface,
}

/// A node's copies of blocks, what it may do with them, and who allocated them.
pub(crate) struct Blocks {
    /// Its copy of shared memory.
    pub memory: NodeMemory,
    /// Tags by block: 0 not known yet, else 1 + access.
    pub tags: Vec<u8>,
    /// Which pages have a home that this node knows.
    pub mapped: Vec<bool>,
    /// Of each region, the protocol that it was bound to after its allocation, if it was.
    pub bound: Vec<Option<usize>>,
    /// Who allocated what, and where homes are.
    pub space: Rc<RefCell<Space>>,
    /// Its processor's lines, where processors are cached.
    pub lines: Lines,
    /// Its memory for pages of other homes.
    pub frames: Frames,
}

/// What has been counted.
#[derive(Default)]
pub(crate) struct Counts {
    /// Statistics.
    pub counters: Counters,
    /// Messages sent, by protocol and kind.
    sent_of: Vec<u64>,
    /// How many messages it has sent.
    pub sent: u64,
}

/// What the world is to look at, since it last did.
#[derive(Default)]
pub(crate) struct Watched {
    /// Tag changes.
    pub tag_changes: Vec<TagChange>,
    /// First stores to blocks.
    pub first_stores: Vec<FirstStore>,
    /// Of each block, 1 + the phase of this node's latest store, where that is watched.
    pub stored: Vec<u64>,
}

/// What is noted for a trace, if anything is.
#[derive(Default)]
pub(crate) struct Noted {
    /// Since the world looked.
    pub notes: Vec<Note>,
    /// Up to where the processor's time has been noted.
    pub until: u64,
}

/// One node. Its parts are in the order in which they are looked at: what each visit of the node looks at, what its
/// accesses and handlers do, and the rest.
#[repr(C)]
pub struct NodeState {
    /// The last moment at which anything took effect.
    pub(crate) now: u64,
    /// What all nodes share.
    pub shared: Rc<Shared>,
    /// Its number.
    pub me: Node,
    /// Whether it is recorded what leads to what.
    pub recording: bool,
    pub(crate) queues: Queues,
    pub(crate) schedule: Schedule,
    /// The compute processor.
    pub compute: Compute,
    pub(crate) model: Model,
    pub(crate) blocks: Blocks,
    /// The handler that is running.
    pub(crate) handling: Box<Handling>,
    /// What is in its place while none runs.
    pub(crate) resting: Option<Box<Handling>>,
    pub(crate) records: Records,
    pub(crate) payloads: Payloads,
    pub(crate) counts: Counts,
    pub(crate) watched: Watched,
    /// How protocol calls are used, where a protocol assumes something about it.
    pub(crate) usage: Usage,
    pub(crate) noted: Noted,
    /// Times that are forced, where an order of events is.
    pub(crate) forced: Option<Box<Times>>,
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
            now: 0,
            me,
            recording: shared.traced.is_some() || shared.blamed,
            queues: Queues::default(),
            schedule: Schedule::default(),
            compute: Compute::new(machine.processor.cpi),
            model: Model {
                engine_free: 0,
                cache: Cache::new(&machine.cache),
                bus: Bus::new(&machine.bus).noting(shared.traced.is_some()),
                interface: Interface::new(machine, me, shared.nodes, seed),
            },
            blocks: Blocks {
                memory: NodeMemory::Plain(Vec::new()),
                tags: Vec::new(),
                mapped: Vec::new(),
                bound: Vec::new(),
                space,
                lines: Lines::default(),
                frames: Frames::default(),
            },
            handling: Box::default(),
            resting: None,
            records: Records::new(&shared.engines),
            payloads: Payloads::default(),
            counts: Counts { sent_of: vec![0; shared.kinds_before(shared.engines.len())], ..Counts::default() },
            watched: Watched::default(),
            usage: Usage::default(),
            noted: Noted::default(),
            forced: None,
            failure: None,
            blame: shared.blamed.then(Box::default),
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
            BLOCK => self.blocks.space.borrow().home(self.offset_of(object)).unwrap_or(0),
            _ => fit(object.id % self.shared.nodes, "a node, of which there are at most 256"),
        }
    }

    /// The tag of a block of an allocated page whose home is known.
    pub fn tag(&mut self, block: Object) -> Access {
        let at = block.id as usize;
        if at >= self.blocks.tags.len() {
            self.blocks.tags.resize(at + 64, 0);
        }
        if self.blocks.tags[at] == 0 {
            self.blocks.tags[at] = 1 + self.first_access(block) as u8;
        }
        [Access::None, Access::Read, Access::Write][self.blocks.tags[at] as usize - 1]
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
        self.queues.caused += 1;
        Key::new(time, self.me, self.queues.caused)
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
        self.queues.inbox.insert(key, arrival);
    }

    /// Something for another node, or this one.
    #[inline(always)]
    pub(crate) fn post(&mut self, to: Node, time: u64, what: Posted) {
        let key = self.key(time);
        if to == self.me {
            self.accept(Post { to, key, what })
        } else {
            self.queues.outbox.push(Post { to, key, what })
        }
    }

    /// Whether it has done anything since the world looked that others can feel.
    pub(crate) fn has_reached_others(&self) -> bool {
        !self.queues.outbox.is_empty() || self.compute.arrived.is_some()
    }

    /// Something from another node, or this one.
    #[inline(always)]
    pub fn accept(&mut self, post: Post) {
        match post.what {
            Posted::Arrival(arrival) => {
                self.queues.inbox.insert(post.key, arrival);
            }
            Posted::Signal(signal) => {
                self.queues.signals.insert(post.key, signal);
            }
            Posted::Credit(credit) => {
                self.queues.credits.insert(post.key, credit);
            }
        }
    }

    /// Data become a payload.
    pub(crate) fn keep(&mut self, data: Box<Data>) -> Payload {
        self.payloads.keep(data)
    }

    /// A payload is no longer needed.
    pub(crate) fn forget(&mut self, payload: Payload) {
        if let Some(data) = self.payloads.forget(payload) {
            self.shared.spare.borrow_mut().keep_data(data);
        }
    }

    /// The place of a record, which begins as its role says if nobody has touched it.
    pub(crate) fn begun(&mut self, protocol: usize, role: RoleId, object: Object) -> (Slot, Result<(), Fault>) {
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
        self.counts.sent_of[self.shared.kinds_before(protocol) + message.index()] += 1;
    }

    fn sent_by_kind(&self) -> BTreeMap<(usize, u16), u64> {
        let of = |protocol: usize| {
            let from = self.shared.kinds_before(protocol);
            let counts = self.counts.sent_of[from..self.shared.kinds_before(protocol + 1)].iter().enumerate();
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
            bus_busy: self.model.bus.busy(),
            by_kind: self.sent_by_kind(),
            ..self.counts.counters.clone()
        }
    }
}
