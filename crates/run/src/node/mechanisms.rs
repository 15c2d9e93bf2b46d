//! The way out of a handler on a real node: effects on this node are true at once, what it asks for on behalf of others is kept
//! until it has ended.

use super::{Doing, NodeState, Wait};
use crate::wire::{Message, write_message};
use trivium_engine::number::index;
use trivium_engine::{Args, Charge, Mechanisms, Node, Object, Outgoing, Payload, Pending, Thread};
use trivium_guest::AccessKind;
use trivium_node::{Data, Lanes, Slot, shared_u32};
use trivium_protocol::{Access, BLOCK, LaneId, Line, MessageId, RoleId, StateId, TaskId};

/// What the running handler has done so far.
#[derive(Default)]
pub(crate) struct Handling {
    /// Of which protocol it is.
    pub protocol: usize,
    /// Its messages in order.
    pub sends: Vec<Sent>,
    /// Payloads that it made.
    pub gathered: Vec<Payload>,
    /// Records that it touched, with their states before.
    pub touched: Vec<Touched>,
    /// Blocks whose waiting accesses try again, or have been performed and what they read.
    pub resumed: Vec<(Object, Option<u64>)>,
    /// Blocks of which the contents or the tag changed.
    pub changed: Vec<Object>,
    /// Results of calls.
    pub answers: Vec<i64>,
    /// Tasks for the software queue.
    pub tasks: Vec<(TaskId, Object, Args)>,
    /// Timers that run from its end, or are cancelled.
    pub timers: Vec<(RoleId, Object, Option<u64>)>,
    /// What it did that cannot be done.
    pub trouble: Option<String>,
}

/// A message that a handler has sent.
pub(crate) struct Sent {
    pub to: Node,
    pub message: MessageId,
    pub lane: LaneId,
    /// Two header words, arguments, data, as they are counted.
    pub bytes: u64,
    pub what: What,
}

/// A message to this node, or one that has been written for another.
pub(crate) enum What {
    Own(Message),
    Packet(Vec<u8>),
}

/// A record that a handler has touched.
#[derive(Clone, Copy)]
pub(crate) struct Touched {
    pub role: RoleId,
    pub object: Object,
    /// Its state before.
    pub before: StateId,
    /// Where it lies.
    pub place: Slot,
}

