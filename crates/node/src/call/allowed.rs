//! Whether a program may make a call, checked before anything of it happens: its object, its addresses, the number of its
//! arguments, what its protocol assumes about its use; and what a program says about memory.

use crate::core::NodeCore;
use crate::error::NodeError;
use crate::records::NONE;
use crate::space::{Binding, SpaceCall};
use trivium_diagnostic::Code;
use trivium_engine::Object;
use trivium_guest::{ProgramFault, SHARED_BASE, SplitPhase};
use trivium_protocol::nearest;
use trivium_protocol::{BLOCK, EventKind, NODE, NoRmw, OpId, Type};

/// Why a protocol has no answer to atomic operations.
pub(crate) fn refused_atomic(protocol: &str, why: &NoRmw) -> String {
    let why = match why {
        NoRmw::LooksAtValue(handler) => format!(
            "its handler `{handler}` looks at the value that is about to be stored, and an atomic operation has none before it is performed"
        ),
        NoRmw::Completes(handler) => format!(
            "its handler `{handler}` completes stores, and it does not say whether an atomic operation may be completed there: it does not answer `rmw`"
        ),
    };
    format!("which protocol `{protocol}` cannot answer: {why}")
}

/// What to do about it.
pub(crate) const ATOMIC_HELP: &str = "answer `rmw` in the protocol (`on write, rmw { .. }` where a node has the block alone, else `on rmw(a, n, op, x, y) { .. }`), \
                                      use another protocol, or a lock and barriers that are calls of a protocol";

/// Why a call cannot be made.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The program passes what the call does not take.
    Program(ProgramFault),
    /// What the protocol assumes, or what it is at first, is broken.
    Broken(NodeError),
}

/// What a split-phase operation is for the protocol of the memory that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SplitPhaseStep {
    /// It is known at once.
    Known(i64),
    /// A call, with the words of its arguments, the object's first.
    Call(usize, OpId, Vec<i64>),
}

impl<C> NodeCore<C> {
    /// The object that a call is about: its first argument, which is taken out, unless it is about the node. `None` where the program's
    /// value names none, and the call may be about none.
    ///
    /// # Errors
    /// There is none, or no such object.
    pub(crate) fn called_object(
        &self,
        protocol: usize,
        op: OpId,
        words: &mut Vec<i64>,
    ) -> Result<Option<Object>, ProgramFault> {
        let declared = &self.protocols.engines[protocol].protocol().ops[op.index()];
        let (kind, may_be_none) = (declared.object, declared.object_may_be_none);
        if kind == NODE {
            return Ok(Some(Object { kind, id: 0 }));
        }
        let name = self.protocols.call_name(protocol, op);
        if words.is_empty() {
            return Err(ProgramFault::new(format!("node {}: {name} needs an object", self.me)));
        }
        let first = words.remove(0);
        if kind == BLOCK {
            let lies_there = || {
                let offset = self.shared_offset(name, first).ok()?.cast_unsigned();
                self.protocol_at(offset).filter(|&keeper| keeper == protocol)
            };
            if may_be_none && lies_there().is_none() {
                return Ok(None);
            }
            return self.named_block(protocol, name, first).map(Some);
        }
        match u32::try_from(first) {
            Ok(id) if self.is_there(protocol, Object { kind, id }) => Ok(Some(Object { kind, id })),
            Ok(_) if may_be_none => Ok(None),
            Ok(id) => Err(self.not_there(protocol, name, Object { kind, id })),
            Err(_) if may_be_none => Ok(None),
            Err(_) => Err(ProgramFault::new(format!(
                "node {}: {name} of object {first}, which is not from 0 to {}: only a parameter that the protocol declares with `?` \
                 may name none",
                self.me,
                u32::MAX
            ))),
        }
    }

    /// Whether a program may name an object of a kind: handlers make none of the kind, or have made this one here, and not freed it.
    fn is_there(&self, protocol: usize, object: Object) -> bool {
        let engine = &self.protocols.engines[protocol];
        let Some(made) = engine.protocol().made_kind(object.kind) else { return true };
        let record = self.record_of(protocol, made.role, Object { kind: NODE, id: 0 });
        record.is_some_and(|record| engine.is_made(made, object.id, self.me, record))
    }

    fn not_there(&self, protocol: usize, name: &str, object: Object) -> ProgramFault {
        let kind = &self.protocols.engines[protocol].protocol().objects[object.kind.index()];
        ProgramFault::new(format!(
            "node {}: {name} with {kind} {}, which is not there: no handler of this node has made it, or it was freed",
            self.me, object.id
        ))
    }

