//! What a program asks of its node's processor: accesses, poll points, calls.

use crate::events::{Arrival, Posted, Signal};
use crate::node::NodeState;
use crate::node::estimate::Estimate;
use crate::node::processor::{Asks, Doing, Wait};
use crate::reports::counters::Spent;
use crate::reports::trace::Note;
use trivium_engine::Args;
use trivium_guest::{
    AccessKind, AccessStep, Call, CallStep, Executed, LoadStore, Placement, Processor, ProgramFault, ReadModifyWrite,
    SHARED_BASE, StackFrame,
};
use trivium_node::{ASKS, Awaited, NodeError, Purpose, Refusal, SplitPhaseStep};
use trivium_protocol::{BLOCK, EventKind, OpId};

/// No program sleeps beyond this cycle: times that are added to it still are numbers.
const LATEST: u64 = 1 << 62;

impl Processor for NodeState {
    fn access(&mut self, executed: Executed, access: LoadStore) -> Result<AccessStep, ProgramFault> {
        self.compute.has_executed(executed);
        if access.addr >= SHARED_BASE {
            self.core.locks.reaches(access.addr);
        }
        let spent = match access.kind {
            AccessKind::Read => Spent::Read,
            AccessKind::Write => Spent::Write,
        };
        self.reach(access.addr, access.size, access.kind, access.value, spent)
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
        match call {
            Call::Node => return Ok(CallStep::Done(i64::from(self.core.me))),
            Call::Nodes => return Ok(CallStep::Done(i64::from(self.shared.protocols.nodes))),
            _ => {}
        }
        if let Some(value) = self.compute.answered.take() {
            return Ok(CallStep::Done(value));
        }
        if std::mem::take(&mut self.compute.released) {
            return Ok(CallStep::Done(0));
        }
        if self.compute.grant.is_none() && !self.up_to_date() {
            return Ok(CallStep::Wait);
        }
        match call {
            Call::ReadModifyWrite(rmw) => return self.read_modify_write(rmw),
            Call::WaitUntilChanged { addr, size, old } => return self.wait_until_changed(*addr, *size, *old),
            _ => self.core.locks.does_something_else(),
        }
        match call {
            Call::Node | Call::Nodes | Call::ReadModifyWrite(_) | Call::WaitUntilChanged { .. } => {
                Ok(CallStep::Done(0))
            }
            Call::Cycles => Ok(CallStep::Done(self.compute.clock().cast_signed())),
            Call::Nanoseconds => Ok(CallStep::Done(self.nanoseconds())),
            Call::Sleep { nanoseconds } => self.sleep(*nanoseconds),
            Call::Alloc { bytes, placement, protocol } => self.allocate(*bytes, *placement, protocol.as_deref()),
            Call::Freeing { addr } => {
                let freeing = self.core.freeing(*addr).map_err(|error| self.fail(error))?;
                Ok(CallStep::Done(freeing.cast_signed()))
            }
            Call::IsHome { addr } => Ok(CallStep::Done(self.core.is_home_of(*addr).into())),
            Call::Free { addr } => {
                let index = self.compute.allocations;
                self.core.free(*addr, index).map_err(|error| self.fail(error))?;
                self.compute.allocations += 1;
                Ok(CallStep::Done(0))
            }
            Call::Bind { addr, protocol } => {
                let binding = self.core.binding(*addr, protocol.as_deref()).map_err(|error| self.fail(error))?;
                Ok(self.arrive(Purpose::Bind(binding)))
            }
            Call::ParallelStart => {
                self.core.check_starts_once().map_err(|error| self.fail(error))?;
                Ok(self.arrive(Purpose::Start))
            }
            Call::Shared { addr, bytes, part } => {
                self.core.share(*addr, *bytes, *part).map_err(|error| self.fail(error))?;
                self.model.cache.lower(*addr, *bytes, false);
                Ok(CallStep::Done(0))
            }
            Call::Name { addr, name } => {
                self.core.name_allocation(*addr, name).map_err(|error| self.fail(error))?;
                Ok(CallStep::Done(0))
            }
            Call::Barrier => Ok(self.arrive(Purpose::Barrier)),
            Call::Prefetch { addr, write } => Ok(self.prefetch(*addr, *write)),
            Call::RegionBegin => {
                self.region_begin();
                Ok(CallStep::Done(0))
            }
            Call::RegionEnd => {
                self.region_end();
                Ok(CallStep::Done(0))
            }
            Call::Print { fd, bytes } => {
                let now = self.compute.clock();
                self.compute.printed.push((now, *fd, bytes.clone()));
                self.takes(bytes.len() as u64);
                Ok(CallStep::Done(0))
            }
            Call::Op { import, args } => {
                let (protocol, op) = self.core.protocols.calls[*import];
                self.op(protocol, op, args.clone())
            }
            Call::SplitPhase { what, addr, bytes, place } => {
                match self.core.split_phase(*what, *addr, *bytes, *place)? {
                    SplitPhaseStep::Known(value) => Ok(CallStep::Done(value)),
                    SplitPhaseStep::Call(protocol, op, words) => self.op(protocol, op, words),
                }
            }
        }
    }
}

