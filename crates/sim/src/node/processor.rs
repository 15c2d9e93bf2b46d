//! The compute processor: its clock, its cache and bus accesses, and the checks on shared blocks.

use crate::events::Arrival;
use crate::machine::price::Transaction;
use crate::machine::ratio::Ratio;
use crate::node::NodeState;
use crate::node::dispatch::STALE;
use crate::node::watch::FirstStore;
use crate::reports::counters::{Counters, Spent};
use crate::reports::timeline::{Cause, Reason, Stretch, Work, Worker};
use crate::timing::cache::LineState;
use crate::timing::engines::Assembled;
use std::ops::Range;
use std::sync::Arc;
use trivium_diagnostic::Code;
use trivium_engine::Object;
use trivium_guest::{AccessKind, AccessStep, CounterUse, Executed, ProgramFault, SHARED_BASE, StackFrame};
use trivium_node::{
    AccessFor, AccessHost, CallHost, EventNumber, NodeError, NodeSaid, ProgramAccess, Purpose, RUNNING, Stopped,
    Thread, Wait, reach_shared, shared_u32,
};
use trivium_protocol::{Access, OpId};

/// By what way an access comes to shared memory, and with it what it costs.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Past the processor's cache, in which its line is so.
    Cache(LineState),
    /// As a call of the library that checks accesses.
    Library,
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

/// A call of a protocol.
#[derive(Clone, Debug, Default)]
struct LastCall {
    /// The protocol and which of its calls.
    call: Option<(usize, OpId)>,
    words: Vec<i64>,
}

/// The compute processor of a node. What each visit of the node looks at comes first and lies together.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Compute {
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
    /// When it was last back from a call of anything outside of it.
    pub back: u64,
    /// What it has made ready for the call that it has handed over last.
    pub(crate) assembled: Assembled,
    /// Its last call of a protocol, on a machine on which that matters.
    last: LastCall,
    /// Until then it is in the trap of its last aborted access.
    pub trapped: u64,
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
    /// The tag of what it accesses has been looked for, which took until now.
    pub has_found_tag: bool,
    /// It wants to know where the program stands.
    pub asks: Option<Asks>,
    /// Where the program stood when it began to wait, if that is recorded.
    pub waits_at: Vec<StackFrame>,
    /// Where the program stood when it first stored where another node stores too.
    pub stores_at: Vec<StackFrame>,
    /// Where the program stood when it had asked for a lock, and done nothing else, for some time.
    pub asks_at: Vec<StackFrame>,
}

impl Compute {
    /// A processor that has not begun, which takes so many cycles for a unit of its program's work.
    pub fn new(cycles: Ratio) -> Compute {
        Compute {
            cycles,
            executed: Executed::default(),
            computed: 0,
            stalled: 0,
            handled: 0,
            limit: 0,
            waiting_as: Spent::Sync,
            back: 0,
            assembled: Assembled::default(),
            last: LastCall::default(),
            trapped: 0,
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
            has_found_tag: false,
            asks: None,
            waits_at: Vec::new(),
            stores_at: Vec::new(),
            asks_at: Vec::new(),
        }
    }

    /// A call is handed over, with these words.
    pub(crate) fn calls(&mut self, call: (usize, OpId), words: &[i64]) {
        let is_same = self.last.call == Some(call) && self.last.words.len() == words.len();
        let fresh =
            is_same.then(|| words.iter().zip(&self.last.words).filter(|(now, before)| now != before).count() as u64);
        self.last.call = Some(call);
        self.last.words.clear();
        self.last.words.extend_from_slice(words);
        self.assembled = Assembled { cycles: self.clock().saturating_sub(self.back), fresh };
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

    /// What its program has said up to a cycle, that one included.
    pub(crate) fn said(&self, until: u64) -> NodeSaid {
        let printed = self.printed.iter().filter(|(at, ..)| *at <= until).cloned().collect();
        let (private_atomic, refused_to_write) = (self.private_atomic.clone(), self.refused_to_write.clone());
        NodeSaid { printed, private_atomic, refused_to_write, counters: self.counters.clone() }
    }
}

impl NodeState {
    /// The thread that the processor runs.
    #[inline(always)]
    pub(crate) fn thread(&self) -> &Thread {
        &self.core.threads[RUNNING]
    }

    /// The same, to change it.
    #[inline(always)]
    pub(crate) fn thread_mut(&mut self) -> &mut Thread {
        &mut self.core.threads[RUNNING]
    }

