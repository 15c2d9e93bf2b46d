//! A node's shared memory as its running handler reads and writes it: its copies of blocks, or, where processors are cached
//! (`docs/semantics.md`, section 8), the engine's copies, which are apart from what the processor's cache holds.

use super::asked::{AskedStep, Request, size_of_access};
use super::{Effects, Touched};
use crate::core::{NodeCore, allows};
use crate::records::Slot;
use crate::space::{Data, shared_u32};
use crate::thread::NodeThreads;
use std::rc::Rc;
use trivium_engine::number::index;
use trivium_engine::{Deed, HandlerAccess, Object, Payload, Pending, Thread};
use trivium_guest::{AccessKind, PRIVATE_LIMIT, ReadModifyWrite};
use trivium_protocol::source::Span;
use trivium_protocol::{Access, BLOCK, RoleId};

/// A node whose running handler reads and writes shared memory. What it does that cannot be done is kept in
/// [`Effects::trouble`], and told when it has ended.
pub trait HandlerMemory: Sized {
    /// What is kept of why a deferred event is tried again.
    type Cause;

    /// The node as far as no time is concerned.
    fn core(&self) -> &NodeCore<Self::Cause>;

    /// The same, to change it.
    fn core_mut(&mut self) -> &mut NodeCore<Self::Cause>;

    /// What the running handler has done so far.
    fn effects(&self) -> &Effects;

    /// The same, to change it.
    fn effects_mut(&mut self) -> &mut Effects;

    /// The handler is about to use memory at this offset: a node that may have none there says so in
    /// [`Effects::trouble`].
    fn about_to_use(&mut self, _offset: u64) {}

    /// The tag of a block, where the node looks at unchecked accesses to it.
    fn tag_to_check(&mut self, block: Object) -> Option<Access> {
        Some(self.core_mut().tag(block))
    }

    /// The running handler has written to its node's copies.
    #[inline]
    fn has_brought(&mut self, offset: u64, bytes: u64) {
        let protocols = &self.core().protocols;
        if protocols.looks_at_accesses {
            let last = protocols.block_number(offset + bytes.max(1) - 1);
            let blocks = protocols.block_number(offset)..=last;
            self.effects_mut().brought.extend(blocks.map(|id| Object { kind: BLOCK, id }));
        }
    }

    /// Whether the running handler's protocol has cached processors.
    #[inline]
    fn is_cached(&self) -> bool {
        self.core().protocols.cached[self.effects().protocol]
    }

    /// Keeps what went wrong.
    #[inline]
    fn trouble_of(&mut self, result: Result<(), String>) {
        self.effects_mut().trouble_of(result);
    }

    /// Appends what lies in places of this node's memory to data, one behind the other; to be put back there if `back`. A list may
    /// then have thousands of words, so that what is the same for all of them is looked at once.
    fn gather_into(&mut self, data: &mut Data, places: impl Iterator<Item = (u64, u64)>, back: bool) {
        if !back {
            places.for_each(|(offset, length)| self.read(offset, length, &mut data.bytes));
            return;
        }
        let there = data.places.len();
        data.places.extend(places.map(|(offset, length)| (offset, shared_u32(length))));
        let places = &data.places[there..];
        if self.is_cached() || !self.are_allocated(places) {
            for &(offset, length) in places {
                self.read(offset, length.into(), &mut data.bytes);
            }
            return;
        }
        for &(offset, length) in places {
            self.about_to_use(offset);
            self.about_to_access(offset, length.into(), AccessKind::Read);
        }
        let gathered = self.core_mut().memory.gather(places, &mut data.bytes);
        self.trouble_of(gathered);
    }

    /// Whether all of these places are allocated.
    fn are_allocated(&self, places: &[(u64, u32)]) -> bool {
        let limit = self.core().space.borrow().bytes();
        places.iter().all(|&(offset, length)| offset <= limit && u64::from(length) <= limit - offset)
    }

    /// Whether so many bytes are allocated.
    fn must_be_allocated(&mut self, offset: u64, length: u64) -> bool {
        let limit = self.core().space.borrow().bytes();
        let is_allocated = offset <= limit && length <= limit - offset;
        if !is_allocated {
            let what = || format!("{length} bytes at shared offset {offset:#x} lie outside what is allocated");
            self.effects_mut().trouble.get_or_insert_with(what);
        }
        is_allocated
    }