impl NodeState {
    fn program_memory(&self) -> Result<trivium_guest::Memory, ProgramFault> {
        match &self.blocks.memory {
            trivium_node::NodeMemory::Program(memory) => Ok(memory.clone()),
            trivium_node::NodeMemory::Plain(_) => Err(ProgramFault::new("atomic operations need a program's memory")),
        }
    }

    /// The processor's clock as a time, at the frequency of the machine.
    fn nanoseconds(&self) -> i64 {
        let picoseconds = u128::from(self.compute.clock()) * 1_000_000 / u128::from(self.shared.machine.processor.mhz);
        i64::try_from(picoseconds / 1000).unwrap_or(i64::MAX)
    }

    /// The program waits until so many nanoseconds have passed, which are rounded up to a cycle; handlers go on.
    fn sleep(&mut self, nanoseconds: u64) -> Result<CallStep, ProgramFault> {
        let cycles = (u128::from(nanoseconds) * u128::from(self.shared.machine.processor.mhz)).div_ceil(1000);
        let end = u128::from(self.compute.clock()) + cycles;
        let Some(end) = u64::try_from(end).ok().filter(|end| *end < LATEST) else {
            let what = format!(
                "node {} sleeps for {nanoseconds} nanoseconds, which is longer than its clock counts",
                self.core.me
            );
            return Err(self.fail(NodeError::subject(what).help("sleep for a shorter time")));
        };
        if cycles == 0 {
            return Ok(CallStep::Done(0));
        }
        self.post(self.core.me, end, Posted::Signal(Signal::Awake));
        self.wait(Wait::Sleep, Spent::Sync);
        Ok(CallStep::Wait)
    }

    fn read_modify_write(&mut self, rmw: &ReadModifyWrite) -> Result<CallStep, ProgramFault> {
        self.core.check_atomic(rmw.addr).map_err(|error| self.fail(error))?;
        self.compute.atomic = Some(*rmw);
        let step = self.reach(rmw.addr, rmw.size, AccessKind::Write, rmw.operand, Spent::Write)?;
        let old = match step {
            AccessStep::Wait => return Ok(CallStep::Wait),
            AccessStep::Go => self.program_memory()?.read_modify_write(rmw)?,
            AccessStep::Complete(old) => old,
        };
        self.compute.atomic = None;
        let now = self.compute.clock();
        self.core.locks.performed(rmw, old, (now, now));
        self.asks_where_it_asks();
        Ok(CallStep::Done(old.cast_signed()))
    }

    /// The program has looked at a word in vain.
    fn has_asked(&mut self, address: u32, value: u64) {
        let now = self.compute.clock();
        self.core.locks.asked(address, value, now);
        // The access by which it looked has come to its end.
        self.tries_anew();
        self.asks_where_it_asks();
    }

    /// Where a program stands that does nothing but ask for a lock is looked at once: where it is cut off depends on how far others have come.
    fn asks_where_it_asks(&mut self) {
        let Some(asking) = self.core.locks.asking() else { return };
        self.shared.asked.set(self.shared.asked.get().max(Some(asking.last)));
        if asking.times == ASKS {
            self.compute.asks.get_or_insert(Asks::Lock);
        }
    }

    /// At the machine's barrier.
    fn arrive(&mut self, purpose: Purpose) -> CallStep {
        self.compute.arrived = Some((self.compute.clock(), purpose));
        self.wait(Wait::Barrier, Spent::Sync);
        CallStep::Wait
    }

