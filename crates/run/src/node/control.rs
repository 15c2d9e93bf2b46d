//! What the run itself needs: barriers, other bindings, the end, and whether anything can still happen. Node 0 decides.

use super::{Left, NodeState};
use crate::history::{History, PastEvent};
use crate::packets::wire::{Control, Report, Told};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};
use trivium_diagnostic::Code;
use trivium_engine::{Node, Object};
use trivium_guest::{DebugInfo, ProgramFault, SHARED_BASE};
use trivium_node::{
    Asking, Binding, CallHost, DEADLOCK, Mapped, NodeError, Placing, Purpose, RELEASE, RUNNING, STALLS, SpaceCall,
    Taken, Wait, data_text, disagree, holder, shared_u32, tells_of_a_stall,
};
use trivium_protocol::{Access, BLOCK, NODE};

/// After so long node 0 asks again, where the answers said nothing for certain.
const AGAIN: Duration = Duration::from_micros(100);
/// And where it is about a deadlock, which is in no hurry.
const AGAIN_STUCK: Duration = Duration::from_millis(2);
/// A program that has executed so many instructions since it last asked for a lock does something else.
const COMPUTES: u64 = 10_000_000;
/// Of so many locks that a node has taken last node 0 is told.
const LOCKS_TOLD: usize = 16;

/// What all nodes are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// All are at the barrier, and this happens when all is quiet.
    Arrange(Purpose),
    /// All programs have ended.
    End,
    /// All wait.
    Stuck,
}

#[derive(Debug)]
enum Stage {
    Nothing,
    Asking {
        why: Why,
        answers: Vec<Option<Report>>,
        before: Option<Vec<Report>>,
        again: Option<Instant>,
    },
    /// So many nodes have not done what they were told to yet, behind the barrier.
    Arranging(u32),
}

/// What node 0 has found out.
#[derive(Debug, PartialEq)]
enum Order {
    Ask(u64),
    Open,
    Arrange(Purpose),
    End,
    /// Two nodes are at the barrier for different things.
    Disagree((usize, Purpose), (usize, Purpose)),
    /// Nothing can happen any more: what each node does, and who has the locks for which nodes wait.
    Deadlock(Vec<(usize, String)>, BTreeMap<u32, Option<usize>>),
    /// Handlers run, and no program goes on: what each node does. Where they do nothing but ask for one lock: which, and who has it.
    Stalled(Vec<(usize, String)>, Option<(u32, Option<usize>)>),
    /// Two nodes store to a block in the same phase.
    TwoWriters(Node, Node, u32, u64),
}

/// Since when no program has gone on, as far as node 0 has asked.
#[derive(Debug)]
struct Stall {
    /// How often each program had gone on.
    went_on: Vec<u64>,
    since: Instant,
}

/// What node 0 knows of all nodes.
#[derive(Debug)]
pub(crate) struct Coordinator {
    /// It is an error if no program goes on for so long.
    stall_limit: Option<Duration>,
    stall: Option<Stall>,
    /// What each has last said unasked, as far as it still holds.
    latest: Vec<Option<Report>>,
    stage: Stage,
    round: u64,
    /// Who has stored to a block in a phase, and how many phases of each node are known.
    stored: BTreeMap<(u64, u32), Node>,
    phases: Vec<u64>,
}

impl Coordinator {
    pub(crate) fn new(nodes: u32) -> Coordinator {
        let nodes = nodes as usize;
        Coordinator {
            stall_limit: None,
            stall: None,
            latest: vec![None; nodes],
            stage: Stage::Nothing,
            round: 0,
            stored: BTreeMap::new(),
            phases: vec![0; nodes],
        }
    }

