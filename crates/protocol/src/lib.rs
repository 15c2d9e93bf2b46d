//! The compiled protocol: what the compiler of the language (`trivium-lang`) makes, and what the engine and all backends read.
//!
//! It must never know how a protocol is written, nor what runs it.
//!
//! Everything here is independent of the number of nodes; where a size depends on it, a [`Bound`] says how.
//! `await` no longer exists at this level: it has become waiting states ([`State::waiting`]).

mod access;
pub mod again;
mod body;
mod bound;
mod claims;
mod code;
pub mod contents;
pub mod copies;
mod exclusion;
mod formula;
mod ghosts;
pub mod idle;
mod image;
mod names;
mod nearest;
mod operation;
pub mod orders;
mod parameter;
mod passed;
mod share;
pub mod source;
mod stored;
pub mod walk;

pub use access::{Access, Line};
pub use body::{
    BodyPlace, BodyStep, CallAction, CallBody, ScenarioAction, ScenarioValue, ScenarioVariable, ThreadBody,
};
pub use bound::Bound;
pub use claims::*;
pub use code::*;
pub use exclusion::{ExcludedBy, Exclusion};
pub use formula::Formula;
pub use ghosts::TOLD;
pub use image::{
    ASSERT_IMPORT, BEGINS_IMPORT, IMAGE_IMPORT, Image, ImageField, NAMED_IMPORT, OBJECT_OF_CALL, OUTSIDE_IMPORT,
    RESULT_OF_CALL,
};
pub use nearest::nearest;
pub use operation::Operation;
pub use parameter::{Param, ValueFrom};
pub use share::SharedQueue;
pub use stored::{NoRmw, refuses_rmw};

use crate::source::{SourceMap, Span};
use std::collections::BTreeMap;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);
        impl $name {
            /// The number as an index.
            #[inline]
            pub fn index(self) -> usize { self.0 as usize }

            /// The one at an index.
            ///
            /// # Panics
            /// If there can be none at it: the compiler makes no more than have numbers.
            #[inline]
            #[track_caller]
            pub fn at(index: usize) -> $name {
                match index.try_into() {
                    Ok(number) => $name(number),
                    Err(_) => panic!("there is no {} at {index}", stringify!($name)),
                }
            }
        }
    )*};
}

ids! {
    /// A lane, in the order of declaration, which is also the order of ranks.
    LaneId(u8);
    /// A kind of message.
    MessageId(u16);
    /// A kind of object: 0 is `block`, 1 is `node` (agents), others are declared.
    ObjectKindId(u8);
    /// A call that a program makes.
    OpId(u16);
    /// A role.
    RoleId(u8);
    /// A state of one role; 0 is the role's first, in which every object starts unless its `initially` says another.
    StateId(u16);
    /// A variable of one role.
    VarId(u16);
    /// A task of the protocol.
    TaskId(u16);
    /// A handler of one role.
    HandlerId(u16);
    /// A declared record type.
    RecordId(u16);
    /// A local of one handler: an argument, a `let`, a loop variable.
    LocalId(u16);
}

/// Most nodes of a machine. What a protocol may need with any number of nodes is worked out for so many.
pub const MAX_NODES: u32 = 1024;
/// The word that stands for `none` in a `word?`, which therefore cannot hold it: no small number, and as a floating-point number the one next to -0.
pub const NO_WORD: i64 = i64::MIN + 1;

/// For so many nodes it is looked at when a protocol is compiled whether its lists, sets and handlers are too long. Whether they
/// are with more, up to [`MAX_NODES`], is looked at when it is loaded for so many.
pub const COMPILED_FOR: u32 = 256;

/// Most steps of a handler: what a handler does is one move of the whole system, which cannot be interrupted.
pub const MAX_STEPS: i64 = 4_000_000;

/// The built-in object kind `block`.
pub const BLOCK: ObjectKindId = ObjectKindId(0);
/// The built-in object kind `node`, of which each node has exactly one: its agent.
pub const NODE: ObjectKindId = ObjectKindId(1);

