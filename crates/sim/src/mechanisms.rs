//! The way out of a handler in the simulator: effects are true at once and noted, to be priced when it has ended.

use crate::effects::{Origin, Primitive, Timing};
use crate::event::{Data, Envelope};
use crate::node::NodeState;
use crate::processor::{Doing, Wait};
use crate::records::Place;
use crate::watch::TagChange;
use std::sync::Arc;
use trivium_engine::{Args, Charge, Mechanisms, Node, Object, Outgoing, Payload, Pending, Thread};
use trivium_guest::{AccessKind, SHARED_BASE};
use trivium_lang::protocol::{Access, LaneId, Line, RoleId, RoleKind, StateId, TaskId};

/// What the running handler has done so far.
#[derive(Default)]
pub(crate) struct Handling {
    /// Of which protocol it is.
    pub protocol: usize,
    /// When it was dispatched.
    pub start: u64,
    /// Its effects in order.
    pub effects: Vec<Primitive>,
    /// Its messages in order; when they leave is not known yet.
    #[expect(clippy::vec_box, reason = "they are handed on by their address")]
    pub sends: Vec<Box<Envelope>>,
    /// Payloads that it made: where from.
    pub gathered: Vec<(Payload, Origin)>,
    /// Records that it touched, with their states before.
    pub touched: Vec<Touched>,
    /// Blocks whose waiting accesses try again, or have been performed and what they read.
    pub resumed: Vec<(Object, Option<u64>)>,
    /// Blocks of which the contents or the tag changed.
    pub changed: Vec<Object>,
    /// Results of calls.
    pub answers: Vec<(Thread, i64)>,
    /// Tasks for the software queue.
    pub tasks: Vec<(TaskId, Object, Args)>,
    /// Timers that run from its end, or are cancelled.
    pub timers: Vec<(RoleId, Object, Option<u64>)>,
    /// What it did that cannot be done.
    pub trouble: Option<String>,
    /// Its time, when it has ended.
    pub timing: Timing,
}

/// A record that a handler has touched.
#[derive(Clone, Copy)]
pub(crate) struct Touched {
    /// Of which role.
    pub role: RoleId,
    /// Of which object.
    pub object: Object,
    /// Its state before.
    pub before: StateId,
    /// Where it lies.
    pub place: Place,
}

impl Handling {
    /// Forgets a handler for the next one; the space that its lists took stays.
    pub(crate) fn restart(&mut self, protocol: usize, start: u64) {
        (self.protocol, self.start) = (protocol, start);
        self.effects.clear();
        self.sends.clear();
        self.gathered.clear();
        self.touched.clear();
        self.resumed.clear();
        self.changed.clear();
        self.answers.clear();
        self.tasks.clear();
        self.timers.clear();
        self.trouble = None;
    }
}

impl NodeState {
    fn gather(&mut self, bytes: Vec<u8>, places: Vec<(u64, u32)>, origin: Origin) -> Payload {
        let payload = self.keep(Arc::new(Data { bytes, places }));
        self.handling.gathered.push((payload, origin));
        payload
    }

    fn bytes(&mut self, offset: u64, length: u64) -> Vec<u8> {
        let limit = self.space.borrow().bytes();
        if offset > limit || length > limit - offset {
            self.handling.trouble.get_or_insert_with(|| {
                format!("{length} bytes at shared offset {offset:#x} lie outside what is allocated")
            });
            return Vec::new();
        }
        self.must_be_in_memory(offset);
        let mut bytes = vec![0; length as usize];
        if self.is_cached() {
            self.read_copies(offset, &mut bytes);
            return bytes;
        }
        let read = self.memory.read(offset, &mut bytes);
        self.trouble_of(read);
        bytes
    }

    fn put(&mut self, offset: u64, bytes: &[u8]) {
        let limit = self.space.borrow().bytes();
        if offset > limit || bytes.len() as u64 > limit - offset {
            let length = bytes.len();
            self.handling.trouble.get_or_insert_with(|| {
                format!("{length} bytes at shared offset {offset:#x} lie outside what is allocated")
            });
            return;
        }
        if self.is_cached() {
            return self.write_copies(offset, bytes);
        }
        self.must_be_in_memory(offset);
        let written = self.memory.write(offset, bytes);
        self.trouble_of(written);
        for block in offset / self.shared.block..=(offset + bytes.len().max(1) as u64 - 1) / self.shared.block {
            self.handling.changed.push(Object { kind: trivium_lang::protocol::BLOCK, id: block as u32 });
        }
    }

    /// Performs the access at which the processor waits for a block, if it does, on this node's memory; gives what
    /// was there before.
    fn perform_pending(&mut self, object: Object) -> Option<u64> {
        if self.compute.doing != Doing::Waiting(Wait::Access(object)) {
            return None;
        }
        let pending = self.compute.pending();
        let mut word = [0; 8];
        let size = usize::from(pending.size).min(8);
        let read = self.memory.read(pending.address, &mut word[..size]);
        self.trouble_of(read);
        let old = u64::from_le_bytes(word);
        if self.compute.pending_kind() == AccessKind::Write {
            let new = self.compute.atomic.map_or(pending.value, |atomic| atomic.apply(old));
            self.put(pending.address, &new.to_le_bytes()[..size]);
        }
        Some(old)
    }