    /// A node tells what it does.
    fn heard(&mut self, from: Node, report: Report) -> Option<Order> {
        let from = usize::from(from);
        if report.round == 0 {
            if let Stage::Asking { answers, .. } = &mut self.stage
                && let Some(answer @ Some(_)) = answers.get_mut(from)
            {
                // Judged by what it has answered before, it would be taken to run, and its report be forgotten.
                *answer = Some(report.clone());
            }
            *self.latest.get_mut(from)? = Some(report);
            return self.look();
        }
        let round = self.round;
        let Stage::Asking { answers, .. } = &mut self.stage else { return None };
        if report.round != round {
            return None;
        }
        *answers.get_mut(from)? = Some(report);
        if answers.iter().any(Option::is_none) { None } else { self.judge() }
    }

    /// Whether all do what lets something happen.
    fn look(&mut self) -> Option<Order> {
        let all: Option<Vec<Told>> = self.latest.iter().map(|report| report.as_ref().map(|r| r.doing)).collect();
        let all = all.filter(|all| !all.contains(&Told::Runs))?;
        if let Stage::Arranging(_) | Stage::Asking { why: Why::Arrange(_) | Why::End, .. } = self.stage {
            return None;
        }
        let purposes: Option<Vec<_>> =
            all.iter().map(|doing| if let Told::AtBarrier(purpose) = doing { Some(*purpose) } else { None }).collect();
        let why = match purposes.as_deref() {
            Some([first, rest @ ..]) => {
                if let Some(other) = rest.iter().position(|purpose| purpose != first) {
                    return Some(Order::Disagree((0, *first), (other + 1, rest[other])));
                }
                match first {
                    Purpose::Barrier => {
                        self.opens();
                        return Some(Order::Open);
                    }
                    purpose => Why::Arrange(*purpose),
                }
            }
            _ if all.iter().all(|doing| *doing == Told::HasEnded) => Why::End,
            _ => Why::Stuck,
        };
        if matches!(self.stage, Stage::Asking { why: Why::Stuck, .. }) && why == Why::Stuck {
            return None;
        }
        Some(self.ask(why, None))
    }

    fn opens(&mut self) {
        self.stage = Stage::Nothing;
        self.latest.fill(None);
    }

    fn ask(&mut self, why: Why, before: Option<Vec<Report>>) -> Order {
        self.round += 1;
        self.stage = Stage::Asking { why, answers: vec![None; self.latest.len()], before, again: None };
        Order::Ask(self.round)
    }

    /// All have answered.
    fn judge(&mut self) -> Option<Order> {
        let Stage::Asking { why, answers, before, again } = &mut self.stage else { return None };
        let now: Vec<Report> = answers.iter().flatten().map(|report| Report { round: 0, ..report.clone() }).collect();
        if now.iter().any(|report| report.doing == Told::Runs) {
            for (latest, now) in self.latest.iter_mut().zip(&now) {
                if now.doing == Told::Runs {
                    *latest = None;
                }
            }
            self.stage = Stage::Nothing;
            return None;
        }
        let is_stable = before.as_ref() == Some(&now);
        // What others tell may be nonsense, which is no reason to end by an overflow.
        let sent = now.iter().fold(0u64, |sum, report| sum.wrapping_add(report.sent));
        let received = now.iter().fold(0u64, |sum, report| sum.wrapping_add(report.received));
        let is_still = is_stable && sent == received;
        let is_quiet = now.iter().all(|report| report.is_quiet);
        let order = match *why {
            Why::Arrange(purpose) if is_still && is_quiet => Some(Order::Arrange(purpose)),
            Why::End if is_still && is_quiet => Some(Order::End),
            Why::Stuck if is_still && !now.iter().any(|report| report.goes_on_by_itself) => {
                let told = now.iter().map(|report| report.told.clone()).enumerate();
                let told = told.filter(|(node, _)| now[*node].doing != Told::HasEnded).collect();
                Some(Order::Deadlock(told, locks_asked_for(&now)))
            }
            why => {
                // What waits for room for ever is no end of a run.
                let is_dead = is_still && why != Why::Stuck && !now.iter().any(|report| report.goes_on_by_itself);
                let told = || now.iter().map(|report| report.told.clone()).enumerate().collect();
                is_dead.then(|| Order::Deadlock(told(), locks_asked_for(&now)))
            }
        };
        if order.is_none() {
            let pause = if *why == Why::Stuck { AGAIN_STUCK } else { AGAIN };
            let went_on: Vec<u64> = now.iter().map(|report| report.went_on).collect();
            if self.stall.as_ref().is_none_or(|stall| stall.went_on != went_on) {
                self.stall = Some(Stall { went_on, since: Instant::now() });
            }
            *before = Some(now);
            *again = Some(Instant::now() + pause);
        } else if let Some(Order::Arrange(_)) = order {
            self.stage = Stage::Arranging(self.latest.iter().map(|_| 1).sum());
        }
        order
    }