    /// The running handler is about to load or store bytes. Where another protocol keeps them coherent, that is an access of the
    /// node to its block, which the tag must allow.
    #[inline]
    fn about_to_access(&mut self, offset: u64, bytes: u64, kind: AccessKind) {
        if self.core().protocols.looks_at_accesses {
            self.look_at_access(offset, bytes, kind);
        }
    }

    /// The same where an access may be wrong.
    fn look_at_access(&mut self, offset: u64, bytes: u64, kind: AccessKind) {
        let protocols = Rc::clone(&self.core().protocols);
        if protocols.any_other {
            self.about_to_access_others(offset, bytes, kind);
        }
        if kind == AccessKind::Read && protocols.may_look_at_forgotten[self.effects().protocol] {
            self.about_to_look(offset, bytes);
        }
    }

    /// The running handler is about to load bytes: the node must have contents of their blocks, or have had them when the handler began,
    /// or the handler have written to them.
    fn about_to_look(&mut self, offset: u64, bytes: u64) {
        let (size, running) = (self.core().protocols.block, self.effects().protocol);
        for first in (offset / size * size..offset + bytes.max(1)).step_by(index(size)) {
            let core = self.core();
            let block = core.block_of(first);
            if core.protocol_at(first) != Some(running) || self.effects().brought.contains(&block) {
                continue;
            }
            core.home_for_handler(running, block);
            let engine = &core.protocols.engines[running];
            let had = |touched: &Touched| {
                let states = &engine.protocol().roles[touched.role.index()].states;
                touched.object == block && states[touched.before.index()].contents
            };
            if !core.has_contents(running, block) && !self.effects().touched.iter().any(had) {
                let what = format!(
                    "it looks at the contents of block {}, which this node has not: no state of its roles gives access or keeps them",
                    block.id
                );
                return self.trouble_of(Err(what));
            }
        }
    }

    /// The same where there may be such blocks.
    fn about_to_access_others(&mut self, offset: u64, bytes: u64, kind: AccessKind) {
        let (size, running) = (self.core().protocols.block, self.effects().protocol);
        for first in (offset / size * size..offset + bytes.max(1)).step_by(index(size)) {
            let Some(owner) = self.core().protocol_at(first).filter(|&owner| owner != running) else { continue };
            let protocols = Rc::clone(&self.core().protocols);
            if !protocols.engines[owner].answers_accesses() {
                continue;
            }
            let block = self.core().block_of(first);
            self.core().home_for_handler(owner, block);
            let tag = self.core_mut().tag(block);
            // A line that its own home does not have says nothing of others: nobody but the protocol knows whether they have one.
            let is_unknown = protocols.cached[owner] && self.core().home_of_block(block) == self.core().me;
            if !is_unknown && !allows(tag, kind) {
                let name = |protocol: usize| protocols.engines[protocol].protocol().name.as_str();
                let what = others_block((name(running), name(owner)), (block, first.max(offset)), kind, tag);
                return self.trouble_of(Err(what));
            }
        }
    }

    /// Reads bytes of this node's memory, behind those that are there.
    fn read(&mut self, offset: u64, length: u64, into: &mut Vec<u8>) {
        if self.must_be_allocated(offset, length) {
            let there = into.len();
            into.resize(there + index(length), 0);
            self.read_allocated(offset, &mut into[there..]);
        }
    }

    /// Reads a word of this node's memory.
    fn word(&mut self, offset: u64) -> [u8; 8] {
        let mut word = [0; 8];
        if self.must_be_allocated(offset, 8) {
            self.read_allocated(offset, &mut word);
        }
        word
    }

    /// Reads bytes that are known to be allocated.
    #[inline]
    fn read_allocated(&mut self, offset: u64, into: &mut [u8]) {
        self.about_to_use(offset);
        self.about_to_access(offset, into.len() as u64, AccessKind::Read);
        if self.is_cached() {
            return self.read_copies(offset, into);
        }
        let read = self.core_mut().memory.read(offset, into);
        self.trouble_of(read);
    }

    /// Writes bytes to this node's memory.
    fn put(&mut self, offset: u64, bytes: &[u8]) {
        if !self.must_be_allocated(offset, bytes.len() as u64) {
            return;
        }
        self.about_to_access(offset, bytes.len() as u64, AccessKind::Write);
        self.has_brought(offset, bytes.len() as u64);
        if self.is_cached() {
            return self.write_copies(offset, bytes);
        }
        self.about_to_use(offset);
        let written = self.core_mut().memory.write(offset, bytes);
        self.trouble_of(written);
        self.has_changed(offset, bytes.len() as u64);
    }

