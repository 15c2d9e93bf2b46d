//! A call of a program from its beginning to its end.
//!
//! A call that cannot end at once is a value, its [`Flight`], which the thread keeps: how far the call has come. Whatever ends a wait of the
//! thread lets the flight go on from there, so that nothing of it is done twice; the value that it ends with resumes the program. Whoever
//! adds a call that waits adds a flight here, and nothing in a backend.

mod allowed;
mod binding;
mod conditions;
mod doing;
mod linked;
mod placing;
mod program;
mod reach;
mod stood;

pub use binding::disagree;
pub use reach::{AccessHost, Stopped, reach_shared};
pub use stood::{
    ACCESS_WAITS, AT_BARRIER, DEADLOCK, LEFT_MAIN, LEFT_OVER, STALLS, Stood, byte_of, cannot_come, data_text, has_left,
    standing_at, with_remedy,
};

use crate::error::NodeError;
use crate::handler::HandlerMemory;
use crate::records::{Imported, NONE};
use crate::space::{NodeMemory, Purpose};
use crate::thread::{Flight, RUNNING, Wait};
use allowed::{Refusal, SplitPhaseStep};
use trivium_diagnostic::Code;
use trivium_engine::{Args, Event, Object};
use trivium_guest::{
    AccessKind, AccessStep, Call, CallStep, LoadStore, Placement, ProgramFault, ReadModifyWrite, SHARED_BASE,
};
use trivium_protocol::{BLOCK, BodyStep, EventKind, NODE, OBJECT_OF_CALL, ObjectKindId, Op, OpId, Protocol, Type};

/// For what the program makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessFor {
    /// To load or store: one of its own.
    Itself,
    /// To wait until what is there is another.
    Change,
}

/// An access of a program, of at most 8 bytes inside an aligned word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramAccess {
    /// Its address.
    pub address: u32,
    /// Its bytes.
    pub size: u32,
    /// A load or a store.
    pub kind: AccessKind,
    /// What it stores.
    pub value: u64,
    /// What for.
    pub purpose: AccessFor,
}

impl ProgramAccess {
    /// One that the program makes itself.
    #[inline]
    pub fn of(access: LoadStore) -> ProgramAccess {
        let LoadStore { addr: address, size, kind, value } = access;
        ProgramAccess { address, size, kind, value, purpose: AccessFor::Itself }
    }
}

/// What of a program's calls depends on where its node lives.
pub trait CallHost: HandlerMemory {
    /// Whether a call may begin now, or go on: all that has happened on the node before is done. If not, the same is asked again later.
    fn may_call(&mut self) -> bool {
        true
    }

    /// Ends the program with an error that keeps its parts.
    fn fail(&mut self, error: NodeError) -> ProgramFault;

    /// The running thread waits from now on, not for an access of its own.
    fn waits(&mut self, wait: Wait);

    /// An access of the program: whether it may happen, or has, or has to wait.
    ///
    /// # Errors
    /// It cannot happen.
    fn reach(&mut self, access: &ProgramAccess) -> Result<AccessStep, ProgramFault>;

    /// The node's clock, in its own unit.
    fn clock(&mut self) -> u64;

    /// The node's clock, in nanoseconds.
    fn nanoseconds(&mut self) -> u64;

    /// The running thread is to sleep for so many nanoseconds.
    fn sleep(&mut self, nanoseconds: u64) -> Sleep;

    /// The running thread has come to the barrier, where it waits.
    fn arrive(&mut self, purpose: Purpose);

    /// Whether a protocol may now be called about a block: its home is known here, and so on. If not, the same is asked again when the
    /// thread goes on.
    ///
    /// # Errors
    /// It never may.
    fn can_call(&mut self, protocol: usize, op: OpId, block: Object) -> Result<bool, ProgramFault>;

    /// A protocol is called: the event is to be handled. `told`: the event, if nobody waits for it.
    fn hand_over(&mut self, protocol: usize, event: &Event, told: Option<OpId>);

    /// The program has allocated so many bytes; the number of the allocation.
    ///
    /// # Errors
    /// That is more than there may be.
    fn has_allocated(&mut self, region: usize, bytes: u64) -> Result<(), NodeError>;

    /// The program has allocated, or given an allocation back.
    fn has_changed_space(&mut self) {}

