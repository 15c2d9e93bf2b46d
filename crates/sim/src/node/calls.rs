//! What a program asks of its node's processor: accesses, poll points, calls.

use crate::error::SimError;
use crate::events::{Arrival, Posted, Signal};
use crate::machine::load::nearest;
use crate::node::NodeState;
use crate::node::estimate::Estimate;
use crate::node::processor::{Asks, Doing, Wait};
use crate::node::usage::broken_condition;
use crate::reports::counters::Spent;
use crate::reports::trace::Note;
use crate::store::binding::Binding;
use trivium_engine::{Args, MAX_ARGS, Object};
use trivium_guest::{
    Access, AccessKind, Call, CallStep, Fault, Frame, Placement, Processor, ReadModifyWrite, SHARED_BASE, Step,
};
use trivium_lang::protocol::{BLOCK, EventKind, NODE, Type};

/// No program sleeps beyond this cycle: times that are added to it still are numbers.
const LATEST: u64 = 1 << 62;

/// Why a protocol has no answer to atomic operations.
pub(crate) fn refused_atomic(protocol: &str, handler: &str) -> String {
    format!(
        "which protocol `{protocol}` cannot answer: its handler `{handler}` looks at the value that is about to be stored, and an atomic operation has none before it is performed"
    )
}

/// What to do about it.
pub(crate) const ATOMIC_HELP: &str = "use a protocol whose `on write` does not name the stored value, or a lock and barriers that are calls of a protocol";

impl Processor for NodeState {
    fn access(&mut self, instructions: u64, access: Access) -> Result<Step, Fault> {
        self.compute.has_executed(instructions);
        let spent = match access.kind {
            AccessKind::Read => Spent::Read,
            AccessKind::Write => Spent::Write,
        };
        self.reach(access.addr, access.size, access.kind, access.value, spent)
    }

    fn poll(&mut self, instructions: u64) -> Result<Step, Fault> {
        self.compute.has_executed(instructions);
        Ok(if self.up_to_date() { Step::Go } else { Step::Wait })
    }

    fn deadline(&self) -> u64 {
        self.compute.deadline()
    }

    fn wants_stack(&self) -> bool {
        self.compute.asks.is_some()
    }

    fn stack(&mut self, frames: Vec<Frame>) {
        match self.compute.asks.take() {
            Some(Asks::Allocation(region)) => self.blocks.space.borrow_mut().set_site(region, self.me, frames),
            Some(Asks::Wait) => {
                self.blame_site(&frames);
                self.compute.waits_at = frames;
            }
            Some(Asks::Store) => self.compute.stores_at = frames,
            None => {}
        }
    }

    fn private_memory(&mut self, bytes: u64) {
        self.compute.private_memory = bytes;
    }

    fn private_atomic(&mut self, address: u32, function: Option<&str>) {
        self.compute.private_atomic.get_or_insert_with(|| (address, function.map(String::from)));
    }

    fn call(&mut self, instructions: u64, call: &Call) -> Result<CallStep, Fault> {
        self.compute.has_executed(instructions);
        match call {
            Call::Node => return Ok(CallStep::Done(i64::from(self.me))),
            Call::Nodes => return Ok(CallStep::Done(i64::from(self.shared.nodes))),
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
            Call::Node | Call::Nodes => Ok(CallStep::Done(0)),
            Call::Cycles => Ok(CallStep::Done(self.compute.clock().cast_signed())),
            Call::Nanoseconds => Ok(CallStep::Done(self.nanoseconds())),
            Call::Sleep { nanoseconds } => self.sleep(*nanoseconds),
            Call::Alloc { bytes, placement, protocol } => self.allocate(*bytes, *placement, protocol.as_deref()),
            Call::Bind { addr, protocol } => {
                let binding = self.binding(*addr, protocol.as_deref())?;
                Ok(self.arrive(Some(binding)))
            }
            Call::Name { addr, name } => self.name_allocation(*addr, name),
            Call::Barrier => Ok(self.arrive(None)),
            Call::ReadModifyWrite(rmw) => self.read_modify_write(rmw),
            Call::WaitUntilChanged { addr, size, old } => self.wait_until_changed(*addr, *size, *old),
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
                Ok(CallStep::Done(0))
            }
            Call::Op { import, args } => self.op(*import, args),
        }
    }
}