/// A type. Scalars are `Bool` to `Thread`; sets, lists, records and arrays are wide.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// false or true.
    Bool,
    /// A whole number from `lo` to `hi`, both included.
    Int {
        /// Least value.
        lo: Bound,
        /// Greatest value.
        hi: Bound,
    },
    /// The number of a node; optional ones may be `none` (-1 in the engine).
    Node {
        /// Whether `none` is a value.
        optional: bool,
    },
    /// A byte offset into shared memory.
    Address,
    /// 64 bits that the protocol does not look into.
    Word,
    /// The number of an object of that kind.
    Object(ObjectKindId),
    /// The same, or `none` (-1).
    ObjectOrNone(ObjectKindId),
    /// A [`Type::Bool`], [`Type::Int`], [`Type::Address`] or [`Type::Word`], or `none`: [`Type::none`] says which number that is.
    OrNone(Box<Type>),
    /// A waiting thread of this node, to `return` to; may be `none` (-1).
    Thread,
    /// A set of nodes.
    NodeSet,
    /// A set of whole numbers from `lo` to `hi`, at most [`MAX_NODES`] of them.
    IntSet {
        /// Least element.
        lo: Bound,
        /// Greatest element.
        hi: Bound,
    },
    /// A bounded sequence; as a `queue` taken from the front, as a `list` iterated over.
    List {
        /// The elements: scalars or records.
        of: Box<Type>,
        /// How many there may be.
        up_to: Bound,
        /// Whether it was declared as a queue.
        queue: bool,
    },
    /// A record of scalars.
    Record(RecordId),
    /// So many values of one type, each of which can be looked at and changed by itself.
    Array {
        /// By what its elements are named: a node that is not optional, or the numbers of a range.
        by: Box<Type>,
        /// The elements: scalars or records.
        of: Box<Type>,
    },
}

impl Type {
    /// The number that stands for `none` in a value of this type: -1, or of a word [`NO_WORD`].
    #[must_use]
    pub fn none(&self) -> i64 {
        match self {
            Type::OrNone(of) if **of == Type::Word => NO_WORD,
            _ => -1,
        }
    }

    /// The type of what a value is if it is not `none`, of those that are declared by [`Type::OrNone`].
    #[must_use]
    pub fn given(&self) -> Option<&Type> {
        match self {
            Type::OrNone(of) => Some(of),
            _ => None,
        }
    }

    /// Of which kind the object is that a value names, if it names one.
    pub fn object(&self) -> Option<ObjectKindId> {
        match self {
            Type::Object(kind) | Type::ObjectOrNone(kind) => Some(*kind),
            _ => None,
        }
    }
}

/// A field, an argument or a variable: a name with a type.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name as written.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it was declared.
    pub span: Span,
}

/// A declared record type; its fields are scalars.
#[derive(Clone, Debug)]
pub struct Record {
    /// The name as written.
    pub name: String,
    /// Its fields in order.
    pub fields: Vec<Named>,
}

/// The system in which a protocol is to be checked, as far as the file says: `check nodes 3, objects 1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckSizes {
    /// All nodes.
    pub nodes: Option<u32>,
    /// Nodes that act.
    pub clients: Option<u32>,
    /// Objects of each kind that is not among `kinds`.
    pub objects: Option<u32>,
    /// Objects of some kinds, by name.
    pub kinds: BTreeMap<String, u32>,
    /// Of some kinds, by name, the homes of objects 0, 1 and so on; after the last it begins anew.
    pub homes: BTreeMap<String, Vec<u32>>,
    /// Values that are stored.
    pub values: Option<u32>,
    /// Accesses and calls of each thread.
    pub ops: Option<u32>,
    /// Threads of each acting node.
    pub threads: Option<u32>,
    /// Whether all lanes keep order (`Some(true)`) or none does.
    pub fifo: Option<bool>,
    /// Places of every finite lane.
    pub lanes: Option<u32>,
}

