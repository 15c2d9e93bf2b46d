//! What a program asks of its node's processor: accesses, poll points, calls.

use crate::events::{Arrival, Posted, Signal};
use crate::node::NodeState;
use crate::node::estimate::Estimate;
use crate::node::processor::Asks;
use crate::reports::counters::Spent;
use crate::reports::trace::Note;
use trivium_engine::{Event, Object};
use trivium_guest::{
    AccessStep, Call, CallStep, Executed, LoadStore, Processor, ProgramFault, SHARED_BASE, StackFrame,
};
use trivium_node::{ASKS, CallHost, NodeError, ProgramAccess, Purpose, Sleep, Wait};
use trivium_protocol::{EventKind, OpId};

/// No program sleeps beyond this cycle: times that are added to it still are numbers.
const LATEST: u64 = 1 << 62;

impl Processor for NodeState {
    fn shared_memory(&self) -> u64 {
        self.core.protocols.images.bytes()
    }

    fn access(&mut self, executed: Executed, access: LoadStore) -> Result<AccessStep, ProgramFault> {
        self.compute.has_executed(executed);
        if access.addr >= SHARED_BASE {
            self.core.locks.reaches(access.addr);
        }
        self.reach_for(&ProgramAccess::of(access))
    }

    fn poll(&mut self, executed: Executed) -> Result<AccessStep, ProgramFault> {
        self.compute.has_executed(executed);
        Ok(if self.up_to_date() { AccessStep::Go } else { AccessStep::Wait })
    }

    fn is_astray(&mut self, executed: Executed, addr: u32) {
        self.compute.has_executed(executed);
        self.translate(addr);
    }

    fn has_looked_up(&mut self, misses: u64) {
        let miss = self.shared.machine.tlb.as_ref().map_or(0, |tlb| tlb.miss);
        self.stall(misses * miss, Spent::Tlb);
    }

    fn deadline(&self) -> u64 {
        self.compute.deadline()
    }

    fn wants_stack(&self) -> bool {
        self.compute.asks.is_some()
    }

    fn stack(&mut self, frames: Vec<StackFrame>) {
        match self.compute.asks.take() {
            Some(Asks::Allocation(region)) => self.core.space.borrow_mut().set_site(region, self.core.me, frames),
            Some(Asks::Wait) => {
                self.blame_site(&frames);
                self.compute.waits_at = frames;
            }
            Some(Asks::Store) => self.compute.stores_at = frames,
            Some(Asks::Lock) => self.compute.asks_at = frames,
            None => {}
        }
    }

    fn private_memory(&mut self, bytes: u64) {
        self.compute.private_memory = bytes;
    }

    fn refused_to_write(&mut self, path: &str) {
        self.compute.refused_to_write.get_or_insert_with(|| path.to_string());
    }

    fn takes(&mut self, bytes: u64) {
        self.shared.taken.set(self.shared.taken.get().saturating_add(bytes));
        if self.shared.much_is_taken() {
            // So that it does not run far before somebody looks.
            self.compute.limit = self.compute.limit.min(self.compute.clock());
        }
    }

    fn private_atomic(&mut self, address: u32, function: Option<&str>) {
        self.compute.private_atomic.get_or_insert_with(|| (address, function.map(String::from)));
    }

    fn call(&mut self, executed: Executed, call: &Call) -> Result<CallStep, ProgramFault> {
        self.compute.has_executed(executed);
        let step = trivium_node::call(self, call)?;
        if !matches!(step, CallStep::Wait) {
            self.compute.back = self.compute.clock();
        }
        Ok(step)
    }
}

impl CallHost for NodeState {
    fn may_call(&mut self) -> bool {
        self.thread().grant.is_some() || self.up_to_date()
    }

    fn fail(&mut self, error: NodeError) -> ProgramFault {
        let fault = ProgramFault::new(error.diagnostic.message.clone());
        self.failure.get_or_insert(error);
        fault
    }

    fn waits(&mut self, wait: Wait) {
        self.wait(wait, Spent::Sync);
    }

    fn reach(&mut self, access: &ProgramAccess) -> Result<AccessStep, ProgramFault> {
        self.reach_for(access)
    }

    fn clock(&mut self) -> u64 {
        self.compute.clock()
    }

    /// The processor's clock as a time, at the frequency of the machine.
    fn nanoseconds(&mut self) -> u64 {
        let picoseconds = u128::from(self.compute.clock()) * 1_000_000 / u128::from(self.shared.machine.processor.mhz);
        u64::try_from(picoseconds / 1000).unwrap_or(u64::MAX)
    }

    /// Until so many nanoseconds have passed, which are rounded up to a cycle; handlers go on.
    fn sleep(&mut self, nanoseconds: u64) -> Sleep {
        let cycles = (u128::from(nanoseconds) * u128::from(self.shared.machine.processor.mhz)).div_ceil(1000);
        let end = u128::from(self.compute.clock()) + cycles;
        let Some(end) = u64::try_from(end).ok().filter(|end| *end < LATEST) else { return Sleep::TooLong };
        if cycles == 0 {
            return Sleep::IsOver;
        }
        self.post(self.core.me, end, Posted::Signal(Signal::Awake));
        self.wait(Wait::Sleep(end), Spent::Sync);
        Sleep::Sleeps
    }

