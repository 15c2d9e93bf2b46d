//! A node: its program's processor, its copies of blocks, the handlers that it runs, and what it knows of the run.

mod calls;
mod control;
mod delays;
mod dispatch;
mod lanes;
mod mechanisms;
#[cfg(test)]
mod mechanisms_tests;
mod noting;
mod past;
mod prefetch;
mod reach;
mod sharing;
#[cfg(test)]
mod strange_tests;
mod tried;
mod waiting;

use crate::history::{History, Moment};
use crate::latency::Latency;
use crate::spare::{Arrival, Spare};
use crate::trace::Tracer;
use crate::transport::Transport;
use control::Coordinator;
pub(crate) use delays::Delays;
use lanes::OnLanes;
use mechanisms::Handling;
use serde::{Deserialize, Serialize};
use sharing::Suspended;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tried::Tried;
use trivium_engine::Node;
use trivium_guest::Tags;
use trivium_node::{
    Asked, Instance, NodeCore, NodeError, NodeMemory, NodeSaid, Protocols, RUNNING, Space, Stood, Thread,
};
use trivium_protocol::MessageId;
use waiting::Patience;

/// Something for the node's handlers.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    Message(Box<Arrival>),
    /// What happens here, or a message that was held.
    Local(Box<Arrival>),
}

/// What is counted on a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub read_faults: u64,
    pub write_faults: u64,
    pub upgrades: u64,
    pub prefetches: u64,
    pub messages_sent: u64,
    pub bytes_sent: u64,
    pub instructions: u64,
    /// Nanoseconds in handlers, and in waiting without handlers.
    pub handlers: u64,
    pub waits: u64,
    /// Messages by protocol and kind. While the node runs they are in [`NodeState::kinds`].
    #[serde(skip)]
    pub by_kind: BTreeMap<(usize, u16), u64>,
}

impl Counts {
    /// What was counted after `earlier`.
    pub(crate) fn since(&self, earlier: &Counts) -> Counts {
        let before = |kind: &(usize, u16)| earlier.by_kind.get(kind).copied().unwrap_or(0);
        let mut by_kind: BTreeMap<_, _> = self.by_kind.iter().map(|(kind, now)| (*kind, now - before(kind))).collect();
        by_kind.retain(|_, count| *count > 0);
        Counts {
            read_faults: self.read_faults - earlier.read_faults,
            write_faults: self.write_faults - earlier.write_faults,
            upgrades: self.upgrades - earlier.upgrades,
            prefetches: self.prefetches - earlier.prefetches,
            messages_sent: self.messages_sent - earlier.messages_sent,
            bytes_sent: self.bytes_sent - earlier.bytes_sent,
            instructions: self.instructions - earlier.instructions,
            handlers: self.handlers - earlier.handlers,
            waits: self.waits - earlier.waits,
            by_kind,
        }
    }

    /// The sum of both.
    pub(crate) fn plus(&self, other: &Counts) -> Counts {
        let mut by_kind = self.by_kind.clone();
        for (kind, count) in &other.by_kind {
            *by_kind.entry(*kind).or_default() += count;
        }
        Counts {
            read_faults: self.read_faults + other.read_faults,
            write_faults: self.write_faults + other.write_faults,
            upgrades: self.upgrades + other.upgrades,
            prefetches: self.prefetches + other.prefetches,
            messages_sent: self.messages_sent + other.messages_sent,
            bytes_sent: self.bytes_sent + other.bytes_sent,
            instructions: self.instructions + other.instructions,
            handlers: self.handlers + other.handlers,
            waits: self.waits + other.waits,
            by_kind,
        }
    }
}

/// The region of interest of a node's program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region {
    /// Counts where it began, if it has and has not ended.
    begun: Option<Counts>,
    /// Counts of those that have ended, if there were any.
    pub ended: Option<Counts>,
    /// Nanoseconds of the first beginning and the last end.
    pub span: Option<(u64, u64)>,
}

