//! All nodes together, and the order in which they are simulated.
//!
//! *Reference order* (window 0): always the node whose next moment is the earliest, the lower number first.
//! With a window of W cycles all nodes are simulated to the end of the window, in whatever order is the cheapest; since
//! nothing that happens on a node is felt by another within the machine's lookahead, the results are the same for every
//! W up to it.

mod blame;
pub(crate) mod budget;
mod crossing;
mod deadlock;
pub(crate) mod exchange;
pub(crate) mod letter;
mod part;
mod progress;
mod stacks;
mod told;

use crate::events::{Key, Post, Posted, Signal};
use crate::node::NodeState;
use crate::node::asked::{AskedNote, AskedWatch};
use crate::node::next::{Next, Turn};
use crate::node::script::Script;
use crate::node::shared::Shared;
use crate::node::watch::{Caught, FirstStore, TagChange, Watch, Writers};
use crate::order::budget::{Budget, Meter};
use crate::order::crossing::Crossing;
use crate::reports::blame::Judge;
use crate::reports::trace::Note;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use trivium_diagnostic::Code;
use trivium_engine::{Engine, Node};
use trivium_guest::NodeOutcome;
use trivium_node::{NodeError, Purpose, Saying, Space, disagree};
use trivium_protocol::Access;

/// What runs on a node's processor.
pub enum Runner {
    /// A program.
    Program(Box<trivium_guest::ProgramNode<NodeState>>),
    /// A few accesses.
    Script(Script),
}

/// Why a simulation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All programs have left `main`.
    Finished,
    /// The limit of cycles was reached.
    MaxCycles(u64),
    /// It was asked to end.
    Cancelled,
    /// It took more of the host's memory than this.
    Memory(u64),
}

/// The limits of a simulation.
#[derive(Clone, Default)]
pub struct Limits<'a> {
    /// Cycles after which it ends incomplete.
    pub max_cycles: Option<u64>,
    /// It fails if no processor goes on for so many cycles, while handlers run.
    pub stall_limit: Option<u64>,
    /// How much of the host's memory it may take.
    pub memory: Option<Budget<'a>>,
    /// Ends it when true.
    pub cancel: Option<&'a AtomicBool>,
    /// Is told the cycle now and then.
    pub progress: Option<&'a dyn Fn(u64)>,
    /// Is told what the nodes did.
    pub trace: Option<&'a dyn Fn(&Note)>,
}

impl Limits<'_> {
    /// The most cycles, and the most in which no processor goes on.
    fn of_cycles(&self) -> (u64, u64) {
        (self.max_cycles.unwrap_or(u64::MAX), self.stall_limit.unwrap_or(u64::MAX))
    }
}

/// All nodes.
pub struct World {
    shared: Rc<Shared>,
    space: Rc<RefCell<Space>>,
    /// The nodes.
    pub nodes: Vec<Rc<RefCell<NodeState>>>,
    runners: Vec<Runner>,
    /// The next moment of each node at which anything can happen on it, or one before that; `u64::MAX` if there is none,
    /// none if that must be looked up.
    positions: Vec<Option<u64>>,
    /// Nodes that did something in this round.
    active: Vec<usize>,
    /// How many programs have ended.
    finished: usize,
    /// When the last of those did.
    last_end: u64,
    /// What went wrong, when, and on which node, which has stopped there.
    failures: Vec<(u64, usize, NodeError)>,
    /// When each node arrived at the barrier, and what for.
    arrived: Vec<Option<(u64, Purpose)>>,
    /// How many have.
    arrived_count: usize,
    barriers: u64,
    watch: Watch,
    /// Tag changes that the watch has not seen yet.
    pub(crate) changes: Vec<TagChange>,
    asked: AskedWatch,
    /// What handlers did about accesses of threads, and nobody has looked at yet.
    pub(crate) asked_notes: Vec<AskedNote>,
    writers: Writers,
    window: u64,
    /// Simulation ends there.
    max_cycles: u64,
    /// Most cycles in which no processor goes on.
    stall_limit: u64,
    /// The number of its first node; not 0 in a part of a world.
    first: usize,
    /// What its nodes did to nodes of other parts.
    pub(crate) abroad: Vec<Post>,
    /// Whether it is a part of a world.
    is_part: bool,
    /// Decides who is to blame for misses, if somebody asked.
    judge: Option<Judge>,
    /// The part of the network that all nodes share, if there is one.
    crossing: Option<Crossing>,
}