impl NodeState {
    fn program_memory(&self) -> Result<trivium_guest::Memory, Fault> {
        match &self.blocks.memory {
            crate::node::memory::NodeMemory::Program(memory) => Ok(memory.clone()),
            crate::node::memory::NodeMemory::Plain(_) => Err(Fault::new("atomic operations need a program's memory")),
        }
    }

    /// The processor's clock as a time, at the frequency of the machine.
    fn nanoseconds(&self) -> i64 {
        let picoseconds = u128::from(self.compute.clock()) * 1_000_000 / u128::from(self.shared.machine.processor.mhz);
        i64::try_from(picoseconds / 1000).unwrap_or(i64::MAX)
    }

    /// The program waits until so many nanoseconds have passed, which are rounded up to a cycle; handlers go on.
    fn sleep(&mut self, nanoseconds: u64) -> Result<CallStep, Fault> {
        let cycles = (u128::from(nanoseconds) * u128::from(self.shared.machine.processor.mhz)).div_ceil(1000);
        let end = u128::from(self.compute.clock()) + cycles;
        let Some(end) = u64::try_from(end).ok().filter(|end| *end < LATEST) else {
            let what =
                format!("node {} sleeps for {nanoseconds} nanoseconds, which is longer than its clock counts", self.me);
            return Err(self.fail(SimError::subject(what).help("sleep for a shorter time")));
        };
        if cycles == 0 {
            return Ok(CallStep::Done(0));
        }
        self.post(self.me, end, Posted::Signal(Signal::Awake));
        self.wait(Wait::Sleep, Spent::Sync);
        Ok(CallStep::Wait)
    }

    fn read_modify_write(&mut self, rmw: &ReadModifyWrite) -> Result<CallStep, Fault> {
        self.check_atomic(rmw.addr)?;
        self.compute.atomic = Some(*rmw);
        let step = self.reach(rmw.addr, rmw.size, AccessKind::Write, rmw.operand, Spent::Write)?;
        let old = match step {
            Step::Wait => return Ok(CallStep::Wait),
            Step::Go => self.program_memory()?.read_modify_write(rmw)?,
            Step::Complete(old) => old,
        };
        self.compute.atomic = None;
        Ok(CallStep::Done(old.cast_signed()))
    }

    /// A read-modify-write stores what nobody knows before it is performed: a protocol that looks at what is about to be
    /// stored would send on the operand instead.
    fn check_atomic(&mut self, address: u32) -> Result<(), Fault> {
        let offset = address.checked_sub(SHARED_BASE);
        let protocol = offset.and_then(|offset| self.protocol_at(offset.into()));
        match protocol.and_then(|protocol| self.shared.looks_at_stores[protocol].as_ref()) {
            None => Ok(()),
            Some(handler) => {
                let name = &self.shared.engines[protocol.unwrap_or(0)].protocol().name;
                let what =
                    format!("node {}: an atomic operation at {address:#x}, {}", self.me, refused_atomic(name, handler));
                Err(self.fail(SimError::subject(what).help(ATOMIC_HELP)))
            }
        }
    }

    /// At the machine's barrier, on the way to another binding if there is one.
    fn arrive(&mut self, binding: Option<Binding>) -> CallStep {
        self.compute.arrived = Some((self.compute.clock(), binding));
        self.wait(Wait::Barrier, Spent::Sync);
        CallStep::Wait
    }

    /// The protocol of memory that a program names, or the default one.
    fn protocol_named(&mut self, protocol: Option<&str>) -> Result<usize, Fault> {
        let number = match protocol {
            None => 0,
            Some(name) => match self.shared.engines.iter().position(|engine| engine.protocol().name == name) {
                Some(number) => number,
                None => {
                    let error = self.no_such_protocol(name);
                    return Err(self.fail(error));
                }
            },
        };
        let engine = &self.shared.engines[number];
        if !engine.protocol().uses(BLOCK) {
            let error = SimError::subject(format!(
                "node {} asks for memory under protocol `{}`, which is not about blocks",
                self.me,
                engine.protocol().name
            ))
            .help("name the protocol of shared memory first: --protocol stache");
            return Err(self.fail(error));
        }
        Ok(number)
    }