    /// The contents of the blocks of so many bytes have changed.
    #[inline]
    fn has_changed(&mut self, offset: u64, bytes: u64) {
        let protocols = &self.core().protocols;
        let first = protocols.block_number(offset);
        let last = protocols.block_number(offset + bytes.max(1) - 1);
        for block in (first..=last).map(|id| Object { kind: BLOCK, id }) {
            self.core_mut().threads.is_written(block);
            self.effects_mut().changed.push(block);
        }
    }

    /// Writes the data of a payload back to the places that they came from.
    fn put_back(&mut self, data: &Data) {
        let places = &data.places[..];
        let needed: u64 = places.iter().map(|&(_, length)| u64::from(length)).sum();
        if self.is_cached() || needed != data.bytes.len() as u64 || !self.are_allocated(places) {
            let mut rest = &data.bytes[..];
            for &(offset, length) in places {
                let (now, later) = rest.split_at(rest.len().min(length as usize));
                self.put(offset, now);
                rest = later;
            }
            return;
        }
        for &(offset, length) in places {
            self.about_to_use(offset);
            self.about_to_access(offset, length.into(), AccessKind::Write);
            self.has_brought(offset, length.into());
        }
        let written = self.core_mut().memory.scatter(places, &data.bytes);
        self.trouble_of(written);
        places.iter().for_each(|&(offset, length)| self.has_changed(offset, length.into()));
    }

    /// Copies bytes from one place of this node's memory to another.
    fn copy_within(&mut self, from: u64, to: u64, bytes: u64) {
        let mut data = Vec::new();
        self.read(from, bytes, &mut data);
        self.put(to, &data);
    }

    /// The handler is about to use bytes of the program's own memory: where these are shared, that is an unchecked access.
    fn about_to_use_own(&mut self, at: u64, bytes: u64, kind: AccessKind) {
        let mut next = at;
        while let Ok(address) = u32::try_from(next)
            && next < at + bytes
        {
            let size = self.core().protocols.block;
            next = (next / size + 1) * size;
            let Some(offset) = self.core().parts.offset_of(address) else { continue };
            let block = self.core().block_of(offset);
            let Some(tag) = self.tag_to_check(block) else { return };
            let checked = self.core().check_unchecked(address, kind, block, tag);
            self.trouble_of(checked.map_err(|error| error.diagnostic.message));
        }
    }

    /// Appends bytes of the program's own memory.
    fn read_own(&mut self, at: u64, bytes: u64, into: &mut Vec<u8>) {
        let there = into.len();
        self.about_to_use_own(at, bytes, AccessKind::Read);
        if bytes > u64::from(PRIVATE_LIMIT) {
            return self.trouble_of(Err(format!("{bytes} bytes are more than the program's own memory has")));
        }
        into.resize(there + index(bytes), 0);
        let read = self.core_mut().memory.read_private(at, &mut into[there..]);
        self.trouble_of(read);
    }

    /// Writes bytes of the program's own memory.
    fn write_own(&mut self, at: u64, bytes: &[u8]) {
        self.about_to_use_own(at, bytes.len() as u64, AccessKind::Write);
        let written = self.core_mut().memory.write_private(at, bytes);
        self.trouble_of(written);
    }

    /// The accesses with which threads wait for a block are performed on this node's memory.
    fn complete_accesses(&mut self, block: Object) {
        for number in NodeThreads::numbers() {
            let thread = &mut self.core_mut().threads[number];
            if thread.complete(block) {
                let (pending, kind, atomic) = (thread.pending, thread.pending_kind, thread.atomic);
                let read = self.perform_waiting(&pending, kind, atomic);
                self.effects_mut().completed.push((number, read));
            }
        }
    }

    /// Performs an access of the program on this node's memory; gives what was there before.
    fn perform_waiting(&mut self, pending: &Pending, kind: AccessKind, atomic: Option<ReadModifyWrite>) -> u64 {
        let mut word = [0; 8];
        let size = usize::from(pending.size).min(8);
        if kind == AccessKind::Read || atomic.is_some() {
            self.about_to_access(pending.address, pending.size.into(), AccessKind::Read);
        }
        let read = self.core_mut().memory.read(pending.address, &mut word[..size]);
        self.trouble_of(read);
        let old = u64::from_le_bytes(word);
        if kind == AccessKind::Write {
            let new = atomic.map_or(pending.value, |atomic| atomic.apply(old));
            self.put(pending.address, &new.to_le_bytes()[..size]);
        }
        old
    }