/// What ends a run from outside.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// The run ends, incomplete, when it is true.
    pub cancel: Arc<AtomicBool>,
    /// Or after so many nanoseconds.
    pub nanoseconds: Option<u64>,
}

/// Why a node has left the run before its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Left {
    /// Something went wrong here.
    Failed(NodeError),
    /// Something went wrong on another node, which tells it.
    Told(NodeError),
    /// It was cut off by a limit.
    Stopped(String),
}

/// One node.
pub(crate) struct NodeState {
    /// What it is as far as no time is concerned.
    pub core: NodeCore<()>,
    pub transport: Box<dyn Transport>,
    /// The nodes of this thread, among them this one: their messages need not be written.
    beside: Range<u32>,
    /// How long it keeps the processor while it waits.
    patience: Patience,
    /// Packets that came before the run began.
    pub arrived: VecDeque<(Node, Vec<u8>)>,
    /// What nodes have ended with that left before this one, node 0.
    pub ends: Vec<(Node, Vec<u8>)>,
    /// What its handlers have performed and completed for threads.
    pub asked: Asked,
    /// What its compiled code may access without asking.
    published: Option<Tags>,
    /// The program's accesses to private memory that is shared are looked at.
    pub checks_unchecked: bool,
    /// What its handlers have not come to yet.
    inbox: VecDeque<Incoming>,
    on_lanes: OnLanes,
    /// Timers by the nanosecond at which they end, and a number.
    timers: BTreeMap<(u64, u64), (Instance, u64)>,
    /// The handler that is running.
    handling: Box<Handling>,
    /// What is in its place while what it did takes its way.
    resting: Option<Box<Handling>>,
    /// Events, data and packets that nobody has in hands any more, to be filled again.
    spare: Spare,
    /// The wait for which it has returned.
    suspended: Option<Suspended>,
    /// When its program first polled in its turn.
    turn_begun: Option<Instant>,
    /// Of how many allocations it has told each node.
    told_of: Vec<usize>,
    /// The number of instructions at which it next looks at what has arrived, and how many lie between two looks.
    next_poll: u64,
    poll_interval: u64,
    /// The least and the most of these.
    polls: RangeInclusive<u64>,
    begun: Instant,
    limits: Limits,
    pub counts: Counts,
    /// Of each protocol, the messages of each kind that it has sent.
    kinds: Vec<Vec<u64>>,
    pub region: Region,
    pub latency: Latency,
    pub said: NodeSaid,
    pub private_memory: u64,
    /// Packets that it has sent and received, but for questions and reports.
    sent: u64,
    received: u64,
    /// Handlers that it has run, and times that its program went on.
    moved: u64,
    /// Times that its program went on.
    went_on: u64,
    /// What has been done about the access with which its program waits.
    tried: Tried,
    /// The phase between two barriers, and blocks that it has stored to in it, where only one node may.
    phase: u64,
    stored: Vec<u32>,
    /// How many of these node 0 knows already.
    told_stores: usize,
    /// What node 0 knows of all.
    coordinator: Option<Coordinator>,
    /// Whether its run is recorded, or repeats one that was; and the moment at which it is.
    pub history: History,
    moment: Moment,
    /// Delays at random, if there are any.
    pub delays: Option<Delays>,
    /// What is noted for a trace, if there is one.
    pub tracer: Option<Box<Tracer>>,
    /// Why it has left the run, if it has.
    pub left: Option<Left>,
    /// Whether this is about all nodes: where this one's program stood says nothing.
    pub is_of_all: bool,
    /// Where its program stood when it was cut off.
    pub stood: Option<Stood>,
    /// The allocation of which it is asked where the program makes it.
    pub names: Option<usize>,
    /// Whether its program has ended, and node 0 been told.
    serves: bool,
    /// Whether the run is over.
    is_over: bool,
}

/// So many instructions lie between two looks at what has arrived, at least and at most.
const POLLS: RangeInclusive<u64> = 1000..=16_000;