/// Some nodes at the hardware barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrivals {
    /// How many.
    pub count: usize,
    /// The latest arrival.
    pub last: u64,
    /// What they are there for; none if they disagree, or if there are none.
    pub purpose: Option<Purpose>,
}

impl Arrivals {
    /// These and others.
    pub(crate) fn and(self, other: Arrivals) -> Arrivals {
        let purpose = match (self.count, other.count) {
            (0, _) => other.purpose,
            (_, 0) => self.purpose,
            _ => self.purpose.filter(|_| self.purpose == other.purpose),
        };
        Arrivals { count: self.count + other.count, last: self.last.max(other.last), purpose }
    }
}

/// Between two looks at the cancel flag, in rounds.
pub(crate) const ROUNDS: u64 = 256;

/// For how many windows a node that is alone is simulated at once.
const ALONE: u64 = 1024;

/// Where messages may stall, so many cycles after the last program has ended still count: whether all are handled by then.
const SETTLES: u64 = 100_000;

impl World {
    /// A world of nodes, each with what runs on it.
    pub fn new(
        shared: Rc<Shared>,
        space: Rc<RefCell<Space>>,
        nodes: Vec<Rc<RefCell<NodeState>>>,
        runners: Vec<Runner>,
        window: Option<u64>,
    ) -> World {
        let lookahead = shared.machine.lookahead();
        let watch = Watch::new(shared.protocols.nodes, shared.protocols.block);
        let count = nodes.len();
        let crossing = Crossing::of(&shared);
        let judge = shared.blamed.then(|| Judge::new(shared.protocols.nodes, shared.protocols.block));
        World {
            window: window.unwrap_or(lookahead).min(lookahead),
            max_cycles: u64::MAX,
            stall_limit: u64::MAX,
            shared,
            space,
            nodes,
            runners,
            positions: vec![None; count],
            active: Vec::with_capacity(count),
            finished: 0,
            last_end: 0,
            failures: Vec::new(),
            arrived: vec![None; count],
            arrived_count: 0,
            barriers: 0,
            watch,
            changes: Vec::new(),
            asked: AskedWatch::default(),
            asked_notes: Vec::new(),
            writers: Writers::default(),
            first: 0,
            abroad: Vec::new(),
            is_part: false,
            judge,
            crossing,
        }
    }

    /// The part of a world whose nodes begin with number `first`, within these limits of cycles.
    pub(crate) fn into_part(self, first: usize, limits: &Limits) -> World {
        let (max_cycles, stall_limit) = limits.of_cycles();
        self.shared.stall_limit.set(stall_limit);
        World { first, is_part: true, max_cycles, stall_limit, ..self }
    }

    /// Gives the nodes other things to run.
    pub fn set_runner(&mut self, node: Node, runner: Runner) {
        self.runners[node as usize] = runner;
        self.nodes[node as usize].borrow_mut().thread_mut().wait = None;
    }

