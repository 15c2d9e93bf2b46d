//! A run: nodes are made, each in a thread of its own, and what they end with is put together.

use crate::beginning::{Beginning, begin};
use crate::ending::{NodeEnd, Parted, part};
use crate::history::meeting::meet;
use crate::history::{History, RecordedRun};
use crate::latency::Latency;
use crate::node::{Counts, Delays, Left, Limits, NodeState};
use crate::pin::pin;
use crate::result::{LiveNode, RunResult};
use crate::trace::RunTrace;
use crate::transport::Transport;
use crate::transport::threads;
use crate::wire::{Control, write_control};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use trivium_engine::Node;
use trivium_engine::number::fit;
use trivium_guest::{Build, NodeOutcome, Program, Stage};
use trivium_node::{Asked, MemoryUsed, Misses, NodeError, Protocols, Said, Saying};
use trivium_protocol::Protocol;

/// Bytes of a page, for which a home is chosen.
const PAGE: u64 = 4096;

/// What is run.
pub struct Setup<'a> {
    /// The program, which every node runs.
    pub program: &'a Program,
    /// The protocols; the first that answers accesses is the default of allocations.
    pub protocols: Vec<Arc<Protocol>>,
    /// Nodes, 1 to 256.
    pub nodes: u32,
    /// Bytes of a block: a power of two from 8 to 65,536.
    pub block: u64,
    /// The program's arguments after its name.
    pub args: Vec<String>,
    /// It ends incomplete after so long.
    pub limit: Option<Duration>,
    /// It ends incomplete when true.
    pub cancel: Arc<AtomicBool>,
    /// Nodes and messages are delayed at random, from this seed.
    pub delays: Option<u64>,
    /// A program that computes polls after so many instructions; none: as often as messages come.
    pub poll_every: Option<u64>,
    /// The program's accesses to private memory that is shared are looked at; it then runs more slowly.
    pub checks_unchecked: bool,
    /// It is an error if no program goes on for so long, while handlers run.
    pub stall_limit: Option<Duration>,
    /// Each node's thread stays on one of the host's processors.
    pub is_pinned: bool,
    /// Filled with what nodes that are threads of this process do, and when.
    pub trace: Option<&'a RunTrace>,
}

/// How long a run may go without progress, unless somebody says otherwise.
pub const STALL_LIMIT: Duration = Duration::from_secs(30);

/// What a run on threads ends with: its result, or what went wrong, together with what the programs had said by then, if they had begun.
pub type LiveOutcome = Result<RunResult, Box<(NodeError, Said)>>;

fn early(error: impl Into<NodeError>) -> Box<(NodeError, Said)> {
    Box::new((error.into(), Said::default()))
}

/// Runs a program on threads of this process.
///
/// # Errors
/// The program and the protocols do not go together; a trap, a fault of a protocol, a broken assumption, a deadlock.
pub fn run(setup: &Setup) -> LiveOutcome {
    run_on_threads(setup, |end| Way { transport: Box::new(end), history: History::None }).0
}

/// Runs a program as [`run`] does, and records it. The recording says nothing of what was run, and there is none if it did not begin.
pub fn record(setup: &Setup) -> (LiveOutcome, Option<RecordedRun>) {
    let way = |end| Way { transport: Box::new(end), history: History::recorded(setup.nodes) };
    let (outcome, ran) = run_on_threads(setup, way);
    let recording = ran.map(|Ran { given_up, histories }| RecordedRun {
        delays: setup.delays,
        given_up,
        histories: histories.into_iter().map(History::bytes).collect(),
        ..RecordedRun::default()
    });
    (outcome, recording)
}

