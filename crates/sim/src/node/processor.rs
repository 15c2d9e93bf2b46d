//! The compute processor: its clock, its cache and bus accesses, and the checks on shared blocks.

use crate::events::Arrival;
use crate::machine::price::Transaction;
use crate::machine::ratio::Ratio;
use crate::node::NodeState;
use crate::node::watch::FirstStore;
use crate::reports::counters::{Counters, Spent};
use crate::reports::timeline::{Cause, Reason, Stretch, Work};
use crate::timing::cache::LineState;
use std::ops::Range;
use std::sync::Arc;
use trivium_engine::number::fit;
use trivium_engine::{Object, Pending};
use trivium_guest::{
    AccessKind, AccessStep, CounterUse, Executed, ProgramFault, ReadModifyWrite, SHARED_BASE, StackFrame,
};
use trivium_node::{Awaited, NodeError, NodeSaid, Purpose, allows, pending, shared_u32};
use trivium_protocol::{Access, EventKind};

/// For what a processor waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Access to a block.
    Access(Object),
    /// The return of a protocol call.
    Call {
        /// Of which protocol.
        protocol: usize,
        /// Which call.
        op: trivium_protocol::OpId,
        /// On which object.
        object: Object,
    },
    /// The hardware barrier.
    Barrier,
    /// A change of a word in a block.
    Change(Object),
    /// The home of a page.
    Page(usize),
    /// The frame of a page that is being given up.
    Frame(usize),
    /// The answer to one of its requests: it has as many outstanding as it can.
    Answer,
    /// The end of a time for which the program sleeps.
    Sleep,
}

/// What a processor is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It runs, or would.
    Running,
    /// It waits.
    Waiting(Wait),
    /// Its program has ended with this exit code.
    Finished(i32),
}

/// An access as the program asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedAccess {
    pub address: u32,
    pub size: u32,
    pub kind: AccessKind,
    /// What it stores.
    pub value: u64,
    pub spent: Spent,
}

/// By what way an access comes to shared memory, and with it what it costs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Past the processor's cache, in which its line is so.
    Cache(LineState),
    /// As a call of the library that checks accesses.
    Library,
}

/// A resumed access that is guaranteed to complete before any later event of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// The tag allows it.
    Tag,
    /// It has been performed on the node's memory, whatever the tag, and has read this.
    Complete(u64),
}

/// For what it is asked where the program stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// It has made this allocation.
    Allocation(usize),
    /// It waits.
    Wait,
    /// It stores where another node stores too.
    Store,
    /// It does nothing but ask for a lock.
    Lock,
}

/// The compute processor of a node. What each visit of the node looks at comes first and lies together.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Compute {
    /// What it is doing.
    pub doing: Doing,
    /// Cycles of a unit of work.
    cycles: Ratio,
    executed: Executed,
    /// Cycles of what was executed.
    computed: u64,
    stalled: u64,
    /// Cycles of its present wait in which it ran handlers.
    handled: u64,
    /// It does not run past the first poll point, miss or call at which its clock has reached this.
    pub limit: u64,
    /// On what its waiting is counted.
    waiting_as: Spent,
    /// The next access is guaranteed.
    pub grant: Option<Grant>,
    pending: Pending,
    pending_kind: AccessKind,
    /// The atomic operation that is being tried, if one is.
    pub atomic: Option<ReadModifyWrite>,
    /// Until then it is in the trap of its last aborted access.
    pub trapped: u64,
    /// The result of a call that has returned.
    pub answered: Option<i64>,
    /// The barrier at which it waited has opened.
    pub released: bool,
    /// Allocations made.
    pub allocations: usize,
    /// What the program printed: when, to which descriptor, what.
    pub printed: Vec<(u64, u32, Vec<u8>)>,
    /// Where the region of interest began: counts then.
    pub region: Option<Box<Counters>>,
    /// Counts of regions of interest that have ended, if there were any.
    pub regions: Option<Box<Counters>>,
    /// First and last cycle of regions of interest.
    pub region_span: Option<(u64, u64)>,
    /// When it arrived at the barrier, if it has since the world looked, and what for.
    pub arrived: Option<(u64, Purpose)>,
    /// Barriers passed.
    pub barriers: u64,
    /// Where it first used an atomic operator on private memory: the address and the function.
    pub private_atomic: Option<(u32, Option<String>)>,
    /// What it first wanted to change in a folder that is only for reading.
    pub refused_to_write: Option<String>,
    /// What its program has done with its counters, if it has ended.
    pub counters: Vec<CounterUse>,
    /// Bytes of the program's private memory, which never shrinks.
    pub private_memory: u64,
    /// What ended its latest wait, then the access that followed, if that is recorded.
    pub cause: Cause,
    /// It wants to know where the program stands.
    pub asks: Option<Asks>,
    /// Where the program stood when it began to wait, if that is recorded.
    pub waits_at: Vec<StackFrame>,
    /// Where the program stood when it first stored where another node stores too.
    pub stores_at: Vec<StackFrame>,
    /// Where the program stood when it had asked for a lock, and done nothing else, for some time.
    pub asks_at: Vec<StackFrame>,
    /// The word that it last waited for to change: its address, and its size.
    pub watches: (u32, u32),
}

