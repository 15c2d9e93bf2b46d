//! What a program asks of its node: accesses, poll points, calls.

use super::sharing::{Halt, step};
use super::{NodeState, Wait};
use trivium_engine::{Args, Event};
use trivium_guest::{
    AccessKind, AccessStep, Call, CallStep, Executed, LoadStore, Placement, Processor, ProgramFault, ReadModifyWrite,
    SHARED_BASE, StackFrame,
};
use trivium_node::{Awaited, NodeError, NodeMemory, Purpose, Refusal, SplitPhaseStep};
use trivium_protocol::{BLOCK, EventKind, OpId};

impl Processor for NodeState {
    fn wants_stack(&self) -> bool {
        self.names.is_some()
    }

    fn stack(&mut self, frames: Vec<StackFrame>) {
        if let Some(region) = self.names.take() {
            self.core.space.borrow_mut().set_site(region, self.core.me, frames);
        }
    }

    fn access(&mut self, executed: Executed, access: LoadStore) -> Result<AccessStep, ProgramFault> {
        self.counts.instructions = executed.instructions;
        if access.addr >= SHARED_BASE {
            self.core.locks.reaches(access.addr);
        }
        step(self.reach(access.addr, access.size, access.kind, access.value), AccessStep::Wait)
    }

    fn poll(&mut self, Executed { instructions, .. }: Executed) -> Result<AccessStep, ProgramFault> {
        self.counts.instructions = instructions;
        if instructions >= self.next_poll {
            let now = self.poll_point(instructions)?;
            if self.has_had_its_turn(now) {
                return Ok(AccessStep::Wait);
            }
        }
        Ok(AccessStep::Go)
    }

    fn deadline(&self) -> u64 {
        self.next_poll
    }

    fn private_memory(&mut self, bytes: u64) {
        self.private_memory = bytes;
    }

    fn refused_to_write(&mut self, path: &str) {
        self.said.refused_to_write.get_or_insert_with(|| path.to_string());
    }

    fn private_atomic(&mut self, address: u32, function: Option<&str>) {
        self.said.private_atomic.get_or_insert_with(|| (address, function.map(String::from)));
    }

    fn call(&mut self, Executed { instructions, .. }: Executed, call: &Call) -> Result<CallStep, ProgramFault> {
        self.counts.instructions = instructions;
        step(self.perform_call(instructions, call).map(CallStep::Done), CallStep::Wait)
    }
}

impl NodeState {
    /// Does what a call asks for. Where the program waits meanwhile and has to return to its thread, it makes the same call again when it goes on.
    fn perform_call(&mut self, instructions: u64, call: &Call) -> Result<i64, Halt> {
        if !matches!(call, Call::Node | Call::Nodes | Call::ReadModifyWrite(_) | Call::WaitUntilChanged { .. }) {
            self.core.locks.does_something_else();
        }
        Ok(match call {
            Call::Node => i64::from(self.core.me),
            Call::Nodes => i64::from(self.core.protocols.nodes),
            Call::Cycles | Call::Nanoseconds => i64::try_from(self.clock()).unwrap_or(i64::MAX),
            Call::Sleep { nanoseconds } => {
                let end = if self.waits_for_more() { 0 } else { self.clock().saturating_add(*nanoseconds) };
                self.wait(Wait::Sleep(end))?;
                0
            }
            Call::Alloc { bytes, placement, protocol } => self.allocate(*bytes, *placement, protocol.as_deref())?,
            Call::Freeing { addr } => {
                let freeing = self.core.freeing(*addr).map_err(|error| self.fail(error))?;
                freeing.cast_signed()
            }
            Call::IsHome { addr } => self.core.is_home_of(*addr).into(),
            Call::Free { addr } => {
                let index = self.allocations;
                self.core.free(*addr, index).map_err(|error| self.fail(error))?;
                self.has_called();
                0
            }
            Call::Bind { addr, protocol } => {
                let binding = self.core.binding(*addr, protocol.as_deref()).map_err(|error| self.fail(error))?;
                self.arrive(Purpose::Bind(binding))?
            }
            Call::ParallelStart if self.waits_for_more() => self.arrive(Purpose::Start)?,
            Call::ParallelStart => {
                self.core.check_starts_once().map_err(|error| self.fail(error))?;
                self.arrive(Purpose::Start)?
            }
            Call::Shared { addr, bytes, part } => {
                self.core.share(*addr, *bytes, *part).map_err(|error| self.fail(error))?;
                self.forget_private(*addr, *bytes);
                0
            }
            Call::Name { addr, name } => {
                self.core.name_allocation(*addr, name).map_err(|error| self.fail(error))?;
                0
            }
            Call::Barrier => self.arrive(Purpose::Barrier)?,
            Call::ReadModifyWrite(rmw) => self.read_modify_write(rmw)?,
            Call::Prefetch { addr, write } => {
                self.prefetch(*addr, *write, instructions);
                0
            }
            Call::WaitUntilChanged { addr, size, old } => self.wait_until_changed(*addr, *size, *old)?,
            Call::RegionBegin => {
                self.region_begin(instructions);
                0
            }
            Call::RegionEnd => {
                self.region_end(instructions);
                0
            }
            Call::Print { fd, bytes } => {
                let now = self.clock();
                self.said.printed.push((now, *fd, bytes.clone()));
                0
            }
            Call::Op { import, args } => {
                let (protocol, op) = self.core.protocols.calls[*import];
                self.op(protocol, op, args.clone())?
            }
            Call::SplitPhase { what, addr, bytes, place } => {
                match self.core.split_phase(*what, *addr, *bytes, *place)? {
                    SplitPhaseStep::Known(value) => value,
                    SplitPhaseStep::Call(protocol, op, words) => self.op(protocol, op, words)?,
                }
            }
        })
    }