    /// The block of a program's pointer.
    fn named_block(&self, protocol: usize, name: &str, pointer: i64) -> Result<Object, ProgramFault> {
        let offset = self.shared_offset(name, pointer)?.cast_unsigned();
        self.check_lies_under(protocol, name, offset)?;
        Ok(self.block_of(offset))
    }

    /// An argument of a call that is one number, as the protocol has it: of a pointer its offset, or its block.
    pub(super) fn scalar_passed(
        &self,
        protocol: usize,
        name: &str,
        ty: &Type,
        passed: i64,
    ) -> Result<i64, ProgramFault> {
        match ty {
            Type::Address => self.shared_offset(name, passed),
            Type::OrNone(of) if **of == Type::Address && passed == 0 => Ok(NONE),
            Type::OrNone(of) => self.scalar_passed(protocol, name, of, passed),
            Type::Object(BLOCK) => Ok(self.named_block(protocol, name, passed)?.id.into()),
            Type::ObjectOrNone(BLOCK) => {
                let offset = self.shared_offset(name, passed).ok();
                let block = offset.and_then(|offset| self.known_block(protocol, offset.cast_unsigned()));
                Ok(block.map_or(NONE, i64::from))
            }
            Type::Object(kind) | Type::ObjectOrNone(kind) => {
                let named = u32::try_from(passed).ok().map(|id| Object { kind: *kind, id });
                match named.filter(|object| !self.is_there(protocol, *object)) {
                    None => Ok(passed),
                    Some(_) if matches!(ty, Type::ObjectOrNone(_)) => Ok(NONE),
                    Some(object) => Err(self.not_there(protocol, name, object)),
                }
            }
            _ => Ok(passed),
        }
    }

    /// A protocol that keeps blocks is called about its own: another one keeps those that lie under it.
    fn check_lies_under(&self, protocol: usize, name: &str, offset: u64) -> Result<(), ProgramFault> {
        let Some(keeper) = self.protocol_at(offset).filter(|&keeper| keeper != protocol) else { return Ok(()) };
        if !self.protocols.engines[protocol].answers_accesses() {
            return Ok(());
        }
        let named = |protocol: usize| &self.protocols.engines[protocol].protocol().name;
        let (own, keeper) = (named(protocol), named(keeper));
        Err(ProgramFault::new(format!(
            "node {}: {name} about memory that lies under `{keeper}`: allocate it under `{own}`, by trivium_alloc_on_under(\"{own}\", ..), or \
             bind it by trivium_bind",
            self.me
        )))
    }

    /// The byte offset in shared memory of a program's pointer.
    fn shared_offset(&self, name: &str, pointer: i64) -> Result<i64, ProgramFault> {
        let offset = pointer - i64::from(SHARED_BASE);
        if offset < 0 || offset >= self.space.borrow().bytes().cast_signed() {
            return Err(ProgramFault::new(format!(
                "node {}: {name} with address {pointer:#x}, which is not in shared memory: pass a pointer into what trivium_alloc or \
                 one of its kind has returned",
                self.me
            )));
        }
        Ok(offset)
    }

    /// A call is about to be made: its arguments become those of the event, without the object, addresses as offsets.
    ///
    /// # Errors
    /// The program passes what the call does not take, nobody answers it here, or its protocol assumes that it is not made.
    pub(crate) fn begin_call(
        &mut self,
        protocol: usize,
        op: OpId,
        object: Object,
        words: &mut Vec<i64>,
    ) -> Result<(), Refusal> {
        *words = self.words_passed(protocol, op, words).map_err(Refusal::Program)?;
        self.keeps_assumptions(protocol, op, object, words).map_err(Refusal::Broken)?;
        let engine = &self.protocols.engines[protocol];
        if engine.role_for(EventKind::Op(op), object.kind, self.is_at_home(protocol, object)).is_none() {
            let name = self.protocols.call_name(protocol, op);
            let what = format!("node {}: no role of this node answers {name} for object {}", self.me, object.id);
            return Err(Refusal::Program(ProgramFault::new(what)));
        }
        Ok(())
    }