    /// Now, on the clocks that count when a program asks for a lock, and when it takes one.
    fn lock_times(&self) -> (u64, u64);

    /// The program has looked at a word in vain.
    fn has_looked(&mut self) {}

    /// The program may have asked for a lock.
    fn may_have_asked(&mut self);

    /// Private memory has become shared.
    fn has_shared(&mut self, address: u32, bytes: u32);

    /// The program hints that it may access the block of an address. Whether it goes on; if not, the same is asked again.
    fn prefetch(&mut self, address: u32, write: bool) -> bool;

    /// A region of interest begins, or else ends.
    fn region(&mut self, begins: bool);

    /// The program prints.
    fn print(&mut self, fd: u32, bytes: &[u8]);
}

/// What becomes of a thread that is to sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// It waits from now on.
    Sleeps,
    /// The time is over at once.
    IsOver,
    /// The node's clock does not count so far.
    TooLong,
}

/// The program of a node makes a call, or asks again for the one that it makes.
///
/// # Errors
/// The call cannot be made, or cannot end.
pub fn call<N: CallHost>(node: &mut N, call: &Call) -> Result<CallStep, ProgramFault> {
    Caller { node }.call(call)
}

/// A node whose program makes a call.
struct Caller<'a, N> {
    node: &'a mut N,
}