/// A lane of the network. Order is per pair of nodes and lane, unless it is `merged` or `behind` another.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The name as written.
    pub name: String,
    /// Whether messages between two nodes keep their order.
    pub fifo: bool,
    /// Whether the messages of all senders stand in one queue at their receiver.
    pub merged: bool,
    /// The lane whose earlier messages of the same sender to the same receiver are handled before its own.
    pub behind: Option<LaneId>,
    /// `None`: buffered, a send always has room. `Some(k)`: each node may have at most `k` messages of this
    /// lane on their way, counted until their handlers start, or, where it `queues`, until they have left the node. How many that are is
    /// known when the number of nodes is: [`Lane::room`].
    pub holds: Option<Formula>,
    /// Whether its places are those of an outgoing queue of each node: one is free as soon as its message has left the node.
    pub queues: bool,
    /// Whether the network may lose its messages.
    pub lossy: bool,
    /// Whether the network may deliver its messages more than once.
    pub duplicating: bool,
    /// Where it was declared.
    pub span: Span,
}

impl Lane {
    /// Most messages that a finite lane can hold.
    pub const MOST: u32 = 65_535;

    /// How many messages of a node the lane holds in a machine of so many nodes: from 1 to [`Lane::MOST`]. `None` where it
    /// is no such number, and where the lane is buffered.
    pub fn room(&self, nodes: u32) -> Option<u32> {
        let held = u32::try_from(self.holds.as_ref()?.at(nodes)?).ok()?;
        (1..=Lane::MOST).contains(&held).then_some(held)
    }

    /// What a finite lane does with that many messages, as the text says it.
    pub fn takes(&self) -> &'static str {
        if self.queues { "queues" } else { "holds" }
    }
}

/// What data a message carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadShape {
    /// None.
    Nothing,
    /// The contents of the object's block.
    Block,
    /// A range of memory, named at the send.
    Memory,
    /// The contents of several blocks or words, from a list named at the send.
    List,
    /// Bytes: of the program's own memory, or what a performed load gave.
    Bytes,
}

/// A kind of message.
#[derive(Clone, Debug)]
pub struct Message {
    /// The name as written.
    pub name: String,
    /// Its lane.
    pub lane: LaneId,
    /// Its arguments: scalars, sets of nodes, arrays or lists.
    pub args: Vec<Named>,
    /// What data it carries.
    pub payload: PayloadShape,
    /// The role that handles it.
    pub role: RoleId,
    /// The object kind that it is about ([`NODE`] when an agent handles it).
    pub object: ObjectKindId,
    /// Where it was declared.
    pub span: Span,
}

/// A kind of which handlers make objects: that of slot s of node n has the number s * nodes + n, and is at home at n.
#[derive(Clone, Debug)]
pub struct Made {
    /// The kind.
    pub object: ObjectKindId,
    /// How many slots each node has.
    pub most: i64,
    /// The role of `node` whose only variable, a set, says which of them are in use.
    pub role: RoleId,
}

/// A call that a program makes: `op acquire(l: lock)`.
#[derive(Clone, Debug)]
pub struct Op {
    /// The name as written.
    pub name: String,
    /// The object that it is about; the first parameter names it, unless it is [`NODE`].
    pub object: ObjectKindId,
    /// Whether that parameter may be `none`: the call returns at once then.
    pub object_may_be_none: bool,
    /// The parameters after the object.
    pub args: Vec<Named>,
    /// What it returns, if anything.
    pub result: Option<Type>,
    /// What the calling thread does, where the protocol spells that out; else a handler answers the call.
    pub body: Option<CallBody>,
    /// Whether it is an event that bodies say: no program and no scenario calls it.
    pub is_event: bool,
    /// Where it was declared.
    pub span: Span,
}

impl Op {
    /// Whether nobody waits for it: an event without a result.
    pub fn is_told(&self) -> bool {
        self.is_event && self.result.is_none()
    }

    /// What a call returns by which it says nothing, as one about no object does: 0, `false` or `none`.
    pub fn nothing(&self) -> i64 {
        match self.result {
            Some(Type::Node { .. } | Type::Object(_) | Type::ObjectOrNone(_) | Type::OrNone(_)) => -1,
            _ => 0,
        }
    }
}

