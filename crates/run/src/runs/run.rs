//! A run: nodes are made, each in a thread of its own, and what they end with is put together.

use super::beginning::{Beginning, begin};
use super::ending::{NodeEnd, Parted};
use super::life::{Life, live};
use super::pin::{pin, warm_up};
use super::result::{LiveNode, RunResult, StallTimes};
use super::setup::Setup;
use crate::history::meeting::meet;
use crate::history::{History, RecordedRun};
use crate::node::{Counts, Left};
use crate::reports::latency::Latency;
use crate::transport::Transport;
use crate::transport::{shared, threads};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};
use trivium_diagnostic::Code;
use trivium_engine::Node;
use trivium_engine::number::fit;
use trivium_node::{
    AT_BARRIER, Asked, Blockage, DEADLOCK, LEFT_MAIN, LEFT_OVER, MemoryUsed, MessageKind, Misses, NodeError, Protocols,
    Said, Saying, Stood, cannot_come, tells_of_a_stall, with_remedy,
};

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
    run_on_threads(setup, || History::None).0
}

/// Runs a program as [`run`] does, and records it. The recording says nothing of what was run, and there is none if it did not begin.
pub fn record(setup: &Setup) -> (LiveOutcome, Option<RecordedRun>) {
    let (outcome, ran) = run_on_threads(setup, || History::recorded(setup.nodes));
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
        return Err(early(NodeError::input(Code::Replay, what)));
    }
    let setup = &Setup {
        protocols: setup.protocols.clone(),
        args: setup.args.clone(),
        // A limit that ended the run ends it at the same moment.
        limit: None,
        cancel: setup.cancel.clone(),
        delays: recording.delays,
        poll_every: None,
        warm_up: Duration::ZERO,
        ..*setup
    };
    let meeting = meet(setup.nodes);
    let judge = meeting.first().cloned();
    let ways = meeting.into_iter().zip(&recording.histories).map(|(end, history)| Way {
        histories: vec![History::replayed(history.clone(), end.clone())],
        transport: Box::new(end),
    });
    let (outcome, _) = run_nodes(setup, ways.collect(), &recording.given_up);
    match judge.and_then(|meeting| meeting.strayed()) {
        Some(error) => Err(early(error)),
        None => outcome,
    }
}

/// How the nodes of a thread hear of those of others, and what becomes of their histories. Where each node has a thread of its own, that is its own.
struct Way {
    transport: Box<dyn Transport + Send>,
    histories: Vec<History>,
}

/// What remains of a run beside its outcome.
struct Ran {
    /// Nodes that did not answer in the end.
    given_up: Vec<Node>,
    histories: Vec<History>,
}

fn run_on_threads(setup: &Setup, history: impl Fn() -> History) -> (LiveOutcome, Option<Ran>) {
    run_nodes(setup, ways(setup.nodes, threads_of(setup), history), &[])
}

/// How many threads are to carry the nodes of a run. More than the processors that it may use would take turns, and each turn is a change of the host's
/// threads: then each processor has one. With delays at random, which are to try many orders, half of the seeds have a thread for each node: the
/// host's threads make more orders.
fn threads_of(setup: &Setup) -> usize {
    let nodes = setup.nodes as usize;
    match std::thread::available_parallelism() {
        Ok(processors) if setup.delays.is_none_or(|seed| seed % 2 == 1) => nodes.min(processors.get()),
        _ => nodes,
    }
}

/// The ways between so many threads, for so many nodes.
fn ways(nodes: u32, threads: usize, history: impl Fn() -> History) -> Vec<Way> {
    let ends = threads::join(fit(threads, "a number of threads"));
    let way = |(number, end)| {
        let own = (0..nodes as usize).filter(|&node| shared::thread_of(node, nodes as usize, threads) == number);
        Way { transport: Box::new(end), histories: own.map(|_| history()).collect() }
    };
    ends.into_iter().enumerate().map(way).collect()
}

/// The lives of the nodes of a thread.
fn lives<'a>(setup: &'a Setup<'a>, way: Way, begun: Instant, pinned: &Result<(), String>) -> Vec<Life<'a>> {
    let Way { transport, histories } = way;
    let ends: Vec<Box<dyn Transport>> = match transport.nodes() == setup.nodes {
        true => vec![transport],
        false => shared::share(transport, setup.nodes).into_iter().map(|end| Box::new(end) as Box<_>).collect(),
    };
    let life = |(transport, history)| match pinned {
        Ok(()) => {
            let beginning = Beginning { begun, arrived: VecDeque::new(), is_process: false };
            Life::begin(setup, transport, history, beginning)
        }
        Err(what) => Life::that_fails(setup, transport, history, NodeError::input(Code::Host, what.clone())),
    };
    ends.into_iter().zip(histories).map(life).collect()
}

