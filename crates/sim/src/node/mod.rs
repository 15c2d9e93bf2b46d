//! A node: processor, cache, bus, memory, engine and network interface, and all that is on its way to them.
//!
//! A node touches nothing of another node. What it does to others it posts ([`Post`]), at least the machine's
//! lookahead later; so nodes can be simulated in any order within a window of that length.

pub(crate) mod asked;
mod binding;
mod blame;
pub(crate) mod calls;
pub(crate) mod checks;
mod dispatch;
pub(crate) mod estimate;
#[cfg(test)]
mod faults_tests;
pub(crate) mod forced;
mod frames;
mod homes;
mod lines;
pub(crate) mod mechanisms;
#[cfg(test)]
mod mechanisms_tests;
pub(crate) mod next;
mod notes;
mod prefetch;
pub(crate) mod processor;
pub(crate) mod script;
pub(crate) mod shared;
pub(crate) mod spare;
mod threads;
pub(crate) mod tried;
pub(crate) mod watch;

use crate::events::queue::EventQueue;
use crate::events::{Arrival, Credit, Key, Local, Post, Posted, Signal};
use crate::node::asked::AskedNote;
use crate::node::checks::Checks;
use crate::node::forced::Times;
use crate::node::frames::Frames;
use crate::node::mechanisms::Handling;
use crate::node::prefetch::Prefetches;
use crate::node::processor::Compute;
use crate::node::shared::Shared;
use crate::node::tried::Tried;
use crate::node::watch::{FirstStore, TagChange};
use crate::reports::blame::Log;
use crate::reports::counters::{Counters, HandlerKey, Occupied};
use crate::reports::timeline::Cause;
use crate::reports::trace::Note;
use crate::timing::interface::Interface;
use crate::timing::model::NodeModel;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use trivium_engine::number::fit;
use trivium_engine::{Args, Event, Node, Object, Outcome, Payload};
use trivium_guest::SHARED_BASE;
use trivium_node::{Data, EventNumber, NodeCore, NodeError, Protocols, Space};
use trivium_protocol::{BLOCK, EventKind, LaneId, MessageId};

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

/// Where the node's copies of pages are.
#[derive(Default)]
pub(crate) struct Blocks {
    /// When the contents of pages, whose manager this node is, are at the homes that they got after the parallel start.
    pub arriving: BTreeMap<usize, u64>,
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
    /// Handlers that the engine ran, in the order of [`shared::HandlerNumbers`].
    handled: Vec<Occupied>,
    /// How many messages it has sent.
    pub sent: u64,
}

/// What the world is to look at, since it last did.
#[derive(Default)]
pub(crate) struct Watched {
    /// Tag changes.
    pub tag_changes: Vec<TagChange>,
    /// The bytes of a block whose copy is looked at.
    bytes: Vec<u8>,
    /// Accesses that handlers have performed for threads, or completed.
    pub asked: Vec<AskedNote>,
    /// First stores to blocks.
    pub first_stores: Vec<FirstStore>,
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
    /// Whether it is recorded what leads to what.
    pub recording: bool,
    /// Whether its engine takes whatever came first, as far as its machine and protocols are concerned: no lane is ever full, handlers
    /// wait for no call of a library, and no idle handler lets timers go first.
    is_plain: bool,
    pub(crate) queues: Queues,
    /// What it is as far as no time is concerned; of what is tried again it is kept why, if that is recorded.
    pub(crate) core: NodeCore<Cause>,
    /// The compute processor.
    pub compute: Compute,
    /// How long all this takes.
    pub(crate) model: NodeModel,
    pub(crate) blocks: Blocks,
    /// What the library knows that checks its program's accesses.
    pub(crate) checks: Checks,
    /// The handler that is running; while none runs, of no meaning.
    pub(crate) handling: Box<Handling>,
    pub(crate) counts: Counts,
    pub(crate) watched: Watched,
    /// The access with which its processor waits.
    tried: Tried,
    /// Its requests for which nobody waits.
    prefetches: Prefetches,
    pub(crate) noted: Noted,
    /// Times that are forced, where an order of events is.
    pub(crate) forced: Option<Box<Times>>,
    /// What went wrong on it.
    pub failure: Option<NodeError>,
    /// What it has seen, if somebody is to be blamed for misses.
    pub(crate) blame: Option<Box<Log>>,
}

/// Each lane has a receive queue of its own, so that none waits until another is read.
fn limit_queues(interface: &mut Interface, protocols: &Protocols) {
    let waits: Vec<_> = protocols.waiting_lanes().into_iter().collect();
    for (protocol, engine) in protocols.engines.iter().enumerate() {
        let lanes = (0..engine.protocol().lanes.len()).map(LaneId::at);
        lanes
            .filter(|lane| !waits.contains(&(protocol, *lane)))
            .for_each(|lane| interface.has_own_credits(protocol, lane));
    }
}