    /// Whether it is time to ask again.
    fn is_due(&self) -> bool {
        matches!(self.stage, Stage::Asking { again: Some(again), .. } if Instant::now() >= again)
    }

    /// Whether it is time to say that no program goes on: all have answered so, again and again.
    fn is_stalled(&self) -> bool {
        let is_asking = matches!(self.stage, Stage::Asking { again: Some(_), .. });
        let (Some(limit), Some(stall)) = (self.stall_limit, &self.stall) else { return false };
        is_asking && stall.since.elapsed() >= limit
    }

    /// What each node does, as it has last answered.
    fn stalled(&self) -> Option<Order> {
        let Stage::Asking { before: Some(before), .. } = &self.stage else { return None };
        let told = before.iter().map(|report| report.told.clone()).enumerate().collect();
        Some(Order::Stalled(told, lock_of_all(before)))
    }

    /// Asks again, if that is wanted.
    fn ask_again(&mut self) -> Option<Order> {
        let Stage::Asking { why, before, again: Some(_), .. } = &mut self.stage else { return None };
        let (why, before) = (*why, before.take());
        Some(self.ask(why, before))
    }

    /// A node has done what it was told to behind the barrier.
    fn arranged(&mut self) -> Option<Order> {
        let Stage::Arranging(left) = &mut self.stage else { return None };
        *left = left.saturating_sub(1);
        if *left > 0 {
            return None;
        }
        self.opens();
        Some(Order::Open)
    }

    /// What a node has stored to in a phase so far.
    fn stores_so_far(&mut self, from: Node, phase: u64, blocks: &[u32]) -> Option<Order> {
        let mut caught = None;
        for &block in blocks {
            match self.stored.get(&(phase, block)) {
                Some(&other) if other != from => {
                    let (one, two) = (other.min(from), other.max(from));
                    caught.get_or_insert(Order::TwoWriters(one, two, block, phase));
                }
                _ => drop(self.stored.insert((phase, block), from)),
            }
        }
        caught
    }

    /// What a node has stored to in a phase, which is over for it.
    fn stores(&mut self, from: Node, phase: u64, blocks: &[u32]) -> Option<Order> {
        let caught = self.stores_so_far(from, phase, blocks);
        *self.phases.get_mut(usize::from(from))? = phase.saturating_add(1);
        let known = self.phases.iter().copied().min().unwrap_or(0);
        self.stored = self.stored.split_off(&(known, 0));
        caught
    }
}

/// What a node reports of how far it has come, so that node 0 can see whether anything happens.
#[derive(Default)]
pub(super) struct Progress {
    /// Packets that it has sent and received, but for questions and reports.
    pub sent: u64,
    pub received: u64,
    /// Handlers that it has run, and times that its program went on.
    pub moved: u64,
    /// Times that its program went on.
    pub went_on: u64,
}