/// Runs all nodes. Nothing is asked of those that are `given_up`.
fn run_nodes(setup: &Setup, ways: Vec<Way>, given_up: &[Node]) -> (LiveOutcome, Option<Ran>) {
    // Once, and not by each thread at the same time.
    let ready = Protocols::of_program(setup.program, &setup.protocols, (setup.block, setup.nodes), false)
        .and_then(|_| Ok(setup.looking_ahead().prepare(setup.block)?));
    if let Err(error) = ready {
        return (Err(early(error)), None);
    }
    let begun = Instant::now();
    let parted: Vec<Result<(Parted, History), String>> = std::thread::scope(|scope| {
        let carry = |(number, way): (usize, Way)| {
            let nodes = way.histories.len();
            let name = if nodes > 1 { format!("thread {number}") } else { format!("node {number}") };
            let run = move || {
                let pinned = if setup.is_pinned { pin(number) } else { Ok(()) };
                warm_up(setup.warm_up);
                live(lives(setup, way, begun, &pinned))
            };
            (nodes, std::thread::Builder::new().name(name).spawn_scoped(scope, run))
        };
        let threads: Vec<_> = ways.into_iter().enumerate().map(carry).collect();
        let mut parted: Vec<Result<(Parted, History), String>> = Vec::new();
        for (nodes, thread) in threads {
            let mut ended = match thread.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(ends)) => Ok(ends.into_iter()),
                Ok(Err(_)) => Err("has ended by a panic of Trivium".to_string()),
                Err(error) => Err(format!("cannot be started: {error}")),
            };
            for number in parted.len()..parted.len() + nodes {
                let end = match &mut ended {
                    Ok(ends) => ends.next().flatten().ok_or("has not come to its end"),
                    Err(what) => Err(what.as_str()),
                };
                parted.push(end.map_err(|what| format!("node {number} {what}")));
            }
        }
        parted
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
            Err(what) => return (Err(early(NodeError::subject(Code::Ranks, what))), None),
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
    let prepared = setup.looking_ahead().prepare(setup.block);
    warm_up(setup.warm_up);
    let beginning = begin(transport.as_mut());
    let life = match prepared {
        Ok(()) => Life::begin(setup, transport, History::None, beginning),
        Err(error) => Life::that_fails(setup, transport, History::None, error.into()),
    };
    let (parted, _) = live(vec![life]).pop()??;
    match parted {
        Parted::First(mut ends) => {
            let is_over = ends.iter().all(Option::is_some);
            keep_traces(setup, &mut ends);
            Some(Ended { result: gather(setup, name, ends), is_over })
        }
        Parted::Heard => None,
        Parted::Unheard(end) => Some(Ended { result: gather(setup, name, vec![Some(*end)]), is_over: false }),
    }
}