impl Compute {
    /// A processor that has not begun, which takes so many cycles for a unit of its program's work.
    pub fn new(cycles: Ratio) -> Compute {
        Compute {
            doing: Doing::Running,
            cycles,
            executed: Executed::default(),
            computed: 0,
            stalled: 0,
            handled: 0,
            limit: 0,
            waiting_as: Spent::Sync,
            grant: None,
            pending: Pending::default(),
            pending_kind: AccessKind::Read,
            atomic: None,
            trapped: 0,
            answered: None,
            released: false,
            allocations: 0,
            printed: Vec::new(),
            region: None,
            regions: None,
            region_span: None,
            arrived: None,
            barriers: 0,
            private_atomic: None,
            refused_to_write: None,
            counters: Vec::new(),
            private_memory: 0,
            cause: None,
            asks: None,
            waits_at: Vec::new(),
            stores_at: Vec::new(),
            asks_at: Vec::new(),
            watches: (0, 0),
        }
    }

    /// Its clock, in cycles; while it waits, that of the wait's beginning.
    pub fn clock(&self) -> u64 {
        self.computed + self.stalled
    }

    /// What was executed so far.
    pub fn executed(&self) -> Executed {
        self.executed
    }

    /// So much has been executed by now.
    #[inline]
    pub fn has_executed(&mut self, executed: Executed) {
        self.executed = executed;
        self.computed = self.cycles.of(executed.work);
    }

    /// Cycles of instructions.
    pub fn computed(&self) -> u64 {
        self.computed
    }

    /// The work at which its clock reaches the limit, if nothing else delays it.
    pub fn deadline(&self) -> u64 {
        self.cycles.count_for(self.limit.saturating_sub(self.stalled))
    }

    /// Whether it could go on.
    #[inline]
    pub fn runnable(&self) -> bool {
        matches!(self.doing, Doing::Running)
    }

    /// Whether its program has ended.
    pub fn has_finished(&self) -> bool {
        matches!(self.doing, Doing::Finished(_))
    }

    /// Whether it must go on before anything else happens on its node.
    pub fn must_run(&self) -> bool {
        self.runnable() && self.grant.is_some()
    }

    /// The access at which it waits.
    pub fn pending(&self) -> Pending {
        self.pending
    }

    /// Sets the access at which it waits.
    pub fn set_pending(&mut self, pending: Pending, kind: AccessKind) {
        self.pending = pending;
        self.pending_kind = kind;
    }

    /// Whether that is a load or a store.
    pub fn pending_kind(&self) -> AccessKind {
        self.pending_kind
    }

    /// What its program has said up to a cycle, that one included.
    pub(crate) fn said(&self, until: u64) -> NodeSaid {
        let printed = self.printed.iter().filter(|(at, ..)| *at <= until).cloned().collect();
        let (private_atomic, refused_to_write) = (self.private_atomic.clone(), self.refused_to_write.clone());
        NodeSaid { printed, private_atomic, refused_to_write, counters: self.counters.clone() }
    }
}

impl NodeState {
    /// Time passes on the processor without instructions.
    pub(crate) fn stall(&mut self, cycles: u64, spent: Spent) {
        self.compute.stalled += cycles;
        match spent {
            Spent::Read => self.counts.counters.read_stall += cycles,
            Spent::Write => self.counts.counters.write_stall += cycles,
            Spent::Tlb => self.counts.counters.tlb_stall += cycles,
            Spent::Sync => self.counts.counters.sync_stall += cycles,
        }
    }

    /// The processor waits from now on.
    pub(crate) fn wait(&mut self, wait: Wait, spent: Spent) {
        self.compute.doing = Doing::Waiting(wait);
        self.compute.waiting_as = spent;
        if self.recording {
            self.compute.asks = Some(Asks::Wait);
        }
    }