impl Handling {
    /// Forgets a handler for the next one; the space that its lists took stays.
    pub(crate) fn restart(&mut self, protocol: usize) {
        self.protocol = protocol;
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
    pub(super) fn trouble_of(&mut self, result: Result<(), String>) {
        if let Err(what) = result {
            self.handling.trouble.get_or_insert(what);
        }
    }

    /// What lies in places of this node's memory, one behind the other, as a payload; to be put back there if `back`.
    fn gather(&mut self, places: impl Iterator<Item = (u64, u64)>, back: bool) -> Payload {
        let mut data = Box::<Data>::default();
        for (offset, length) in places {
            self.read(offset, length, &mut data.bytes);
            if back {
                data.places.push((offset, shared_u32(length)));
            }
        }
        let payload = self.core.payloads.keep(data);
        self.handling.gathered.push(payload);
        payload
    }

    /// Whether so many bytes are allocated.
    fn must_be_allocated(&mut self, offset: u64, length: u64) -> bool {
        let limit = self.core.space.borrow().bytes();
        let is_allocated = offset <= limit && length <= limit - offset;
        if !is_allocated {
            let what = || format!("{length} bytes at shared offset {offset:#x} lie outside what is allocated");
            self.handling.trouble.get_or_insert_with(what);
        }
        is_allocated
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

    fn read_allocated(&mut self, offset: u64, into: &mut [u8]) {
        let read = if self.is_cached() { self.read_copies(offset, into) } else { self.memory.read(offset, into) };
        self.trouble_of(read);
    }

    fn put(&mut self, offset: u64, bytes: &[u8]) {
        if !self.must_be_allocated(offset, bytes.len() as u64) {
            return;
        }
        if self.is_cached() {
            let written = self.write_copies(offset, bytes);
            return self.trouble_of(written);
        }
        let written = self.memory.write(offset, bytes);
        self.trouble_of(written);
        let last = offset + bytes.len().max(1) as u64 - 1;
        for id in self.core.protocols.block_number(offset)..=self.core.protocols.block_number(last) {
            self.handling.changed.push(Object { kind: BLOCK, id });
        }
    }

    /// Performs the access at which the program waits for a block, if it does, on this node's memory; gives what was there
    /// before.
    fn perform_pending(&mut self, object: Object) -> Option<u64> {
        if self.doing != Doing::Waiting(Wait::Access(object)) {
            return None;
        }
        let pending = self.pending;
        let mut word = [0; 8];
        let size = usize::from(pending.size).min(8);
        let read = self.memory.read(pending.address, &mut word[..size]);
        self.trouble_of(read);
        let old = u64::from_le_bytes(word);
        if self.pending_kind == AccessKind::Write {
            let new = self.atomic.map_or(pending.value, |atomic| atomic.apply(old));
            self.put(pending.address, &new.to_le_bytes()[..size]);
        }
        Some(old)
    }

    /// The place of a record that the running handler looks at.
    fn touch(&mut self, role: RoleId, object: Object) -> Slot {
        if let Some(touched) = self.handling.touched.iter().find(|t| t.role == role && t.object == object) {
            return touched.place;
        }
        let protocol = self.handling.protocol;
        let (place, made) = self.core.begun(protocol, role, object);
        self.trouble_of(made);
        let before = self.core.protocols.engines[protocol].state(role, self.core.records.at(place));
        self.handling.touched.push(Touched { role, object, before, place });
        place
    }

    /// An access that a handler performs for the program is to a word of the handler's own block.
    fn must_lie_in(&mut self, block: Object, address: u64) {
        let first = self.core.offset_of(block);
        if address < first || address + 8 > first + self.core.protocols.block {
            let what = || format!("the word at shared offset {address:#x} does not lie in block {}", block.id);
            self.handling.trouble.get_or_insert_with(what);
        }
    }

    /// Whether a lane has room for so many more messages, behind those that the running handler has sent.
    fn is_room(&self, lane: LaneId, count: u32) -> bool {
        let protocol = self.handling.protocol;
        let Some(holds) = self.core.protocols.engines[protocol].lane_holds(lane) else { return true };
        let sent = self.handling.sends.iter().filter(|sent| sent.lane == lane).map(|_| 1u32).sum::<u32>();
        self.on_lanes.on_lane(protocol, lane) + sent + count <= holds
    }

    /// Does something with a payload's data.
    fn with_data(&mut self, payload: Payload, what: impl FnOnce(&mut NodeState, &Data)) {
        if let Some(data) = self.core.payloads.take(payload) {
            what(self, &data);
            self.core.payloads.put_back(payload, data);
        }
    }
}

impl Mechanisms for NodeState {
    fn me(&self) -> Node {
        self.core.me
    }

    fn home(&self, object: Object) -> Node {
        self.core.home_of(object)
    }

    #[inline]
    fn record(&mut self, role: RoleId, object: Object) -> &mut [u8] {
        let place = match self.handling.touched.first() {
            Some(first) if first.role == role && first.object == object => first.place,
            _ => self.touch(role, object),
        };
        self.core.records.at_mut(place)
    }

    fn send(&mut self, to: Node, message: &Outgoing) {
        let protocol = self.handling.protocol;
        let lane = self.core.protocols.engines[protocol].protocol().messages[message.message.index()].lane;
        let data = message.payload.and_then(|payload| self.core.payloads.take(payload));
        let length = data.as_ref().map_or(0, |data| data.bytes.len() as u64);
        let what = if to == self.core.me {
            let (message, object, args) = (message.message, message.object, message.args);
            What::Own(Message { protocol, message, object, args, data: data.clone() })
        } else {
            What::Packet(write_message((protocol, message.message), message.object, &message.args, data.as_deref()))
        };
        if let (Some(payload), Some(data)) = (message.payload, data) {
            self.core.payloads.put_back(payload, data);
        }
        if self.core.protocols.finite[protocol] && !self.is_room(lane, 1) {
            let name = &self.core.protocols.engines[protocol].protocol().lanes[lane.index()].name;
            let what = format!("a message is sent on lane `{name}`, which is full: no room was kept for it");
            self.handling.trouble.get_or_insert(what);
        }
        let bytes = 8 * (2 + message.args.words().len() as u64) + length;
        self.handling.sends.push(Sent { to, message: message.message, lane, bytes, what });
    }

    fn room(&mut self, lane: LaneId, count: u32) -> bool {
        self.is_room(lane, count)
    }

    fn gather_block(&mut self, block: Object) -> Payload {
        let place = (self.core.offset_of(block), self.core.protocols.block);
        self.gather(std::iter::once(place), false)
    }

    fn gather_memory(&mut self, from: u64, to: u64) -> Payload {
        self.gather(std::iter::once((from, to.saturating_sub(from))), false)
    }

    fn gather_list(&mut self, blocks: bool, items: &[i64]) -> Payload {
        let block = self.core.protocols.block;
        let place =
            |&item: &i64| if blocks { (item.cast_unsigned() * block, block) } else { (item.cast_unsigned(), 8) };
        self.gather(items.iter().map(place), true)
    }

    fn install_block(&mut self, payload: Payload, block: Object) {
        self.with_data(payload, |node, data| node.put(node.core.offset_of(block), &data.bytes));
    }

    fn install_memory(&mut self, payload: Payload, address: Option<u64>) {
        self.with_data(payload, |node, data| match address {
            Some(address) => node.put(address, &data.bytes),
            None => {
                let mut rest = &data.bytes[..];
                for &(offset, length) in &data.places {
                    let (now, later) = rest.split_at(rest.len().min(length as usize));
                    node.put(offset, now);
                    rest = later;
                }
            }
        });
    }

    fn set_access(&mut self, block: Object, from: Access, to: Access) {
        self.handling.changed.push(block);
        self.tag(block);
        self.tags[block.id as usize] = 1 + to as u8;
        if to < from {
            self.publish(block, to, false);
        }
    }

    fn load(&mut self, address: u64) -> u64 {
        u64::from_le_bytes(self.word(address))
    }

    fn store(&mut self, address: u64, value: u64) {
        self.put(address, &value.to_le_bytes());
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        let mut data = Vec::new();
        self.read(from, bytes, &mut data);
        self.put(to, &data);
    }

    fn resume(&mut self, object: Object) {
        if self.is_cached() {
            self.answered_line(object);
        }
        // What has been completed does not happen again.
        if !self.handling.resumed.iter().any(|(resumed, _)| *resumed == object) {
            self.handling.resumed.push((object, None));
        }
    }

    fn complete(&mut self, object: Object) {
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
        self.must_lie_in(block, address);
        let word = self.word(address);
        let written = self.memory.write_private(to, &word);
        self.trouble_of(written);
    }

    fn perform_write(&mut self, block: Object, address: u64, value: u64) {
        self.must_lie_in(block, address);
        self.put(address, &value.to_le_bytes());
    }

    fn answer(&mut self, _thread: Thread, value: i64) {
        self.handling.answers.push(value);
    }

    fn pending(&mut self, _thread: Thread) -> Pending {
        self.pending
    }

    fn start(&mut self, task: TaskId, object: Object, args: Args) {
        self.handling.tasks.push((task, object, args));
    }

    fn timer(&mut self, role: RoleId, object: Object, after: Option<u64>) {
        self.handling.timers.push((role, object, after));
    }

    fn probe(&mut self, block: Object) -> Line {
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
        let what = "a handler invokes a function of the program, which is not possible yet";
        self.handling.trouble.get_or_insert_with(|| what.into());
    }

    // Time passes by itself.
    fn charge(&mut self, _what: Charge) {}
}