/// What nodes that are processes have told for the trace goes there. It came as bytes: what no node of this run has done is an error.
fn keep_traces(setup: &Setup, ends: &mut [Option<NodeEnd>]) {
    let Some(traces) = setup.trace else { return };
    for end in ends.iter_mut().flatten() {
        let Some(trace) = end.trace.take() else { continue };
        match trace.check(&setup.protocols, setup.nodes) {
            Ok(()) => traces.add(trace),
            Err(what) => {
                let what = format!("node {} has told {what} for the trace, which nobody understands", trace.node);
                end.left.get_or_insert(Left::Failed(NodeError::subject(Code::Ranks, what)));
            }
        }
    }
    traces.align();
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
        stood: Vec::new(),
        wall_seconds: 0.0,
        instructions: 0,
        misses: Misses::default(),
        miss_latency: None,
        messages: BTreeMap::new(),
        messages_region: BTreeMap::new(),
        messages_program: BTreeMap::new(),
        stalls: BTreeMap::new(),
        bytes: 0,
        memory: MemoryUsed::default(),
        output: String::new(),
        errors: String::new(),
        warnings: Vec::new(),
        exit_codes: BTreeMap::new(),
        per_node: Vec::new(),
    };
    let mut stalls: BTreeMap<MessageKind, Blockage> = BTreeMap::new();
    let mut in_region = BTreeMap::new();
    let mut given_up: Vec<String> = Vec::new();
    let mut stood: Vec<Stood> = Vec::new();
    let mut ended: BTreeMap<usize, i32> = BTreeMap::new();
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
        ended.extend(end.exit_code.map(|code| (usize::from(number), code)));
        stood.extend(end.stood);
        (first, last) = (first.min(end.span.0), last.max(end.span.1));
        latency.merge(&end.latency);
        saying.add(number, end.said);
        result.memory.join(end.memory);
        asked = asked.and(end.asked);
        result.per_node.push(of_node(&end.counts));
        sum = sum.plus(&end.counts);
        Blockage::add(&mut stalls, end.stalls);
        for (kind, count) in end.in_region {
            *in_region.entry(kind).or_default() += count;
        }
    }
    let said = saying.said_by(setup.program);
    let failing = ended.iter().filter(|&(_, &code)| code != 0);
    result.exit_codes = failing.map(|(&node, &code)| (fit(node, "the number of a node"), code)).collect();
    if let Some(error) = failed.or(told) {
        let error = if error.tells_all { with_standing(error, &stood, &ended) } else { error };
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
    result.stood = if stopped.is_some() { stood } else { Vec::new() };
    result.incomplete = stopped.map(|why| std::iter::once(why).chain(given_up).collect::<Vec<_>>().join("; "));
    result.wall_seconds = seconds(last.saturating_sub(first));
    result.instructions = sum.instructions;
    result.misses = Misses { read: sum.read_faults, write: sum.write_faults - sum.upgrades, upgrade: sum.upgrades };
    result.miss_latency = latency.quantiles();
    result.bytes = sum.bytes_sent;
    let name = |&(protocol, kind): &MessageKind| {
        let protocol = &setup.protocols[protocol];
        format!("{}.{}", protocol.name, protocol.messages[kind as usize].name)
    };
    let named = |(kind, &count): (&MessageKind, &u64)| (name(kind), count);
    result.stalls = stalls.iter().map(|(kind, &stall)| (name(kind), StallTimes::from(stall))).collect();
    result.messages = sum.by_kind.iter().map(named).collect();
    result.messages_program = result.messages.clone();
    result.messages_region = in_region.iter().map(named).collect();
    (result.output, result.errors, result.warnings) = (said.output, said.errors, said.warnings);
    Ok(result)
}

/// An error of all nodes, with where each stood in place of what it told when it was asked. Some have left `main`, with these codes.
fn with_standing(mut error: NodeError, stood: &[Stood], left: &BTreeMap<usize, i32>) -> NodeError {
    // What stalls is nobody's doing: it stands beside what the nodes do.
    let stalls = |note: &String| {
        let (node, told) = note.split_once(": ")?;
        let parts: Vec<&str> = told.split("; ").filter(|part| tells_of_a_stall(part)).collect();
        (!parts.is_empty()).then(|| format!("{node}: {}", parts.join("; ")))
    };
    let stalls: Vec<String> = error.diagnostic.notes.iter().filter_map(stalls).collect();
    for Stood { node, .. } in stood {
        error.diagnostic.notes.retain(|note| !note.starts_with(&format!("node {node}: ")));
    }
    let of_node = |stood: &Stood| {
        let more = if stood.doing == AT_BARRIER { cannot_come(left) } else { String::new() };
        format!("node {}: {}{more}{}", stood.node, stood.doing, stood.place())
    };
    error.diagnostic.notes.splice(0..0, stood.iter().filter(|stood| stood.doing != LEFT_MAIN).map(of_node));
    error.diagnostic.notes.extend(stalls);
    if error.diagnostic.message == DEADLOCK && left.len() == stood.len() {
        error.diagnostic.message = LEFT_OVER.into();
    }
    if error.diagnostic.help.is_none() { with_remedy(error, left) } else { error }
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
    use std::sync::Arc;
    use trivium_guest::Program;

    /// A node's end of a transport that panics when it is first asked, if it is to.
    struct Panics(Box<dyn Transport + Send>, bool);

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
        // Which thread panics, of how many; the nodes that may be running there.
        let all: [(_, _, &[u32]); 6] =
            [(0, 3, &[0]), (1, 3, &[1]), (2, 3, &[2]), (0, 1, &[0, 1, 2]), (0, 2, &[0, 1]), (1, 2, &[2])];
        for (who, threads, nodes) in all {
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
                warm_up: Duration::ZERO,
                trace: None,
            };
            let ways = ways(3, threads, || History::None).into_iter().map(|way| {
                let panics = u32::from(way.transport.me()) == who;
                Way { transport: Box::new(Panics(way.transport, panics)), ..way }
            });
            let begun = Instant::now();
            let (outcome, _) = run_nodes(&setup, ways.collect(), &[]);
            let error = outcome.unwrap_err().0;
            let told = |node: &u32| error.diagnostic.message == format!("node {node} has ended by a panic of Trivium");
            assert!(nodes.iter().any(told), "{threads}: {error:?}");
            assert!(begun.elapsed() < Duration::from_secs(20));
        }
    }
}