/// Runs a program as it ran when it was recorded.
///
/// # Errors
/// What went wrong then, or: the recording is of another run.
pub fn replay(setup: &Setup, recording: &RecordedRun) -> LiveOutcome {
    if recording.histories.len() != setup.nodes as usize {
        let what = format!("{} nodes were recorded, and this run has {}", recording.histories.len(), setup.nodes);
        return Err(early(NodeError::input(what)));
    }
    let setup = &Setup {
        protocols: setup.protocols.clone(),
        args: setup.args.clone(),
        // A limit that ended the run ends it at the same moment.
        limit: None,
        cancel: setup.cancel.clone(),
        delays: recording.delays,
        poll_every: None,
        ..*setup
    };
    let meeting = meet(setup.nodes);
    let judge = meeting.first().cloned();
    let ways = meeting.into_iter().zip(&recording.histories).map(|(end, history)| Way {
        history: History::replayed(history.clone(), end.clone()),
        transport: Box::new(end),
    });
    let (outcome, _) = run_nodes(setup, ways.collect(), &recording.given_up);
    match judge.and_then(|meeting| meeting.strayed()) {
        Some(error) => Err(early(error)),
        None => outcome,
    }
}

/// How a node hears of others.
struct Way {
    transport: Box<dyn Transport + Send>,
    history: History,
}

/// What remains of a run beside its outcome.
struct Ran {
    /// Nodes that did not answer in the end.
    given_up: Vec<Node>,
    histories: Vec<History>,
}

fn run_on_threads(setup: &Setup, way: impl Fn(threads::Threads) -> Way) -> (LiveOutcome, Option<Ran>) {
    run_nodes(setup, threads::join(setup.nodes).into_iter().map(way).collect(), &[])
}

/// Runs all nodes. Nothing is asked of those that are `given_up`.
fn run_nodes(setup: &Setup, ways: Vec<Way>, given_up: &[Node]) -> (LiveOutcome, Option<Ran>) {
    // Once, and not by each thread at the same time.
    let ready = Protocols::of_program(setup.program, &setup.protocols, (setup.block, setup.nodes), false)
        .and_then(|_| Ok(program(setup).prepare(setup.block)?));
    if let Err(error) = ready {
        return (Err(early(error)), None);
    }
    let begun = Instant::now();
    let parted: Vec<Result<(Parted, History), String>> = std::thread::scope(|scope| {
        let node = |way: Way| {
            let name = format!("node {}", way.transport.me());
            let beginning = Beginning { begun, arrived: VecDeque::new() };
            let run = move || {
                let Way { mut transport, history } = way;
                let pinned = if setup.is_pinned { pin(transport.me()) } else { Ok(()) };
                match pinned {
                    Ok(()) => run_node(setup, transport, history, beginning),
                    Err(what) => (leave_at_once(transport.as_mut(), NodeError::input(what)), history),
                }
            };
            std::thread::Builder::new().name(name).spawn_scoped(scope, run)
        };
        let threads: Vec<_> = ways.into_iter().map(node).collect();
        let parted = |(number, thread): (usize, std::io::Result<std::thread::ScopedJoinHandle<'_, _>>)| match thread {
            Ok(thread) => thread.join().map_err(|_| format!("node {number} has ended by a panic of Trivium")),
            Err(error) => Err(format!("node {number} cannot be started: {error}")),
        };
        threads.into_iter().enumerate().map(parted).collect()
    });
    let mut ends: Vec<Option<NodeEnd>> = Vec::new();
    let mut histories = Vec::new();
    for parted in parted {
        match parted {
            Ok((parted, history)) => {
                histories.push(history);
                if let Parted::First(all) = parted {
                    ends = all;
                }
            }
            Err(what) => return (Err(early(NodeError::subject(what))), None),
        }
    }
    for &node in given_up {
        if let Some(end) = ends.get_mut(usize::from(node)) {
            *end = None;
        }
    }
    let silent = (0..).zip(&ends).filter(|(_, end)| end.is_none()).map(|(node, _)| node).collect();
    (gather(setup, "threads", ends), Some(Ran { given_up: silent, histories }))
}

/// How a run has ended, as far as one process knows.
pub struct Ended {
    /// As [`run`] tells it.
    pub result: LiveOutcome,
    /// Whether all nodes have left the run. If not, somebody has to end them.
    pub is_over: bool,
}