    /// At the machine's barrier.
    fn arrive(&mut self, purpose: Purpose) {
        self.compute.arrived = Some((self.compute.clock(), purpose));
        self.wait(Wait::Barrier(purpose), Spent::Sync);
    }

    fn can_call(&mut self, protocol: usize, op: OpId, block: Object) -> Result<bool, ProgramFault> {
        let offset = self.core.offset_of(block);
        if self.polls() || !self.map(offset, Spent::Sync) || !self.bring_page(offset, Spent::Sync)? {
            return Ok(false);
        }
        self.check_call(protocol, op, block)?;
        Ok(true)
    }

    fn hand_over(&mut self, protocol: usize, event: &Event, told: Option<OpId>) {
        // A processor that handles the call itself has its arguments.
        let handed = if self.model.handles_calls() { 0 } else { 1 + event.args.words().len() as u64 };
        let handing = self.shared.machine.processor.call_word * handed;
        let from = self.compute.clock();
        if self.shared.machine.slots.is_some()
            && let EventKind::Op(op) = event.kind
        {
            self.compute.calls((protocol, op), event.args.words());
        }
        if self.shared.traced.is_some()
            && let EventKind::Op(op) = event.kind
        {
            let name = self.core.protocols.call_name(protocol, op).to_string();
            let parts = [(crate::reports::timeline::Reason::Call, "hand over", from + handing)];
            self.note_stall(from, Spent::Sync, &name, &parts);
        }
        self.stall(handing, Spent::Sync);
        let mut call = self.local(protocol, event.kind, event.object);
        call.event.args = event.args;
        call.number = self.thread_mut().hands_over(protocol, told);
        let processor = &self.shared.machine.processor;
        let way = if processor.call_issues && handed > 0 { processor.issue } else { 0 };
        let at = self.compute.clock() + way;
        self.raise(at, Arrival::Local(call));
        if told.is_some() {
            // It goes on, but no farther than to what its own engine does with that.
            self.compute.limit = self.compute.limit.min(at);
        }
    }

    fn has_allocated(&mut self, region: usize, bytes: u64) -> Result<(), NodeError> {
        if self.core.space.borrow().wants_site(region, self.core.me) {
            self.compute.asks = Some(Asks::Allocation(region));
        }
        let Some(room) = self.shared.room else { return Ok(()) };
        let most = Estimate::of(&self.core.space.borrow(), &self.shared);
        most.refused(self.core.me, bytes, room, self.shared.protocols.nodes).map_or(Ok(()), Err)
    }

    fn lock_times(&self) -> (u64, u64) {
        (self.compute.clock(), self.compute.clock())
    }

    /// The access by which it looked has come to its end.
    fn has_looked(&mut self) {
        self.tries_anew();
    }

    /// Where a program stands that does nothing but ask for a lock is looked at once: where it is cut off depends on how far others have come.
    fn may_have_asked(&mut self) {
        let Some(asking) = self.core.locks.asking() else { return };
        self.shared.asked.set(self.shared.asked.get().max(Some(asking.last)));
        if asking.times == ASKS {
            self.compute.asks.get_or_insert(Asks::Lock);
        }
    }

    fn has_shared(&mut self, address: u32, bytes: u32) {
        self.model.cache.lower(address, bytes, false);
    }

    fn prefetch(&mut self, address: u32, write: bool) -> bool {
        self.prefetch_block(address, write)
    }

    fn region(&mut self, begins: bool) {
        if begins { self.region_begin() } else { self.region_end() }
    }

    fn print(&mut self, fd: u32, bytes: &[u8]) {
        let now = self.compute.clock();
        self.compute.printed.push((now, fd, bytes.to_vec()));
        self.takes(bytes.len() as u64);
    }
}

impl NodeState {
    fn region_begin(&mut self) {
        if self.compute.region.is_none() {
            let now = self.counted();
            let begun = self.compute.region_span.map_or(now.cycles, |span| span.0);
            self.compute.region_span = Some((begun, now.cycles));
            self.note(Note::Region { node: self.core.me, cycle: now.cycles, begins: true });
            self.compute.region = Some(Box::new(now));
        }
    }

    /// The region of interest ends here, as it does where the program ends.
    pub(crate) fn region_end(&mut self) {
        if let Some(begun) = self.compute.region.take() {
            let now = self.counted();
            let more = now.since(&begun);
            self.compute.regions = Some(Box::new(self.compute.regions.take().unwrap_or_default().plus(&more)));
            self.compute.region_span = self.compute.region_span.map(|span| (span.0, now.cycles));
            self.note(Note::Region { node: self.core.me, cycle: now.cycles, begins: false });
        }
    }

    /// The program has ended.
    pub(crate) fn finish(&mut self, exit_code: i32) {
        self.core.locks.does_something_else();
        self.region_end();
        self.note_compute(self.compute.clock());
        self.thread_mut().wait = Some(Wait::End(exit_code));
    }
}