    /// Simulates until all programs have ended.
    ///
    /// # Errors
    /// A program or a protocol did something wrong, or nothing can go on.
    pub fn run(&mut self, limits: &Limits) -> Result<Ended, NodeError> {
        let mut round = 0u64;
        let mut meter = Meter::new(limits.memory);
        (self.max_cycles, self.stall_limit) = limits.of_cycles();
        self.shared.stall_limit.set(self.stall_limit);
        self.look_again();
        loop {
            let earliest = self.earliest();
            if self.finished == self.nodes.len() {
                let end = self.end_after(self.last_end);
                if earliest.is_none_or(|(now, _)| now >= end) && self.failures.is_empty() {
                    let settled = || if earliest.is_none() { self.nothing_stalls() } else { Ok(()) };
                    return match self.all_completed().and_then(|()| settled()) {
                        Ok(()) => Ok(Ended::Finished),
                        Err(error) => Err(self.at_the_end(u64::MAX, error)),
                    };
                }
            }
            if let Some((time, failure)) = self.first_failure(earliest) {
                return Err(self.at_the_end(time, failure));
            }
            let Some((now, first)) = earliest else {
                let deadlock = self.deadlock();
                return Err(self.at_the_end(u64::MAX, deadlock));
            };
            round += 1;
            if round.is_multiple_of(ROUNDS) {
                self.look_at_misses(now);
                if limits.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                    return Ok(Ended::Cancelled);
                }
                if let Some(limit) = meter.exceeded() {
                    return Ok(Ended::Memory(limit));
                }
                if let Some(progress) = limits.progress {
                    progress(now);
                }
            }
            if self.looks_at_memory()
                && let Some(limit) = meter.exceeded_now()
            {
                return Ok(Ended::Memory(limit));
            }
            if let Some(max) = limits.max_cycles
                && now >= max
            {
                return Ok(Ended::MaxCycles(max));
            }
            let until = self.stalled_until(now);
            if now >= until {
                let error = self.no_progress(until);
                return Err(self.at_the_end(until, error));
            }
            self.advance(now, first, until);
            self.tell(limits);
            self.look_at_tags();
            self.look_at_asked();
            self.look_at_stores();
        }
    }

    /// Whether one should look how much memory has been taken: programs have taken much since that was last asked.
    pub(crate) fn looks_at_memory(&self) -> bool {
        let much = self.shared.much_is_taken();
        if much {
            self.shared.taken.set(0);
        }
        much
    }

    /// Simulates what is still on its way, with nothing running.
    ///
    /// # Errors
    /// As [`World::run`].
    pub fn settle(&mut self) -> Result<(), NodeError> {
        self.max_cycles = u64::MAX;
        self.look_again();
        loop {
            let earliest = self.earliest();
            if let Some((_, failure)) = self.first_failure(earliest) {
                return Err(failure);
            }
            let Some((now, first)) = earliest else { return Ok(()) };
            self.advance(now, first, u64::MAX);
            self.look_at_tags();
            self.look_at_asked();
        }
    }

    /// All programs have ended, the last at cycle `last`: when the simulation ends, if anything happens until then. What happens before
    /// the given cycle still counts: by then any order of nodes may have simulated it, and none has simulated more.
    pub(crate) fn end_after(&mut self, last: u64) -> u64 {
        let settles = if self.shared.protocols.any_stalls { SETTLES } else { 0 };
        self.max_cycles = self.max_cycles.min(last + settles.max(2 * self.shared.machine.lookahead()));
        self.max_cycles
    }

    /// When the last of its programs ended, if they all have.
    pub(crate) fn ended(&self) -> Option<u64> {
        (self.finished == self.nodes.len()).then_some(self.last_end)
    }

    /// What went wrong first, once every other node has come so far that nothing earlier can go wrong. Which node is
    /// simulated first must not decide what is reported.
    fn first_failure(&mut self, earliest: Option<(u64, usize)>) -> Option<(u64, NodeError)> {
        let first = (0..self.failures.len()).min_by_key(|&at| (self.failures[at].0, self.failures[at].1))?;
        let is_past = earliest.is_none_or(|(now, _)| now > self.failures[first].0);
        is_past.then(|| {
            let (time, _, error) = self.failures.swap_remove(first);
            (time, error)
        })
    }

    /// An error with what the programs had said by then: every node has come so far, whatever the window, and some have
    /// come further.
    fn at_the_end(&self, time: u64, error: NodeError) -> NodeError {
        let mut said = Saying::default();
        for node in &self.nodes {
            let node = node.borrow();
            said.add(node.core.me, node.compute.said(time));
        }
        NodeError { said: Some(Box::new(said.said())), ..error }
    }

    #[inline]
    fn has_stopped(&self, node: usize) -> bool {
        self.failures.iter().any(|failure| failure.1 == node)
    }

    /// What happens next, from cycle `now` on and first on node `first`, but nothing from cycle `until` on.
    fn advance(&mut self, now: u64, first: usize, until: u64) {
        self.active.clear();
        let most = self.max_cycles.min(until);
        // Of what is to enter a network that all share, nothing is felt before.
        let felt = self.crossing.as_ref().map_or(u64::MAX, Crossing::felt);
        let most = most.min(felt);
        if self.window == 0 {
            let others = (0..self.nodes.len()).filter(|&n| n != first).filter_map(|n| self.positions[n]).min();
            let others = others.filter(|&other| other < u64::MAX);
            let end = others.map_or(now + 1000, |other| other.max(now + 1)).min(most);
            return self.run_node_or_stop(first, end, end);
        }
        let end = (now + self.window).min(most);
        let is_alone = |(node, position): (usize, &Option<u64>)| node == first || *position == Some(u64::MAX);
        if self.positions.iter().enumerate().all(is_alone) {
            // What is found of programs that do not go on is known for half the limit before it is said.
            let far = (now + (ALONE * self.window).min(self.stall_limit / 2)).min(most).max(end);
            return self.run_node_or_stop(first, end, far);
        }
        self.run_window(end);
    }

    /// Simulates all nodes up to cycle `end`, one after the other: what a node has left in the host's nearer caches by the next window is
    /// little, so that a second visit in the same window would cost more than going from its engine to its processor and back.
    fn run_window(&mut self, end: u64) {
        let due = |position: &Option<u64>| position.is_none_or(|position| position < end);
        self.active.extend((0..self.nodes.len()).filter(|&node| due(&self.positions[node])));
        for at in 0..self.active.len() {
            let node = self.active[at];
            while self.run_engine(node, end) && self.go_on(node, end) {}
        }
    }

    /// Simulates a node up to where its processor goes on, or up to cycle `end`. Whether its processor goes on.
    fn run_engine(&mut self, number: usize, end: u64) -> bool {
        if self.has_stopped(number) {
            self.positions[number] = Some(Next::NEVER);
            return false;
        }
        let mut state = self.nodes[number].borrow_mut();
        let (position, goes_on) = loop {
            match state.turn(end) {
                Turn::Processor => break (None, true),
                Turn::Engine(next) => {
                    if let Err(error) = state.act(next) {
                        drop(state);
                        self.stop(number, error);
                        return false;
                    }
                }
                Turn::Nobody(position) => break (Some(position), false),
            }
        };
        let reaches = state.has_reached_others();
        drop(state);
        self.positions[number] = position;
        if reaches {
            self.collect(number);
        }
        goes_on
    }

    /// Lets a node's processor go on. Whether anything is left to do before cycle `end`.
    fn go_on(&mut self, number: usize, end: u64) -> bool {
        if let Err(error) = self.run_processor(number) {
            self.stop(number, error);
            return false;
        }
        let mut state = self.nodes[number].borrow_mut();
        let turn = state.turn(end);
        let reaches = state.has_reached_others();
        drop(state);
        if let Turn::Nobody(position) = turn {
            self.positions[number] = Some(position);
        }
        if reaches {
            self.collect(number);
        }
        !matches!(turn, Turn::Nobody(_))
    }

    /// A node has done something wrong, and does nothing more. Where it is its program's access or call, the program's place is told.
    fn stop(&mut self, number: usize, error: NodeError) {
        let stands_there = self.nodes[number].borrow().stands_where_it_failed();
        let error = if stands_there { self.standing(number, error) } else { error };
        let node = self.nodes[number].borrow();
        self.failures.push((node.now.max(node.compute.clock()), number, error));
        self.positions[number] = Some(Next::NEVER);
    }

    fn run_node_or_stop(&mut self, number: usize, end: u64, alone: u64) {
        if self.has_stopped(number) {
            self.positions[number] = Some(Next::NEVER);
        } else if let Err(error) = self.run_node(number, end, alone) {
            self.stop(number, error);
        }
    }

    /// Forgets what is known of the nodes: others may have changed them.
    fn look_again(&mut self) {
        self.positions.fill(None);
        self.finished = self.left().len();
    }

    /// Tells the trace what was noted.
    fn tell(&mut self, limits: &Limits) {
        let Some(trace) = limits.trace else { return };
        let mut notes = Vec::new();
        for node in &self.nodes {
            let mut node = node.borrow_mut();
            let booked = node.model.bus.noted.as_mut().map(std::mem::take).unwrap_or_default();
            for (transaction, from, to) in booked {
                let note = Note::Bus { node: node.core.me, cycles: from..to, transaction };
                node.note(note);
            }
            notes.append(&mut node.noted.notes);
        }
        notes.sort_by_key(|note| (note.cycles().start, note.node()));
        notes.iter().for_each(trace);
    }

    /// The earliest position of all nodes, and the first node that is there, when all messages have entered a shared network that can.
    fn earliest(&mut self) -> Option<(u64, usize)> {
        let mut earliest = self.earliest_node();
        while let Some(post) = self.next_to_enter(earliest.map_or(u64::MAX, |(now, _)| now)) {
            let to = usize::from(post.to);
            self.nodes[to].borrow_mut().accept(post);
            self.positions[to] = None;
            earliest = self.earliest_node();
        }
        earliest
    }

    /// The next message that enters a shared network, if no node sends anything before cycle `sends`.
    #[inline]
    fn next_to_enter(&mut self, sends: u64) -> Option<Post> {
        self.crossing.as_mut()?.next(sends)
    }

    fn earliest_node(&mut self) -> Option<(u64, usize)> {
        let mut earliest = (u64::MAX, 0);
        for number in 0..self.positions.len() {
            let at = self.position_of(number);
            if at < earliest.0 {
                earliest = (at, number);
            }
        }
        (earliest.0 < u64::MAX).then_some(earliest)
    }

    fn position_of(&mut self, number: usize) -> u64 {
        if let Some(at) = self.positions[number] {
            return at;
        }
        let at = if self.has_stopped(number) {
            u64::MAX
        } else {
            let node = self.nodes[number].borrow();
            node.position(node.next())
        };
        self.positions[number] = Some(at);
        at
    }

    /// Simulates a node up to cycle `end`, or up to cycle `alone` as long as nothing that it does reaches another.
    fn run_node(&mut self, number: usize, end: u64, alone: u64) -> Result<(), NodeError> {
        self.active.push(number);
        let result = self.take_steps(number, end, alone);
        let reaches = self.nodes[number].borrow().has_reached_others();
        if reaches {
            self.collect(number);
        }
        result
    }

    fn take_steps(&mut self, number: usize, soon: u64, alone: u64) -> Result<(), NodeError> {
        let node = self.nodes[number].clone();
        let mut end = alone;
        self.positions[number] = None;
        let mut state = node.borrow_mut();
        loop {
            match state.turn(end) {
                Turn::Processor => {
                    drop(state);
                    self.run_processor(number)?;
                    state = node.borrow_mut();
                }
                Turn::Engine(next) => state.act(next)?,
                Turn::Nobody(position) => {
                    self.positions[number] = Some(position);
                    return Ok(());
                }
            }
            if self.window == 0 {
                if !state.must_run() {
                    return Ok(());
                }
                // An access that was let through belongs to the event that did: no limit of cycles comes between.
                end = 0;
            } else if state.has_reached_others() || state.thread().has_ended().is_some() || self.shared.much_is_taken()
            {
                end = soon;
            }
        }
    }

    fn run_processor(&mut self, number: usize) -> Result<(), NodeError> {
        let node = &self.nodes[number];
        let outcome = match &mut self.runners[number] {
            Runner::Program(program) => program.resume(),
            Runner::Script(script) => script.resume(node),
        };
        match outcome {
            NodeOutcome::Suspended => Ok(()),
            NodeOutcome::Finished { exit_code } => {
                let mut state = node.borrow_mut();
                if let Runner::Program(program) = &self.runners[number] {
                    state.compute.has_executed(program.executed());
                    state.compute.counters = program.counted();
                }
                state.finish(exit_code);
                self.finished += 1;
                self.last_end = self.last_end.max(state.compute.clock());
                Ok(())
            }
            NodeOutcome::Trapped { message, stack } => {
                let mut state = node.borrow_mut();
                if let Runner::Program(program) = &self.runners[number] {
                    state.compute.has_executed(program.executed());
                }
                let cycle = state.compute.clock();
                let mut error = state.failure.take().unwrap_or_else(|| NodeError::subject(Code::Trap, message));
                if let Runner::Program(program) = &self.runners[number] {
                    error = error.naming(|| program.debug_info());
                }
                Err(error.standing(&format!("node {}, cycle {cycle}", self.first + number), &stack))
            }
        }
    }

    /// What a node did to others reaches them.
    fn collect(&mut self, number: usize) {
        let mut state = self.nodes[number].borrow_mut();
        let arrived = state.compute.arrived.take();
        for post in state.queues.outbox.drain(..) {
            let Some(post) = takes_its_way(&mut self.crossing, post) else { continue };
            let to = usize::from(post.to).wrapping_sub(self.first);
            match self.nodes.get(to) {
                Some(node) => {
                    let mut node = node.borrow_mut();
                    reach(&mut self.positions[to], &node, &post, self.window);
                    node.look_forward_to(&post);
                    node.accept(post);
                }
                None => self.abroad.push(post),
            }
        }
        drop(state);
        if let Some(at) = arrived {
            self.arrived[number] = Some(at);
            self.arrived_count += 1;
            if !self.is_part {
                self.open_barrier();
            }
        }
    }

    /// The hardware barrier opens when all nodes have arrived.
    fn open_barrier(&mut self) {
        let Some(arrived) = self.arrived.iter().copied().collect::<Option<Vec<_>>>() else { return };
        let last = arrived.iter().map(|arrived| arrived.0).max().unwrap_or(0);
        let purpose = arrived[0].1;
        if let Some(other) = arrived.iter().position(|arrived| arrived.1 != purpose) {
            let (one, other_one) = ((0, purpose), (other, arrived[other].1));
            let error = disagree(&self.space.borrow(), &self.shared.protocols, one, other_one);
            self.failures.push((last, other, error));
            return;
        }
        self.release(last, purpose);
    }

    /// The last of all nodes has arrived at the hardware barrier, at cycle `last`. When it opens.
    pub(crate) fn release(&mut self, last: u64, purpose: Purpose) -> u64 {
        self.barriers += 1;
        let time = last + self.shared.machine.barrier_latency(self.shared.protocols.nodes);
        for node in &self.nodes {
            let key = Key::new(time, Node::MAX, self.barriers);
            let mut node = node.borrow_mut();
            let to = node.core.me;
            node.accept(Post { to, key, what: Posted::Signal(Signal::Release { purpose }) });
        }
        self.arrived.fill(None);
        self.arrived_count = 0;
        self.positions.fill(None);
        for blocks in purpose.forgets(&self.space.borrow(), self.shared.protocols.block) {
            self.watch.forget(time, blocks);
        }
        time
    }

    /// Collects the tag changes of the nodes that have just been simulated, and what their handlers did about accesses of threads.
    fn collect_watched(&mut self) {
        for &node in &self.active {
            let watched = &mut self.nodes[node].borrow_mut().watched;
            self.changes.append(&mut watched.tag_changes);
            self.asked_notes.append(&mut watched.asked);
        }
    }

    /// The golden check on all tag changes of this window, in their order.
    fn look_at_tags(&mut self) {
        self.collect_watched();
        let mut changes = std::mem::take(&mut self.changes);
        changes.sort_by_key(|change| (change.time, change.node));
        if let Err(caught) = self.watch_tags(changes.iter()) {
            let (change, error) = *caught;
            self.failures.push((change.time, usize::from(change.node), error));
        }
        changes.clear();
        self.changes = changes;
    }

    /// The golden check on tag changes that come in their order.
    ///
    /// # Errors
    /// Two nodes have a block of which one may write it, or one has an old copy of it; with the change that let them.
    pub(crate) fn watch_tags<'a>(
        &mut self,
        mut changes: impl Iterator<Item = &'a TagChange>,
    ) -> Result<(), Caught<TagChange>> {
        let engines = &self.shared.protocols.engines;
        changes.try_for_each(|change| {
            let first = || first_access(&engines[usize::from(change.protocol)]);
            self.watch.apply(change, first).map_err(|error| Box::new((*change, error)))
        })
    }

    /// The check on accesses that handlers perform for threads, behind [`World::look_at_tags`].
    fn look_at_asked(&mut self) {
        if self.asked_notes.is_empty() {
            return;
        }
        let mut notes = std::mem::take(&mut self.asked_notes);
        notes.sort_by_key(|note| (note.time, note.node));
        if let Err(caught) = self.watch_asked(&notes) {
            let (note, error) = *caught;
            self.failures.push((note.time, usize::from(note.node), error));
        }
        notes.clear();
        self.asked_notes = notes;
    }

    /// That check, on what comes in its order.
    ///
    /// # Errors
    /// An access of a thread is not performed exactly once before it is completed; with the step.
    pub(crate) fn watch_asked(&mut self, notes: &[AskedNote]) -> Result<(), Caught<AskedNote>> {
        let engines = &self.shared.protocols.engines;
        notes.iter().try_for_each(|note| self.asked.apply(note, engines).map_err(|error| Box::new((*note, error))))
    }

    /// Whether all accesses that were performed for threads have been completed.
    ///
    /// # Errors
    /// One has not.
    pub(crate) fn all_completed(&self) -> Result<(), NodeError> {
        self.asked.at_the_end(&self.shared.protocols.engines)
    }

    /// The check on stores that protocols assume nobody else makes.
    fn look_at_stores(&mut self) {
        if !self.shared.protocols.any_one_writer {
            return;
        }
        let (stores, oldest) = self.first_stores();
        if let Err(caught) = self.watch_stores(&stores, oldest) {
            let (store, error) = *caught;
            self.failures.push((store.time, usize::from(store.node), error));
        }
    }

    /// The check on first stores; nobody will store any more in a phase before `oldest`.
    ///
    /// # Errors
    /// Two nodes have stored to a block in one phase; with the later store.
    pub(crate) fn watch_stores(&mut self, stores: &[FirstStore], oldest: u64) -> Result<(), Caught<FirstStore>> {
        self.writers.apply(stores, oldest)
    }

    /// The first stores to blocks that the nodes have made since, if anybody watches them, and the phase that all have
    /// reached.
    pub(crate) fn first_stores(&self) -> (Vec<FirstStore>, u64) {
        let (mut stores, mut oldest) = (Vec::new(), u64::MAX);
        if !self.shared.protocols.any_one_writer {
            return (stores, oldest);
        }
        for node in &self.nodes {
            let mut node = node.borrow_mut();
            stores.append(&mut node.watched.first_stores);
            oldest = oldest.min(node.compute.barriers);
        }
        (stores, oldest)
    }

    /// Nodes that have left `main`, with their exit codes.
    fn left(&self) -> BTreeMap<usize, i32> {
        let ended = |n: usize| Some((n, self.nodes[n].borrow().thread().has_ended()?));
        (0..self.nodes.len()).filter_map(ended).collect()
    }
}

/// The access that a block's home has before any change.
fn first_access(engine: &Engine) -> Access {
    let role = engine.tag_role(true);
    role.map_or(Access::None, |role| engine.protocol().roles[role.index()].states[0].access)
}

/// What is posted, unless it is to enter a shared network first.
#[inline(always)]
fn takes_its_way(crossing: &mut Option<Crossing>, post: Post) -> Option<Post> {
    match crossing {
        None => Some(post),
        Some(crossing) => crossing.takes(post),
    }
}

/// Something is posted to a node at this position. Its time may be before the node can do anything about it; but the
/// reference order must know when that is.
fn reach(position: &mut Option<u64>, node: &NodeState, post: &Post, window: u64) {
    if !matches!(post.what, Posted::Credit(_)) || node.waits_for_credits() {
        *position = position.filter(|_| window > 0).map(|at| at.min(post.key.time));
    }
}