    fn binding(&mut self, address: u32, protocol: Option<&str>) -> Result<Binding, Fault> {
        let protocol = self.protocol_named(protocol)?;
        let region =
            address.checked_sub(SHARED_BASE).and_then(|offset| self.blocks.space.borrow().region_at(offset.into()));
        match region {
            Some(region) => Ok(Binding { region, protocol }),
            None => {
                let what = format!("node {} binds {address:#x} to a protocol, where no allocation begins", self.me);
                let error = SimError::subject(what).help("pass the pointer that trivium_alloc returned");
                Err(self.fail(error))
            }
        }
    }

    fn allocate(&mut self, bytes: u64, placement: Placement, protocol: Option<&str>) -> Result<CallStep, Fault> {
        let number = self.protocol_named(protocol)?;
        let index = self.compute.allocations;
        let made = self.blocks.space.borrow_mut().allocate(self.me, index, bytes, placement, number);
        match made {
            Ok(offset) => {
                self.compute.allocations += 1;
                if self.blocks.space.borrow().wants_site(index, self.me) {
                    self.compute.asks = Some(Asks::Allocation(index));
                }
                if let Some(room) = self.shared.room {
                    let most = Estimate::of(&self.blocks.space.borrow(), &self.shared);
                    if let Some(error) = most.refused(self.me, bytes, room, self.shared.nodes) {
                        return Err(self.fail(error));
                    }
                }
                Ok(CallStep::Done(i64::from(SHARED_BASE) + offset.cast_signed()))
            }
            Err(error) => Err(self.fail(error)),
        }
    }

    fn name_allocation(&mut self, address: u32, name: &str) -> Result<CallStep, Fault> {
        let offset = address.checked_sub(SHARED_BASE).map(u64::from);
        let region = offset.and_then(|offset| self.blocks.space.borrow().region_of(offset));
        let Some(region) = region else {
            let what = format!("node {} names `{name}` what lies at {address:#x}, which is not allocated", self.me);
            let error = SimError::subject(what).help("pass the pointer that trivium_alloc returned");
            return Err(self.fail(error));
        };
        self.blocks.space.borrow_mut().set_name(region, self.me, name);
        Ok(CallStep::Done(0))
    }

    fn no_such_protocol(&self, name: &str) -> SimError {
        let names: Vec<&str> = self.shared.engines.iter().map(|engine| engine.protocol().name.as_str()).collect();
        let near = nearest(name, &names).map_or(String::new(), |near| format!("did you mean `{near}`? "));
        SimError::subject(format!("node {} asks for memory under protocol `{name}`, which is not loaded", self.me))
            .help(format!("{near}loaded are {}; add --protocol {name}", names.join(", ")))
    }

    fn wait_until_changed(&mut self, address: u32, size: u32, old: u64) -> Result<CallStep, Fault> {
        let mut step = self.reach(address, size, AccessKind::Read, 0, Spent::Sync)?;
        if step == Step::Complete(old) {
            // A handler has read it, and the block may have been changed or taken away since, when nobody slept.
            step = self.reach(address, size, AccessKind::Read, 0, Spent::Sync)?;
        }
        let value = match step {
            Step::Wait => return Ok(CallStep::Wait),
            Step::Go => self.program_memory()?.read_word(address, size)?,
            Step::Complete(value) => value,
        };
        if value != old {
            return Ok(CallStep::Done(value.cast_signed()));
        }
        // Nothing outside shared memory is ever changed by another node: this waits for ever, and is reported.
        let block = self.block_of(u64::from(address.saturating_sub(SHARED_BASE)));
        self.compute.watches = (address, size);
        self.wait(Wait::Change(block), Spent::Sync);
        Ok(CallStep::Wait)
    }

    fn region_begin(&mut self) {
        if self.compute.region.is_none() {
            let now = self.counted();
            let begun = self.compute.region_span.map_or(now.cycles, |span| span.0);
            self.compute.region_span = Some((begun, now.cycles));
            self.note(Note::Region { node: self.me, cycle: now.cycles, begins: true });
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
            self.note(Note::Region { node: self.me, cycle: now.cycles, begins: false });
        }
    }