    /// The processor goes on at cycle `at`, because of `cause`.
    pub(crate) fn wake(&mut self, at: u64, cause: &Cause) {
        // Where it runs handlers itself, it first ends the one that it is in.
        let at = at.max(self.model.can_go_on());
        let (from, spent) = (self.compute.clock(), self.compute.waiting_as);
        if let Doing::Waiting(wait) = self.compute.doing {
            self.note_wait(wait, from..at.max(from), spent, cause);
        }
        if let Doing::Waiting(Wait::Access(_)) = self.compute.doing {
            self.blame_wait(at.saturating_sub(from));
        }
        let handled = std::mem::take(&mut self.compute.handled);
        self.counts.counters.handler += handled;
        self.compute.stalled += handled;
        self.stall(at.saturating_sub(from + handled), spent);
        self.compute.doing = Doing::Running;
        self.shared.went_on.set(self.shared.went_on.get().max(at));
    }

    /// The processor itself has run a handler in these cycles. While it waits, they are none of the wait's; when its program
    /// has ended, they are nobody's.
    pub(crate) fn handle(&mut self, cycles: Range<u64>) {
        let took = cycles.end - cycles.start;
        match self.compute.doing {
            Doing::Running => {
                self.note_compute(cycles.start);
                self.noted.until = cycles.end;
                self.counts.counters.handler += took;
                self.compute.stalled += took;
            }
            Doing::Waiting(_) => self.compute.handled += took,
            Doing::Finished(_) => {}
        }
    }

    /// An object is resumed at cycle `at`: the thread tries its access again, if it waits for the object.
    pub(crate) fn resume_access(&mut self, object: Object, at: u64, cause: Cause) {
        if self.core.thread.resume(object) {
            let grant = allows(self.tag(object), self.compute.pending_kind).then_some(Grant::Tag);
            let at = if grant.is_some() { at } else { self.retry_time(at) };
            self.go_on_with_access(grant, at, cause);
        }
    }

    /// The thread's access has been performed for it, and has read this: it goes on at cycle `at`.
    pub(crate) fn complete_access_at(&mut self, read: u64, at: u64, cause: Cause) {
        self.go_on_with_access(Some(Grant::Complete(read)), at, cause);
    }

    fn go_on_with_access(&mut self, grant: Option<Grant>, at: u64, cause: Cause) {
        self.compute.grant = grant;
        self.wake(at.max(self.compute.trapped), &cause);
        self.compute.cause = cause;
    }

    /// Whether all earlier events of the node have happened, so that a miss or a call may go on.
    pub(crate) fn up_to_date(&self) -> bool {
        self.compute.clock() < self.compute.limit
    }

    /// An access of at most 8 bytes inside an aligned word: a hit, a local miss, or a fault.
    pub(crate) fn reach(
        &mut self,
        address: u32,
        size: u32,
        kind: AccessKind,
        value: u64,
        spent: Spent,
    ) -> Result<AccessStep, ProgramFault> {
        self.translate(address);
        if self.checks.concerns(address) {
            return self.reach_by_library(&SharedAccess { address, size, kind, value, spent });
        }
        let line = self.model.cache.look(address);
        let hit = match kind {
            AccessKind::Read => line != LineState::Absent,
            AccessKind::Write => matches!(line, LineState::Exclusive | LineState::Dirty),
        };
        if hit && self.compute.grant.is_none() {
            if !self.model.cache.is_near(address) {
                if !self.up_to_date() {
                    return Ok(AccessStep::Wait);
                }
                self.find_in_second_level(address, spent);
            }
            self.check_hit(address, kind)?;
            self.core.thread.goes_on();
            self.blame_access(address, size, kind);
            if kind == AccessKind::Write {
                self.note_store(address);
                self.model.cache.change(address, LineState::Dirty);
            }
            return Ok(AccessStep::Go);
        }
        if self.compute.grant.is_none() && !self.up_to_date() {
            return Ok(AccessStep::Wait);
        }
        let grant = self.compute.grant.take();
        if grant.is_none() {
            self.compute.cause = None;
        }
        if address < SHARED_BASE {
            let writable = self.check_unchecked(address, kind)?;
            self.local_miss(address, kind, line, writable, spent);
            return Ok(AccessStep::Go);
        }
        let access = SharedAccess { address, size, kind, value, spent };
        self.reach_shared(&access, grant, Way::Cache(line))
    }