impl NodeState {
    /// Another node, or this, says something of the run.
    pub(super) fn control(&mut self, from: Node, control: Control) -> Result<(), ProgramFault> {
        match control {
            Control::Claim { page } => self.claimed(page, from).map_err(|what| self.nonsense(from, what))?,
            Control::Placed { page, home } => self.placed(page, home).map_err(|what| self.nonsense(from, what))?,
            Control::Allocated { index, bytes, placement, protocol } => {
                self.allocated(from, index, bytes, placement.into(), protocol)?;
            }
            Control::Freed { index, region, is_left } => {
                self.freed(from, index, SpaceCall::Free { region, is_left })?
            }
            Control::Stored { phase, blocks } => {
                let order = self.coordinator.as_mut().and_then(|known| known.stores(from, phase, &blocks));
                self.carry_out(order)?;
            }
            Control::StoredSoFar { phase, blocks } => {
                let order = self.coordinator.as_mut().and_then(|known| known.stores_so_far(from, phase, &blocks));
                self.carry_out(order)?;
            }
            Control::Report(report) => {
                let order = self.coordinator.as_mut().and_then(|known| known.heard(from, report));
                self.carry_out(order)?;
            }
            Control::Ask { round } => {
                self.tell_stores_so_far();
                self.report(round);
            }
            Control::Open => {
                if let Some(Wait::Barrier(_)) = self.thread().wait {
                    self.wake(RUNNING);
                }
            }
            Control::Move { page, to } => self.move_page(page, to).map_err(|what| self.nonsense(from, what))?,
            Control::Bind(binding) => self.bind(from, binding)?,
            Control::Start => self.start()?,
            Control::Place(placing) => self.place(from, placing)?,
            Control::Arranged => {
                let order = self.coordinator.as_mut().and_then(Coordinator::arranged);
                self.carry_out(order)?;
            }
            Control::End => {
                self.leaving.is_over = true;
                if self.thread().has_ended().is_some() {
                    self.wake(RUNNING);
                }
            }
            Control::Failed(error) => {
                self.leaving.left.get_or_insert(Left::Told(error));
                return Err(ProgramFault::new(format!("node {from} has failed")));
            }
            Control::Stopped(why) => return Err(self.stop(why)),
        }
        Ok(())
    }

    pub(super) fn nonsense(&mut self, from: Node, what: &str) -> ProgramFault {
        let what = format!("node {}: node {from} tells of {what}", self.core.me);
        self.fail(NodeError::subject(Code::Ranks, what).help("start the same version of Trivium on all hosts"))
    }