    /// Whether a handler's access lies in the block.
    fn must_lie_in(&mut self, block: Object, access: &HandlerAccess) -> bool {
        let first = self.core().offset_of(block);
        let size = self.core().protocols.block;
        let inside = access.address.checked_sub(first);
        let lies_in = inside.is_some_and(|at| access.bytes <= size && at <= size - access.bytes);
        if !lies_in {
            let HandlerAccess { address, bytes, .. } = access;
            let what = || format!("{bytes} bytes at shared offset {address:#x} do not lie in block {} alone", block.id);
            self.effects_mut().trouble.get_or_insert_with(what);
        }
        lies_in
    }

    /// A handler's load of any length, which becomes data.
    fn load_data(&mut self, block: Object, access: &HandlerAccess, data: &mut Data) {
        data.clear();
        if self.must_lie_in(block, access) {
            self.read(access.address, access.bytes, &mut data.bytes);
        }
    }

    /// Performs a handler's access on this node's memory; gives what [`trivium_engine::Mechanisms::perform`] does.
    fn perform_access(&mut self, block: Object, access: &HandlerAccess) -> u64 {
        if !self.must_lie_in(block, access) {
            return 0;
        }
        if self.is_cached() && !matches!(access.deed, Deed::Load | Deed::LoadTo(_)) {
            // A buffer without contents has other words, too.
            self.about_to_access(access.address, access.bytes, AccessKind::Read);
        }
        let given = match access.deed {
            Deed::LoadTo(to) => {
                let mut bytes = Vec::new();
                self.read(access.address, access.bytes, &mut bytes);
                self.write_own(to, &bytes);
                0
            }
            Deed::StoreFrom(from) => {
                let mut bytes = Vec::new();
                self.read_own(from, access.bytes, &mut bytes);
                self.put(access.address, &bytes);
                0
            }
            Deed::StoreData(payload) => {
                self.with_data(payload, |node, data| {
                    let (there, wanted) = (data.bytes.len() as u64, access.bytes);
                    if there != wanted {
                        let what = || format!("{wanted} bytes are stored, and the message has brought {there}");
                        node.effects_mut().trouble.get_or_insert_with(what);
                        return;
                    }
                    node.put(access.address, &data.bytes);
                });
                0
            }
            Deed::Load => self.bytes_of(access),
            Deed::Store(value) => {
                self.put(access.address, &value.to_le_bytes()[..index(access.bytes)]);
                0
            }
            Deed::Modify { operation, operand, expected } => {
                let old = self.bytes_of(access);
                let new = operation.apply(size_of_access(access), old, operand, expected);
                self.put(access.address, &new.to_le_bytes()[..index(access.bytes)]);
                old
            }
        };
        let performed = AskedStep::performed(access, given);
        self.effects_mut().asked.extend(performed);
        given
    }

    /// What an access of at most 8 bytes loads.
    fn bytes_of(&mut self, access: &HandlerAccess) -> u64 {
        let mut word = [0; 8];
        self.read_allocated(access.address, &mut word[..index(access.bytes)]);
        u64::from_le_bytes(word)
    }

    /// The access with which a thread waits for a block was performed elsewhere and gives this value: it is done.
    fn complete_access(&mut self, object: Object, number: Thread, value: u64, place: Span) {
        let me = self.core().me;
        let asked = self.core_mut().threads.named(number, "an access is completed of").and_then(|thread| match thread
            .complete(object)
        {
            true => Ok(Request::of((me, number), &thread.pending, thread.pending_kind)),
            false => {
                Err(format!("the access of thread {number} to block {} is completed, and it waits for none", object.id))
            }
        });
        let effects = self.effects_mut();
        match asked {
            Ok(request) => {
                effects.asked.push(AskedStep::completed(request, value, place));
                effects.completed.push((number, value));
            }
            Err(what) => effects.trouble_of(Err(what)),
        }
    }

    /// The access at which a thread waits; none of a thread that there is not.
    fn pending_of(&mut self, number: Thread) -> Pending {
        match self.core_mut().threads.named(number, "a handler looks at the access of") {
            Ok(thread) => thread.pending,
            Err(what) => {
                self.trouble_of(Err(what));
                Pending::default()
            }
        }
    }