    fn program_memory(&self) -> Result<trivium_guest::Memory, ProgramFault> {
        match &self.memory {
            NodeMemory::Program(memory) => Ok(memory.clone()),
            NodeMemory::Plain(_) => Err(ProgramFault::new("atomic operations need a program's memory")),
        }
    }

    fn read_modify_write(&mut self, rmw: &ReadModifyWrite) -> Result<i64, Halt> {
        self.core.check_atomic(rmw.addr).map_err(|error| self.fail(error))?;
        self.atomic = Some(*rmw);
        let step = self.reach(rmw.addr, rmw.size, AccessKind::Write, rmw.operand)?;
        self.atomic = None;
        let old = match step {
            AccessStep::Complete(old) => old,
            _ => self.program_memory()?.read_modify_write(rmw)?,
        };
        let (asked, taken) = (self.counts.instructions, self.now());
        self.core.locks.performed(rmw, old, (asked, taken));
        self.tell_that_it_asks();
        Ok(old.cast_signed())
    }

    /// The program has looked at a word in vain.
    fn has_asked(&mut self, address: u32, value: u64) {
        let now = self.counts.instructions;
        self.core.locks.asked(address, value, now);
        self.tell_that_it_asks();
    }

    /// A program that does nothing but ask for a lock runs; node 0 hears of it now and then, which looks whether anything goes on.
    fn tell_that_it_asks(&mut self) {
        if self.core.locks.asking().is_some_and(|asking| asking.times.is_power_of_two()) {
            self.report(0);
        }
    }

    /// At the run's barrier.
    fn arrive(&mut self, purpose: Purpose) -> Result<i64, Halt> {
        if self.waits_for_more() {
            self.wait(Wait::Barrier(purpose))?;
            return Ok(0);
        }
        self.next_phase();
        self.doing = super::Doing::Waiting(Wait::Barrier(purpose));
        self.report(0);
        if !self.is_running() {
            self.wait(Wait::Barrier(purpose))?;
        }
        Ok(0)
    }

    fn allocate(&mut self, bytes: u64, placement: Placement, protocol: Option<&str>) -> Result<i64, ProgramFault> {
        let number = self.core.protocol_named(protocol).map_err(|error| self.fail(error))?;
        let index = self.allocations;
        let made = self.core.space.borrow_mut().allocate(self.core.me, index, bytes, placement, number);
        let offset = made.map_err(|error| self.fail(error))?;
        self.has_called();
        let region = self.core.space.borrow().region_of(offset);
        if let Some(region) = region.filter(|&region| self.core.space.borrow().wants_site(region, self.core.me)) {
            self.names = Some(region);
        }
        Ok(i64::from(SHARED_BASE) + offset.cast_signed())
    }

    /// The program has allocated, or given back.
    fn has_called(&mut self) {
        self.allocations += 1;
        if self.core.me != 0 {
            self.tell_of_allocations(0);
        }
    }

    fn wait_until_changed(&mut self, address: u32, size: u32, old: u64) -> Result<i64, Halt> {
        // Nothing outside shared memory is ever changed by another node: this waits for ever, and is reported.
        let block = self.core.block_of(u64::from(address.saturating_sub(SHARED_BASE)));
        if self.waits_for_more() {
            self.wait(Wait::Change(block, address, size))?;
        }
        loop {
            let value = match self.reach(address, size, AccessKind::Read, 0)? {
                // A handler has read it, and this node may have no copy by now of whose changes it would be told.
                AccessStep::Complete(value) if value == old => {
                    self.has_asked(address, old);
                    continue;
                }
                AccessStep::Complete(value) => value,
                _ => self.program_memory()?.read_word(address, size)?,
            };
            if value != old {
                return Ok(value.cast_signed());
            }
            self.has_asked(address, old);
            self.wait(Wait::Change(block, address, size))?;
        }
    }

    fn op(&mut self, protocol: usize, op: OpId, mut words: Vec<i64>) -> Result<i64, Halt> {
        let object = self.core.called_object(protocol, op, &mut words)?;
        if object.kind == BLOCK {
            self.map(self.core.offset_of(object))?;
        }
        if !self.waits_for_more() {
            self.core.begin_call(protocol, op, object, &mut words).map_err(|refusal| match refusal {
                Refusal::Program(fault) => fault,
                Refusal::Broken(error) => self.fail(error),
            })?;
            let event = Event { args: Args::of(&words), ..Event::local(EventKind::Op(op), object, 0) };
            let number = self.core.thread.asks(Awaited::Call(protocol));
            self.raise(protocol, &event, number);
        }
        self.wait(Wait::Call { protocol, op, object })?;
        let what = || self.core.call_name(protocol, op);
        match self.answered.take() {
            Some(value) => Ok(value),
            None => {
                let what = format!("node {}: {} has returned without an answer", self.core.me, what());
                Err(self.fail(NodeError::subject(what)).into())
            }
        }
    }
}