    /// Whether the processor must go on before anything else happens on its node.
    #[inline]
    pub(crate) fn must_run(&self) -> bool {
        self.thread().is_running() && self.thread().grant.is_some()
    }

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
        self.thread_mut().wait = Some(wait);
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
        let wait = self.thread_mut().wait.take();
        if let Some(wait) = wait {
            self.note_wait(wait, from..at.max(from), spent, cause);
        }
        if let Some(Wait::Access(_)) = wait {
            self.blame_wait(at.saturating_sub(from));
        }
        let handled = std::mem::take(&mut self.compute.handled);
        self.counts.counters.handler += handled;
        self.compute.stalled += handled;
        self.stall(at.saturating_sub(from + handled), spent);
        self.shared.went_on.set(self.shared.went_on.get().max(at));
    }

    /// The processor itself has run a handler in these cycles. While it waits, they are none of the wait's; when its program
    /// has ended, they are nobody's.
    pub(crate) fn handle(&mut self, cycles: Range<u64>) {
        let took = cycles.end - cycles.start;
        match self.thread().wait {
            None => {
                self.note_compute(cycles.start);
                self.noted.until = cycles.end;
                self.counts.counters.handler += took;
                self.compute.stalled += took;
            }
            Some(Wait::End(_)) => {}
            Some(_) => self.compute.handled += took,
        }
    }

    /// Whether all earlier events of the node have happened, so that a miss or a call may go on.
    pub(crate) fn up_to_date(&self) -> bool {
        self.compute.clock() < self.compute.limit
    }

