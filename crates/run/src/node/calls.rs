//! What a program asks of its node: accesses, poll points, calls.

use super::{Left, NodeState};
use trivium_engine::{Event, Object};
use trivium_guest::{
    AccessStep, Call, CallStep, Executed, LoadStore, Processor, ProgramFault, SHARED_BASE, StackFrame,
};
use trivium_node::{CallHost, NodeError, ProgramAccess, Purpose, Sleep, Wait};
use trivium_protocol::OpId;

impl Processor for NodeState {
    fn shared_memory(&self) -> u64 {
        self.core.protocols.images.bytes()
    }

    fn wants_stack(&self) -> bool {
        self.names.is_some()
    }

    fn stack(&mut self, frames: Vec<StackFrame>) {
        if let Some(region) = self.names.take() {
            self.core.space.borrow_mut().set_site(region, self.core.me, frames);
        }
    }

    fn access(&mut self, executed: Executed, access: LoadStore) -> Result<AccessStep, ProgramFault> {
        self.measured.counts.instructions = executed.instructions;
        if access.addr >= SHARED_BASE {
            self.core.locks.reaches(access.addr);
        }
        let done = self.until_done(|node| match node.reach_for(&ProgramAccess::of(access))? {
            AccessStep::Wait => Ok(None),
            step => Ok(Some(step)),
        });
        Ok(done?.unwrap_or(AccessStep::Wait))
    }

    fn poll(&mut self, Executed { instructions, .. }: Executed) -> Result<AccessStep, ProgramFault> {
        self.measured.counts.instructions = instructions;
        if instructions >= self.polls.next {
            let now = self.poll_point(instructions)?;
            if self.has_had_its_turn(now) {
                return Ok(AccessStep::Wait);
            }
        }
        Ok(AccessStep::Go)
    }

    fn deadline(&self) -> u64 {
        self.polls.next
    }

    fn private_memory(&mut self, bytes: u64) {
        self.measured.private_memory = bytes;
    }

    fn refused_to_write(&mut self, path: &str) {
        self.said.refused_to_write.get_or_insert_with(|| path.to_string());
    }

    fn private_atomic(&mut self, address: u32, function: Option<&str>) {
        self.said.private_atomic.get_or_insert_with(|| (address, function.map(String::from)));
    }

    fn call(&mut self, Executed { instructions, .. }: Executed, call: &Call) -> Result<CallStep, ProgramFault> {
        self.measured.counts.instructions = instructions;
        let done = self.until_done(|node| match trivium_node::call(node, call)? {
            CallStep::Wait => Ok(None),
            step => Ok(Some(step)),
        });
        let done = done?.unwrap_or(CallStep::Wait);
        // What the program has told its engine does not wait until it polls, or waits for what comes of it.
        if self.thread().told.is_some() && done != CallStep::Wait {
            self.handle_call()?;
        }
        Ok(done)
    }
}

impl CallHost for NodeState {
    fn fail(&mut self, error: NodeError) -> ProgramFault {
        let fault = ProgramFault::new(error.diagnostic.message.clone());
        self.leaving.left.get_or_insert(Left::Failed(error));
        fault
    }

    fn waits(&mut self, wait: Wait) {
        self.thread_mut().wait = Some(wait);
    }

    fn reach(&mut self, access: &ProgramAccess) -> Result<AccessStep, ProgramFault> {
        self.reach_for(access)
    }

    fn clock(&mut self) -> u64 {
        self.look_at_clock()
    }

    fn nanoseconds(&mut self) -> u64 {
        self.look_at_clock()
    }

    /// Others have their turn, also if that is for no time at all.
    fn sleep(&mut self, nanoseconds: u64) -> Sleep {
        let end = self.clock().saturating_add(nanoseconds);
        self.waits(Wait::Sleep(end));
        Sleep::Sleeps
    }

    /// At the run's barrier, which may open at once.
    fn arrive(&mut self, purpose: Purpose) {
        self.next_phase();
        self.waits(Wait::Barrier(purpose));
        self.report(0);
    }

    fn can_call(&mut self, _: usize, _: OpId, block: Object) -> Result<bool, ProgramFault> {
        self.map(self.core.offset_of(block))
    }

    fn hand_over(&mut self, protocol: usize, event: &Event, told: Option<OpId>) {
        let number = self.thread_mut().hands_over(protocol, told);
        self.raise(protocol, event, number);
    }

    fn has_allocated(&mut self, region: usize, _: u64) -> Result<(), NodeError> {
        if self.core.space.borrow().wants_site(region, self.core.me) {
            self.names = Some(region);
        }
        Ok(())
    }

    fn has_changed_space(&mut self) {
        if self.core.me != 0 {
            self.tell_of_allocations(0);
        }
    }

    /// A program that only asks executes few instructions; all nodes have the host's time in common.
    fn lock_times(&self) -> (u64, u64) {
        (self.measured.counts.instructions, self.now())
    }

    /// A program that does nothing but ask for a lock runs; node 0 hears of it now and then, which looks whether anything goes on.
    fn may_have_asked(&mut self) {
        if self.core.locks.asking().is_some_and(|asking| asking.times.is_power_of_two()) {
            self.report(0);
        }
    }

    fn has_shared(&mut self, address: u32, bytes: u32) {
        self.forget_private(address, bytes);
    }

    fn prefetch(&mut self, address: u32, write: bool) -> bool {
        self.prefetch_block(address, write);
        true
    }

    fn region(&mut self, begins: bool) {
        let instructions = self.measured.counts.instructions;
        if begins { self.region_begin(instructions) } else { self.region_end(instructions) }
    }

    fn print(&mut self, fd: u32, bytes: &[u8]) {
        let now = self.clock();
        self.said.printed.push((now, fd, bytes.to_vec()));
    }
}