    pub(super) fn placed(&mut self, page: usize, home: Node) -> Result<(), &'static str> {
        if self.core.pages.of(page) != Mapped::Asked || u32::from(home) >= self.core.protocols.nodes {
            return Err("the home of a page that nobody asked for");
        }
        self.core.space.borrow_mut().claim(page, home);
        self.core.pages.put(page, Mapped::Yes);
        if self.thread().wait == Some(Wait::Page(page)) {
            self.wake(RUNNING);
        }
        Ok(())
    }

    /// Another node knows of an allocation, which must be that of all.
    fn allocated(
        &mut self,
        from: Node,
        index: usize,
        bytes: u64,
        placement: trivium_guest::Placement,
        protocol: usize,
    ) -> Result<(), ProgramFault> {
        let known = self.core.space.borrow().calls();
        if index > known || protocol >= self.core.protocols.engines.len() {
            return Err(self.nonsense(from, "an allocation that comes too early"));
        }
        let made = self.core.space.borrow_mut().allocate(from, index, bytes, placement, protocol);
        made.map(drop).map_err(|error| self.differs(error))
    }

    /// Another node's call is not that of all: where this node stands has nothing to do with it.
    fn differs(&mut self, error: NodeError) -> ProgramFault {
        self.leaving.is_of_all |= self.leaving.left.is_none();
        self.fail(error)
    }

    /// Another node knows that an allocation was given back.
    fn freed(&mut self, from: Node, index: usize, call: SpaceCall) -> Result<(), ProgramFault> {
        let is_known = |region| region < self.core.space.borrow().allocations();
        let known = self.core.space.borrow().calls();
        if index > known || !matches!(call, SpaceCall::Free { region, .. } if is_known(region)) {
            return Err(self.nonsense(from, "memory that is given back too early"));
        }
        let made = self.core.space.borrow_mut().perform(from, index, call);
        made.map(drop).map_err(|error| self.differs(error))
    }

    /// It is an error if no program goes on for so long.
    pub(crate) fn stalls_after(&mut self, limit: Option<Duration>) {
        self.tried.limit(limit);
        if let Some(known) = &mut self.coordinator {
            known.stall_limit = limit;
        }
    }

    /// Node 0 looks whether it has to ask again.
    pub(super) fn coordinate(&mut self) {
        let Some(known) = &self.coordinator else { return };
        let (is_due, is_stalled) = match self.history {
            History::Replayed(_) => (self.due() == Some(&PastEvent::Asked), self.due() == Some(&PastEvent::Stalled)),
            _ => (known.is_due(), known.is_stalled()),
        };
        let order = if is_stalled {
            self.happened(PastEvent::Stalled);
            self.coordinator.as_ref().and_then(Coordinator::stalled)
        } else if is_due {
            self.happened(PastEvent::Asked);
            self.coordinator.as_mut().and_then(Coordinator::ask_again)
        } else {
            None
        };
        // What goes wrong is kept, and ends the program at its next step.
        let _ = self.carry_out(order);
    }

    /// Tells node 0 what this node does; in answer to a question, or unasked.
    pub(super) fn report(&mut self, round: u64) {
        let asking = self.asks_for_a_lock();
        let doing = match self.thread().wait {
            _ if asking.is_some() => Told::Waits,
            None | Some(Wait::Sleep(_)) => Told::Runs,
            Some(Wait::Barrier(purpose)) => Told::AtBarrier(purpose),
            Some(Wait::End(_)) => Told::HasEnded,
            Some(_) => Told::Waits,
        };
        let report = Report {
            round,
            doing,
            told: if doing == Told::Runs { String::new() } else { self.told(None) },
            moved: self.progress.moved,
            // Who asks in vain does not go on.
            went_on: asking.map_or(self.progress.went_on, |asking| asking.since),
            sent: self.progress.sent,
            received: self.progress.received,
            is_quiet: self.is_quiet(),
            // Who runs may find a lock free, however often it has not.
            goes_on_by_itself: self.goes_on_by_itself() || asking.is_some(),
            asks: self.lock_asked_for(),
            taken: self
                .core
                .locks
                .all_taken()
                .into_iter()
                .take(LOCKS_TOLD)
                .map(|(word, taken)| (word, taken.last, taken.tickets.clone()))
                .collect(),
        };
        self.whisper(0, &Control::Report(report));
    }

    /// Whether its program does nothing but ask for a lock. One that has executed much since it last asked does something else.
    fn asks_for_a_lock(&self) -> Option<Asking> {
        self.core.locks.asking().filter(|asking| self.measured.counts.instructions - asking.last < COMPUTES)
    }

    /// The word of a lock for which its program asks or waits, and what it has found there.
    fn lock_asked_for(&self) -> Option<(u32, Option<u64>)> {
        let found = self.core.locks.last();
        let thread = self.thread();
        let word = match thread.wait {
            Some(Wait::Access(_)) if thread.atomic.is_some() => SHARED_BASE + shared_u32(thread.pending.address),
            Some(Wait::Change { address, .. }) => address,
            None | Some(Wait::Access(_)) => self.asks_for_a_lock()?.word,
            Some(_) => return None,
        };
        Some((word, found.filter(|found| found.word == word).and_then(|found| found.value)))
    }

    /// What node 0 has decided is done.
    fn carry_out(&mut self, order: Option<Order>) -> Result<(), ProgramFault> {
        let Some(order) = order else { return Ok(()) };
        match order {
            Order::Ask(round) => self.tell_all(&Control::Ask { round }, false),
            Order::Open => self.tell_all(&Control::Open, true),
            Order::Arrange(Purpose::Barrier) => Ok(()),
            Order::Arrange(Purpose::Bind(binding)) => self.tell_all(&Control::Bind(binding), true),
            Order::Arrange(Purpose::Start) => self.tell_all(&Control::Start, true),
            Order::Arrange(Purpose::Place(placing)) => self.tell_all(&Control::Place(placing), true),
            Order::End => self.tell_all(&Control::End, true),
            Order::Disagree(one, other) => {
                let error = disagree(&self.core.space.borrow(), &self.core.protocols, one, other);
                Err(self.fail(error))
            }
            Order::Stalled(told, lock) => {
                self.leaving.is_of_all = true;
                let limit = self.coordinator.as_ref().and_then(|known| known.stall_limit).unwrap_or_default().as_secs();
                let set = "--stall-limit sets another number of seconds; 0: none";
                if let Some((word, holder)) = lock {
                    let what = format!(
                        "no progress: for {limit} s nodes have asked for a lock that is not released, at {word:#x}, and done nothing else"
                    );
                    let error = has_lock(who_waits(&what, told), word, holder);
                    return Err(self.fail(error.help(format!("{RELEASE}. {set}"))));
                }
                let what =
                    format!("no progress: for {limit} s handlers ran, and no access and no call came to its end");
                let help = "the protocol may refuse a request and be asked again for ever; or finite lanes are too short. `trivium check` looks for both (starvation, deadlock)";
                Err(self.fail(who_waits(&what, told).help(format!("{help}. {set}"))))
            }
            Order::Deadlock(told, locks) => {
                self.leaving.is_of_all = true;
                let stalls = told.iter().any(|(_, told)| tells_of_a_stall(told));
                // What is to be done depends on which nodes have left main, which is known at the end, unless they wait for locks.
                let error = locks
                    .iter()
                    .fold(who_waits(DEADLOCK, told), |error, (&word, &holder)| has_lock(error, word, holder));
                Err(self.fail(match locks.is_empty() {
                    false => error.help(RELEASE),
                    true if stalls => error.help(STALLS),
                    true => error,
                }))
            }
            Order::TwoWriters(one, other, block, phase) => {
                self.leaving.is_of_all = true;
                let what = format!(
                    "nodes {one} and {other} both write block {block} between two barriers (after {phase} of them)"
                );
                let help = "the protocol assumes `one_writer_per_phase`: change the program, or use another protocol for this memory";
                Err(self.fail(NodeError::subject(Code::Assumption, what).help(help)))
            }
        }
    }

    /// Tells all nodes, this one last: it may then go on.
    fn tell_all(&mut self, control: &Control, is_counted: bool) -> Result<(), ProgramFault> {
        for to in self.others() {
            match is_counted {
                true => self.tell(to, control),
                false => self.whisper(to, control),
            }
        }
        self.control(self.core.me, control.clone())
    }

    /// A region comes under another protocol on this node, as it does on all: all is quiet.
    fn bind(&mut self, from: Node, binding: Binding) -> Result<(), ProgramFault> {
        let is_there = binding.region < self.core.space.borrow().allocations();
        if !is_there || binding.protocol >= self.core.protocols.engines.len() {
            return Err(self.nonsense(from, "a region that there is not"));
        }
        let when = format!("{} ns", self.look_at_clock());
        let bound = self.core.bind(binding, &when).map_err(|error| self.fail(error))?;
        bound.into_iter().for_each(|blocks| self.forget_tags(blocks));
        self.tell(0, &Control::Arranged);
        Ok(())
    }

    /// An object gets its home on this node, as it does on all: all is quiet.
    fn place(&mut self, from: Node, placing: Placing) -> Result<(), ProgramFault> {
        if !self.core.knows(placing) {
            return Err(self.nonsense(from, "an object that there is not"));
        }
        let when = format!("{} ns", self.look_at_clock());
        self.core.place(placing, &when).map_err(|error| self.fail(error))?;
        self.tell(0, &Control::Arranged);
        Ok(())
    }

    /// The parallel phase starts on this node, as it does on all: all is quiet.
    fn start(&mut self) -> Result<(), ProgramFault> {
        let when = format!("{} ns", self.look_at_clock());
        for (page, blocks) in self.core.start(&when).map_err(|error| self.fail(error))? {
            self.core.pages.put(page, Mapped::No);
            self.forget_tags(blocks);
        }
        self.tell(0, &Control::Arranged);
        Ok(())
    }

    /// Nobody has touched these blocks.
    fn forget_tags(&mut self, blocks: Range<u32>) {
        for block in blocks.map(|id| Object { kind: BLOCK, id }) {
            self.core.tags.forget(block);
            self.publish(block, Access::None, false);
        }
    }

    /// What the program waits for, in words, and what this node's handlers have not come to.
    pub(crate) fn told(&self, map: Option<&DebugInfo>) -> String {
        let thread = self.thread();
        let asked = self.asks_for_a_lock().filter(|_| matches!(thread.wait, None | Some(Wait::Access(_))));
        let mut told = match asked {
            Some(asking) => format!("asks again and again for {}", self.data(map, asking.word, 4)),
            None => thread.doing(&self.core.protocols, |address, bytes| self.data(map, address, bytes)),
        };
        told += &match thread.wait {
            Some(Wait::Access(block)) if asked.is_none() => {
                let protocol = self.core.protocol_at(thread.pending.address);
                protocol.map_or(String::new(), |protocol| self.roles(protocol, block))
            }
            Some(Wait::Call { protocol, object, .. }) => self.roles(protocol, object),
            _ => String::new(),
        };
        for more in self.full_lanes().into_iter().chain(self.stalled()) {
            told += &format!("; {more}");
        }
        told
    }

    /// A place in shared memory, and what this node's copy of it holds.
    fn data(&self, map: Option<&DebugInfo>, address: u32, size: u32) -> String {
        let value = self.core.memory.word_of_program(address, size);
        data_text(&self.core.space.borrow(), map, address, value)
    }

    /// The states of this node's roles for an object.
    fn roles(&self, protocol: usize, object: Object) -> String {
        let engine = &self.core.protocols.engines[protocol];
        let is_home = object.kind != NODE && self.core.home_of(protocol, object) == self.core.me;
        let mut text = String::new();
        for role in engine.roles_of(object.kind, is_home) {
            if let Some(record) = self.core.record_of(protocol, role, object) {
                let declared = &engine.protocol().roles[role.index()];
                text += &format!("; {}: {}", declared.name, engine.describe(role, record));
            }
        }
        text
    }
}

