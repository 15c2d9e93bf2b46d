//! The protocols of a run, as they are loaded for its nodes and its blocks.

use super::SplitPhaseCalls;
use crate::space::{Images, Space};
use std::rc::Rc;
use trivium_engine::Engine;
use trivium_guest::SHARED_BASE;
use trivium_protocol::copies::{keeping_roles, may_look_at_forgotten};
use trivium_protocol::walk::performs_for_threads;
use trivium_protocol::{Assume, BLOCK, LaneId, NODE, ObjectKindId, OpId, Promise, Protocol, RoleId, Type};
use trivium_protocol::{NoRmw, refuses_rmw};

/// No object, node or thread, as a protocol has it.
pub(crate) const NONE: i64 = -1;

/// A finite lane on which any event finds the room that it needs while there are few messages on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roomy {
    /// Which lane.
    pub lane: LaneId,
    /// With so many messages of the node on it, or fewer.
    pub up_to: u32,
}

/// Whether a value is a place in shared memory: to its program a pointer.
fn is_pointer(ty: &Type) -> bool {
    *ty.given().unwrap_or(ty) == Type::Address
}

/// The finite lanes of a protocol; none if some event needs more room than one has.
fn roomy(engine: &Engine) -> Option<Vec<Roomy>> {
    let lanes = (0..engine.protocol().lanes.len()).map(|at| LaneId::at(at));
    let finite = lanes.filter_map(|lane| engine.lane_holds(lane).map(|holds| (lane, holds)));
    let of = |(lane, holds): (LaneId, u32)| {
        holds.checked_sub(engine.most_room_needed(lane)).map(|up_to| Roomy { lane, up_to })
    };
    finite.map(of).collect()
}

/// What a program imports of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// A call of the protocol, or an event that the body of one says.
    Op(usize, OpId),
    /// What refuses a value that a body of a call of the protocol is passed, or returns.
    Outside(usize),
    /// What says which object a call of the protocol with a body is passed.
    Named(usize),
    /// What holds a call with a body against the assumptions about it.
    Begins(usize, OpId),
    /// What says that an assertion in a body of a call of the protocol is false.
    False(usize),
    /// The place of this node's image of an object.
    Image(usize, ObjectKindId),
}

/// The protocols of a run, and what of them is asked often. Nothing of it changes while nodes run.
pub struct Protocols {
    /// The protocols.
    pub engines: Vec<Rc<Engine>>,
    /// The default of allocations: the first that answers accesses, else the first.
    pub default: usize,
    /// Bytes of a block: a power of two.
    pub block: u64,
    /// How many nodes there are.
    pub nodes: u32,
    /// Of each protocol call that the program imports, what it means.
    pub calls: Vec<Imported>,
    /// Where the lines of images lie.
    pub images: Images,
    /// Of each protocol, whether some lane is finite.
    pub finite: Vec<bool>,
    /// Of each protocol, with how many messages on its finite lanes any event may start, if there is such a number.
    pub roomy: Vec<Option<Vec<Roomy>>>,
    /// Whether a message of any protocol may have to wait at its receiver: for room on a finite lane, or since it stalls.
    pub any_waits: bool,
    /// Whether a message of any protocol may stall.
    pub any_stalls: bool,
    /// Whether any protocol has a lane that is an outgoing queue.
    pub any_queue: bool,
    /// Of each protocol, whether tag changes are watched, since it promises a single writer.
    pub watched: Vec<bool>,
    /// Of each protocol, whether stores are watched, since it assumes one writer per phase.
    pub one_writer: Vec<bool>,
    /// Whether any protocol assumes that.
    pub any_one_writer: bool,
    /// Of each protocol, whether it assumes that only a block's home writes it.
    pub home_writes: Vec<bool>,
    /// Of each protocol, whether the processors have caches of their own.
    pub cached: Vec<bool>,
    /// Whether they have for any.
    pub any_cached: bool,
    /// Whether a handler may come to a block that another protocol than its own keeps coherent.
    pub any_other: bool,
    /// Of each protocol, the roles whose states say whether a node that is not a block's home has contents of it.
    pub keeping: Vec<Vec<RoleId>>,
    /// Of each protocol, whether its handlers may look at contents that are not there.
    pub may_look_at_forgotten: Vec<bool>,
    /// Whether those of any may, or may come to a block that another protocol keeps coherent: each access of a handler is looked at.
    pub looks_at_accesses: bool,
    /// Of each protocol, why it cannot answer a read-modify-write, if it cannot.
    pub no_rmw: Vec<Option<NoRmw>>,
    /// Of each protocol, its calls that move bytes while the program goes on, if it has them.
    pub split_phase: Vec<Option<SplitPhaseCalls>>,
    /// The calls, each with its protocol, after which all earlier stores of a thread have been performed.
    pub fences: Vec<(usize, OpId)>,
    /// Of each protocol, whether its handlers perform accesses for threads.
    pub performs_for_threads: Vec<bool>,
    /// Of each protocol, its calls as people know them: whoever makes a call may have to tell of it, and seldom has.
    pub call_names: Vec<Vec<String>>,
    /// Of each protocol, and behind the last, how many kinds of messages those before it have.
    pub kinds_before: Vec<usize>,
}