/// Runs one node of a program, in this thread; the other nodes are run elsewhere with the same `setup`. It has ended on node 0, and there only
/// is the result, unless another node cannot hear node 0 any more.
pub fn take_part(setup: &Setup, mut transport: Box<dyn Transport>) -> Option<Ended> {
    let name = transport.name();
    // Before the others are kept waiting by this node's clock.
    let prepared = program(setup).prepare(setup.block);
    let beginning = begin(transport.as_mut());
    let parted = match prepared {
        Ok(()) => run_node(setup, transport, History::None, beginning).0,
        Err(error) => leave_at_once(transport.as_mut(), error.into()),
    };
    match parted {
        Parted::First(ends) => {
            let is_over = ends.iter().all(Option::is_some);
            Some(Ended { result: gather(setup, name, ends), is_over })
        }
        Parted::Heard => None,
        Parted::Unheard(end) => Some(Ended { result: gather(setup, name, vec![Some(*end)]), is_over: false }),
    }
}

/// A node that cannot run leaves, and ends the run for all.
fn leave_at_once(transport: &mut dyn Transport, error: NodeError) -> Parted {
    let packet = write_control(&Control::Failed(error.clone()));
    for to in (0..=Node::MAX).take(transport.nodes() as usize).filter(|to| *to != transport.me()).collect::<Vec<_>>() {
        transport.send(to, packet.clone());
    }
    part(transport, NodeEnd::failed(error), Vec::new(), false)
}

/// A program that has ended, and its memory.
type Running = trivium_guest::ProgramNode<NodeState>;