    /// An access to shared memory that nothing before has answered: the page, what handlers have done for it, the tag. `way` has what it
    /// costs.
    pub(super) fn reach_shared(
        &mut self,
        access: &SharedAccess,
        grant: Option<Grant>,
        way: Way,
    ) -> Result<AccessStep, ProgramFault> {
        let &SharedAccess { address, size, kind, value, spent } = access;
        let offset = u64::from(address - SHARED_BASE);
        let block = self.core.block_of(offset);
        if !self.map(offset, spent) || !self.bring_page(offset, spent)? {
            return Ok(AccessStep::Wait);
        }
        if let Some(Grant::Complete(read)) = grant {
            // Where the engine's answer completes the access, it has brought the word.
            if matches!(way, Way::Cache(_)) && !self.model.answers_accesses() {
                self.uncached(address, kind, spent);
            }
            self.blame_access(address, size, kind);
            self.blame_completed(block);
            return Ok(AccessStep::Complete(read));
        }
        if kind == AccessKind::Write {
            self.check_home_writes(offset, block)?;
        }
        let tag = self.tag(block);
        if allows(tag, kind) {
            self.core.thread.goes_on();
            if kind == AccessKind::Write {
                self.note_store(address);
            }
            self.blame_access(address, size, kind);
            match way {
                Way::Cache(line) if grant.is_some() && line != LineState::Absent && self.model.answers_accesses() => {
                    self.take_answer(address, kind);
                }
                Way::Cache(line) => self.local_miss(address, kind, line, tag == Access::Write, spent),
                Way::Library if grant.is_none() => self.check_access(block, kind, true, spent)?,
                // The call that was a miss goes on where it waited.
                Way::Library => {}
            }
            return Ok(AccessStep::Go);
        }
        let line = match way {
            Way::Cache(line) => line,
            Way::Library => {
                self.check_access(block, kind, false, spent)?;
                LineState::Absent
            }
        };
        let size = fit(size, "the size of an access, which is at most 16 bytes");
        self.compute.set_pending(pending(offset, size, value, self.compute.atomic.as_ref()), kind);
        self.fault(block, kind, (tag, line), spent)?;
        Ok(AccessStep::Wait)
    }

    /// An access that the cache allows, but not its first level.
    #[cold]
    fn find_in_second_level(&mut self, address: u32, spent: Spent) {
        let cycles = self.shared.machine.cache.first.as_ref().map_or(0, |first| first.miss);
        let begun = self.compute.clock();
        let what = if address < SHARED_BASE { "private memory" } else { "shared memory" };
        self.note_stall(begun, spent, what, &[(Reason::Memory, "second-level cache", begun + cycles)]);
        self.model.cache.bring_near(address);
        self.stall(cycles, spent);
    }

    /// The engine's answer has brought the line, or the right to store to it, and with it the access is complete.
    fn take_answer(&mut self, address: u32, kind: AccessKind) {
        self.model.cache.bring_near(address);
        if kind == AccessKind::Write {
            self.model.cache.change(address, LineState::Dirty);
        }
    }

    /// The page of an access is looked up, if the TLB does not hold its translation. An access that waits and is tried again finds it
    /// there, since nothing but the program's accesses changes what the TLB holds of pages in memory.
    #[inline]
    pub(crate) fn translate(&mut self, address: u32) {
        let cycles = self.model.translate(&self.shared.machine, address);
        if cycles > 0 {
            let begun = self.compute.clock();
            let what = if address < SHARED_BASE { "private memory" } else { "shared memory" };
            self.note_stall(begun, Spent::Tlb, what, &[(Reason::Translation, "look the page up", begun + cycles)]);
            self.stall(cycles, Spent::Tlb);
        }
    }

    /// An access to private memory, which may be shared: whether a line of it may be stored to. What is in the cache was looked at when
    /// it got there, and leaves when the tag is lowered.
    fn check_unchecked(&mut self, address: u32, kind: AccessKind) -> Result<bool, ProgramFault> {
        let Some(offset) = self.core.parts.offset_of(address) else { return Ok(true) };
        let block = self.core.block_of(offset);
        let tag = self.tag(block);
        self.core.check_unchecked(address, kind, block, tag).map_err(|error| self.fail(error))?;
        Ok(tag == Access::Write)
    }