    fn op(&mut self, import: usize, args: &[i64]) -> Result<CallStep, Fault> {
        let (protocol, id) = self.shared.calls[import];
        let engine = self.shared.engines[protocol].clone();
        let op = &engine.protocol().ops[id.index()];
        let name = format!("{}.{}", engine.protocol().name, op.name);
        let mut words = args.to_vec();
        let object = self.called_object(&name, op.object, &mut words)?;
        if object.kind == BLOCK {
            let offset = self.offset_of(object);
            if !self.map(offset, Spent::Sync) || !self.bring_page(offset, Spent::Sync)? {
                return Ok(CallStep::Wait);
            }
        }
        for (word, arg) in words.iter_mut().zip(&op.args) {
            if arg.ty == Type::Address {
                *word = self.shared_offset(&name, *word)?;
            }
        }
        if words.len() > MAX_ARGS || words.len() != op.args.len() {
            return Err(Fault::new(format!(
                "node {}: {name} takes {} arguments, not {}",
                self.me,
                op.args.len(),
                words.len()
            )));
        }
        let begun = match engine.protocol().conditions.is_empty() {
            true => Ok(()),
            false => self.begin_here(protocol, object),
        };
        let broken = match begun.and_then(|()| broken_condition(self, protocol, id, object, &words)) {
            Ok(None) => self.usage.call(protocol, engine.protocol(), id, object).err(),
            Ok(broken) => broken,
            Err(fault) => return Err(self.fail(SimError::subject(fault.message))),
        };
        if let Some(assumption) = broken {
            let error = SimError::subject(format!(
                "node {} calls {name} on object {} against the protocol's assumption `{assumption}`",
                self.me, object.id
            ))
            .help("change the program: the protocol keeps its promises only under this use");
            return Err(self.fail(error));
        }
        let is_home = object.kind != NODE && self.home_of(object) == self.me;
        if engine.role_for(EventKind::Op(id), object.kind, is_home).is_none() {
            return Err(Fault::new(format!(
                "node {}: no role of this node answers {name} for object {}",
                self.me, object.id
            )));
        }
        let handing = self.shared.machine.processor.call_word * (1 + words.len() as u64);
        let from = self.compute.clock();
        self.note_stall(
            from,
            Spent::Sync,
            &name,
            &[(crate::reports::timeline::Reason::Call, "hand over", from + handing)],
        );
        self.stall(handing, Spent::Sync);
        let mut call = self.local(protocol, EventKind::Op(id), object);
        call.event.args = Args::of(&words);
        let at = self.compute.clock();
        self.raise(at, Arrival::Local(call));
        self.wait(Wait::Call { protocol, op: id, object }, Spent::Sync);
        Ok(CallStep::Wait)
    }

    /// The object that a call is about: its first argument, unless it is about the node.
    fn called_object(
        &self,
        name: &str,
        kind: trivium_lang::protocol::ObjectKindId,
        words: &mut Vec<i64>,
    ) -> Result<Object, Fault> {
        if kind == NODE {
            return Ok(Object { kind, id: 0 });
        }
        if words.is_empty() {
            return Err(Fault::new(format!("node {}: {name} needs an object", self.me)));
        }
        let first = words.remove(0);
        if kind == BLOCK {
            return Ok(self.block_of(self.shared_offset(name, first)?.cast_unsigned()));
        }
        match u32::try_from(first) {
            Ok(id) => Ok(Object { kind, id }),
            Err(_) => Err(Fault::new(format!(
                "node {}: {name} of object {first}, which is not from 0 to {}",
                self.me,
                u32::MAX
            ))),
        }
    }

    /// The byte offset in shared memory of a program's pointer.
    fn shared_offset(&self, name: &str, pointer: i64) -> Result<i64, Fault> {
        let offset = pointer - i64::from(SHARED_BASE);
        if offset < 0 || offset >= self.blocks.space.borrow().bytes().cast_signed() {
            return Err(Fault::new(format!(
                "node {}: {name} with address {pointer:#x}, which is not in shared memory",
                self.me
            )));
        }
        Ok(offset)
    }

    /// The program has ended.
    pub(crate) fn finish(&mut self, exit_code: i32) {
        self.region_end();
        self.note_compute(self.compute.clock());
        self.compute.doing = Doing::Finished(exit_code);
    }
}
