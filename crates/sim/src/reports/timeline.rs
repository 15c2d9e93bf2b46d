//! Where the time of handlers and misses goes: for reports of single misses, and for the stalls of a trace.
//!
//! Each piece of work knows what led to it, so from the end of a wait one can walk back over what it waited for.

use std::borrow::Cow;
use std::sync::Arc;
use trivium_engine::Node;

/// For what a processor's cycle, or a step of a miss, was spent or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A message is on the wire.
    Network,
    /// A message waits for a credit or for the queue of its sender's network interface.
    Interface,
    /// An event waits until the engine, or its receive queue, is done with others.
    Engine,
    /// A transaction waits for the bus.
    Bus,
    /// A cache miss is detected and goes on the bus, or memory is read or written.
    Memory,
    /// The TLB does not hold the translation of a page, which is looked up.
    Translation,
    /// A handler runs.
    Handler,
    /// Another thread holds the lock, or the call waits for a turn.
    Lock,
    /// Not all nodes have arrived at a barrier.
    Barrier,
    /// A call of a protocol waits for what its handlers do.
    Call,
    /// A word in memory has not changed yet.
    Change,
    /// A page has no home yet, or no frame.
    Placement,
    /// The program sleeps.
    Sleep,
    /// The protocol deals with earlier requests for the block.
    Turn,
    /// The processor is still in the trap of its aborted access.
    Trap,
}

/// All reasons, in the order of their declaration.
pub const REASONS: [Reason; 15] = [
    Reason::Network,
    Reason::Interface,
    Reason::Engine,
    Reason::Bus,
    Reason::Memory,
    Reason::Translation,
    Reason::Handler,
    Reason::Lock,
    Reason::Barrier,
    Reason::Call,
    Reason::Change,
    Reason::Placement,
    Reason::Sleep,
    Reason::Turn,
    Reason::Trap,
];

impl Reason {
    /// What it means, in a sentence.
    pub fn definition(self) -> &'static str {
        match self {
            Reason::Network => "A message is on the wire.",
            Reason::Interface => "A message waits for a credit, or for the queue of its sender's network interface.",
            Reason::Engine => "An event waits until the engine, or its receive queue, is done with others.",
            Reason::Bus => "A transaction waits for the bus.",
            Reason::Memory => "A cache miss is detected and goes on the bus, or memory is read or written.",
            Reason::Translation => "The TLB does not hold the translation of a page, which is looked up.",
            Reason::Handler => "A handler runs.",
            Reason::Lock => "Another thread holds the lock.",
            Reason::Barrier => "Not all nodes have arrived at a barrier.",
            Reason::Call => "A protocol call waits for what its handlers do.",
            Reason::Change => "A word in memory has not changed yet.",
            Reason::Placement => "A page has no home yet, or no frame.",
            Reason::Sleep => "The program sleeps, for a time that it names.",
            Reason::Turn => "The protocol deals with earlier requests for the block.",
            Reason::Trap => "The processor is still in the trap of its aborted access.",
        }
    }

    /// As people read it.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Network => "network",
            Reason::Interface => "interface busy",
            Reason::Engine => "engine busy",
            Reason::Bus => "bus busy",
            Reason::Memory => "memory",
            Reason::Translation => "TLB miss",
            Reason::Handler => "handler",
            Reason::Lock => "lock",
            Reason::Barrier => "barrier",
            Reason::Call => "call",
            Reason::Change => "a word to change",
            Reason::Placement => "placement of a page",
            Reason::Sleep => "sleep",
            Reason::Turn => "others first",
            Reason::Trap => "trap",
        }
    }
}

/// A stretch of a handler's time, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// What it was spent on.
    pub what: Cow<'static, str>,
    /// The kind of that.
    pub reason: Reason,
    /// First cycle.
    pub from: u64,
    /// One past the last cycle.
    pub to: u64,
}

/// A miss: on which node, and which of its misses.
pub type MissId = (Node, u32);

/// What led to some work: the work before it, and when it left that.
pub type Cause = Option<(Arc<Work>, u64)>;

/// A chain of causes is cut when it has become so long: what lies further back explains nothing.
const LONGEST: u32 = 256;

/// What of a node does some work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Worker {
    /// One of its engines: the only one, or, of several, that of events which are no messages; then those of the messages of lanes, from 1 on.
    Engine(usize),
    /// Its compute processor.
    #[default]
    Processor,
}

/// A stretch of uninterrupted work on one node.
#[derive(Clone, Debug)]
pub struct Work {
    /// On which node.
    pub node: Node,
    /// What of it did that.
    pub worker: Worker,
    /// What led to it.
    pub cause: Cause,
    /// When the message that brought it, if one did, left its sender's interface.
    pub departed: Option<u64>,
    /// From when on it was possible: arrival of its message, end of the work before it.
    pub possible: u64,
    /// When it began.
    pub begun: u64,
    /// On what its time went.
    pub stretches: Vec<Stretch>,
    /// The miss that it goes back to, if that is written down.
    pub origin: Option<MissId>,
    /// The handler that it was, if it was one, and for how many cycles that kept its engine.
    pub handler: Option<(String, u64)>,
    /// How many causes it has.
    depth: u32,
}

impl Work {
    /// Work with its cause, on a node, and by what of it.
    pub fn new(
        (node, worker): (Node, Worker),
        cause: Cause,
        departed: Option<u64>,
        possible: u64,
        begun: u64,
        stretches: Vec<Stretch>,
    ) -> Arc<Work> {
        let origin = cause.as_ref().and_then(|(before, _)| before.origin);
        let cause = cause.filter(|(before, _)| before.depth < LONGEST);
        let depth = cause.as_ref().map_or(0, |(before, _)| before.depth + 1);
        Arc::new(Work { node, worker, cause, departed, possible, begun, stretches, origin, handler: None, depth })
    }
}

/// One step on the way to something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// Where: a node, or `None` for the network.
    pub node: Option<Node>,
    /// What happened.
    pub what: Cow<'static, str>,
    /// On what the time went.
    pub reason: Reason,
    /// First cycle.
    pub from: u64,
    /// One past the last cycle.
    pub to: u64,
}

/// The chain of work that led to what left `last` at cycle `until`, from its first cause on.
pub fn path(last: &Arc<Work>, until: u64) -> Vec<PathStep> {
    let mut steps = Vec::new();
    let mut step = |node, what, reason, from, to| {
        if to > from {
            steps.push(PathStep { node, what, reason, from, to });
        }
    };
    let (mut run, mut until) = (last, until);
    loop {
        let node = Some(run.node);
        for part in run.stretches.iter().filter(|s| s.to <= until).rev() {
            step(node, part.what.clone(), part.reason, part.from, part.to);
        }
        let Some((before, left)) = &run.cause else { break };
        let begun = run.stretches.first().map_or(run.begun, |first| first.from);
        step(node, "wait for the engine".into(), Reason::Engine, run.possible, begun);
        match run.departed {
            Some(departed) => {
                step(None, "latency".into(), Reason::Network, departed, run.possible);
                step(Some(before.node), "wait for the interface".into(), Reason::Interface, *left, departed);
            }
            None => step(node, "wait".into(), Reason::Turn, *left, run.possible),
        }
        until = *left;
        run = before;
    }
    steps.reverse();
    steps
}
