//! The way out of a handler on a real node: effects on this node are true at once, what it asks for on behalf of others is kept
//! until it has ended.

use super::{Mapped, NodeState};
use crate::spare::Arrival;
use crate::wire::write_message;
use trivium_engine::{Args, Charge, HandlerAccess, Mechanisms, Node, Object, Outgoing, Payload, Pending, Thread};
use trivium_node::{Data, Effects, HandlerMemory, Lanes, Lines, NodeCore, NodeMemory};
use trivium_protocol::source::Span;
use trivium_protocol::{Access, EventKind, LaneId, Line, MessageId, RoleId, TaskId};

/// What the running handler has done so far.
#[derive(Default)]
pub(crate) struct Handling {
    /// What it did besides.
    pub effects: Effects,
    /// Its messages in order.
    pub sends: Vec<Sent>,
    /// Payloads that it made.
    pub gathered: Vec<Payload>,
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

/// A message to a node of this thread, or one that has been written for another.
pub(crate) enum What {
    Message(Box<Arrival>),
    Packet(Vec<u8>),
}

impl Handling {
    /// Forgets a handler for the next one; the space that its lists took stays.
    pub(crate) fn restart(&mut self, protocol: usize) {
        self.effects.restart(protocol);
        self.sends.clear();
        self.gathered.clear();
    }
}

impl NodeState {
    /// What lies in a place of this node's memory as a payload.
    fn gather(&mut self, offset: u64, bytes: u64) -> Payload {
        let mut data = self.spare.data();
        self.read(offset, bytes, &mut data.bytes);
        self.gathered(data)
    }

    /// A message with these data, if it has any, leaves when the running handler has ended.
    fn send_data(&mut self, to: Node, message: &Outgoing, data: Option<&Data>) {
        self.home(message.object);
        let protocol = self.handling.effects.protocol;
        let lane = self.core.protocols.engines[protocol].protocol().messages[message.message.index()].lane;
        let length = data.map_or(0, |data| data.bytes.len() as u64);
        let what = if self.beside.contains(&to.into()) {
            let kind = EventKind::Message(message.message);
            let mut arrival = self.spare.arrival(protocol, kind, message.object, self.core.me);
            arrival.event.args.assign(&message.args);
            arrival.data = data.map(|data| self.spare.copy(data));
            What::Message(arrival)
        } else {
            let packet = self.spare.packet();
            let kind = (protocol, message.message);
            What::Packet(write_message(packet, kind, message.object, &message.args, data))
        };
        if self.core.protocols.finite[protocol] && !self.is_room(lane, 1) {
            let name = &self.core.protocols.engines[protocol].protocol().lanes[lane.index()].name;
            let what = format!("a message is sent on lane `{name}`, which is full: no room was kept for it");
            self.handling.effects.trouble.get_or_insert(what);
        }
        let bytes = 8 * (2 + message.args.words().len() as u64) + length;
        self.handling.sends.push(Sent { to, message: message.message, lane, bytes, what });
    }

    fn gathered(&mut self, data: Box<Data>) -> Payload {
        let payload = self.core.payloads.keep(data);
        self.handling.gathered.push(payload);
        payload
    }

    /// Performs the access at which the program waits for a block, if it does, on this node's memory; gives what was there
    /// before.
    fn perform_pending(&mut self, object: Object) -> Option<u64> {
        if !self.core.thread.complete(object) {
            return None;
        }
        let pending = self.pending;
        Some(self.perform_waiting(&pending, self.pending_kind, self.atomic))
    }

    /// Whether a lane has room for so many more messages, behind those that the running handler has sent.
    fn is_room(&self, lane: LaneId, count: u32) -> bool {
        let protocol = self.handling.effects.protocol;
        let Some(holds) = self.core.protocols.engines[protocol].lane_holds(lane) else { return true };
        let sent = self.handling.sends.iter().filter(|sent| sent.lane == lane).map(|_| 1u32).sum::<u32>();
        self.on_lanes.on_lane(protocol, lane) + sent + count <= holds
    }
}

impl HandlerMemory for NodeState {
    type Cause = ();

    fn core(&self) -> &NodeCore<()> {
        &self.core
    }

    fn core_mut(&mut self) -> &mut NodeCore<()> {
        &mut self.core
    }

    fn memory(&mut self) -> &mut NodeMemory {
        &mut self.memory
    }

    fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    fn effects(&self) -> &Effects {
        &self.handling.effects
    }

    fn effects_mut(&mut self) -> &mut Effects {
        &mut self.handling.effects
    }