/// A piece of protocol work that a node does later, from its software queue.
#[derive(Clone, Debug)]
pub struct Task {
    /// The name as written.
    pub name: String,
    /// Its arguments: scalars.
    pub args: Vec<Named>,
    /// The role that it belongs to.
    pub role: RoleId,
}

/// Where one copy of a role's state machine lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleKind {
    /// At the object's home.
    Home,
    /// On every node but the object's home.
    Elsewhere,
    /// On every node.
    Everywhere,
    /// On every node, once for the node and not per object.
    Agent,
    /// Nowhere: a ghost, of which whoever explores a protocol keeps one for each object, at its home.
    Ghost,
}

impl RoleKind {
    /// Whether a node has an instance of the role for an object.
    pub fn lives_at(self, is_home: bool) -> bool {
        match self {
            RoleKind::Home => is_home,
            RoleKind::Elsewhere => !is_home,
            RoleKind::Everywhere | RoleKind::Agent => true,
            RoleKind::Ghost => false,
        }
    }

    /// The same for whoever keeps ghosts.
    pub fn is_kept_at(self, is_home: bool) -> bool {
        self.lives_at(is_home) || self == RoleKind::Ghost && is_home
    }
}

/// What a ghost sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GhostEvent {
    /// A load of the object's word was performed; with the node and the value.
    Read,
    /// A store to it was performed; with the node and the value.
    Write,
    /// A call about the object was made; with the node and the arguments.
    Call(OpId),
    /// It has returned; with the node and the result, if it has one.
    Return(OpId),
}

/// A ghost: variables that accesses and calls change, which only claims look at. Its variables and handlers are those
/// of a role of the kind [`RoleKind::Ghost`]. Of those who run protocols only `check` keeps ghosts.
#[derive(Clone, Debug)]
pub struct Ghost {
    /// Its variables and handlers.
    pub role: RoleId,
    /// What it sees, and what it does then.
    pub clauses: Vec<(GhostEvent, HandlerId)>,
}

/// What can happen to a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventKind {
    /// The local thread's load faulted.
    Read,
    /// The local thread's store faulted.
    Write,
    /// The local thread's read-modify-write faulted, where the role answers that; elsewhere it is a store.
    Rmw,
    /// A hint of the processor: it may load from the block soon. No thread waits.
    Prefetch,
    /// The same of a store.
    PrefetchWrite,
    /// The node wants the block's place. With a cached processor: its cache has given up a shared line.
    Evict,
    /// The processor's cache has given up an exclusive line, whose contents the event brings.
    WriteBack,
    /// The local thread looks at the image of an object, and the line does not allow that.
    Image,
    /// A message arrived.
    Message(MessageId),
    /// A program made a call.
    Op(OpId),
    /// A task of the software queue got its turn.
    Task(TaskId),
    /// The time of an `after` in the present state has passed.
    Timer,
}

impl EventKind {
    /// The access to the block that it is for, if it is for one: where that is given, the event does not happen.
    #[inline]
    pub fn wants(self) -> Option<Access> {
        match self {
            EventKind::Read | EventKind::Prefetch => Some(Access::Read),
            EventKind::Write | EventKind::Rmw | EventKind::PrefetchWrite => Some(Access::Write),
            _ => None,
        }
    }

    /// Whether a thread makes it, and waits for it unless it only tells: a load, a store, a look at an image or a call.
    #[inline]
    pub fn has_caller(self) -> bool {
        matches!(self, EventKind::Read | EventKind::Write | EventKind::Rmw | EventKind::Image | EventKind::Op(_))
    }

    /// Whether nobody waits for what it is for, so that it is ignored where nothing answers it.
    #[inline]
    pub fn is_hint(self) -> bool {
        matches!(self, EventKind::Prefetch | EventKind::PrefetchWrite)
    }
}

/// What a role does about an event in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The first of these handlers whose guard holds; the last has none, unless `fallback` follows.
    Handle(Vec<HandlerId>),
    /// It is deferred.
    Defer,
    /// It stays where it is: a local event with its thread, a message at the head of its channel. It is tried again when the state has changed.
    Hold,
    /// It cannot happen: a violation if it does.
    Impossible,
    /// It cannot happen because the state's access lets it pass.
    Passes,
}