    /// An access that a handler performs for the program is to a word of the handler's own block.
    fn must_lie_in(&mut self, block: Object, address: u64) {
        let first = self.offset_of(block);
        if address < first || address + 8 > first + self.shared.block {
            self.handling.trouble.get_or_insert_with(|| {
                format!("the word at shared offset {address:#x} does not lie in block {}", block.id)
            });
        }
    }

    /// Golden check: a handler reads and writes only pages that have a frame.
    fn must_be_in_memory(&mut self, offset: u64) {
        if !self.is_in_memory(offset) {
            let block = self.block_of(offset).id;
            let what = format!("block {block} is read or written, but the node has given its page up");
            self.handling.trouble.get_or_insert(what);
        }
    }

    /// Tells the watch of a tag that changes at cycle `time`.
    pub(crate) fn note_tag(&mut self, protocol: usize, block: Object, to: Access, time: u64) {
        let (home, protocol) = (self.home_of(block), protocol as u16);
        self.tag_changes.push(TagChange { time, node: self.me, block: block.id, to, home, protocol });
    }

    pub(crate) fn trouble_of(&mut self, result: Result<(), String>) {
        if let Err(what) = result {
            self.handling.trouble.get_or_insert(what);
        }
    }

    fn data(&self, payload: Payload) -> Arc<Data> {
        let empty = || Arc::new(Data { bytes: Vec::new(), places: Vec::new() });
        self.payloads.get(payload.0 as usize).cloned().flatten().unwrap_or_else(empty)
    }
}

impl Mechanisms for NodeState {
    fn me(&self) -> Node {
        self.me
    }

    fn home(&self, object: Object) -> Node {
        self.home_of(object)
    }

    fn record(&mut self, role: RoleId, object: Object) -> &mut [u8] {
        let protocol = self.handling.protocol;
        if let Some(touched) = self.handling.touched.iter().find(|t| t.role == role && t.object == object) {
            return self.records.at_mut(touched.place);
        }
        let place = self.records.place(protocol, role, object);
        let before = self.shared.engines[protocol].state(role, self.records.at(place));
        self.handling.touched.push(Touched { role, object, before, place });
        self.records.at_mut(place)
    }

    fn send(&mut self, to: Node, message: Outgoing) {
        let words = message.args.words().len() as u64;
        let mut envelope = self.envelopes.pop().unwrap_or_default();
        let protocol = self.handling.protocol;
        envelope.protocol = protocol;
        envelope.message = message.message;
        envelope.lane = self.shared.engines[protocol].protocol().messages[message.message.index()].lane;
        envelope.object = message.object;
        envelope.args.assign(&message.args);
        envelope.from = self.me;
        envelope.to = to;
        match message.payload {
            None => self.handling.effects.push(Primitive::Send { words, data: None }),
            Some(payload) => {
                let data = self.data(payload);
                let bytes = data.bytes.len() as u64;
                envelope.data = Some(data);
                let made = self.handling.gathered.iter().find(|g| g.0 == payload);
                let origin = made.map_or(Origin::Received, |g| g.1);
                self.handling.effects.push(Primitive::Send { words, data: Some((origin, bytes)) });
            }
        }
        self.handling.sends.push(envelope);
    }

    fn room(&mut self, lane: LaneId, count: u32) -> bool {
        self.handling.effects.push(Primitive::Room);
        let protocol = self.handling.protocol;
        let declared = &self.shared.engines[protocol].protocol().lanes;
        let Some(holds) = declared[lane.index()].holds else { return true };
        let sent = self.handling.sends.iter().filter(|envelope| envelope.lane == lane).count() as u32;
        self.interface.on_lane(protocol, lane) + sent + count <= holds
    }

    fn gather_block(&mut self, block: Object) -> Payload {
        let bytes = self.bytes(self.offset_of(block), self.shared.block);
        self.gather(bytes, Vec::new(), Origin::Block(block))
    }

    fn gather_memory(&mut self, from: u64, to: u64) -> Payload {
        let bytes = self.bytes(from, to.saturating_sub(from));
        self.gather(bytes, Vec::new(), Origin::Memory)
    }

    fn gather_list(&mut self, blocks: bool, items: &[i64]) -> Payload {
        let (mut all, mut places) = (Vec::new(), Vec::new());
        for &item in items {
            let (offset, length) =
                if blocks { (item as u64 * self.shared.block, self.shared.block) } else { (item as u64, 8) };
            all.extend(self.bytes(offset, length));
            places.push((offset, length as u32));
        }
        self.gather(all, places, if blocks { Origin::Memory } else { Origin::Words })
    }

    fn install_block(&mut self, payload: Payload, block: Object) {
        let data = self.data(payload);
        self.handling.effects.push(Primitive::InstallBlock(block));
        self.put(self.offset_of(block), &data.bytes);
    }

