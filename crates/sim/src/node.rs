//! A node: processor, cache, bus, memory, engine and network interface, and all that is on its way to them.
//!
//! A node touches nothing of another node. What it does to others it posts ([`Post`]), at least the machine's
//! lookahead later; so nodes can be simulated in any order within a window of that length.

use crate::agenda::Agenda;
use crate::bus::Bus;
use crate::cache::Cache;
use crate::counters::Counters;
use crate::error::SimError;
use crate::event::{Arrival, Credit, Data, Envelope, Key, Post, Posted, Signal};
use crate::forced::Times;
use crate::frames::Frames;
use crate::interface::Interface;
use crate::lines::Lines;
use crate::machine::Machine;
use crate::mechanisms::Handling;
use crate::memory::Memory;
use crate::processor::Compute;
use crate::records::Records;
use crate::space::Space;
use crate::timeline::Cause;
use crate::trace::Note;
use crate::usage::Usage;
use crate::watch::{FirstStore, TagChange};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use trivium_engine::{Args, Engine, Event, Node, Object};
use trivium_lang::protocol::{Access, BLOCK, EventKind, LaneId, MessageId, NODE, RoleId};

/// What all nodes share and none changes.
pub struct Shared {
    /// The protocols; the first is the default of allocations.
    pub engines: Vec<Rc<Engine>>,
    /// The machine.
    pub machine: Machine,
    /// Bytes of a block.
    pub block: u64,
    /// How many nodes there are.
    pub nodes: u32,
    /// Of each protocol call that the program imports: the protocol and the call.
    pub calls: Vec<(usize, trivium_lang::protocol::OpId)>,
    /// Of each protocol, whether some lane is finite.
    pub finite: Vec<bool>,
    /// Of each protocol, whether tag changes are watched, since it promises a single writer.
    pub watched: Vec<bool>,
    /// Of each protocol, whether stores are watched, since it assumes one writer per phase.
    pub one_writer: Vec<bool>,
    /// The cycles of which notes are kept for a trace, if any are.
    pub traced: Option<std::ops::Range<u64>>,
}

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

/// One node.
pub struct NodeState {
    /// Its number.
    pub me: Node,
    /// What all nodes share.
    pub shared: Rc<Shared>,
    /// Who allocated what, and where homes are.
    pub space: Rc<RefCell<Space>>,
    /// Its copy of shared memory.
    pub memory: Memory,
    /// The compute processor.
    pub compute: Compute,
    /// Its cache.
    pub cache: Cache,
    /// The bus.
    pub bus: Bus,
    /// The network interface.
    pub interface: Interface,
    /// What has been counted.
    pub counters: Counters,
    /// Messages sent, by protocol and kind.
    sent_of: Vec<Vec<u64>>,
    /// Its processor's lines, where processors are cached.
    pub(crate) lines: Lines,
    /// Its memory for pages of other homes.
    pub(crate) frames: Frames,
    /// Tags by block: 0 not known yet, else 1 + access.
    pub tags: Vec<u8>,
    /// Of each region, the protocol that it was bound to after its allocation, if it was.
    pub(crate) bound: Vec<Option<usize>>,
    /// Which pages have a home that this node knows.
    pub mapped: Vec<bool>,
    pub(crate) records: Records,
    pub(crate) payloads: Vec<Option<Arc<Data>>>,
    pub(crate) free_payloads: Vec<u32>,
    /// Envelopes to write messages into.
    #[expect(clippy::vec_box, reason = "they are handed on by their address")]
    pub(crate) envelopes: Vec<Box<Envelope>>,
    /// Events of this node that have been handled, to be written again.
    #[expect(clippy::vec_box, reason = "they are handed on by their address")]
    pub(crate) events: Vec<Box<Event>>,
    pub(crate) inbox: Agenda<Arrival>,
    pub(crate) signals: Agenda<Signal>,
    /// Credits on their way back. They only matter to messages that wait, so they are taken when something is sent.
    pub(crate) credits: Agenda<Credit>,
    pub(crate) replays: VecDeque<(usize, RoleId, Object)>,
    pub(crate) held: Vec<Held>,
    pub(crate) timers: FxHashMap<(usize, RoleId, Object), u64>,
    /// When the engine can take the next event.
    pub(crate) engine_free: u64,
    /// The last moment at which anything took effect.
    pub(crate) now: u64,
    /// How many events this node has caused.
    caused: u64,
    /// What it has posted to others since the world looked.
    pub outbox: Vec<Post>,
    /// Tag changes since the world looked.
    pub tag_changes: Vec<TagChange>,
    /// Notes for a trace since the world looked, if they are kept.
    pub notes: Vec<Note>,
    /// Up to where the processor's time has been noted.
    pub(crate) noted_until: u64,
    /// First stores to blocks since the world looked.
    pub first_stores: Vec<FirstStore>,
    /// Of each block, 1 + the phase of this node's latest store, where that is watched.
    pub(crate) stored: Vec<u64>,
    /// Times that are forced, where an order of events is.
    pub(crate) forced: Option<Box<Times>>,
    /// The handler that is running.
    pub(crate) handling: Box<Handling>,
    /// For the next handler, while one that has ended is worked out.
    pub(crate) spare_handling: Option<Box<Handling>>,
    /// How protocol calls are used, where a protocol assumes something about it.
    pub(crate) usage: Usage,
    /// Whether it is recorded what leads to what.
    pub recording: bool,
    /// What made each instance in `replays` try again, if that is recorded.
    pub(crate) replay_causes: FxHashMap<(usize, RoleId, Object), Cause>,
    /// How many messages it has sent.
    pub(crate) sent: u64,
    /// What went wrong on it.
    pub failure: Option<SimError>,
}