    /// The tag of a block is lowered: its lines leave the cache, or may be loaded only.
    pub(crate) fn lower_lines(&mut self, block: Object, to: Access) {
        let (offset, bytes) = (self.core.offset_of(block), self.shared.protocols.block);
        self.model.cache.lower(SHARED_BASE + shared_u32(offset), shared_u32(bytes), to == Access::Read);
        if !self.core.parts.is_empty()
            && let Some(private) = self.core.parts.private_of(offset, bytes)
        {
            self.model.cache.lower(private.start, shared_u32(bytes), to == Access::Read);
        }
    }

    /// Golden check: what hits in the cache, the tag must allow: no stale hits.
    fn check_hit(&mut self, address: u32, kind: AccessKind) -> Result<(), ProgramFault> {
        if address < SHARED_BASE {
            return Ok(());
        }
        let block = self.core.block_of(u64::from(address - SHARED_BASE));
        let tag = self.tag(block);
        let allowed = if kind == AccessKind::Read { tag >= Access::Read } else { tag == Access::Write };
        if allowed {
            return Ok(());
        }
        Err(ProgramFault::new(format!(
            "node {}: a stale hit at {address:#x}: the tag of block {} is {tag}",
            self.core.me, block.id
        )))
    }

    /// A store elsewhere than at the home, where a protocol assumes that there is none. No line gets into the cache
    /// exclusively without passing here first.
    pub(super) fn check_home_writes(&mut self, offset: u64, block: Object) -> Result<(), ProgramFault> {
        let Some(protocol) = self.core.protocol_at(offset) else { return Ok(()) };
        if !self.shared.protocols.home_writes[protocol] || self.core.home_of(block) == self.core.me {
            return Ok(());
        }
        let what =
            format!("node {} writes block {}, whose home is node {}", self.core.me, block.id, self.core.home_of(block));
        let help = format!(
            "the protocol `{}` assumes `home_writes`: let each node write its own part only, allocated on that node",
            self.shared.protocols.engines[protocol].protocol().name
        );
        Err(self.fail(NodeError::subject(what).help(help)))
    }

    /// Notes the first store to a block between two barriers, if its protocol assumes that nobody else makes one.
    pub(super) fn note_store(&mut self, address: u32) {
        if address < SHARED_BASE || !self.shared.protocols.any_one_writer {
            return;
        }
        let offset = u64::from(address - SHARED_BASE);
        let protocol = self.core.protocol_at(offset);
        if !protocol.is_some_and(|protocol| self.shared.protocols.one_writer[protocol]) {
            return;
        }
        let (block, phase) = (self.core.block_of(offset).id, self.compute.barriers);
        if block as usize >= self.watched.stored.len() {
            self.watched.stored.resize(block as usize + 64, 0);
        }
        if self.watched.stored[block as usize] != phase + 1 {
            self.watched.stored[block as usize] = phase + 1;
            self.watched.first_stores.push(FirstStore { phase, block, node: self.core.me, time: self.compute.clock() });
            if self.shared.suspect == Some((phase, block)) {
                self.compute.asks = Some(Asks::Store);
            }
        }
    }

    /// A miss that the node's own memory or bus satisfies (Reinhardt, Pfile and Wood 1998: 10 + 28 + 3).
    fn local_miss(&mut self, address: u32, kind: AccessKind, line: LineState, writable: bool, spent: Spent) {
        let begun = self.compute.clock();
        let write = kind == AccessKind::Write;
        if write && line != LineState::Absent {
            let (grant, end) = self.model.upgrade(&self.shared.machine, address, begun);
            return self.missed(address, (begun, grant, end), "invalidate other copies, resume", spent);
        }
        let grant = self.model.fetch(&self.shared.machine, begun);
        let held = match (write, writable) {
            (true, _) => LineState::Dirty,
            (false, true) => LineState::Exclusive,
            (false, false) => LineState::Shared,
        };
        self.make_room(address, begun);
        let end = self.model.fill(&self.shared.machine, address, held, grant);
        self.missed(address, (begun, grant, end), "fetch data, resume", spent);
    }

    /// The node itself has satisfied an access that began, was granted on the bus, and ended at these cycles.
    fn missed(&mut self, address: u32, (begun, grant, end): (u64, u64, u64), what: &'static str, spent: Spent) {
        self.processor_run(begun, &[("unmask CPU, reissue bus transaction", grant), (what, end)]);
        self.note_miss(address, begun, grant, end, spent);
        self.stall(end - begun, spent);
    }