    fn install_memory(&mut self, payload: Payload, address: Option<u64>) {
        let data = self.data(payload);
        let words = address.is_none() && data.places.iter().all(|&(_, length)| length == 8);
        self.handling.effects.push(match words {
            true => Primitive::InstallWords(data.places.len() as u64),
            false => Primitive::InstallMemory(data.bytes.len() as u64),
        });
        match address {
            Some(address) => self.put(address, &data.bytes),
            None => {
                let mut rest = &data.bytes[..];
                for &(offset, length) in &data.places {
                    let (now, later) = rest.split_at(rest.len().min(length as usize));
                    self.put(offset, now);
                    rest = later;
                }
            }
        }
    }

    fn set_access(&mut self, block: Object, from: Access, to: Access) {
        self.handling.effects.push(Primitive::Tag(block, from, to));
        self.handling.changed.push(block);
        self.tag(block);
        self.tags[block.id as usize] = 1 + to as u8;
        if to < from {
            let address = SHARED_BASE + self.offset_of(block) as u32;
            self.cache.lower(address, self.shared.block as u32, to == Access::Read);
        }
        if self.shared.watched[self.handling.protocol] {
            self.note_tag(self.handling.protocol, block, to, self.handling.start);
        }
    }

    fn load(&mut self, address: u64) -> u64 {
        self.handling.effects.push(Primitive::Load);
        let bytes = self.bytes(address, 8);
        bytes.try_into().map_or(0, u64::from_le_bytes)
    }

    fn store(&mut self, address: u64, value: u64) {
        self.handling.effects.push(Primitive::Store);
        self.put(address, &value.to_le_bytes());
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        self.handling.effects.push(Primitive::Copy(bytes));
        let data = self.bytes(from, bytes);
        self.put(to, &data);
    }

    fn resume(&mut self, object: Object) {
        if self.is_cached() {
            self.answered_line(object);
        }
        self.handling.effects.push(Primitive::Resume);
        // What has been completed does not happen again.
        if !self.handling.resumed.iter().any(|(resumed, _)| *resumed == object) {
            self.handling.resumed.push((object, None));
        }
    }

    fn complete(&mut self, object: Object) {
        self.handling.effects.push(Primitive::Resume);
        let resumed = self.handling.resumed.iter().position(|(resumed, _)| *resumed == object);
        if resumed.is_some_and(|at| self.handling.resumed[at].1.is_some()) {
            return;
        }
        if let Some(read) = self.perform_pending(object) {
            resumed.map(|at| self.handling.resumed.remove(at));
            self.handling.resumed.push((object, Some(read)));
        }
    }

    fn perform_read(&mut self, block: Object, address: u64, to: u64) {
        self.handling.effects.extend([Primitive::Load, Primitive::Store]);
        self.must_lie_in(block, address);
        let bytes = self.bytes(address, 8);
        let written = self.memory.write_private(to, &bytes);
        self.trouble_of(written);
        self.note_performed(&bytes);
    }

    fn perform_write(&mut self, block: Object, address: u64, value: u64) {
        self.handling.effects.push(Primitive::Store);
        self.must_lie_in(block, address);
        self.put(address, &value.to_le_bytes());
    }

    fn answer(&mut self, thread: Thread, value: i64) {
        self.handling.effects.push(Primitive::Resume);
        self.handling.answers.push((thread, value));
    }

    fn pending(&mut self, _thread: Thread) -> Pending {
        self.compute.pending()
    }

    fn start(&mut self, task: TaskId, object: Object, args: Args) {
        self.handling.effects.push(Primitive::Start);
        self.handling.tasks.push((task, object, args));
    }

    fn timer(&mut self, role: RoleId, object: Object, after: Option<u64>) {
        self.handling.timers.push((role, object, after));
    }

    fn probe(&mut self, block: Object) -> Line {
        self.handling.effects.push(Primitive::Probe);
        self.line_of(block)
    }

    fn fill(&mut self, block: Object, to: Line) -> bool {
        self.fill_line(block, to)
    }

    fn upgrade(&mut self, block: Object) -> bool {
        self.upgrade_line(block)
    }

    fn take(&mut self, block: Object, to: Line) {
        self.take_line(block, to);
    }

    fn invalidate(&mut self, block: Object) {
        self.invalidate_line(block);
    }

    fn invoke(&mut self, _function: i64, _args: &[i64]) {
        let what = "a handler invokes a function of the program, which these machines cannot do";
        self.handling.trouble.get_or_insert_with(|| what.into());
    }

    fn charge(&mut self, what: Charge) {
        // Each is written where it stays: a copy would have to wait until it has been written.
        match what {
            Charge::Record(role) => {
                let kind = self.shared.engines[self.handling.protocol].protocol().roles[role.index()].kind;
                self.handling.effects.push(Primitive::Record(kind == RoleKind::Home));
            }
            Charge::Step => self.handling.effects.push(Primitive::Step),
            Charge::Element => self.handling.effects.push(Primitive::Element),
        }
    }
}