/// One node, from its beginning to the end of the run.
fn run_node(
    setup: &Setup,
    mut transport: Box<dyn Transport>,
    history: History,
    beginning: Beginning,
) -> (Parted, History) {
    let me = transport.me();
    let protocols = match Protocols::of_program(setup.program, &setup.protocols, (setup.block, setup.nodes), false) {
        Ok(protocols) => Rc::new(protocols),
        Err(unfit) => return (leave_at_once(transport.as_mut(), unfit), history),
    };
    let nanoseconds = setup.limit.map(|limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
    let limits = Limits { cancel: setup.cancel.clone(), nanoseconds };
    let node =
        Rc::new(RefCell::new(NodeState::new(transport, protocols, (PAGE.max(setup.block), beginning.begun), limits)));
    {
        let mut node = node.borrow_mut();
        (node.arrived, node.history) = (beginning.arrived, history);
        node.delays = setup.delays.map(|seed| Delays::new(seed, me));
        node.tracer = setup.trace.map(|trace| trace.tracer(setup.nodes));
        if let Some(instructions) = setup.poll_every {
            node.polls_every(instructions);
        }
        node.checks_unchecked = setup.checks_unchecked;
        node.stalls_after(setup.stall_limit);
    }
    // A thread that only went away would leave the others waiting.
    let ran = catch_unwind(AssertUnwindSafe(|| match run_program(setup, me, &node) {
        // Its memory is needed as long as handlers run.
        Ok((exit_code, _program)) => {
            // An error is kept in the node.
            let served = node.borrow_mut().serve_until_the_end();
            served.is_ok().then_some(exit_code)
        }
        Err(error) => {
            node.borrow_mut().left.get_or_insert(Left::Failed(error));
            None
        }
    }));
    let exit_code = ran.unwrap_or_else(|_| {
        let error = NodeError::subject(format!("node {me} has ended by a panic of Trivium"));
        let error = error.help("this is a mistake in Trivium, not in your program; what is said above tells where");
        node.borrow_mut().left.get_or_insert(Left::Failed(error));
        None
    });
    let mut node = node.borrow_mut();
    node.tell_left();
    if let (Some(trace), Some(tracer)) = (setup.trace, node.tracer.take()) {
        let now = node.now();
        trace.keep(me, now, *tracer);
    }
    let instructions = node.counts.instructions;
    node.region_end(instructions);
    let now = node.clock();
    let span = node.region.span.unwrap_or((0, now));
    // Nodes enter and leave their regions of interest one after the other, so that a message between two nodes may be of a region
    // for one of them only: which, depends on timing.
    let all = node.counted(instructions);
    let of_region = node.region.ended.take().unwrap_or_else(|| all.clone());
    let Counts { messages_sent, bytes_sent, by_kind, .. } = all;
    let counts = Counts { messages_sent, bytes_sent, by_kind, ..of_region };
    let memory = MemoryUsed { private: node.private_memory, shared: node.core.space.borrow().bytes() };
    let end = NodeEnd {
        exit_code,
        left: node.left.take(),
        counts,
        span,
        latency: std::mem::take(&mut node.latency),
        said: std::mem::take(&mut node.said),
        memory,
        asked: std::mem::take(&mut node.asked),
    };
    let early = std::mem::take(&mut node.ends);
    let history = std::mem::take(&mut node.history);
    // All of a run that is replayed come to their ends, however long that takes.
    let is_patient = history.meeting().is_some();
    (part(node.transport.as_mut(), end, early, is_patient), history)
}

/// The program as nodes run it: what they may access changes only where they poll or ask, so that loops may look ahead.
fn program(setup: &Setup) -> Program {
    setup.program.clone().looking_ahead()
}

/// Runs the program of a node to its end, and gives its exit code.
fn run_program(setup: &Setup, me: Node, node: &Rc<RefCell<NodeState>>) -> Result<(i32, Running), NodeError> {
    let of_all = program(setup);
    let build = of_all.build(setup.block);
    let stage = Stage::new(&of_all, build)?;
    let mut program = stage.node(me.into(), &setup.args, node.clone())?;
    node.borrow_mut().note_program();
    node.borrow_mut().runs_on(program.memory(), (build == Build::Fast).then(|| program.tags()).flatten());
    let outcome = loop {
        match program.resume() {
            NodeOutcome::Suspended => {}
            ended => break ended,
        }
    };
    node.borrow_mut().counts.instructions = program.executed().instructions;
    match outcome {
        NodeOutcome::Finished { exit_code } => Ok((exit_code, program)),
        NodeOutcome::Trapped { message, stack } => {
            let mut node = node.borrow_mut();
            match node.left.take() {
                Some(Left::Failed(error)) if node.is_of_all => Err(error),
                Some(Left::Failed(error)) => Err(error.standing(&format!("node {me}"), &stack)),
                Some(other) => {
                    node.left = Some(other);
                    Err(NodeError::subject(message))
                }
                None => Err(NodeError::subject(message).standing(&format!("node {me}"), &stack)),
            }
        }
        NodeOutcome::Suspended => Err(NodeError::subject("a program was suspended")),
    }
}

/// Puts together what nodes have ended with; nothing from those that were given up.
fn gather(setup: &Setup, transport: &'static str, ends: Vec<Option<NodeEnd>>) -> LiveOutcome {
    let (mut saying, mut latency, mut sum) = (Saying::default(), Latency::default(), Counts::default());
    let (mut first, mut last) = (u64::MAX, 0);
    let (mut failed, mut told, mut stopped) = (None, None, None);
    let mut asked = Asked::default();
    let mut result = RunResult {
        transport,
        block: setup.block,
        incomplete: None,
        wall_seconds: 0.0,
        instructions: 0,
        misses: Misses::default(),
        miss_latency: None,
        messages: std::collections::BTreeMap::new(),
        bytes: 0,
        memory: MemoryUsed::default(),
        output: String::new(),
        errors: String::new(),
        warnings: Vec::new(),
        exit_codes: std::collections::BTreeMap::new(),
        per_node: Vec::new(),
    };
    let mut given_up: Vec<String> = Vec::new();
    for (number, end) in ends.into_iter().enumerate() {
        let number: Node = fit(number, "the number of a node");
        let Some(end) = end else {
            given_up.push(format!("node {number} does not answer"));
            result.per_node.push(LiveNode::default());
            continue;
        };
        match end.left {
            Some(Left::Failed(error)) => drop(failed.get_or_insert(error)),
            Some(Left::Told(error)) => drop(told.get_or_insert(error)),
            Some(Left::Stopped(why)) => drop(stopped.get_or_insert(why)),
            None => {}
        }
        if let Some(code @ (i32::MIN..=-1 | 1..)) = end.exit_code {
            result.exit_codes.insert(number.into(), code);
        }
        (first, last) = (first.min(end.span.0), last.max(end.span.1));
        latency.merge(&end.latency);
        saying.add(number, end.said);
        result.memory.join(end.memory);
        asked = asked.and(end.asked);
        result.per_node.push(of_node(&end.counts));
        sum = sum.plus(&end.counts);
    }
    let said = saying.said();
    if let Some(error) = failed.or(told) {
        return Err(Box::new((given_up.into_iter().fold(error, NodeError::note), said)));
    }
    if stopped.is_none()
        && given_up.is_empty()
        && let Err(error) = asked.check(|protocol, span| {
            setup.protocols.get(protocol)?.sources.known_place(span).map(|place| place.to_string())
        })
    {
        return Err(Box::new((error, said)));
    }
    result.incomplete = stopped.map(|why| std::iter::once(why).chain(given_up).collect::<Vec<_>>().join("; "));
    result.wall_seconds = seconds(last.saturating_sub(first));
    result.instructions = sum.instructions;
    result.misses = Misses { read: sum.read_faults, write: sum.write_faults - sum.upgrades, upgrade: sum.upgrades };
    result.miss_latency = latency.quantiles();
    result.bytes = sum.bytes_sent;
    let named = |(&(protocol, kind), &count): (&(usize, u16), &u64)| {
        let protocol = &setup.protocols[protocol];
        (format!("{}.{}", protocol.name, protocol.messages[kind as usize].name), count)
    };
    result.messages = sum.by_kind.iter().map(named).collect();
    (result.output, result.errors, result.warnings) = (said.output, said.errors, said.warnings);
    Ok(result)
}

fn of_node(counts: &Counts) -> LiveNode {
    LiveNode {
        instructions: counts.instructions,
        read_faults: counts.read_faults,
        write_faults: counts.write_faults,
        upgrades: counts.upgrades,
        prefetches: counts.prefetches,
        messages_sent: counts.messages_sent,
        bytes_sent: counts.bytes_sent,
        handler_seconds: seconds(counts.handlers),
        wait_seconds: seconds(counts.waits),
    }
}

fn seconds(nanoseconds: u64) -> f64 {
    Duration::from_nanos(nanoseconds).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node's end of a transport that panics when it is first asked, if it is to.
    struct Panics(threads::Threads, bool);

    impl Transport for Panics {
        fn name(&self) -> &'static str {
            self.0.name()
        }

        fn me(&self) -> Node {
            self.0.me()
        }

        fn nodes(&self) -> u32 {
            self.0.nodes()
        }

        fn is_crowded(&self) -> bool {
            self.0.is_crowded()
        }

        fn send(&mut self, to: Node, packet: Vec<u8>) {
            self.0.send(to, packet);
        }

        fn poll(&mut self) -> Option<(Node, Vec<u8>)> {
            assert!(!std::mem::take(&mut self.1), "the test's own panic");
            self.0.poll()
        }

        fn has_sent(&mut self) -> bool {
            self.0.has_sent()
        }
    }

    /// The module `(memory (export "memory") 1) (func (export "_start"))`.
    const NOTHING: &[u8] = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x05\x03\x01\0\x01\
        \x07\x13\x02\x06memory\x02\0\x06_start\0\0\x0a\x04\x01\x02\0\x0b";

    #[test]
    fn a_node_that_panics_ends_the_run_for_all() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/stache.tri");
        let protocol = Arc::new(trivium_lang::compile_file(&path, &[]).unwrap());
        let program = Program::load(NOTHING, "nothing").unwrap();
        for who in 0..3 {
            let setup = Setup {
                program: &program,
                protocols: vec![protocol.clone()],
                nodes: 3,
                block: 64,
                args: Vec::new(),
                limit: None,
                cancel: Arc::default(),
                delays: None,
                poll_every: None,
                checks_unchecked: false,
                stall_limit: None,
                is_pinned: false,
                trace: None,
            };
            let ways = threads::join(3).into_iter().map(|end| {
                let panics = end.me() == who;
                Way { transport: Box::new(Panics(end, panics)), history: History::None }
            });
            let begun = Instant::now();
            let (outcome, _) = run_nodes(&setup, ways.collect(), &[]);
            let error = outcome.unwrap_err().0;
            assert_eq!(error.what, format!("node {who} has ended by a panic of Trivium"));
            assert!(begun.elapsed() < Duration::from_secs(20));
        }
    }
}