impl NodeState {
    /// A node at the beginning of a run; `page` is the bytes of a page.
    pub(crate) fn new(
        transport: Box<dyn Transport>,
        protocols: Rc<Protocols>,
        (page, begun): (u64, Instant),
        limits: Limits,
    ) -> NodeState {
        let (me, nodes) = (transport.me(), transport.nodes());
        let space = Rc::new(RefCell::new(Space::new(page, nodes)));
        NodeState {
            kinds: protocols.engines.iter().map(|engine| vec![0; engine.protocol().messages.len()]).collect(),
            on_lanes: OnLanes::new(&protocols),
            core: NodeCore::new(me, protocols, space),
            patience: Patience::of(transport.is_crowded()),
            beside: transport.beside(),
            transport,
            arrived: VecDeque::new(),
            ends: Vec::new(),
            asked: Asked::default(),
            published: None,
            checks_unchecked: false,
            inbox: VecDeque::new(),
            timers: BTreeMap::new(),
            handling: Box::default(),
            resting: None,
            spare: Spare::default(),
            suspended: None,
            turn_begun: None,
            told_of: vec![0; nodes as usize],
            next_poll: *POLLS.start(),
            poll_interval: *POLLS.start(),
            polls: POLLS,
            begun,
            limits,
            counts: Counts::default(),
            region: Region::default(),
            latency: Latency::default(),
            said: NodeSaid::default(),
            private_memory: 0,
            sent: 0,
            received: 0,
            moved: 0,
            went_on: 0,
            tried: Tried::default(),
            phase: 0,
            stored: Vec::new(),
            told_stores: 0,
            coordinator: (me == 0).then(|| Coordinator::new(nodes)),
            history: History::None,
            moment: Moment::default(),
            delays: None,
            tracer: None,
            left: None,
            is_of_all: false,
            stood: None,
            names: None,
            serves: false,
            is_over: false,
        }
    }

    /// A program that computes polls after so many instructions, whether messages come or not.
    pub(crate) fn polls_every(&mut self, instructions: u64) {
        (self.polls, self.next_poll) = (instructions..=instructions, instructions);
        self.poll_interval = instructions;
    }

    /// Its program's memory, and what compiled code may access without asking.
    pub(crate) fn runs_on(&mut self, memory: trivium_guest::Memory, tags: Option<Tags>) {
        (self.core.memory, self.published) = (NodeMemory::Program(memory), tags);
    }

    /// Nanoseconds since the run began: for what a recording need not know. For all else there is [`NodeState::look_at_clock`].
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// The thread that the program runs.
    pub(crate) fn thread(&self) -> &Thread {
        &self.core.threads[RUNNING]
    }

    /// The same, to change it.
    fn thread_mut(&mut self) -> &mut Thread {
        &mut self.core.threads[RUNNING]
    }

    /// The counts so far.
    pub(crate) fn counted(&self, instructions: u64) -> Counts {
        let kinds = self.kinds.iter().enumerate();
        let of = |(protocol, counts): (usize, &Vec<u64>)| {
            let sent = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            let named = sent.map(|(kind, &count)| ((protocol, MessageId::at(kind).0), count));
            named.collect::<Vec<_>>()
        };
        Counts { instructions, by_kind: kinds.flat_map(of).collect(), ..self.counts.clone() }
    }

    fn region_begin(&mut self, instructions: u64) {
        if self.region.begun.is_none() {
            let now = self.look_at_clock();
            self.note_region(true);
            self.region.begun = Some(self.counted(instructions));
            self.region.span = Some((self.region.span.map_or(now, |span| span.0), now));
        }
    }

    /// The region of interest ends here, as it does where the program ends.
    pub(crate) fn region_end(&mut self, instructions: u64) {
        if let Some(begun) = self.region.begun.take() {
            let more = self.counted(instructions).since(&begun);
            self.region.ended = Some(self.region.ended.take().unwrap_or_default().plus(&more));
            let now = self.look_at_clock();
            self.note_region(false);
            self.region.span = self.region.span.map(|span| (span.0, now));
        }
    }
}