/// The next thing that a node's engine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Replay(usize),
    Arrival(Key),
}

/// The next thing that happens on a node without its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A credit lets something go on.
    Credit(Key),
    /// A signal takes effect.
    Signal(Key),
    /// The engine starts.
    Engine(Choice),
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
            sent_of: shared.engines.iter().map(|engine| vec![0; engine.protocol().messages.len()]).collect(),
            lines: Lines::default(),
            frames: Frames::default(),
            tags: Vec::new(),
            bound: Vec::new(),
            mapped: Vec::new(),
            records: Records::default(),
            payloads: Vec::new(),
            free_payloads: Vec::new(),
            envelopes: Vec::new(),
            events: Vec::new(),
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
            spare_handling: None,
            usage: Usage::default(),
            recording: shared.traced.is_some(),
            replay_causes: FxHashMap::default(),
            sent: 0,
            failure: None,
            shared,
        }
    }

    /// The block of a byte offset.
    pub fn block_of(&self, offset: u64) -> Object {
        Object { kind: BLOCK, id: (offset / self.shared.block) as u32 }
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
            _ => (object.id % self.shared.nodes) as Node,
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
        Key { time, source: self.me, number: self.caused }
    }

    /// An event of this node, without arguments.
    pub(crate) fn local_event(&mut self, kind: EventKind, object: Object) -> Box<Event> {
        match self.events.pop() {
            None => Box::new(Event::local(kind, object, 0)),
            Some(mut event) => {
                (event.kind, event.object, event.sender, event.thread) = (kind, object, 0, 0);
                event.payload = None;
                event.args.assign(&Args::NONE);
                event
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
    pub(crate) fn keep(&mut self, data: Arc<Data>) -> trivium_engine::Payload {
        match self.free_payloads.pop() {
            Some(at) => {
                self.payloads[at as usize] = Some(data);
                trivium_engine::Payload(at)
            }
            None => {
                self.payloads.push(Some(data));
                trivium_engine::Payload(self.payloads.len() as u32 - 1)
            }
        }
    }

    /// A payload is no longer needed.
    pub(crate) fn forget(&mut self, payload: trivium_engine::Payload) {
        if self.payloads[payload.0 as usize].take().is_some() {
            self.free_payloads.push(payload.0);
        }
    }

    /// What the engine or the node itself does next, and when, if it does anything. Of two at the same time a credit
    /// goes first, then a signal.
    pub(crate) fn next_action(&self) -> Option<(u64, Action)> {
        let mut next = self.choose().map(|(choice, start)| (start, Action::Engine(choice)));
        let mut earlier = |key: Key, action: Action| {
            let time = key.time.max(self.now);
            if next.is_none_or(|(other, _)| time <= other) {
                next = Some((time, action));
            }
        };
        if let Some(&(key, _)) = self.signals.first() {
            earlier(key, Action::Signal(key));
        }
        if let Some(&(key, _)) = self.credits.first()
            && self.waits_for_credits()
        {
            earlier(key, Action::Credit(key));
        }
        next
    }

    /// Whether something waits that a credit may let go on.
    fn waits_for_credits(&self) -> bool {
        self.interface.has_waiting() || self.shared.finite.contains(&true)
    }

    /// The next moment at which anything can happen on it, given when it next does something by itself; `u64::MAX` if
    /// there is none.
    pub(crate) fn position(&self, next_action: Option<(u64, Action)>) -> u64 {
        let action = next_action.map_or(u64::MAX, |next| next.0);
        if self.compute.runnable() { action.min(self.compute.clock()) } else { action }
    }

    /// When the engine can start with an arrival.
    fn start_of(&self, key: Key, arrival: &Arrival) -> u64 {
        let ready = key.time.max(self.engine_free).max(self.now);
        match arrival {
            Arrival::Message(_) => ready.max(self.interface.receivable()),
            _ => ready,
        }
    }

    /// What the engine does next, and when: a replay that is due, else what came first, unless a lane has no room for
    /// it.
    fn choose(&self) -> Option<(Choice, u64)> {
        for (at, &(protocol, role, object)) in self.replays.iter().enumerate() {
            let event = self
                .record_of(protocol, role, object)
                .and_then(|record| self.shared.engines[protocol].replay_event(role, object, record));
            if event.is_some_and(|event| self.has_room(protocol, role, &event)) {
                return Some((Choice::Replay(at), self.engine_free.max(self.now)));
            }
        }
        let (first, arrival) = self.inbox.first()?;
        if self.replays.is_empty() && !self.shared.finite.contains(&true) {
            return Some((Choice::Arrival(*first), self.start_of(*first, arrival)));
        }
        let mut stuck: Vec<(usize, Node, LaneId)> = Vec::new();
        for &(key, ref arrival) in self.inbox.iter() {
            let (protocol, event, lane) = match arrival {
                Arrival::Message(envelope) => (
                    envelope.protocol,
                    message_event(envelope),
                    Some((envelope.protocol, envelope.from, envelope.lane)),
                ),
                Arrival::Local { protocol, event, .. } => (*protocol, **event, None),
                Arrival::Timer { .. } => return Some((Choice::Arrival(key), self.start_of(key, arrival))),
            };
            // A processor's requests stay behind what its cache gave up before.
            let behind = event.has_caller() && self.lines.is_leaving(event.object);
            let waits = behind
                || self.replays.iter().any(|r| r.0 == protocol && r.2 == event.object)
                || lane.is_some_and(|lane| stuck.contains(&lane));
            if !waits && self.can_start(protocol, &event) {
                return Some((Choice::Arrival(key), self.start_of(key, arrival)));
            }
            stuck.extend(lane);
        }
        None
    }

    fn can_start(&self, protocol: usize, event: &Event) -> bool {
        if !self.shared.finite[protocol] {
            return true;
        }
        let is_home = event.object.kind != NODE && self.home_of(event.object) == self.me;
        let role = self.shared.engines[protocol].role_for(event.kind, event.object.kind, is_home);
        role.is_none_or(|role| self.has_room(protocol, role, event))
    }

    fn has_room(&self, protocol: usize, role: RoleId, event: &Event) -> bool {
        if !self.shared.finite[protocol] {
            return true;
        }
        let engine = &self.shared.engines[protocol];
        let state = self
            .record_of(protocol, role, event.object)
            .map_or(Default::default(), |record| engine.state(role, record));
        let needed = engine.room_needed(event.kind, role, state);
        engine.protocol().lanes.iter().enumerate().all(|(at, lane)| {
            let lane_id = LaneId(at as u8);
            lane.holds.is_none_or(|holds| {
                self.interface.on_lane(protocol, lane_id) + needed.get(at).copied().unwrap_or(0) <= holds
            })
        })
    }

    /// Finite lanes on which this node has as many messages on their way as they hold, while an event waits.
    pub fn full_lanes(&self) -> Vec<(usize, LaneId)> {
        if self.inbox.is_empty() && self.replays.is_empty() {
            return Vec::new();
        }
        let mut full = Vec::new();
        for (protocol, engine) in self.shared.engines.iter().enumerate() {
            for (at, lane) in engine.protocol().lanes.iter().enumerate() {
                let id = LaneId(at as u8);
                if lane.holds.is_some_and(|holds| self.interface.on_lane(protocol, id) >= holds) {
                    full.push((protocol, id));
                }
            }
        }
        full
    }

    pub(crate) fn record_of(&self, protocol: usize, role: RoleId, object: Object) -> Option<&[u8]> {
        self.records.find(protocol, role, object)
    }

    /// A message has been handed to the interface.
    pub(crate) fn count_sent(&mut self, protocol: usize, message: MessageId) {
        self.sent_of[protocol][message.index()] += 1;
    }

    fn sent_by_kind(&self) -> BTreeMap<(usize, u16), u64> {
        let of = |(protocol, counts): (usize, &Vec<u64>)| {
            let kinds = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            kinds.map(|(kind, &count)| ((protocol, kind as u16), count)).collect::<Vec<_>>()
        };
        self.sent_of.iter().enumerate().flat_map(of).collect()
    }

    /// What the node's program, or its engine, has made of its cycles so far.
    pub fn counted(&self) -> Counters {
        Counters {
            cycles: self.compute.clock(),
            instructions: self.compute.instructions,
            compute: self.compute.computed(),
            bus_busy: self.bus.busy(),
            by_kind: self.sent_by_kind(),
            ..self.counters.clone()
        }
    }
}

/// The event of a message, without its data.
fn message_event(envelope: &Envelope) -> Event {
    Event {
        kind: trivium_lang::protocol::EventKind::Message(envelope.message),
        object: envelope.object,
        sender: envelope.from,
        thread: 0,
        args: envelope.args,
        payload: None,
    }
}