    /// An access past the cache.
    fn uncached(&mut self, address: u32, kind: AccessKind, spent: Spent) {
        let begun = self.compute.clock();
        let transaction = if kind == AccessKind::Read { Transaction::UncachedLoad } else { Transaction::UncachedStore };
        let (grant, end) = self.model.uncached(&self.shared.machine, transaction, begun);
        self.missed(address, (begun, grant, end), "access memory, resume", spent);
    }

    /// Access control stops the access on the bus, and the engine hears of it.
    pub(super) fn fault(
        &mut self,
        block: Object,
        kind: AccessKind,
        found: (Access, LineState),
        spent: Spent,
    ) -> Result<(), ProgramFault> {
        let (tag, line) = found;
        let offset = self.core.offset_of(block);
        let protocol = self.core.protocol_at(offset);
        let Some(protocol) = protocol else {
            return Err(ProgramFault::new(format!(
                "node {}: shared offset {offset:#x} is not allocated",
                self.core.me
            )));
        };
        let event = match kind {
            AccessKind::Read => EventKind::Read,
            AccessKind::Write if self.compute.atomic.is_some() => {
                self.shared.protocols.engines[protocol].event_of_rmw(self.core.is_at_home(block))
            }
            AccessKind::Write => EventKind::Write,
        };
        if self.waits_for_answer(block, spent) {
            return Ok(());
        }
        match (kind, tag) {
            (AccessKind::Read, _) => self.counts.counters.read_faults += 1,
            (AccessKind::Write, Access::Read) => {
                self.counts.counters.write_faults += 1;
                self.counts.counters.upgrades += 1;
            }
            (AccessKind::Write, _) => self.counts.counters.write_faults += 1,
        }
        self.blame_miss(block, kind, tag);
        let begun = self.compute.clock();
        let upgrades = kind == AccessKind::Write && line != LineState::Absent;
        let (grant, trapped) = self.model.abort(&self.shared.machine, upgrades, begun);
        self.compute.trapped = trapped;
        let cause = self.processor_run(begun, &[("detect cache miss, issue bus transaction", grant)]);
        self.blame.iter_mut().for_each(|log| log.faulting = None);
        if self.joins_prefetch(protocol, block) {
            self.counts.counters.prefetches_late += 1;
            self.core.thread.joins(block);
        } else {
            let mut fault = self.local(protocol, event, block);
            (fault.cause, fault.number) = (cause, self.core.thread.asks(Awaited::Access(block)));
            self.raise(grant, Arrival::Local(fault));
        }
        self.wait(Wait::Access(block), spent);
        Ok(())
    }

    /// An access that the node itself satisfied, for a trace.
    fn note_miss(&mut self, address: u32, begun: u64, grant: u64, end: u64, spent: Spent) {
        if self.shared.traced.is_some() {
            let issued = (begun + self.shared.machine.processor.issue).min(grant);
            let what = if address < SHARED_BASE { "private memory" } else { "shared memory" };
            let parts = [
                (Reason::Memory, "detect cache miss, issue bus transaction", issued),
                (Reason::Bus, "wait for the bus", grant),
                (Reason::Memory, "fetch data, resume", end),
            ];
            self.note_stall(begun, spent, what, &parts);
        }
    }

    /// Records work of the processor from cycle `from` on, if what leads to what is recorded.
    #[inline]
    fn processor_run(&mut self, from: u64, parts: &[(&'static str, u64)]) -> Cause {
        if self.recording { self.record_run(from, parts) } else { None }
    }

    fn record_run(&mut self, from: u64, parts: &[(&'static str, u64)]) -> Cause {
        let mut begin = from;
        let mut stretches = Vec::new();
        for &(what, to) in parts {
            stretches.push(Stretch { what: what.into(), reason: Reason::Memory, from: begin, to });
            begin = to;
        }
        let cause = self.compute.cause.take();
        let mut run = Work::new((self.core.me, true), cause, None, from, from, stretches);
        let origin = self.blame.as_ref().and_then(|log| log.faulting).map(|miss| (self.core.me, miss));
        if let Some(run) = Arc::get_mut(&mut run).filter(|_| origin.is_some()) {
            run.origin = origin;
        }
        self.compute.cause = Some((run, begin));
        self.compute.cause.clone()
    }

    /// Ends the program with an error that keeps its parts.
    pub(crate) fn fail(&mut self, error: NodeError) -> ProgramFault {
        let fault = ProgramFault::new(error.what.clone());
        self.failure.get_or_insert(error);
        fault
    }
}
