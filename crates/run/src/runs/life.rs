//! A node of a run from its beginning to its end, step by step, and threads that take one or several nodes through their lives.

use super::beginning::Beginning;
use super::ending::{NodeEnd, Parted, Parting, PartingStep};
use super::setup::Setup;
use crate::history::History;
use crate::node::{Counts, Delays, Left, Limits, NodeState};
use crate::packets::wire::{Control, write_control};
use crate::transport::Transport;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};
use trivium_diagnostic::Code;
use trivium_engine::Node;
use trivium_guest::{Build, NodeOutcome, ProgramNode, SourceLocation, Stage};
use trivium_node::{MemoryUsed, NodeError, Protocols, Stood, has_left};

/// Bytes of a page, for which a home is chosen.
const PAGE: u64 = 4096;
/// A thread none of whose nodes has anything to do looks for so long without a pause; after so much longer it sleeps for so long at a time.
const SPIN: Duration = Duration::from_micros(2);
const IDLE: Duration = Duration::from_millis(20);
const SLEEP: Duration = Duration::from_micros(50);

/// A program, and its memory.
type Running = ProgramNode<NodeState>;

/// How far a node has come.
enum LifeStage {
    /// Its program has not ended.
    Runs(Box<Running>),
    /// It has, with this exit code: handlers go on until the run is over, and need its memory.
    Serves(i32, Box<Running>),
    /// The node leaves the run.
    Leaves(Box<(Parting, Box<dyn Transport>, History)>),
    /// It has left.
    HasLeft(Box<(Parted, History)>),
    /// Only while it is changed.
    Changes,
}

/// A node's life.
pub(crate) struct Life<'a> {
    setup: &'a Setup<'a>,
    me: Node,
    /// Until it leaves.
    node: Option<Rc<RefCell<NodeState>>>,
    /// Whether what it has noted for a trace must be sent to node 0.
    is_process: bool,
    state: LifeStage,
}

impl<'a> Life<'a> {
    /// The life of a node begins.
    pub(crate) fn begin(
        setup: &'a Setup<'a>,
        transport: Box<dyn Transport>,
        history: History,
        beginning: Beginning,
    ) -> Life<'a> {
        let me = transport.me();
        let built = Protocols::of_program(setup.program, &setup.protocols, (setup.block, setup.nodes), false);
        let protocols = match built {
            Ok(protocols) => Rc::new(protocols),
            Err(unfit) => return Life::that_fails(setup, transport, history, unfit),
        };
        let nanoseconds = setup.limit.map(|limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        let limits = Limits { cancel: setup.cancel.clone(), nanoseconds };
        let mut node = NodeState::new(transport, protocols, (PAGE.max(setup.block), beginning.begun), limits);
        (node.arrived, node.history) = (beginning.arrived, history);
        node.delays = setup.delays.map(|seed| Delays::new(seed, me));
        node.tracer = setup.trace.map(|trace| trace.tracer(setup.nodes));
        if let Some(instructions) = setup.poll_every {
            node.polls_every(instructions);
        }
        node.checks_unchecked = setup.checks_unchecked;
        node.stalls_after(setup.stall_limit);
        let node = Rc::new(RefCell::new(node));
        let is_process = beginning.is_process;
        let mut life = Life { setup, me, node: Some(node.clone()), is_process, state: LifeStage::Changes };
        life.state = match life.caught(|| program(setup, me, &node)) {
            Some(Ok(program)) => LifeStage::Runs(Box::new(program)),
            Some(Err(error)) => {
                node.borrow_mut().leaving.left.get_or_insert(Left::Failed(error));
                life.leave(None)
            }
            None => life.leave(None),
        };
        life
    }