    /// The arguments that a program passes to a call, without the object, as the protocol has them: addresses as offsets, of pointers to blocks the blocks.
    ///
    /// # Errors
    /// The call does not take them.
    pub(super) fn words_passed(&self, protocol: usize, op: OpId, words: &mut [i64]) -> Result<Vec<i64>, ProgramFault> {
        let engine = &self.protocols.engines[protocol];
        let name = self.protocols.call_name(protocol, op);
        let takes = engine.protocol().passed_to(op);
        if words.len() != takes {
            let given = words.len();
            return Err(ProgramFault::new(format!("node {}: {name} takes {takes} arguments, not {given}", self.me)));
        }
        let mut at = 0;
        for arg in &engine.protocol().ops[op.index()].args {
            let takes = engine.protocol().passed_for(&arg.ty);
            // Lists and arrays have neither addresses nor blocks.
            if let [passed] = &mut words[at..at + takes] {
                *passed = self.scalar_passed(protocol, name, &arg.ty, *passed)?;
            }
            at += takes;
        }
        engine.words_passed(op, words).map_err(|what| ProgramFault::new(format!("node {}: {name}: {what}", self.me)))
    }

    /// A call is about to be made, with these arguments: it counts.
    ///
    /// # Errors
    /// Its protocol assumes that it is not made.
    pub(crate) fn keeps_assumptions(
        &mut self,
        protocol: usize,
        op: OpId,
        object: Object,
        words: &[i64],
    ) -> Result<(), NodeError> {
        // Most calls keep them, and are not told of.
        let (me, protocols) = (self.me, self.protocols.clone());
        let called = || format!("node {me} calls {} on object {}", protocols.call_name(protocol, op), object.id);
        let engine = &protocols.engines[protocol];
        let begun = match engine.protocol().conditions.is_empty() {
            true => Ok(()),
            false => self.begin_here(protocol, object),
        };
        let broken = begun
            .and_then(|()| self.broken_condition(protocol, op, object, words).map_err(|fault| fault.message))
            .map_err(|what| NodeError::subject(Code::Program, format!("{}: {what}", called())))?
            .or_else(|| self.usage.call(protocol, engine.protocol(), op, object).err());
        let Some(assumption) = broken else { return Ok(()) };
        let what = format!("{} against the protocol's assumption `{assumption}`", called());
        let help = "change the program: the protocol keeps its promises only under this use";
        Err(NodeError::subject(Code::Program, what).help(help))
    }

    /// What an operation is for the protocol of the memory at an address. How large a block is, is 0 where the protocol has no such calls.
    ///
    /// # Errors
    /// The address is not in shared memory, or the protocol has no such calls.
    pub(crate) fn split_phase(
        &self,
        what: SplitPhase,
        addr: u32,
        bytes: u64,
        place: u32,
    ) -> Result<SplitPhaseStep, ProgramFault> {
        let protocol = addr.checked_sub(SHARED_BASE).and_then(|offset| self.protocol_at(offset.into()));
        let calls = protocol.and_then(|protocol| Some((protocol, self.protocols.split_phase[protocol]?)));
        let Some((protocol, calls)) = calls else {
            if what == SplitPhase::BlockBytes {
                return Ok(SplitPhaseStep::Known(0));
            }
            let what = "a split-phase operation on memory whose protocol has no calls for it";
            return Err(ProgramFault::new(format!("node {}: {what}, at {addr:#x}", self.me)));
        };
        let moved = || vec![addr.into(), addr.into(), bytes.cast_signed(), place.into()];
        let (op, words) = match what {
            SplitPhase::BlockBytes => return Ok(SplitPhaseStep::Known(self.protocols.block.cast_signed())),
            SplitPhase::Get => (calls.get, moved()),
            SplitPhase::Put => (calls.put, moved()),
            SplitPhase::Store => (calls.store, moved()),
            SplitPhase::Sync => (calls.sync, Vec::new()),
            SplitPhase::IsSync => (calls.is_sync, Vec::new()),
            SplitPhase::StoreSync => (calls.store_sync, vec![bytes.cast_signed()]),
        };
        Ok(SplitPhaseStep::Call(protocol, op, words))
    }

    /// A read-modify-write stores what nobody knows before it is performed: a protocol that looks at what is about to be
    /// stored would send on the operand instead.
    ///
    /// # Errors
    /// It is to memory under such a protocol.
    pub(crate) fn check_atomic(&self, address: u32) -> Result<(), NodeError> {
        let offset = address.checked_sub(SHARED_BASE);
        let Some(protocol) = offset.and_then(|offset| self.protocol_at(offset.into())) else { return Ok(()) };
        let Some(why) = self.protocols.no_rmw[protocol].as_ref() else { return Ok(()) };
        let refused = refused_atomic(&self.protocols.engines[protocol].protocol().name, why);
        let what = format!("node {}: an atomic operation at {address:#x}, {refused}", self.me);
        Err(NodeError::subject(Code::Program, what).help(ATOMIC_HELP))
    }