    fn allocate(&mut self, bytes: u64, placement: Placement, protocol: Option<&str>) -> Result<CallStep, ProgramFault> {
        let number = self.core.protocol_named(protocol).map_err(|error| self.fail(error))?;
        let index = self.compute.allocations;
        let made = self.core.space.borrow_mut().allocate(self.core.me, index, bytes, placement, number);
        match made {
            Ok(offset) => {
                self.compute.allocations += 1;
                let region = self.core.space.borrow().region_of(offset);
                if let Some(region) = region.filter(|&region| self.core.space.borrow().wants_site(region, self.core.me))
                {
                    self.compute.asks = Some(Asks::Allocation(region));
                }
                if let Some(room) = self.shared.room {
                    let most = Estimate::of(&self.core.space.borrow(), &self.shared);
                    if let Some(error) = most.refused(self.core.me, bytes, room, self.shared.protocols.nodes) {
                        return Err(self.fail(error));
                    }
                }
                Ok(CallStep::Done(i64::from(SHARED_BASE) + offset.cast_signed()))
            }
            Err(error) => Err(self.fail(error)),
        }
    }

    fn wait_until_changed(&mut self, address: u32, size: u32, old: u64) -> Result<CallStep, ProgramFault> {
        let mut step = self.reach(address, size, AccessKind::Read, 0, Spent::Sync)?;
        if step == AccessStep::Complete(old) {
            // A handler has read it, and the block may have been changed or taken away since, when nobody slept.
            self.has_asked(address, old);
            step = self.reach(address, size, AccessKind::Read, 0, Spent::Sync)?;
        }
        let value = match step {
            AccessStep::Wait => return Ok(CallStep::Wait),
            AccessStep::Go => self.program_memory()?.read_word(address, size)?,
            AccessStep::Complete(value) => value,
        };
        if value != old {
            return Ok(CallStep::Done(value.cast_signed()));
        }
        // Nothing outside shared memory is ever changed by another node: this waits for ever, and is reported.
        let block = self.core.block_of(u64::from(address.saturating_sub(SHARED_BASE)));
        self.compute.watches = (address, size);
        self.has_asked(address, old);
        self.wait(Wait::Change(block), Spent::Sync);
        Ok(CallStep::Wait)
    }

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

    fn op(&mut self, protocol: usize, op: OpId, mut words: Vec<i64>) -> Result<CallStep, ProgramFault> {
        let object = self.core.called_object(protocol, op, &mut words)?;
        if object.kind == BLOCK {
            let offset = self.core.offset_of(object);
            if self.polls() || !self.map(offset, Spent::Sync) || !self.bring_page(offset, Spent::Sync)? {
                return Ok(CallStep::Wait);
            }
            self.check_call(protocol, op, object)?;
        }
        self.core.begin_call(protocol, op, object, &mut words).map_err(|refusal| match refusal {
            Refusal::Program(fault) => fault,
            Refusal::Broken(error) => self.fail(error),
        })?;
        // A processor that handles the call itself has its arguments.
        let handed = if self.model.handles_calls() { 0 } else { 1 + words.len() as u64 };
        let handing = self.shared.machine.processor.call_word * handed;
        let from = self.compute.clock();
        if self.shared.traced.is_some() {
            let name = self.core.call_name(protocol, op);
            let parts = [(crate::reports::timeline::Reason::Call, "hand over", from + handing)];
            self.note_stall(from, Spent::Sync, &name, &parts);
        }
        self.stall(handing, Spent::Sync);
        let mut call = self.local(protocol, EventKind::Op(op), object);
        call.event.args = Args::of(&words);
        call.number = self.core.thread.asks(Awaited::Call(protocol));
        let at = self.compute.clock();
        self.raise(at, Arrival::Local(call));
        self.wait(Wait::Call { protocol, op, object }, Spent::Sync);
        Ok(CallStep::Wait)
    }

    /// The program has ended.
    pub(crate) fn finish(&mut self, exit_code: i32) {
        self.core.locks.does_something_else();
        self.region_end();
        self.note_compute(self.compute.clock());
        self.compute.doing = Doing::Finished(exit_code);
    }
}