    /// An access of at most 8 bytes inside an aligned word: a hit, a local miss, or a fault.
    pub(crate) fn reach_for(&mut self, access: &ProgramAccess) -> Result<AccessStep, ProgramFault> {
        let &ProgramAccess { address, size, kind, .. } = access;
        self.translate(address);
        if self.checks.concerns(address) {
            return self.reach_by_library(access);
        }
        let line = self.model.cache.look(address);
        let hit = match kind {
            AccessKind::Read => line != LineState::Absent,
            AccessKind::Write => matches!(line, LineState::Exclusive | LineState::Dirty),
        };
        if hit && self.thread().grant.is_none() {
            if !self.model.cache.is_near(address) {
                if !self.up_to_date() {
                    return Ok(AccessStep::Wait);
                }
                self.find_in_second_level(address, spent_on(access));
            }
            self.check_hit(address, kind)?;
            self.thread_mut().goes_on();
            self.blame_access(address, size, kind);
            if kind == AccessKind::Write {
                self.note_store(address);
                self.model.cache.change(address, LineState::Dirty);
            }
            return Ok(AccessStep::Go);
        }
        if self.thread().grant.is_none() && !self.up_to_date() {
            return Ok(AccessStep::Wait);
        }
        let grant = self.thread_mut().grant.take();
        if grant.is_none() {
            self.compute.cause = None;
            if !std::mem::take(&mut self.compute.has_found_tag) && !self.finds_tag(address, spent_on(access)) {
                self.compute.has_found_tag = true;
                return Ok(AccessStep::Wait);
            }
        }
        if address < SHARED_BASE {
            let writable = self.check_unchecked(address, kind)?;
            self.local_miss(address, kind, line, writable, spent_on(access));
            return Ok(AccessStep::Go);
        }
        reach_shared(self, access, grant, Way::Cache(line))
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

    /// The access control looks up the tag of what the processor's transaction concerns. Whether the access may go on at once: what happened on the
    /// node while the tag was looked for comes first, and then it is tried again.
    fn finds_tag(&mut self, address: u32, spent: Spent) -> bool {
        let Some(offset) = address.checked_sub(SHARED_BASE) else { return true };
        let cycles = self.model.look_tag_up(u64::from(offset));
        if cycles == 0 {
            return true;
        }
        let begun = self.compute.clock();
        self.note_stall(begun, spent, "shared memory", &[(Reason::Translation, "RTLB miss", begun + cycles)]);
        self.stall(cycles, spent);
        self.up_to_date()
    }

    /// An access to private memory, which may be shared: whether a line of it may be stored to. What is in the cache was looked at when
    /// it got there, and leaves when the tag is lowered.
    fn check_unchecked(&mut self, address: u32, kind: AccessKind) -> Result<bool, ProgramFault> {
        let Some(offset) = self.core.parts.offset_of(address) else { return Ok(true) };
        let block = self.core.block_of(offset);
        let tag = self.core.tag(block);
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
        let tag = self.core.tag(block);
        let allowed = if kind == AccessKind::Read { tag >= Access::Read } else { tag == Access::Write };
        if allowed {
            return Ok(());
        }
        let what =
            format!("node {}: a stale hit at {address:#x}: the tag of block {} is {tag}", self.core.me, block.id);
        Err(self.fail(NodeError::subject(Code::Promise, what).help(STALE)))
    }

    /// The address of a line of a block that the cache holds, and with it allows more than the block's tag.
    pub(super) fn stale_line(&self, block: Object) -> Option<u32> {
        let tag = self.core.tags.known(block.id)?;
        let (offset, bytes) = (self.core.offset_of(block), self.shared.protocols.block);
        let shared = SHARED_BASE + shared_u32(offset);
        let private = match self.core.parts.is_empty() {
            true => None,
            false => self.core.parts.private_of(offset, bytes).map(|range| range.start),
        };
        let mut starts = std::iter::once(shared).chain(private);
        starts.find_map(|from| self.model.cache.beyond(from, shared_u32(bytes), tag))
    }

    /// Notes the first store to a block between two barriers, if its protocol assumes that nobody else makes one.
    pub(super) fn note_store(&mut self, address: u32) {
        if address < SHARED_BASE || !self.shared.protocols.any_one_writer {
            return;
        }
        let (block, phase) = (self.core.block_of(u64::from(address - SHARED_BASE)), self.compute.barriers);
        if self.core.is_first_store(block, phase) {
            let block = block.id;
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
        let mut run = Work::new((self.core.me, Worker::Processor), cause, None, from, from, stretches);
        let origin = self.blame.as_ref().and_then(|log| log.faulting).map(|miss| (self.core.me, miss));
        if let Some(run) = Arc::get_mut(&mut run).filter(|_| origin.is_some()) {
            run.origin = origin;
        }
        self.compute.cause = Some((run, begin));
        self.compute.cause.clone()
    }
}

/// On what the time of an access is spent.
pub(super) fn spent_on(access: &ProgramAccess) -> Spent {
    match (access.purpose, access.kind) {
        (AccessFor::Change, _) => Spent::Sync,
        (AccessFor::Itself, AccessKind::Read) => Spent::Read,
        (AccessFor::Itself, AccessKind::Write) => Spent::Write,
    }
}

impl AccessHost for NodeState {
    type Way = Way;

    fn may_use(&mut self, offset: u64, access: &ProgramAccess) -> Result<bool, ProgramFault> {
        let spent = spent_on(access);
        Ok(self.map(offset, spent) && self.bring_page(offset, spent)?)
    }

    fn is_complete(&mut self, access: &ProgramAccess, block: Object, way: Way) {
        let &ProgramAccess { address, size, kind, .. } = access;
        // Where the engine's answer completes the access, it has brought the word.
        if matches!(way, Way::Cache(_)) && !self.model.answers_accesses() {
            self.uncached(address, kind, spent_on(access));
        }
        self.blame_access(address, size, kind);
        self.blame_completed(block);
    }

    fn happens(
        &mut self,
        access: &ProgramAccess,
        (block, tag): (Object, Access),
        was_granted: bool,
        way: Way,
    ) -> Result<(), ProgramFault> {
        let (&ProgramAccess { address, size, kind, .. }, spent) = (access, spent_on(access));
        if kind == AccessKind::Write {
            self.note_store(address);
        }
        self.blame_access(address, size, kind);
        match way {
            Way::Cache(line) if was_granted && line != LineState::Absent && self.model.answers_accesses() => {
                self.take_answer(address, kind);
            }
            Way::Cache(line) => self.local_miss(address, kind, line, tag == Access::Write, spent),
            Way::Library if !was_granted => self.check_access(block, kind, true, spent)?,
            // The call that was a miss goes on where it waited.
            Way::Library => {}
        }
        Ok(())
    }

    fn is_stopped(&mut self, access: &ProgramAccess, block: Object, way: Way) -> Result<(), ProgramFault> {
        match way {
            Way::Cache(_) => Ok(()),
            Way::Library => self.check_access(block, access.kind, false, spent_on(access)),
        }
    }

    fn may_ask(&mut self, block: Object, access: &ProgramAccess) -> bool {
        !self.waits_for_answer(block, spent_on(access))
    }

    fn is_prefetched(&self, block: Object) -> bool {
        self.has_prefetched(block)
    }

    /// Access control stops the access on the bus, and the engine hears of it.
    fn asks(&mut self, stopped: &Stopped, number: Option<EventNumber>, access: &ProgramAccess, way: Way) {
        let (&Stopped { block, object, protocol, event, tag }, kind) = (stopped, access.kind);
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
        let upgrades = kind == AccessKind::Write && !matches!(way, Way::Cache(LineState::Absent) | Way::Library);
        let (grant, trapped) = self.model.abort(&self.shared.machine, upgrades, begun);
        self.compute.trapped = trapped;
        let cause = self.processor_run(begun, &[("detect cache miss, issue bus transaction", grant)]);
        self.blame.iter_mut().for_each(|log| log.faulting = None);
        match number {
            None => self.counts.counters.prefetches_late += 1,
            Some(number) => {
                let mut fault = self.local(protocol, event, object);
                (fault.cause, fault.number) = (cause, number);
                self.raise(grant, Arrival::Local(fault));
            }
        }
        self.wait(Wait::Access(block), spent_on(access));
    }
}
