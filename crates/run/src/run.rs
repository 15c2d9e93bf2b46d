//! A run: nodes are made, each in a thread of its own, and what they end with is put together.

use crate::latency::Latency;
use crate::node::{Counts, Left, Limits, NodeState};
use crate::result::{LiveNode, RunResult};
use crate::transport::Transport;
use crate::transport::threads;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use trivium_engine::Node;
use trivium_engine::number::fit;
use trivium_guest::{Build, Outcome, Program, Stage};
use trivium_node::{MemoryUsed, Misses, NodeError, NodeSaid, Protocols, Said, Saying};
use trivium_protocol::Protocol;

/// Bytes of a page, for which a home is chosen.
const PAGE: u64 = 4096;

/// What is run.
pub struct Setup<'a> {
    /// The program, which every node runs.
    pub program: &'a Program,
    /// The protocols; the first is the default of allocations.
    pub protocols: Vec<Arc<Protocol>>,
    /// Nodes, 1 to 256.
    pub nodes: u32,
    /// Bytes of a block: a power of two from 32 to 2048.
    pub block: u64,
    /// The program's arguments after its name.
    pub args: Vec<String>,
    /// It ends incomplete after so long.
    pub limit: Option<Duration>,
    /// It ends incomplete when true.
    pub cancel: Arc<AtomicBool>,
}

/// How a node has ended.
struct NodeEnd {
    exit_code: Option<i32>,
    left: Option<Left>,
    /// Counts of its region of interest; messages and bytes of the whole program.
    counts: Counts,
    /// Nanoseconds of the region of interest.
    span: (u64, u64),
    latency: Latency,
    said: NodeSaid,
    memory: MemoryUsed,
}

/// Runs a program on threads of this process.
///
/// # Errors
/// The program and the protocols do not go together; a trap, a fault of a protocol, a broken assumption, a deadlock. Together with it
/// what the programs had said by then, if they had begun.
pub fn run(setup: &Setup) -> Result<RunResult, Box<(NodeError, Said)>> {
    let early = |error: NodeError| Box::new((error, Said::default()));
    Protocols::of_program(setup.program, &setup.protocols, (setup.block, setup.nodes), false).map_err(early)?;
    // Once, and not by each thread at the same time.
    setup.program.prepare(setup.block).map_err(|error| early(error.into()))?;
    let begun = Instant::now();
    let ends: Vec<NodeEnd> = std::thread::scope(|scope| {
        let node = |end: threads::Threads| {
            let name = format!("node {}", end.me());
            let run = move || run_node(setup, Box::new(end), begun);
            std::thread::Builder::new().name(name).spawn_scoped(scope, run)
        };
        let threads: Vec<_> = threads::join(setup.nodes).into_iter().map(node).collect();
        let ended =
            |(number, thread): (usize, std::io::Result<std::thread::ScopedJoinHandle<'_, NodeEnd>>)| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|_| gone(number, "has ended by a panic of Trivium")),
                Err(error) => gone(number, &format!("cannot be started: {error}")),
            };
        threads.into_iter().enumerate().map(ended).collect()
    });
    gather(setup, ends)
}

/// A node of which nothing is known.
fn gone(number: usize, what: &str) -> NodeEnd {
    NodeEnd {
        exit_code: None,
        left: Some(Left::Failed(NodeError::subject(format!("node {number} {what}")))),
        counts: Counts::default(),
        span: (0, 0),
        latency: Latency::default(),
        said: NodeSaid::default(),
        memory: MemoryUsed::default(),
    }
}

/// A program that has ended, and its memory.
type Running = trivium_guest::Node<NodeState>;

/// One node, from its beginning to the end of the run.
fn run_node(setup: &Setup, transport: Box<dyn Transport>, begun: Instant) -> NodeEnd {
    let me = transport.me();
    let protocols = match Protocols::of_program(setup.program, &setup.protocols, (setup.block, setup.nodes), false) {
        Ok(protocols) => Rc::new(protocols),
        Err(unfit) => return gone(usize::from(me), &unfit.what),
    };
    let nanoseconds = setup.limit.map(|limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
    let limits = Limits { cancel: setup.cancel.clone(), nanoseconds };
    let node = Rc::new(RefCell::new(NodeState::new(transport, protocols, (PAGE, begun), limits)));
    let exit_code = match run_program(setup, me, &node) {
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
    };
    let mut node = node.borrow_mut();
    node.tell_failure();
    let instructions = node.counts.instructions;
    node.region_end(instructions);
    let span = node.region.span.unwrap_or((0, node.now()));
    // Nodes enter and leave their regions of interest one after the other, so that a message between two nodes may be of a region
    // for one of them only: which, depends on timing.
    let Counts { messages_sent, bytes_sent, by_kind, .. } = node.counts.clone();
    let of_region = node.region.ended.take().unwrap_or_else(|| node.counts.clone());
    let counts = Counts { messages_sent, bytes_sent, by_kind, ..of_region };
    NodeEnd {
        exit_code,
        left: node.left.take(),
        counts,
        span,
        latency: std::mem::take(&mut node.latency),
        said: std::mem::take(&mut node.said),
        memory: MemoryUsed { private: node.private_memory, shared: node.core.space.borrow().bytes() },
    }
}

/// Runs the program of a node to its end, and gives its exit code.
fn run_program(setup: &Setup, me: Node, node: &Rc<RefCell<NodeState>>) -> Result<(i32, Running), NodeError> {
    let build = setup.program.build(setup.block);
    let stage = Stage::new(setup.program, build)?;
    let mut program = stage.node(me.into(), &setup.args, node.clone())?;
    node.borrow_mut().runs_on(program.memory(), (build == Build::Fast).then(|| program.tags()).flatten());
    let outcome = loop {
        match program.resume() {
            Outcome::Suspended => {}
            ended => break ended,
        }
    };
    node.borrow_mut().counts.instructions = program.instructions();
    match outcome {
        Outcome::Finished { exit_code } => Ok((exit_code, program)),
        Outcome::Trapped { message, stack } => {
            let mut node = node.borrow_mut();
            match node.left.take() {
                Some(Left::Failed(error)) => Err(error.standing(&format!("node {me}"), &stack)),
                Some(other) => {
                    node.left = Some(other);
                    Err(NodeError::subject(message))
                }
                None => Err(NodeError::subject(message).standing(&format!("node {me}"), &stack)),
            }
        }
        Outcome::Suspended => Err(NodeError::subject("a program was suspended")),
    }
}

/// Puts together what nodes have ended with.
fn gather(setup: &Setup, ends: Vec<NodeEnd>) -> Result<RunResult, Box<(NodeError, Said)>> {
    let (mut saying, mut latency, mut sum) = (Saying::default(), Latency::default(), Counts::default());
    let (mut first, mut last) = (u64::MAX, 0);
    let (mut failed, mut told, mut stopped) = (None, None, None);
    let mut result = RunResult {
        transport: "threads",
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
    for (number, end) in ends.into_iter().enumerate() {
        let number: Node = fit(number, "the number of a node");
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
        result.per_node.push(of_node(&end.counts));
        sum = sum.plus(&end.counts);
    }
    let said = saying.said();
    if let Some(error) = failed.or(told) {
        return Err(Box::new((error, said)));
    }
    result.incomplete = stopped;
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
        messages_sent: counts.messages_sent,
        bytes_sent: counts.bytes_sent,
        handler_seconds: seconds(counts.handlers),
        wait_seconds: seconds(counts.waits),
    }
}

fn seconds(nanoseconds: u64) -> f64 {
    Duration::from_nanos(nanoseconds).as_secs_f64()
}