impl NodeState {
    /// A node at rest.
    pub fn new(me: Node, shared: Rc<Shared>, space: Rc<RefCell<Space>>, seed: u64) -> NodeState {
        let machine = &shared.machine;
        let mut model = NodeModel::new(machine, me, shared.protocols.nodes, seed);
        model.bus.note(shared.traced.is_some());
        for (protocol, lane) in shared.protocols.queues() {
            model.interface.queue(protocol, lane);
        }
        for (protocol, engine) in shared.protocols.engines.iter().enumerate() {
            for (lane, declared) in engine.protocol().lanes.iter().enumerate() {
                if let Some(behind) = declared.behind {
                    model.interface.order(protocol, LaneId::at(lane), behind);
                }
            }
        }
        for (protocol, lane) in shared.protocols.waiting_lanes() {
            model.interface.takes_no_credits(protocol, lane);
        }
        for (protocol, lane) in shared.protocols.lanes_that_need_room() {
            model.interface.has_own_credits(protocol, lane);
        }
        if machine.queues().is_some() {
            limit_queues(&mut model.interface, &shared.protocols);
        }
        NodeState {
            now: 0,
            recording: shared.traced.is_some() || shared.blamed,
            is_plain: !(model.only_in_library()
                || model.has_idle_handler()
                || model.has_slots()
                || shared.protocols.any_waits),
            queues: Queues::default(),
            core: NodeCore::new(me, shared.protocols.clone(), space),
            compute: Compute::new(shared.cycles_of_work),
            model,
            blocks: Blocks::default(),
            checks: Checks::new(&shared.classes),
            handling: Box::default(),
            counts: Counts {
                sent_of: vec![0; shared.protocols.kinds_before(shared.protocols.engines.len())],
                handled: vec![Occupied::default(); shared.handlers.all.len()],
                ..Counts::default()
            },
            watched: Watched::default(),
            tried: Tried::default(),
            prefetches: Prefetches::default(),
            noted: Noted::default(),
            forced: None,
            failure: None,
            blame: shared.blamed.then(Box::default),
            shared,
        }
    }

    /// A place in the order of events for something that this node causes.
    #[inline(always)]
    pub(crate) fn key(&mut self, time: u64) -> Key {
        self.queues.caused += 1;
        Key::new(time, self.core.me, self.queues.caused)
    }

    /// An event of this node, without arguments.
    pub(crate) fn local(&mut self, protocol: usize, kind: EventKind, object: Object) -> Box<Local> {
        let spare = self.shared.spare.borrow_mut().local();
        match spare {
            None => Box::new(Local {
                protocol,
                event: Event::local(kind, object, 0),
                number: EventNumber::default(),
                held: None,
                cause: None,
            }),
            Some(mut local) => {
                let event = &mut local.event;
                (event.kind, event.object, event.sender, event.thread) = (kind, object, 0, 0);
                event.payload = None;
                event.args.assign(&Args::NONE);
                (local.protocol, local.cause, local.number) = (protocol, None, EventNumber::default());
                local.held = None;
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
        if to == self.core.me {
            self.accept(Post { to, key, what })
        } else {
            self.queues.outbox.push(Post { to, key, what })
        }
    }

    /// Whether it has done anything since the world looked that others can feel.
    pub(crate) fn has_reached_others(&self) -> bool {
        !self.queues.outbox.is_empty() || self.compute.arrived.is_some()
    }

    /// Something from another node is going to be handled here: what its handler looks at first is brought nearer to the host's processor,
    /// which has time for that until then.
    #[inline]
    pub(crate) fn look_forward_to(&self, post: &Post) {
        let Posted::Arrival(Arrival::Message(envelope)) = &post.what else { return };
        if envelope.object.kind != BLOCK {
            return;
        }
        let protocol = self.shared.protocols.engines[envelope.protocol].protocol();
        self.core.records.prefetch(
            envelope.protocol,
            protocol.messages[envelope.message.index()].role,
            envelope.object,
        );
        let offset = self.core.offset_of(envelope.object);
        self.core.memory.prefetch(offset);
        if let Ok(offset) = u32::try_from(offset) {
            self.model.cache.prefetch(SHARED_BASE.saturating_add(offset));
        }
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
        self.core.payloads.keep(data)
    }

    /// A payload is no longer needed.
    pub(crate) fn forget(&mut self, payload: Payload) {
        if let Some(data) = self.core.payloads.forget(payload) {
            self.shared.spare.borrow_mut().keep_data(data);
        }
    }

    /// A message has been handed to the interface.
    pub(crate) fn count_sent(&mut self, protocol: usize, message: MessageId) {
        self.counts.sent_of[self.shared.protocols.kinds_before(protocol) + message.index()] += 1;
    }

    /// Its engine has run a handler, which has kept it for so many cycles and ended then.
    #[inline]
    pub(crate) fn count_handled(&mut self, protocol: usize, outcome: &Outcome, (cycles, end): (u64, u64)) {
        if let Some(handler) = outcome.handler {
            let number = self.shared.handlers.of(protocol, outcome.role, handler);
            self.counts.handled[number].add(&Occupied { times: 1, cycles, last: end });
        }
    }

    fn handled_by_handler(&self) -> BTreeMap<HandlerKey, Occupied> {
        let all = self.shared.handlers.all.iter().copied().zip(self.counts.handled.iter().copied());
        all.filter(|(_, occupied)| occupied.times > 0).collect()
    }

    fn sent_by_kind(&self) -> BTreeMap<(usize, u16), u64> {
        let of = |protocol: usize| {
            let from = self.shared.protocols.kinds_before(protocol);
            let counts = self.counts.sent_of[from..self.shared.protocols.kinds_before(protocol + 1)].iter().enumerate();
            counts
                .filter(|(_, count)| **count > 0)
                .map(move |(kind, &count)| ((protocol, fit(kind, "a kind of message, which has 16 bits")), count))
        };
        (0..self.shared.protocols.engines.len()).flat_map(of).collect()
    }

    /// What the node's program, or its engine, has made of its cycles so far.
    pub fn counted(&self) -> Counters {
        Counters {
            cycles: self.compute.clock(),
            instructions: self.compute.executed().instructions,
            compute: self.compute.computed(),
            bus_busy: self.model.bus.busy(),
            tags: self.model.looked_up().unwrap_or_default(),
            by_kind: self.sent_by_kind(),
            handlers: self.handled_by_handler(),
            ..self.counts.counters.clone()
        }
    }
}