/// An error, with what each node does.
fn who_waits(what: &str, told: Vec<(usize, String)>) -> NodeError {
    let error = NodeError { tells_all: true, ..NodeError::subject(Code::Deadlock, what) };
    told.into_iter().fold(error, |error, (node, told)| error.note(format!("node {node}: {told}")))
}

/// An error about a lock, with who has it.
fn has_lock(error: NodeError, word: u32, holder: Option<usize>) -> NodeError {
    match holder {
        Some(node) => error.note(format!("node {node} has the lock at {word:#x}")),
        None => error,
    }
}

/// The locks for which nodes ask, as far as some node has taken them, and who has each.
fn locks_asked_for(reports: &[Report]) -> BTreeMap<u32, Option<usize>> {
    let mut locks = BTreeMap::new();
    for (word, serving) in reports.iter().filter_map(|report| report.asks) {
        let of_word = |(node, report): (usize, &Report)| {
            let found = report.taken.iter().find(|taken| taken.0 == word);
            found.map(|(_, last, tickets)| (node, Taken::new(*last, tickets.clone())))
        };
        let taken: Vec<(usize, Taken)> = reports.iter().enumerate().filter_map(of_word).collect();
        if !taken.is_empty() {
            let has = locks.entry(word).or_insert(None);
            *has = has.or(holder(taken.iter().map(|(node, taken)| (*node, taken)), serving));
        }
    }
    locks
}

/// The lock for which all ask that neither have ended nor are at the barrier, and who has it.
fn lock_of_all(reports: &[Report]) -> Option<(u32, Option<usize>)> {
    let mut asked =
        reports.iter().filter(|report| report.doing == Told::Waits).map(|report| report.asks.map(|asks| asks.0));
    let word = asked.next()??;
    let is_only = asked.all(|other| other == Some(word));
    locks_asked_for(reports).remove_entry(&word).filter(|_| is_only)
}

#[cfg(test)]
#[path = "control_tests.rs"]
mod tests;