/// A state of a role.
#[derive(Clone, Debug)]
pub struct State {
    /// `Clean`, or `Clean.write.Owned` for a waiting state.
    pub name: String,
    /// The access that it gives the local thread, where the object is a block.
    pub access: Access,
    /// Whether it says `keeps`: the node's copy of the block has contents though nobody may access them.
    pub keeps: bool,
    /// Whether the node's copy of the block has contents in it, where the node is not the block's home: `docs/semantics.md`, section 1.
    pub contents: bool,
    /// Whether it came from an `await`.
    pub waiting: bool,
    /// What an `await` waits for: messages by name, for reports.
    pub awaits: Vec<MessageId>,
    /// Variables that nobody can read again from here: cleared after each handler that ends here.
    pub dead: Vec<VarId>,
    /// Whether nobody can read the node's copy of the block again before it is overwritten, where the object is a block:
    /// `check` forgets its contents then.
    pub copy_is_dead: bool,
    /// Time of `after T`, in cycles of the machine's clock, if there is such a clause.
    pub timer: Option<Bound>,
    /// Where it was declared.
    pub span: Span,
}

/// A variable of a role, kept per object and node.
#[derive(Clone, Debug)]
pub struct Var {
    /// The name as written; hidden ones (what an `await` keeps) start with `$`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its first value, for numbers and truth values; of an array that of each element.
    pub initial: i64,
    /// Where it was declared.
    pub span: Span,
}

/// A role: a state machine, one instance per object and node.
#[derive(Clone, Debug)]
pub struct Role {
    /// The name as written.
    pub name: String,
    /// Where it lives.
    pub kind: RoleKind,
    /// What it is about.
    pub object: ObjectKindId,
    /// Its states, declared ones first.
    pub states: Vec<State>,
    /// Its variables.
    pub vars: Vec<Var>,
    /// How many events it may defer, if any.
    pub defers: Option<Bound>,
    /// Whether what finds no place there stalls, and is no fault.
    pub pushes_back: bool,
    /// Which events may be deferred in some state.
    pub deferrable: Vec<EventKind>,
    /// All events that it answers, in a fixed order: the columns of its table.
    pub events: Vec<EventKind>,
    /// `table[state][column]`.
    pub table: Vec<Vec<Response>>,
    /// Messages that only `await`s of the role name, where a state does not name them and keeps them by `otherwise defer`.
    pub kept_answers: Vec<(StateId, EventKind)>,
    /// Why events are impossible in states, where the text says so.
    pub exclusions: Vec<Exclusion>,
    /// Its handlers.
    pub handlers: Vec<Handler>,
    /// What makes of each of its records the one that it is at first; no event starts it.
    pub initially: Option<Handler>,
    /// Where it was declared.
    pub span: Span,
}

impl Role {
    /// All code of the role: its handlers, and what its records are at first.
    pub fn code(&self) -> impl Iterator<Item = &Handler> {
        self.handlers.iter().chain(&self.initially)
    }

    /// Why an event is impossible in a state, where the text says so.
    pub fn exclusion(&self, state: StateId, event: EventKind) -> Option<&Exclusion> {
        self.exclusions.iter().find(|exclusion| exclusion.state == state && exclusion.event == event)
    }

    /// The column of an event in the role's table.
    pub fn column(&self, event: EventKind) -> Option<usize> {
        self.events.iter().position(|&e| e == event)
    }
}

/// How a local is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// In this many scalar places, from this one on (a record takes one a field).
    Scalars {
        /// The first place.
        at: u16,
        /// How many.
        count: u16,
    },
    /// In this set place, which also holds an array or a list: its words are those of an argument.
    Set {
        /// The place.
        at: u16,
    },
}

/// A local of a handler.
#[derive(Clone, Debug)]
pub struct Local {
    /// The name as written.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where the engine keeps it.
    pub slot: Slot,
}

