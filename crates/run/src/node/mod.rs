//! A node: its program's processor, its copies of blocks, the handlers that it runs, and what it knows of the run.

mod calls;
mod control;
mod delays;
mod dispatch;
mod measured;
mod mechanisms;
#[cfg(test)]
mod mechanisms_tests;
mod noting;
mod past;
mod prefetch;
mod queued;
mod reach;
mod sharing;
#[cfg(test)]
mod strange_tests;
mod tried;
mod waiting;

use crate::history::{History, Moment};
use crate::packets::spare::Spare;
use crate::reports::trace::Tracer;
use crate::transport::Transport;
use control::{Coordinator, Progress};
pub(crate) use delays::Delays;
pub(crate) use measured::Counts;
use measured::Measured;
use mechanisms::Handling;
use queued::Queued;
use reach::Phase;
use serde::{Deserialize, Serialize};
use sharing::Turn;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tried::Tried;
use trivium_engine::Node;
use trivium_guest::Tags;
use trivium_node::{Asked, NodeCore, NodeError, NodeMemory, NodeSaid, Protocols, RUNNING, Stood, Thread};
use waiting::Polls;

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
    /// Packets that came before the run began.
    pub arrived: VecDeque<(Node, Vec<u8>)>,
    /// What its handlers have performed and completed for threads.
    pub asked: Asked,
    /// What its compiled code may access without asking.
    published: Option<Tags>,
    /// The program's accesses to private memory that is shared are looked at.
    pub checks_unchecked: bool,
    queued: Queued,
    /// The handler that is running.
    handling: Box<Handling>,
    /// What is in its place while what it did takes its way.
    resting: Option<Box<Handling>>,
    /// Events, data and packets that nobody has in hands any more, to be filled again.
    spare: Spare,
    turn: Turn,
    /// Of how many allocations it has told each node.
    told_of: Vec<usize>,
    polls: Polls,
    begun: Instant,
    limits: Limits,
    pub measured: Measured,
    pub said: NodeSaid,
    progress: Progress,
    /// What has been done about the access with which its program waits.
    tried: Tried,
    phase: Phase,
    /// What node 0 knows of all.
    coordinator: Option<Coordinator>,
    /// Whether its run is recorded, or repeats one that was; and the moment at which it is.
    pub history: History,
    moment: Moment,
    /// Delays at random, if there are any.
    pub delays: Option<Delays>,
    /// What is noted for a trace, if there is one.
    pub tracer: Option<Box<Tracer>>,
    /// The allocation of which it is asked where the program makes it.
    pub names: Option<usize>,
    pub leaving: Leaving,
}

/// How a node comes to its end.
#[derive(Default)]
pub(crate) struct Leaving {
    /// Why it has left the run, if it has.
    pub left: Option<Left>,
    /// Whether this is about all nodes: where this one's program stood says nothing.
    pub is_of_all: bool,
    /// Where its program stood when it was cut off.
    pub stood: Option<Stood>,
    /// What nodes have ended with that left before this one, node 0.
    pub ends: Vec<(Node, Vec<u8>)>,
    /// Whether its program has ended, and node 0 been told.
    serves: bool,
    /// Whether the run is over.
    is_over: bool,
}

impl NodeState {
    /// A node at the beginning of a run; `page` is the bytes of a page.
    pub(crate) fn new(
        transport: Box<dyn Transport>,
        protocols: Rc<Protocols>,
        (page, begun): (u64, Instant),
        limits: Limits,
    ) -> NodeState {
        let (me, nodes) = (transport.me(), transport.nodes());
        let space = Rc::new(RefCell::new(protocols.space(page)));
        NodeState {
            queued: Queued::new(&protocols),
            measured: Measured::of(&protocols),
            core: NodeCore::new(me, protocols, space),
            turn: Turn::new(transport.is_crowded()),
            beside: transport.beside(),
            transport,
            arrived: VecDeque::new(),
            asked: Asked::default(),
            published: None,
            checks_unchecked: false,
            handling: Box::default(),
            resting: None,
            spare: Spare::default(),
            told_of: vec![0; nodes as usize],
            polls: Polls::default(),
            begun,
            limits,
            said: NodeSaid::default(),
            progress: Progress::default(),
            tried: Tried::default(),
            phase: Phase::default(),
            coordinator: (me == 0).then(|| Coordinator::new(nodes)),
            history: History::None,
            moment: Moment::default(),
            delays: None,
            tracer: None,
            names: None,
            leaving: Leaving::default(),
        }
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
}