    fn tag_for_handler(&mut self, block: Object) -> Access {
        self.home(block);
        self.tag(block)
    }

    fn tag_to_check(&mut self, block: Object) -> Option<Access> {
        self.checks_unchecked.then(|| self.tag(block))
    }
}

impl Mechanisms for NodeState {
    fn me(&self) -> Node {
        self.core.me
    }

    fn home(&self, object: Object) -> Node {
        self.core.home_for_handler(object, |page| self.mapped.get(page) == Some(&Mapped::Yes))
    }

    #[inline]
    fn record(&mut self, role: RoleId, object: Object) -> &mut [u8] {
        self.touched_record(role, object)
    }

    fn send(&mut self, to: Node, message: &Outgoing) {
        let data = message.payload.and_then(|payload| self.core.payloads.take(payload));
        self.send_data(to, message, data.as_deref());
        if let (Some(payload), Some(data)) = (message.payload, data) {
            self.core.payloads.put_back(payload, data);
        }
    }

    /// The contents become no payload in between.
    fn send_block(&mut self, to: Node, message: &mut Outgoing) {
        let mut data = self.spare.data();
        self.read(self.core.offset_of(message.object), self.core.protocols.block, &mut data.bytes);
        self.send_data(to, message, Some(&data));
        self.spare.keep_data(data);
    }

    fn room(&mut self, lane: LaneId, count: u32) -> bool {
        self.is_room(lane, count)
    }

    fn gather_block(&mut self, block: Object) -> Payload {
        self.gather(self.core.offset_of(block), self.core.protocols.block)
    }

    fn gather_memory(&mut self, from: u64, to: u64) -> Payload {
        self.gather(from, to.saturating_sub(from))
    }

    fn gather_list(&mut self, blocks: bool, items: &[i64]) -> Payload {
        let block = self.core.protocols.block;
        let place =
            |&item: &i64| if blocks { (item.cast_unsigned() * block, block) } else { (item.cast_unsigned(), 8) };
        let mut data = self.spare.data();
        self.gather_into(&mut data, items.iter().map(place), true);
        self.gathered(data)
    }

    fn gather_own(&mut self, from: u64, to: u64) -> Payload {
        let mut data = self.spare.data();
        self.read_own(from, to.saturating_sub(from), &mut data.bytes);
        self.gathered(data)
    }

    fn gather_access(&mut self, block: Object, access: &HandlerAccess) -> Payload {
        let mut data = self.spare.data();
        self.load_data(block, access, &mut data);
        self.gathered(data)
    }

    fn install_own(&mut self, payload: Payload, at: u64) {
        self.with_data(payload, |node, data| node.write_own(at, &data.bytes));
    }

    fn install_block(&mut self, payload: Payload, block: Object) {
        self.with_data(payload, |node, data| node.put(node.core.offset_of(block), &data.bytes));
    }

    fn install_memory(&mut self, payload: Payload, address: Option<u64>) {
        self.with_data(payload, |node, data| match address {
            Some(address) => node.put(address, &data.bytes),
            None => node.put_back(data),
        });
    }

    fn set_access(&mut self, block: Object, from: Access, to: Access) {
        self.handling.effects.changed.push(block);
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
        self.copy_within(from, to, bytes);
    }

    fn resume(&mut self, object: Object) {
        if self.is_cached() {
            self.answered_line(object);
        }
        self.handling.effects.resume(object);
    }

    fn complete(&mut self, object: Object) {
        if let Some(read) = self.perform_pending(object) {
            self.handling.effects.completed = Some(read);
        }
    }

    fn complete_with(&mut self, object: Object, thread: Thread, value: u64, place: Span) {
        let access = (self.pending, self.pending_kind);
        self.complete_access(object, (thread, place), value, access);
    }

    fn perform(&mut self, block: Object, access: &HandlerAccess) -> u64 {
        self.perform_access(block, access)
    }

    fn answer(&mut self, thread: Thread, value: i64) {
        self.handling.effects.answers.push((thread, value));
    }

    fn pending(&mut self, _thread: Thread) -> Pending {
        self.pending
    }

    fn start(&mut self, task: TaskId, object: Object, args: Args) {
        self.home(object);
        self.handling.effects.tasks.push((task, object, args));
    }

    fn timer(&mut self, role: RoleId, object: Object, after: Option<u64>) {
        self.handling.effects.timers.push((role, object, after));
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
        self.handling.effects.trouble.get_or_insert_with(|| what.into());
    }

    // Time passes by itself.
    fn charge(&mut self, _what: Charge) {}
}