    /// A node that cannot run leaves, and ends the run for all.
    pub(crate) fn that_fails(
        setup: &'a Setup<'a>,
        mut transport: Box<dyn Transport>,
        history: History,
        error: NodeError,
    ) -> Life<'a> {
        let me = transport.me();
        let packet = write_control(&Control::Failed(error.clone()));
        for to in (0..=Node::MAX).take(transport.nodes() as usize).filter(|to| *to != me) {
            transport.send(to, packet.clone());
        }
        let parting = Parting::begin(transport.as_mut(), NodeEnd::failed(error), Vec::new(), false);
        let state = LifeStage::Leaves(Box::new((parting, transport, history)));
        Life { setup, me, node: None, is_process: false, state }
    }

    /// What it has ended with, if it has left.
    pub(crate) fn end(self) -> Option<(Parted, History)> {
        if let LifeStage::HasLeft(left) = self.state { Some(*left) } else { None }
    }

    fn has_left(&self) -> bool {
        matches!(self.state, LifeStage::HasLeft(..))
    }

    /// The next step. Where the node shares its thread, it takes no longer than others of the thread should wait. Gives whether there was
    /// anything to do.
    fn step(&mut self, now: Instant) -> bool {
        if let (LifeStage::Runs(_) | LifeStage::Serves(..), Some(node)) = (&self.state, &self.node)
            && node.borrow().may_handle()
        {
            match self.caught(|| node.borrow_mut().have_a_turn(now)) {
                Some(any) if node.borrow().may_handle() => return any,
                Some(_) => {}
                None => {
                    self.state = self.leave(None);
                    return true;
                }
            }
        }
        let (state, any) = match std::mem::replace(&mut self.state, LifeStage::Changes) {
            LifeStage::Runs(program) => (self.run(program), true),
            LifeStage::Serves(exit_code, program) => (self.serve(exit_code, program), true),
            LifeStage::Leaves(mut leaves) => {
                let (parting, transport, _) = leaves.as_mut();
                match parting.go_on(transport.as_mut()) {
                    PartingStep::Some => (LifeStage::Leaves(leaves), true),
                    PartingStep::Nothing => (LifeStage::Leaves(leaves), false),
                    PartingStep::Over(parted) => (LifeStage::HasLeft(Box::new((parted, leaves.2))), true),
                }
            }
            state => (state, false),
        };
        self.state = state;
        any
    }

    /// Does something of the node's own. A thread that only went away by a panic would leave the others waiting: then there is nothing, and the node says so.
    fn caught<T>(&self, what: impl FnOnce() -> T) -> Option<T> {
        let done = catch_unwind(AssertUnwindSafe(what)).ok();
        if done.is_none()
            && let Some(node) = &self.node
        {
            let error = NodeError::subject(Code::Internal, format!("node {} has ended by a panic of Trivium", self.me));
            let error = error.help("this is a mistake in Trivium, not in your program; what is said above tells where");
            node.borrow_mut().leaving.left.get_or_insert(Left::Failed(error));
        }
        done
    }

    fn run(&self, mut program: Box<Running>) -> LifeStage {
        let Some(node) = &self.node else { return LifeStage::Changes };
        node.borrow_mut().begin_turn();
        let Some(outcome) = self.caught(|| program.resume()) else { return self.leave(None) };
        if outcome == NodeOutcome::Suspended {
            return LifeStage::Runs(program);
        }
        node.borrow_mut().measured.counts.instructions = program.executed().instructions;
        self.note_standing(node, &program, &outcome);
        self.name_variables(node, &program);
        match ended(self.me, node, outcome) {
            Ok(exit_code) => {
                node.borrow_mut().said.counters = program.counted();
                LifeStage::Serves(exit_code, program)
            }
            Err(error) => {
                node.borrow_mut().leaving.left.get_or_insert(Left::Failed(error));
                self.leave(None)
            }
        }
    }

    /// An error about the program's own memory is told with the names of its variables.
    fn name_variables(&self, node: &RefCell<NodeState>, program: &Running) {
        let mut node = node.borrow_mut();
        if let Some(Left::Failed(error)) = node.leaving.left.take_if(|left| matches!(left, Left::Failed(_))) {
            node.leaving.left = Some(Left::Failed(error.naming(|| program.debug_info())));
        }
    }

    /// Notes where a program stands that is cut off.
    fn note_standing(&self, node: &RefCell<NodeState>, program: &Running, outcome: &NodeOutcome) {
        let NodeOutcome::Trapped { stack, .. } = outcome else { return };
        let mut node = node.borrow_mut();
        if node.leaving.left.is_some() {
            let doing = node.told(program.debug_info().as_ref());
            node.leaving.stood =
                Some(Stood { node: self.me.into(), cycle: None, doing, at: SourceLocation::standing(stack) });
        }
    }

    fn serve(&self, exit_code: i32, program: Box<Running>) -> LifeStage {
        let Some(node) = &self.node else { return LifeStage::Changes };
        match self.caught(|| node.borrow_mut().serve_until_the_end(exit_code)) {
            Some(Ok(false)) => LifeStage::Serves(exit_code, program),
            Some(Ok(true)) => self.leave(Some(exit_code)),
            // The error is kept in the node.
            Some(Err(_)) | None => {
                let doing = has_left(exit_code);
                node.borrow_mut().leaving.stood = Some(Stood { node: self.me.into(), cycle: None, doing, at: None });
                self.leave(Some(exit_code))
            }
        }
    }

    /// The node leaves the run, with the exit code of its program if that has come to its end.
    fn leave(&self, exit_code: Option<i32>) -> LifeStage {
        let Some(node) = &self.node else { return LifeStage::Changes };
        let mut node = node.borrow_mut();
        node.tell_left();
        let noted = node.tracer.take().map(|tracer| tracer.noted(self.me, node.now()));
        let mut end = what_it_ends_with(&mut node, exit_code);
        match (self.setup.trace, noted) {
            (Some(trace), Some(noted)) if !self.is_process => trace.add(noted),
            (_, noted) => end.trace = noted,
        }
        let early = std::mem::take(&mut node.leaving.ends);
        let history = std::mem::take(&mut node.history);
        // All of a run that is replayed come to their ends, however long that takes.
        let is_patient = history.meeting().is_some();
        let mut transport = std::mem::replace(&mut node.transport, Box::new(crate::transport::Nowhere));
        let parting = Parting::begin(transport.as_mut(), end, early, is_patient);
        LifeStage::Leaves(Box::new((parting, transport, history)))
    }
}