    /// The protocol of memory that a program names, or the default one.
    ///
    /// # Errors
    /// There is none of that name, or it is not about memory.
    pub(crate) fn protocol_named(&self, protocol: Option<&str>) -> Result<usize, NodeError> {
        let engines = &self.protocols.engines;
        let number = match protocol {
            None => self.protocols.default,
            Some(name) => engines
                .iter()
                .position(|engine| engine.protocol().name == name)
                .ok_or_else(|| self.no_such_protocol(name))?,
        };
        if engines[number].protocol().uses(BLOCK) {
            return Ok(number);
        }
        let name = &engines[number].protocol().name;
        let what = format!("node {} asks for memory under protocol `{name}`, which is not about blocks", self.me);
        Err(NodeError::subject(Code::Program, what).help("name the protocol of shared memory first: --protocol stache"))
    }

    fn no_such_protocol(&self, name: &str) -> NodeError {
        let names: Vec<&str> = self.protocols.engines.iter().map(|engine| engine.protocol().name.as_str()).collect();
        let near = nearest(name, names.iter().copied());
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let what = format!("node {} asks for memory under protocol `{name}`, which is not loaded", self.me);
        NodeError::subject(Code::Program, what)
            .help(format!("{near}loaded are {}; add --protocol {name}", names.join(", ")))
    }

    /// How a program wants to bind the region that begins at an address.
    ///
    /// # Errors
    /// There is no such protocol, or no such region.
    pub(crate) fn binding(&self, address: u32, protocol: Option<&str>) -> Result<Binding, NodeError> {
        let protocol = self.protocol_named(protocol)?;
        let region = address.checked_sub(SHARED_BASE).and_then(|offset| self.space.borrow().region_at(offset.into()));
        region.map(|region| Binding { region, protocol }).ok_or_else(|| {
            let what = format!("node {} binds {address:#x} to a protocol, where no allocation begins", self.me);
            NodeError::subject(Code::Program, what).help("pass the pointer that trivium_alloc returned")
        })
    }

    /// A program is about to give the allocation at an address back: its bytes.
    ///
    /// # Errors
    /// No allocation begins there, or it has been given back.
    pub(crate) fn freeing(&self, address: u32) -> Result<u64, NodeError> {
        let space = self.space.borrow();
        let region = space.to_free(self.me, address)?;
        Ok(space.allocation(region, None).bytes)
    }

    /// Whether this node is the home of the page of an address, as far as it knows.
    pub(crate) fn is_home_of(&self, address: u32) -> bool {
        let offset = address.checked_sub(SHARED_BASE).map(u64::from);
        offset.and_then(|offset| self.space.borrow().home(offset)) == Some(self.me)
    }

    /// The program gives the allocation at an address back, as its call with this number.
    ///
    /// # Errors
    /// No allocation begins there, or it has been given back; or another node's call differs.
    pub(crate) fn free(&self, address: u32, index: usize) -> Result<(), NodeError> {
        let mut space = self.space.borrow_mut();
        // Another node may have given it back already, and allocated it again.
        let region = match space.freed_by(index, address) {
            Some(region) => region,
            None => space.to_free(self.me, address)?,
        };
        let bound = self.bound.get(region).copied().flatten();
        let is_left = bound.is_some_and(|bound| !space.is_under(region, bound));
        space.perform(self.me, index, SpaceCall::Free { region, is_left }).map(drop)
    }

    /// A program calls the allocation at an address so.
    ///
    /// # Errors
    /// Nothing is allocated there.
    pub(crate) fn name_allocation(&self, address: u32, name: &str) -> Result<(), NodeError> {
        let offset = address.checked_sub(SHARED_BASE).map(u64::from);
        let Some(region) = offset.and_then(|offset| self.space.borrow().region_of(offset)) else {
            let what = format!("node {} names `{name}` what lies at {address:#x}, which is not allocated", self.me);
            return Err(NodeError::subject(Code::Program, what).help("pass the pointer that trivium_alloc returned"));
        };
        self.space.borrow_mut().set_name(region, self.me, name);
        Ok(())
    }
}