    /// The place of a record that the running handler looks at.
    // By itself, so that the short way through `touched_record` is a few instructions.
    #[inline(never)]
    fn touch(&mut self, role: RoleId, object: Object) -> Slot {
        if let Some(touched) = self.effects().touched.iter().find(|t| t.role == role && t.object == object) {
            return touched.place;
        }
        let protocol = self.effects().protocol;
        let (place, trouble) = self.core_mut().begun(protocol, role, object);
        if let Some(what) = trouble {
            self.trouble_of(Err(what));
        }
        let core = self.core();
        let before = core.protocols.engines[protocol].state(role, core.records.at(place));
        self.effects_mut().touched.push(Touched { role, object, before, place });
        place
    }

    /// The record of an instance that the running handler looks at.
    #[inline(always)]
    fn touched_record(&mut self, role: RoleId, object: Object) -> &mut [u8] {
        let place = match self.effects().touched.first() {
            Some(first) if first.role == role && first.object == object => first.place,
            _ => self.touch(role, object),
        };
        self.core_mut().records.at_mut(place)
    }

    /// Does something with a payload's data.
    fn with_data(&mut self, payload: Payload, what: impl FnOnce(&mut Self, &Data)) {
        if let Some(data) = self.core_mut().payloads.take(payload) {
            what(self, &data);
            self.core_mut().payloads.put_back(payload, data);
        }
    }

    /// The engine's copy of a block.
    fn copy_of(&mut self, block: Object) -> &mut [u8] {
        if self.core_mut().lines.copy(block).is_none() {
            let mut bytes = vec![0; index(self.core().protocols.block)];
            let is_home = self.core().home_of_block(block) == self.core().me;
            if is_home {
                // Before anybody has cached it, memory is all that there is.
                let offset = self.core().offset_of(block);
                let read = self.core_mut().memory.read(offset, &mut bytes);
                self.trouble_of(read);
            }
            return self.core_mut().lines.keep_copy(block, bytes.into(), !is_home);
        }
        self.core_mut().lines.copy(block).unwrap_or_default()
    }

    /// The engine's copy of the block at an offset, from there on.
    fn copy_from(&mut self, offset: u64) -> &mut [u8] {
        let from = index(offset % self.core().protocols.block);
        let block = self.core().block_of(offset);
        &mut self.copy_of(block)[from..]
    }

    /// Reads the engine's copies from an offset on.
    fn read_copies(&mut self, offset: u64, into: &mut [u8]) {
        let mut done = 0;
        while done < into.len() {
            let copy = self.copy_from(offset + done as u64);
            let count = copy.len().min(into.len() - done);
            into[done..done + count].copy_from_slice(&copy[..count]);
            done += count;
        }
    }

    /// Writes them.
    fn write_copies(&mut self, offset: u64, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let copy = self.copy_from(offset + done as u64);
            let count = copy.len().min(bytes.len() - done);
            copy[..count].copy_from_slice(&bytes[done..done + count]);
            done += count;
        }
    }

    /// What the engine has of a block becomes what the processor's cache holds.
    fn fill_from_copy(&mut self, block: Object) {
        let bytes = self.copy_of(block).len();
        let offset = self.core().offset_of(block);
        self.about_to_access(offset, bytes as u64, AccessKind::Read);
        let core = self.core_mut();
        let written = core.memory.write(offset, core.lines.copy(block).unwrap_or_default());
        self.trouble_of(written);
    }

    /// What the processor's cache holds of a block becomes what the engine has.
    fn take_to_copy(&mut self, block: Object) {
        let bytes = self.copy_of(block).len();
        let offset = self.core().offset_of(block);
        let core = self.core_mut();
        let read = core.memory.read(offset, core.lines.copy(block).unwrap_or_default());
        self.trouble_of(read);
        self.has_brought(offset, bytes as u64);
    }

    /// The processor's request for a block has been answered.
    fn answered_line(&mut self, block: Object) {
        let mut line = self.core_mut().lines.line(block);
        line.answered();
        self.core_mut().lines.set(block, line);
    }
}

/// Why a handler of the first protocol may not load from a block of the second, or store to it.
fn others_block(
    (running, owner): (&str, &str),
    (block, offset): (Object, u64),
    kind: AccessKind,
    tag: Access,
) -> String {
    let deed = if kind == AccessKind::Read { "loads from" } else { "stores to" };
    let whose = format!("block {}, which the protocol `{owner}` keeps coherent", block.id);
    let why = match tag {
        Access::None => "the node has no access to it now",
        Access::Read | Access::Write => "the node may only read it now, since others may have copies",
    };
    format!("a handler of the protocol `{running}` {deed} shared offset {offset:#x} of {whose}: {why}")
}