fn what_it_ends_with(node: &mut NodeState, exit_code: Option<i32>) -> NodeEnd {
    let instructions = node.measured.counts.instructions;
    node.region_end(instructions);
    let now = node.look_at_clock();
    let span = node.measured.region.span.unwrap_or((0, now));
    // Nodes enter and leave their regions of interest one after the other, so that a message between two nodes may be of a region
    // for one of them only: which, depends on timing.
    let all = node.counted(instructions);
    let mut of_region = node.measured.region.ended.take().unwrap_or_else(|| all.clone());
    let in_region = std::mem::take(&mut of_region.by_kind);
    let Counts { messages_sent, bytes_sent, by_kind, .. } = all;
    let counts = Counts { messages_sent, bytes_sent, by_kind, ..of_region };
    let memory = MemoryUsed { private: node.measured.private_memory, shared: node.core.space.borrow().bytes() };
    NodeEnd {
        exit_code,
        left: node.leaving.left.take(),
        counts,
        in_region,
        stalls: node.core.blocked.tally(now),
        span,
        latency: std::mem::take(&mut node.measured.latency),
        said: std::mem::take(&mut node.said),
        memory,
        asked: std::mem::take(&mut node.asked),
        stood: node.leaving.stood.take(),
        trace: None,
    }
}

/// The program of a node, at its beginning.
fn program(setup: &Setup, me: Node, node: &Rc<RefCell<NodeState>>) -> Result<Running, NodeError> {
    let program = setup.looking_ahead();
    let build = program.build(setup.block);
    let stage = Stage::new(&program, build)?;
    let program = stage.node(me.into(), &setup.args, node.clone())?;
    let mut node = node.borrow_mut();
    node.note_program();
    node.runs_on(program.memory(), (build == Build::Fast).then(|| program.tags()).flatten());
    Ok(program)
}

/// The exit code of a program that has ended so.
fn ended(me: Node, node: &Rc<RefCell<NodeState>>, outcome: NodeOutcome) -> Result<i32, NodeError> {
    match outcome {
        NodeOutcome::Finished { exit_code } => Ok(exit_code),
        NodeOutcome::Trapped { message, stack } => {
            let mut node = node.borrow_mut();
            match node.leaving.left.take() {
                Some(Left::Failed(error)) if node.leaving.is_of_all => Err(error),
                Some(Left::Failed(error)) => Err(error.standing(&format!("node {me}"), &stack)),
                Some(other) => {
                    node.leaving.left = Some(other);
                    Err(NodeError::subject(Code::Trap, message))
                }
                None => Err(NodeError::subject(Code::Trap, message).standing(&format!("node {me}"), &stack)),
            }
        }
        NodeOutcome::Suspended => Err(NodeError::subject(Code::Internal, "a program was suspended")),
    }
}

/// Takes nodes to their ends, in this thread. Where there are several they take turns, and each has to share its thread.
pub(crate) fn live(mut lives: Vec<Life<'_>>) -> Vec<Option<(Parted, History)>> {
    let mut idle: Option<Instant> = None;
    while !lives.iter().all(Life::has_left) {
        let now = Instant::now();
        let mut any = false;
        for life in &mut lives {
            any |= life.step(now);
        }
        if any {
            idle = None;
            continue;
        }
        match now.saturating_duration_since(*idle.get_or_insert(now)) {
            waited if waited < SPIN => {}
            waited if waited < IDLE => std::thread::yield_now(),
            // Others may need the processor for long: a packet is then seen a little later.
            _ => std::thread::sleep(SLEEP),
        }
    }
    lives.into_iter().map(Life::end).collect()
}