/// A handler: straight code with branches and bounded loops.
#[derive(Clone, Debug)]
pub struct Handler {
    /// `Clean.write`, `Clean.write.Owned.Invalidate`, for reports.
    pub name: String,
    /// The event that starts it.
    pub event: EventKind,
    /// Its guard.
    pub guard: Option<Expr>,
    /// Its locals; the event's arguments are the first `args` of them.
    pub locals: Vec<Local>,
    /// How many of the locals are the event's arguments.
    pub args: u16,
    /// How many scalar places its locals need.
    pub scalars: u16,
    /// How many set places its locals need.
    pub sets: u16,
    /// What it does.
    pub steps: Vec<Step>,
    /// Steps on its longest path.
    pub longest: Bound,
    /// For each lane, and behind these for each queue that lanes share, the most messages that it may send without asking for room.
    pub sends: Vec<Bound>,
    /// The state in which it runs.
    pub state: StateId,
    /// Where it was written.
    pub span: Span,
}

/// A small program in the protocol's file.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name as written.
    pub name: String,
    /// Where objects of some kinds live in it, by name: as [`CheckSizes::homes`].
    pub homes: BTreeMap<String, Vec<u32>>,
    /// Where these are written, with the kind and the node that is named there.
    pub homes_at: Vec<(String, u32, Span)>,
    /// What each thread does.
    pub threads: Vec<ScenarioThread>,
    /// The variables of its threads.
    pub registers: Vec<ScenarioVariable>,
    /// A final outcome that must not be possible (over variables, as locals).
    pub forbid: Option<Expr>,
    /// Where it was written.
    pub span: Span,
}

/// One thread of a scenario.
#[derive(Clone, Debug)]
pub struct ScenarioThread {
    /// The node on which it runs.
    pub node: u32,
    /// What it does.
    pub body: ThreadBody,
}

/// A rule that the file asks the compiler not to insist on, with the reason given there.
#[derive(Clone, Debug)]
pub struct Waiver {
    /// `lane_rule` or `completeness`.
    pub rule: String,
    /// Why.
    pub reason: String,
}

/// A checked, compiled protocol.
#[derive(Clone, Debug, Default)]
pub struct Protocol {
    /// The name as written.
    pub name: String,
    /// The text that it came from.
    pub sources: SourceMap,
    /// The comment at the head of the file, without comment marks.
    pub about: String,
    /// Whether each processor has a cache of its own between it and its engine.
    pub cached: bool,
    /// What it guarantees.
    pub promises: Vec<Promise>,
    /// Under which use.
    pub assumptions: Vec<Assume>,
    /// When calls and accesses are made.
    pub conditions: Vec<Condition>,
    /// Its own invariants.
    pub invariants: Vec<Invariant>,
    /// What must follow from what.
    pub leads_to: Vec<LeadsTo>,
    /// Calls that may wait, and for what.
    pub waits: Vec<WaitClause>,
    /// Its small programs.
    pub scenarios: Vec<Scenario>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The sizes with which it is to be checked.
    pub sizes: CheckSizes,
    /// Its lanes, in order of rank.
    pub lanes: Vec<Lane>,
    /// The outgoing queues that several of them share. A lane stands in one at most.
    pub shares: Vec<SharedQueue>,
    /// Its messages.
    pub messages: Vec<Message>,
    /// The kinds of objects, `block` and `node` first.
    pub objects: Vec<String>,
    /// The kinds of which handlers make objects.
    pub made: Vec<Made>,
    /// The kinds of objects that have an image.
    pub images: Vec<Image>,
    /// Its record types.
    pub records: Vec<Record>,
    /// Its calls.
    pub ops: Vec<Op>,
    /// Its tasks.
    pub tasks: Vec<Task>,
    /// Its roles, and behind them those of its ghosts.
    pub roles: Vec<Role>,
    /// Its ghosts.
    pub ghosts: Vec<Ghost>,
    /// Rules that it asks to be let off.
    pub waivers: Vec<Waiver>,
    /// Whether it uses `index` or `node(..)`, so that nodes are not alike.
    pub asymmetric: Option<Span>,
}