impl Protocols {
    /// A space with room for the images of all protocols, and pages of so many bytes.
    pub fn space(&self, page: u64) -> Space {
        let mut space = Space::new(page, self.nodes);
        space.reserve(&self.images, |protocol, kind| {
            format!("images of {}", self.engines[protocol].protocol().objects[kind.index()])
        });
        space
    }

    /// The lanes that are outgoing queues, each with its protocol.
    pub fn queues(&self) -> impl Iterator<Item = (usize, LaneId)> + '_ {
        self.lanes().filter(|&(protocol, lane)| self.engines[protocol].protocol().lanes[lane.index()].queues)
    }

    /// The lanes whose messages may wait at their receivers until there is room on a finite lane, which messages of others make, each with its protocol.
    /// Where lanes keep order with each other there are none.
    pub fn lanes_that_need_room(&self) -> Vec<(usize, LaneId)> {
        let needs = |&(protocol, lane): &(usize, LaneId)| {
            let engine = &self.engines[protocol];
            engine.needs_room_on(lane) && engine.protocol().lanes.iter().all(|lane| lane.behind.is_none())
        };
        self.lanes().filter(needs).collect()
    }

    /// The lanes whose messages may wait at their receivers for what comes on others, each with its protocol: they may stall, or stand in one queue with
    /// those of other senders, or keep order with such a lane.
    pub fn waiting_lanes(&self) -> Vec<(usize, LaneId)> {
        let declared = |protocol: usize, lane: LaneId| &self.engines[protocol].protocol().lanes[lane.index()];
        let waits = |&(protocol, lane): &(usize, LaneId)| {
            self.engines[protocol].may_stall_on(lane) || declared(protocol, lane).merged
        };
        let mut waiting: Vec<(usize, LaneId)> = self.lanes().filter(waits).collect();
        // Those that keep order with one that waits, until there are no more.
        while let Some(more) = self.lanes().find(|lane| {
            let keeps_order = |&(protocol, other): &(usize, LaneId)| {
                protocol == lane.0
                    && (declared(protocol, other).behind == Some(lane.1)
                        || declared(protocol, lane.1).behind == Some(other))
            };
            !waiting.contains(lane) && waiting.iter().any(keeps_order)
        }) {
            waiting.push(more);
        }
        waiting
    }

    fn lanes(&self) -> impl Iterator<Item = (usize, LaneId)> + '_ {
        let lanes = |(protocol, engine): (usize, &Rc<Engine>)| {
            (0..engine.protocol().lanes.len()).map(move |at| (protocol, LaneId::at(at)))
        };
        self.engines.iter().enumerate().flat_map(lanes)
    }

    /// These protocols, with blocks of `block` bytes, on so many nodes; without calls.
    pub fn new(engines: Vec<Rc<Engine>>, block: u64, nodes: u32) -> Protocols {
        debug_assert!(block.is_power_of_two(), "{block}");
        let of_each = |what: fn(&Protocol) -> bool| -> Vec<bool> {
            engines.iter().map(|engine| what(engine.protocol())).collect()
        };
        let finite = of_each(|protocol| protocol.lanes.iter().any(|lane| lane.holds.is_some()));
        let one_writer = of_each(|protocol| protocol.assumptions.contains(&Assume::OneWriterPerPhase));
        let cached = of_each(|protocol| protocol.cached);
        let may_look_at_forgotten = of_each(may_look_at_forgotten);
        let any_stalls = engines.iter().any(|engine| engine.may_stall());
        let any_other = engines.len() > 1 && engines.iter().any(|engine| engine.answers_accesses());
        let kinds = |before: usize| engines[..before].iter().map(|engine| engine.protocol().messages.len()).sum();
        Protocols {
            block,
            nodes,
            calls: Vec::new(),
            images: Images::of(&engines, block, nodes),
            any_waits: finite.contains(&true) || any_stalls,
            any_stalls,
            any_queue: engines.iter().any(|engine| engine.protocol().lanes.iter().any(|lane| lane.queues)),
            roomy: engines.iter().map(|engine| roomy(engine)).collect(),
            finite,
            watched: of_each(|protocol| protocol.promises.contains(&Promise::SingleWriter)),
            any_one_writer: one_writer.contains(&true),
            one_writer,
            home_writes: of_each(|protocol| protocol.assumptions.contains(&Assume::HomeWrites)),
            any_cached: cached.contains(&true),
            looks_at_accesses: any_other || may_look_at_forgotten.contains(&true),
            any_other,
            keeping: engines.iter().map(|engine| keeping_roles(engine.protocol())).collect(),
            may_look_at_forgotten,
            cached,
            default: engines.iter().position(|engine| engine.answers_accesses()).unwrap_or(0),
            no_rmw: engines.iter().map(|engine| refuses_rmw(engine.protocol())).collect(),
            split_phase: engines.iter().map(|engine| SplitPhaseCalls::of(engine.protocol())).collect(),
            fences: (0..).zip(&engines).filter_map(|(at, engine)| Some((at, fence_of(engine.protocol())?))).collect(),
            performs_for_threads: of_each(performs_for_threads),
            call_names: engines.iter().map(|engine| call_names(engine.protocol())).collect(),
            kinds_before: (0..=engines.len()).map(kinds).collect(),
            engines,
        }
    }

    /// A call as people know it.
    #[inline]
    pub fn call_name(&self, protocol: usize, op: OpId) -> &str {
        &self.call_names[protocol][op.index()]
    }

    /// What a call returns to its program, if that is this value to the protocol: of an address or a block a pointer, of no block a null
    /// pointer.
    pub fn returned(&self, protocol: usize, op: OpId, value: i64) -> i64 {
        match &self.engines[protocol].protocol().ops[op.index()].result {
            Some(ty) => self.in_program(ty, value),
            None => value,
        }
    }

    /// A value of a type as a program has it.
    pub fn in_program(&self, ty: &Type, value: i64) -> i64 {
        match ty {
            Type::OrNone(of) if is_pointer(of) && value == NONE => 0,
            ty if is_pointer(ty) => value + i64::from(SHARED_BASE),
            Type::Object(BLOCK) | Type::ObjectOrNone(BLOCK) => {
                u64::try_from(value).map_or(0, |id| (id * self.block).cast_signed() + i64::from(SHARED_BASE))
            }
            _ => value,
        }
    }

    /// What a call that has returned this to its program has returned to the protocol.
    pub fn before_return(&self, protocol: usize, op: OpId, returned: i64) -> i64 {
        match self.engines[protocol].protocol().ops[op.index()].result {
            Some(Type::OrNone(ref of)) if is_pointer(of) && returned == 0 => NONE,
            Some(ref ty) if is_pointer(ty) => returned - i64::from(SHARED_BASE),
            Some(Type::Object(BLOCK) | Type::ObjectOrNone(BLOCK)) if returned == 0 => NONE,
            Some(Type::Object(BLOCK) | Type::ObjectOrNone(BLOCK)) => {
                (returned - i64::from(SHARED_BASE)) / self.block.cast_signed()
            }
            _ => returned,
        }
    }

    /// What a call returns to its program at once because it is about no object.
    pub fn returned_for_none(&self, protocol: usize, op: OpId) -> i64 {
        let value = self.engines[protocol].protocol().ops[op.index()].nothing();
        if value == NONE { self.returned(protocol, op, NONE) } else { value }
    }

    /// How many kinds of messages the protocols before one have.
    #[inline]
    pub fn kinds_before(&self, protocol: usize) -> usize {
        self.kinds_before[protocol]
    }

    /// The number of the block of a byte offset; a number that no block has, if that is beyond all shared memory.
    #[inline]
    pub fn block_number(&self, offset: u64) -> u32 {
        u32::try_from(offset >> self.block.trailing_zeros()).unwrap_or(u32::MAX)
    }
}

/// The calls of a protocol as people know them.
fn call_names(protocol: &Protocol) -> Vec<String> {
    protocol.ops.iter().map(|op| format!("{}.{}", protocol.name, op.name)).collect()
}

/// The call of a protocol that releases what its thread has stored, with nothing else to say: it promises `release_consistency` of it alone.
fn fence_of(protocol: &Protocol) -> Option<OpId> {
    let fence = protocol.promises.iter().find_map(|promise| match promise {
        Promise::ReleaseConsistency { acquire: None, release } => *release,
        _ => None,
    })?;
    let op = &protocol.ops[fence.index()];
    (op.object == NODE && op.args.is_empty()).then_some(fence)
}