impl<N: CallHost> Caller<'_, N> {
    fn call(&mut self, call: &Call) -> Result<CallStep, ProgramFault> {
        let thread = &mut self.node.core_mut().threads[RUNNING];
        match call {
            Call::Node | Call::Nodes => return self.begin(call),
            _ if !thread.is_running() => return Ok(CallStep::Wait),
            _ => {}
        }
        match thread.flight {
            Some(Flight::Waits) => {
                thread.flight = None;
                return Ok(CallStep::Done(0));
            }
            Some(Flight::Called { protocol, op }) => {
                thread.flight = None;
                return self.returned(protocol, op);
            }
            _ => {}
        }
        if !self.node.may_call() {
            return Ok(CallStep::Wait);
        }
        match self.node.core_mut().threads[RUNNING].flight.take() {
            Some(flight) => self.go_on(flight),
            None => self.begin(call),
        }
    }

    /// A protocol's call is over: what it has returned.
    fn returned(&mut self, protocol: usize, op: OpId) -> Result<CallStep, ProgramFault> {
        let answered = self.node.core_mut().threads[RUNNING].answered.take();
        answered.map(CallStep::Done).ok_or_else(|| {
            let core = self.node.core();
            let what =
                format!("node {}: {} has returned without an answer", core.me, core.protocols.call_name(protocol, op));
            self.node.fail(NodeError::subject(Code::Program, what))
        })
    }

    /// A call begins.
    fn begin(&mut self, call: &Call) -> Result<CallStep, ProgramFault> {
        if !matches!(call, Call::Node | Call::Nodes | Call::ReadModifyWrite(_) | Call::WaitUntilChanged { .. }) {
            self.node.core_mut().locks.does_something_else();
        }
        match call {
            Call::Node => return Ok(CallStep::Done(i64::from(self.node.core().me))),
            Call::Nodes => return Ok(CallStep::Done(i64::from(self.node.core().protocols.nodes))),
            Call::Cycles => return Ok(CallStep::Done(self.node.clock().cast_signed())),
            Call::Nanoseconds => return Ok(CallStep::Done(i64::try_from(self.node.nanoseconds()).unwrap_or(i64::MAX))),
            Call::Sleep { nanoseconds } => return self.begin_sleep(*nanoseconds),
            Call::Alloc { bytes, placement, protocol } => {
                return self.allocate(*bytes, *placement, protocol.as_deref()).map_err(|error| self.node.fail(error));
            }
            Call::Freeing { addr } => {
                let bytes = self.node.core().freeing(*addr).map_err(|error| self.node.fail(error))?;
                return Ok(CallStep::Done(bytes.cast_signed()));
            }
            Call::IsHome { addr } => return Ok(CallStep::Done(self.node.core().is_home_of(*addr).into())),
            Call::Free { addr } => {
                let index = self.node.core().space_calls;
                self.node.core().free(*addr, index).map_err(|error| self.node.fail(error))?;
                self.node.core_mut().space_calls += 1;
                self.node.has_changed_space();
            }
            Call::Bind { addr, protocol } => {
                let binding =
                    self.node.core().binding(*addr, protocol.as_deref()).map_err(|error| self.node.fail(error))?;
                return Ok(self.come_to(Purpose::Bind(binding)));
            }
            Call::ParallelStart => {
                self.node.core().check_starts_once().map_err(|error| self.node.fail(error))?;
                return Ok(self.come_to(Purpose::Start));
            }
            Call::Place { protocol, kind, object, node } => {
                let placing = self.node.core().placing((protocol, kind), *object, *node);
                let placing = placing.map_err(|error| self.node.fail(error))?;
                return Ok(self.come_to(Purpose::Place(placing)));
            }
            Call::Barrier => return Ok(self.come_to(Purpose::Barrier)),
            Call::Fence => return self.fence(),
            Call::Shared { addr, bytes, part } => {
                self.node.core_mut().share(*addr, *bytes, *part).map_err(|error| self.node.fail(error))?;
                self.node.has_shared(*addr, *bytes);
            }
            Call::Name { addr, name } => {
                self.node.core().name_allocation(*addr, name).map_err(|error| self.node.fail(error))?;
            }
            Call::ReadModifyWrite(rmw) => {
                self.node.core().check_atomic(rmw.addr).map_err(|error| self.node.fail(error))?;
                return self.go_on(Flight::Modifies(*rmw));
            }
            &Call::LoadLinked { addr: address, size, exclusive } => {
                self.node.core().check_atomic(address).map_err(|error| self.node.fail(error))?;
                return self.go_on(Flight::Links { address, size, exclusive });
            }
            &Call::StoreConditional { addr: address, size, value } => {
                if let Some(loaded) = self.node.core().linked(address, size) {
                    return self.go_on(Flight::StoresIf { address, size, value, loaded });
                }
                if self.node.core_mut().stores_without_its_load(address, size) {
                    return Err(self.is_without_its_load(address));
                }
            }
            &Call::Prefetch { addr: address, write } => return self.go_on(Flight::Hints { address, write }),
            &Call::WaitUntilChanged { addr: address, size, old } => {
                return self.go_on(Flight::Watches { address, size, old });
            }
            Call::RegionBegin => self.node.region(true),
            Call::RegionEnd => self.node.region(false),
            Call::Print { fd, bytes } => self.node.print(*fd, bytes),
            Call::Op { import, args } => {
                return match self.node.core().protocols.calls[*import] {
                    Imported::Op(protocol, op) => self.begin_op(protocol, op, args.clone()),
                    Imported::Image(protocol, kind) => self.image(protocol, kind, args),
                    Imported::Outside(protocol) => Err(self.outside(protocol, args)),
                    Imported::Named(protocol) => self.named(protocol, args),
                    Imported::Begins(protocol, op) => self.begins(protocol, op, args.clone()),
                    Imported::False(protocol) => Err(self.is_false(protocol, args)),
                };
            }
            Call::SplitPhase { what, addr, bytes, place } => {
                return match self.node.core().split_phase(*what, *addr, *bytes, *place)? {
                    SplitPhaseStep::Known(value) => Ok(CallStep::Done(value)),
                    SplitPhaseStep::Call(protocol, op, words) => self.begin_op(protocol, op, words),
                };
            }
        }
        Ok(CallStep::Done(0))
    }

    /// A call goes on from where it had to wait.
    fn go_on(&mut self, flight: Flight) -> Result<CallStep, ProgramFault> {
        match flight {
            Flight::Waits | Flight::Called { .. } => {}
            Flight::Modifies(ref rmw) => {
                if let Some(old) = self.modify(rmw)? {
                    return Ok(CallStep::Done(old.cast_signed()));
                }
            }
            Flight::Links { address, size, exclusive } => {
                if let Some(value) = self.link(address, size, exclusive)? {
                    return Ok(CallStep::Done(value.cast_signed()));
                }
            }
            Flight::StoresIf { address, size, value, loaded } => {
                if let Some(is_stored) = self.store_if_linked((address, size), value, loaded)? {
                    return Ok(CallStep::Done(is_stored.into()));
                }
            }
            Flight::Watches { address, size, old } => {
                if let Some(value) = self.look(address, size, old)? {
                    return Ok(CallStep::Done(value.cast_signed()));
                }
            }
            Flight::Hints { address, write } => {
                if self.node.prefetch(address, write) {
                    return Ok(CallStep::Done(0));
                }
            }
            Flight::Calls { .. } if self.node.core().threads[RUNNING].told.is_some() => {
                // What a thread says comes to its engine in order, one thing after the other.
                self.node.waits(Wait::Told);
            }
            Flight::Calls { protocol, op, object, words } => {
                if object.kind != BLOCK || self.node.can_call(protocol, op, object)? {
                    if self.call_protocol((protocol, op), object, words)? {
                        return Ok(CallStep::Done(0));
                    }
                    return Ok(self.flies(Flight::Called { protocol, op }));
                }
                return Ok(self.flies(Flight::Calls { protocol, op, object, words }));
            }
            Flight::Names { protocol, op, object } => {
                if object.kind != BLOCK || self.node.can_call(protocol, op, object)? {
                    let named = self.node.core().protocols.in_program(&Type::Object(object.kind), object.id.into());
                    return Ok(CallStep::Done(named));
                }
            }
        }
        Ok(self.flies(flight))
    }

    /// The call has come so far, and has to wait.
    fn flies(&mut self, flight: Flight) -> CallStep {
        self.node.core_mut().threads[RUNNING].flight = Some(flight);
        CallStep::Wait
    }

    fn begin_sleep(&mut self, nanoseconds: u64) -> Result<CallStep, ProgramFault> {
        match self.node.sleep(nanoseconds) {
            Sleep::IsOver => Ok(CallStep::Done(0)),
            Sleep::Sleeps => Ok(self.flies(Flight::Waits)),
            Sleep::TooLong => {
                let what = format!(
                    "node {} sleeps for {nanoseconds} nanoseconds, which is longer than its clock counts",
                    self.node.core().me
                );
                Err(self.node.fail(NodeError::subject(Code::Program, what).help("sleep for a shorter time")))
            }
        }
    }

    /// At the barrier of all nodes.
    fn come_to(&mut self, purpose: Purpose) -> CallStep {
        self.node.arrive(purpose);
        self.flies(Flight::Waits)
    }

    fn allocate(&mut self, bytes: u64, placement: Placement, protocol: Option<&str>) -> Result<CallStep, NodeError> {
        let core = self.node.core_mut();
        let number = core.protocol_named(protocol)?;
        let index = core.space_calls;
        let offset = core.space.borrow_mut().allocate(core.me, index, bytes, placement, number)?;
        core.space_calls += 1;
        self.node.has_changed_space();
        let core = self.node.core();
        let region = core.space.borrow().region_of(offset);
        if let Some(region) = region {
            self.node.has_allocated(region, bytes)?;
        }
        Ok(CallStep::Done(i64::from(SHARED_BASE) + offset.cast_signed()))
    }

    /// A read-modify-write: what was there, if it has happened.
    fn modify(&mut self, rmw: &ReadModifyWrite) -> Result<Option<u64>, ProgramFault> {
        self.node.core_mut().threads[RUNNING].atomic = Some(*rmw);
        let &ReadModifyWrite { addr: address, size, operand: value, .. } = rmw;
        let access = ProgramAccess { address, size, kind: AccessKind::Write, value, purpose: AccessFor::Itself };
        let old = match self.node.reach(&access)? {
            AccessStep::Wait => return Ok(None),
            AccessStep::Go => self.program_memory()?.read_modify_write(rmw)?,
            AccessStep::Complete(old) => old,
        };
        let times = self.node.lock_times();
        let core = self.node.core_mut();
        core.threads[RUNNING].atomic = None;
        core.locks.performed(rmw, old, times);
        self.node.may_have_asked();
        Ok(Some(old))
    }

    /// A word that has been `old` is looked at: its value, if it is another; else the thread waits.
    fn look(&mut self, address: u32, size: u32, old: u64) -> Result<Option<u64>, ProgramFault> {
        let access = ProgramAccess { address, size, kind: AccessKind::Read, value: 0, purpose: AccessFor::Change };
        let mut step = self.node.reach(&access)?;
        if step == AccessStep::Complete(old) {
            // A handler has read it, and the block may have been changed or taken away since, when nobody slept.
            self.has_asked(address, old);
            step = self.node.reach(&access)?;
        }
        let value = match step {
            AccessStep::Wait => return Ok(None),
            AccessStep::Go => self.program_memory()?.read_word(address, size)?,
            AccessStep::Complete(value) => value,
        };
        if value != old {
            return Ok(Some(value));
        }
        // Nothing outside shared memory is ever changed by another node: this waits for ever, and is reported.
        let block = self.node.core().block_of(u64::from(address.saturating_sub(SHARED_BASE)));
        self.has_asked(address, old);
        self.node.waits(Wait::Change { block, address, size });
        Ok(None)
    }

    /// The program has looked at a word in vain.
    fn has_asked(&mut self, address: u32, value: u64) {
        let (now, _) = self.node.lock_times();
        self.node.core_mut().locks.asked(address, value, now);
        self.node.has_looked();
        self.node.may_have_asked();
    }

    fn program_memory(&mut self) -> Result<trivium_guest::Memory, ProgramFault> {
        match &self.node.core().memory {
            NodeMemory::Program(memory) => Ok(memory.clone()),
            NodeMemory::Plain(_) => Err(ProgramFault::new("atomic operations need a program's memory")),
        }
    }

    /// A call of a protocol, with the words of its arguments, the object's first.
    fn begin_op(&mut self, protocol: usize, op: OpId, mut words: Vec<i64>) -> Result<CallStep, ProgramFault> {
        let core = self.node.core();
        let Some(object) = core.called_object(protocol, op, &mut words)? else {
            return Ok(CallStep::Done(core.protocols.returned_for_none(protocol, op)));
        };
        self.go_on(Flight::Calls { protocol, op, object, words })
    }

    /// The fence of the protocol that has one.
    fn fence(&mut self) -> Result<CallStep, ProgramFault> {
        let core = self.node.core();
        match core.protocols.fences[..] {
            [] => Ok(CallStep::Done(0)),
            [(protocol, op)] => self.begin_op(protocol, op, Vec::new()),
            [first, second, ..] => {
                let [first, second] = [first, second].map(|(protocol, op)| core.protocols.call_name(protocol, op));
                let what = format!("node {}: a fence would be both {first} and {second}", core.me);
                Err(self.node.fail(
                    NodeError::subject(Code::Program, what).help("run the program under one protocol with a fence"),
                ))
            }
        }
    }

    /// A call with a body is passed an object: which it is. It is the object that the call is about, or an argument.
    fn named(&mut self, protocol: usize, args: &[i64]) -> Result<CallStep, ProgramFault> {
        let core = self.node.core();
        let ops = &core.protocols.engines[protocol].protocol().ops;
        let known = |call: i64| usize::try_from(call).ok().filter(|&call| call < ops.len()).map(OpId::at);
        let of_another_version = || ProgramFault::new("a header of another version");
        let &[call, parameter, passed] = args else { return Err(of_another_version()) };
        let op = known(call).ok_or_else(of_another_version)?;
        if parameter == OBJECT_OF_CALL {
            let kind = ops[op.index()].object;
            return match core.called_object(protocol, op, &mut vec![passed])? {
                None => Ok(CallStep::Done(core.protocols.in_program(&Type::ObjectOrNone(kind), NONE))),
                Some(object) => self.go_on(Flight::Names { protocol, op, object }),
            };
        }
        let arg = usize::try_from(parameter).ok().and_then(|at| ops[op.index()].args.get(at));
        let ty = &arg.ok_or_else(of_another_version)?.ty;
        let named = core.scalar_passed(protocol, core.protocols.call_name(protocol, op), ty, passed)?;
        Ok(CallStep::Done(core.protocols.in_program(ty, named)))
    }

    /// A call with a body begins, about which something is assumed.
    fn begins(&mut self, protocol: usize, op: OpId, mut words: Vec<i64>) -> Result<CallStep, ProgramFault> {
        if let Some(object) = self.node.core().called_object(protocol, op, &mut words)? {
            words = self.node.core().words_passed(protocol, op, &mut words)?;
            self.node
                .core_mut()
                .keeps_assumptions(protocol, op, object, &words)
                .map_err(|error| self.node.fail(error))?;
        }
        Ok(CallStep::Done(0))
    }

    /// A body of a call was passed, or would return, a value outside of its type.
    fn outside(&self, protocol: usize, args: &[i64]) -> ProgramFault {
        let nodes = self.node.core().protocols.nodes;
        self.wrong_in_body(protocol, args, |declared, op, [parameter, value]| {
            let (what, ty) = match usize::try_from(parameter) {
                Ok(at) => op.args.get(at).map(|arg| (format!("{}: {value}", arg.name), &arg.ty))?,
                Err(_) => (format!("returns {value}, which"), op.result.as_ref()?),
            };
            let is = match ty {
                Type::Int { lo, hi } => format!("is outside {}..{}", lo.at(nodes), hi.at(nodes)),
                Type::Object(kind) => format!("is no {}", declared.objects[kind.index()]),
                _ => "is neither 0 nor 1".to_string(),
            };
            Some(format!(": {what} {is}"))
        })
    }

    /// What a body of a call asserts is false.
    fn is_false(&self, protocol: usize, args: &[i64]) -> ProgramFault {
        self.wrong_in_body(protocol, args, |declared, op, [object, place]| {
            let places = &op.body.as_ref()?.steps.places;
            let BodyStep::Assert(condition) = &places.get(usize::try_from(place).ok()?)?.step else { return None };
            let about = match op.object {
                NODE => String::new(),
                BLOCK => format!(" of the block at {object:#x}"),
                kind => format!(" of {} {object}", declared.objects[kind.index()]),
            };
            let (text, at) = (declared.sources.excerpt(condition.span), declared.sources.place(condition.span));
            Some(format!("{about} asserts `{text}`, which is false ({at})"))
        })
    }

    /// What the header says went wrong in the body of a call: the call's number, and two more, of which `says` makes words.
    fn wrong_in_body(
        &self,
        protocol: usize,
        args: &[i64],
        says: impl FnOnce(&Protocol, &Op, [i64; 2]) -> Option<String>,
    ) -> ProgramFault {
        let core = self.node.core();
        let declared = core.protocols.engines[protocol].protocol();
        let said = || {
            let &[call, first, second] = args else { return None };
            let op = declared.ops.get(usize::try_from(call).ok()?)?;
            let what = says(declared, op, [first, second])?;
            Some(format!("node {}: {}.{}{what}", core.me, declared.name, op.name))
        };
        ProgramFault::new(said().unwrap_or_else(|| "a header of another version".into()))
    }

    /// The place of this node's image of an object; of the least number, which is no object's, how many objects have room for one.
    fn image(&mut self, protocol: usize, kind: ObjectKindId, args: &[i64]) -> Result<CallStep, ProgramFault> {
        let core = self.node.core();
        if args == [i64::MIN] {
            return Ok(CallStep::Done(core.protocols.images.most().cast_signed()));
        }
        let object = args.first().and_then(|&id| u32::try_from(id).ok()).map(|id| Object { kind, id });
        let offset = object.and_then(|object| core.protocols.images.offset(protocol, object, core.me));
        let Some(offset) = offset else {
            let declared = core.protocols.engines[protocol].protocol();
            let (me, most) = (core.me, core.protocols.images.most() - 1);
            let kind = &declared.objects[kind.index()];
            let named = args.first().copied().unwrap_or_default();
            let what = format!("node {me}: {} is asked for the image of {kind} {named}", declared.name);
            let help = format!("a node has room for the images of {kind} 0 to {most}: number them from 0");
            return Err(self.node.fail(NodeError::subject(Code::Program, what).help(help)));
        };
        self.node.has_changed_space();
        Ok(CallStep::Done(i64::from(SHARED_BASE) + offset.cast_signed()))
    }

    /// A protocol is called; the thread waits until it returns, unless it only tells its engine: whether it does.
    fn call_protocol(
        &mut self,
        (protocol, op): (usize, OpId),
        object: Object,
        mut words: Vec<i64>,
    ) -> Result<bool, ProgramFault> {
        self.node.core_mut().begin_call(protocol, op, object, &mut words).map_err(|refusal| match refusal {
            Refusal::Program(fault) => fault,
            Refusal::Broken(error) => self.node.fail(error),
        })?;
        let event = Event { args: Args::of(&words), ..Event::local(EventKind::Op(op), object, RUNNING) };
        let told = self.node.core().protocols.engines[protocol].protocol().ops[op.index()].is_told().then_some(op);
        self.node.hand_over(protocol, &event, told);
        if told.is_none() {
            self.node.waits(Wait::Call { protocol, op, object });
        }
        Ok(told.is_some())
    }
}
