//! The way out of a handler in the simulator: effects are true at once and noted, to be priced when it has ended.

use crate::events::Envelope;
use crate::node::NodeState;
use crate::node::watch::TagChange;
use crate::reports::timeline::Cause;
use crate::timing::engines::RecordKey;
use crate::timing::folding::{NO_CODE, Numbered, Path, Paths, code_of};
use crate::timing::jump_table::Dispatching;
use crate::timing::pricing::{DataFrom, HandlerTime, Primitive};
use trivium_engine::number::fit;
use trivium_engine::{Args, Charge, Deed, HandlerAccess, Mechanisms, Node, Object, Outgoing, Payload, Pending, Thread};
use trivium_node::{Data, Effects, HandlerMemory, Lanes, Lines, NodeCore, NodeMemory};
use trivium_protocol::source::Span;
use trivium_protocol::{Access, LaneId, Line, RoleId, RoleKind, TaskId};

/// What the running handler has done so far. All nodes of a host thread use the same, one after the other.
#[derive(Default)]
pub(crate) struct Handling {
    /// What it did, in all that has no time.
    pub effects: Effects,
    /// When it was dispatched.
    pub start: u64,
    /// Where its effects so far have led, among the paths below.
    pub path: Path,
    /// What handlers did so far, and their prices.
    pub paths: Paths,
    /// What is to be priced, in order, if it leads nowhere.
    pub primitives: Vec<Primitive>,
    /// The blocks of its effects.
    pub numbered: Numbered,
    /// How many tag changes the world has not looked at are older than it.
    pub tags_before: usize,
    /// Its messages in order; when they leave is not known yet.
    #[expect(clippy::vec_box, reason = "they are handed on by their address")]
    pub sends: Vec<Box<Envelope>>,
    /// Payloads that it made: where from.
    pub gathered: Vec<(Payload, DataFrom)>,
    /// Whether it answers the node's own wish to be rid of a block.
    pub evicts: bool,
    /// The block of the processor's request that it answers, if it does: the request says how the processor's cache holds it.
    pub requested: Option<Object>,
    /// From when on its event was there for the engine.
    pub ready: u64,
    /// What the engine's inbox knew of its event.
    pub entry: Dispatching,
    /// The records that it has looked at, for an engine that lays handlers out itself.
    pub records: Vec<RecordKey>,
    /// Its time, when it has ended.
    pub timing: HandlerTime,
}

impl Handling {
    /// Forgets a handler for the next one; the space that its lists took stays.
    pub(crate) fn restart(&mut self, (protocol, object): (usize, Object), start: u64, path: Path, tags_before: usize) {
        self.effects.restart(protocol);
        self.start = start;
        (self.path, self.tags_before) = (path, tags_before);
        self.numbered.restart(object);
        self.primitives.clear();
        self.sends.clear();
        self.gathered.clear();
        self.evicts = false;
        self.requested = None;
    }

    #[cold]
    fn did_anew(&mut self, code: u64, what: Primitive) {
        if self.path != Path::NONE {
            let next = if code == NO_CODE { Path::NONE } else { self.paths.lead(self.path, code, what) };
            if next == Path::NONE {
                self.primitives = self.paths.told(self.path).1;
            }
            self.path = next;
        }
        if self.path == Path::NONE {
            self.primitives.push(what);
        }
    }
}

impl NodeState {
    /// The running handler has done this.
    #[inline(always)]
    pub(super) fn did(&mut self, what: Primitive) {
        let code = code_of(what).unwrap_or(NO_CODE);
        let handling = &mut *self.handling;
        let next = handling.paths.follow(handling.path, code);
        if next == Path::NONE {
            return handling.did_anew(code, what);
        }
        handling.path = next;
    }

    /// What lies in places of this node's memory, one behind the other, as a payload; to be put back there if `back`.
    fn gather(&mut self, places: impl Iterator<Item = (u64, u64)>, back: bool, origin: DataFrom) -> Payload {
        let mut data = self.shared.spare.borrow_mut().data();
        data.clear();
        self.gather_into(&mut data, places, back);
        let payload = self.keep(data);
        self.handling.gathered.push((payload, origin));
        payload
    }

    /// Data of this node's memory, or of its program's own, are a payload.
    fn gathered(&mut self, data: Box<Data>) -> Payload {
        let payload = self.keep(data);
        self.handling.gathered.push((payload, DataFrom::Memory));
        payload
    }

    /// A message of the running handler, without its data.
    #[inline(always)]
    fn envelope(&mut self, to: Node, message: &Outgoing) -> Box<Envelope> {
        let mut envelope = self.shared.spare.borrow_mut().envelope();
        let protocol = self.handling.effects.protocol;
        envelope.protocol = protocol;
        envelope.message = message.message;
        envelope.lane = self.shared.protocols.engines[protocol].protocol().messages[message.message.index()].lane;
        envelope.object = message.object;
        envelope.args.assign(&message.args);
        envelope.from = self.core.me;
        envelope.to = to;
        envelope
    }

    /// The running handler's message is complete; it leaves when the handler has ended.
    #[inline(always)]
    fn leave(&mut self, envelope: Box<Envelope>) {
        let protocol = self.handling.effects.protocol;
        if self.shared.protocols.finite[protocol] && !self.is_room(envelope.lane, 1) {
            let name = &self.shared.protocols.engines[protocol].protocol().lanes[envelope.lane.index()].name;
            let what = format!("a message is sent on lane `{name}`, which is full: no room was kept for it");
            self.handling.effects.trouble.get_or_insert(what);
        }
        self.handling.sends.push(envelope);
    }

    /// Performs the access with which the thread waits for a block, if it does, on this node's memory; gives what
    /// was there before.
    fn perform_pending(&mut self, object: Object) -> Option<u64> {
        if !self.core.thread.complete(object) {
            return None;
        }
        let pending = self.compute.pending();
        Some(self.perform_waiting(&pending, self.compute.pending_kind(), self.compute.atomic))
    }

    /// Tells the watch of a tag that changes at cycle `time`.
    pub(crate) fn note_tag(&mut self, protocol: usize, block: Object, to: Access, time: u64) {
        let (home, protocol) =
            (self.core.home_of(block), fit(protocol, "a protocol of a run, of which there are at most 65536"));
        self.watched.tag_changes.push(TagChange { time, node: self.core.me, block: block.id, to, home, protocol });
    }

    /// Whether a lane has room for so many more messages, behind those that the running handler has sent.
    fn is_room(&self, lane: LaneId, count: u32) -> bool {
        let protocol = self.handling.effects.protocol;
        let Some(holds) = self.shared.protocols.engines[protocol].lane_holds(lane) else { return true };
        let sent = self.handling.sends.iter().filter(|envelope| envelope.lane == lane).map(|_| 1u32).sum::<u32>();
        self.model.interface.on_lane(protocol, lane) + sent + count <= holds
    }
}

impl HandlerMemory for NodeState {
    type Cause = Cause;

    fn core(&self) -> &NodeCore<Cause> {
        &self.core
    }

    fn core_mut(&mut self) -> &mut NodeCore<Cause> {
        &mut self.core
    }

    fn memory(&mut self) -> &mut NodeMemory {
        &mut self.blocks.memory
    }

    fn lines(&mut self) -> &mut Lines {
        &mut self.blocks.lines
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
        Some(self.tag(block))
    }

    /// Golden check: a handler reads and writes only pages that have a frame.
    fn about_to_use(&mut self, offset: u64) {
        if !self.is_in_memory(offset) {
            let block = self.core.block_of(offset).id;
            let what = format!("block {block} is read or written, but the node has given its page up");
            self.handling.effects.trouble.get_or_insert(what);
        }
    }
}

impl Mechanisms for NodeState {
    fn me(&self) -> Node {
        self.core.me
    }

    fn home(&self, object: Object) -> Node {
        self.core.home_for_handler(object, |page| self.blocks.mapped.get(page) == Some(&true))
    }

    #[inline]
    fn record(&mut self, role: RoleId, object: Object) -> &mut [u8] {
        self.touched_record(role, object)
    }

    fn send(&mut self, to: Node, message: &Outgoing) {
        self.home(message.object);
        let mut envelope = self.envelope(to, message);
        let words = message.args.words().len() as u64;
        match message.payload {
            None => self.did(Primitive::Send { words, data: None }),
            Some(payload) => {
                let mut data = self.shared.spare.borrow_mut().data();
                self.with_data(payload, |_, of| data.assign(of));
                let bytes = data.bytes.len() as u64;
                envelope.data = Some(data);
                let made = self.handling.gathered.iter().find(|g| g.0 == payload);
                let origin = made.map_or(DataFrom::Received, |g| g.1);
                self.did(Primitive::Send { words, data: Some((origin, bytes)) });
            }
        }
        self.leave(envelope);
    }

    /// The contents go where they are sent without becoming a payload in between.
    fn send_block(&mut self, to: Node, message: &mut Outgoing) {
        let mut envelope = self.envelope(to, message);
        let words = message.args.words().len() as u64;
        let place = (self.core.offset_of(message.object), self.shared.protocols.block);
        let mut data = self.shared.spare.borrow_mut().data();
        data.clear();
        self.gather_into(&mut data, std::iter::once(place), false);
        let bytes = data.bytes.len() as u64;
        envelope.data = Some(data);
        let known = self.handling.numbered.of(message.object);
        self.did(Primitive::Send { words, data: Some((DataFrom::Block(known), bytes)) });
        self.leave(envelope);
    }

    fn room(&mut self, lane: LaneId, count: u32) -> bool {
        self.did(Primitive::Room);
        self.is_room(lane, count)
    }

    fn gather_block(&mut self, block: Object) -> Payload {
        let place = (self.core.offset_of(block), self.shared.protocols.block);
        let known = self.handling.numbered.of(block);
        self.gather(std::iter::once(place), false, DataFrom::Block(known))
    }

    fn gather_memory(&mut self, from: u64, to: u64) -> Payload {
        self.gather(std::iter::once((from, to.saturating_sub(from))), false, DataFrom::Memory)
    }

    fn gather_list(&mut self, blocks: bool, items: &[i64]) -> Payload {
        let block = self.shared.protocols.block;
        let place =
            |&item: &i64| if blocks { (item.cast_unsigned() * block, block) } else { (item.cast_unsigned(), 8) };
        self.gather(items.iter().map(place), true, if blocks { DataFrom::Memory } else { DataFrom::Words })
    }

    fn gather_own(&mut self, from: u64, to: u64) -> Payload {
        let mut data = self.shared.spare.borrow_mut().data();
        data.clear();
        self.read_own(from, to.saturating_sub(from), &mut data.bytes);
        self.gathered(data)
    }

    fn gather_access(&mut self, block: Object, access: &HandlerAccess) -> Payload {
        let mut data = self.shared.spare.borrow_mut().data();
        self.load_data(block, access, &mut data);
        self.note_performed(access);
        self.gathered(data)
    }

    fn install_own(&mut self, payload: Payload, at: u64) {
        self.with_data(payload, |node, data| {
            node.did(Primitive::InstallMemory(data.bytes.len() as u64));
            node.write_own(at, &data.bytes);
        });
    }

    fn install_block(&mut self, payload: Payload, block: Object) {
        let known = self.handling.numbered.of(block);
        self.did(Primitive::InstallBlock(known));
        self.with_data(payload, |node, data| node.put(node.core.offset_of(block), &data.bytes));
    }

    fn install_memory(&mut self, payload: Payload, address: Option<u64>) {
        self.with_data(payload, |node, data| {
            let words = address.is_none() && data.places.iter().all(|&(_, length)| length == 8);
            node.did(match words {
                true => Primitive::InstallWords(data.places.len() as u64),
                false => Primitive::InstallMemory(data.bytes.len() as u64),
            });
            match address {
                Some(address) => node.put(address, &data.bytes),
                None => node.put_back(data),
            }
        });
    }

    fn set_access(&mut self, block: Object, from: Access, to: Access) {
        let known = self.handling.numbered.of(block);
        self.did(Primitive::Tag(known, from, to));
        self.handling.effects.changed.push(block);
        self.set_tag(block, to);
        self.blame_tag(block, from, to, self.handling.evicts, self.handling.start);
        if to < from {
            self.lower_lines(block, to);
        }
        if self.shared.protocols.watched[self.handling.effects.protocol] {
            // A tag that a handler changes twice is seen as the handler leaves it: no other event comes between.
            let before = self.handling.tags_before;
            match self.watched.tag_changes[before..].iter_mut().rfind(|change| change.block == block.id) {
                Some(change) => change.to = to,
                None => self.note_tag(self.handling.effects.protocol, block, to, self.handling.start),
            }
        }
    }

    fn load(&mut self, address: u64) -> u64 {
        self.did(Primitive::Load);
        u64::from_le_bytes(self.word(address))
    }

    fn store(&mut self, address: u64, value: u64) {
        self.did(Primitive::Store);
        self.put(address, &value.to_le_bytes());
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        self.did(Primitive::Copy(bytes));
        self.copy_within(from, to, bytes);
    }

    fn resume(&mut self, object: Object) {
        if self.is_cached() {
            self.answered_line(object);
        }
        self.did(Primitive::Resume);
        self.handling.effects.resume(object);
    }

    fn complete(&mut self, object: Object) {
        self.did(Primitive::Resume);
        if let Some(read) = self.perform_pending(object) {
            self.handling.effects.completed = Some(read);
        }
    }

    fn complete_with(&mut self, object: Object, thread: Thread, value: u64, place: Span) {
        self.did(Primitive::Resume);
        let access = (self.compute.pending(), self.compute.pending_kind());
        self.complete_access(object, (thread, place), value, access);
    }

    fn perform(&mut self, block: Object, access: &HandlerAccess) -> u64 {
        match access.deed {
            Deed::Load => self.did(Primitive::Load),
            Deed::LoadTo(_) | Deed::StoreFrom(_) if access.bytes > 8 => self.did(Primitive::Copy(access.bytes)),
            Deed::StoreData(_) => self.did(Primitive::InstallMemory(access.bytes)),
            Deed::Store(_) => self.did(Primitive::Store),
            Deed::LoadTo(_) | Deed::StoreFrom(_) | Deed::Modify { .. } => {
                self.did(Primitive::Load);
                self.did(Primitive::Store);
            }
        }
        if access.asker.is_none_or(|(_, thread)| thread.is_none()) {
            self.note_performed(access);
        }
        self.perform_access(block, access)
    }

    fn answer(&mut self, thread: Thread, value: i64) {
        self.did(Primitive::Resume);
        self.handling.effects.answers.push((thread, value));
    }

    fn pending(&mut self, _thread: Thread) -> Pending {
        self.compute.pending()
    }

    fn start(&mut self, task: TaskId, object: Object, args: Args) {
        self.home(object);
        self.did(Primitive::Start);
        self.handling.effects.tasks.push((task, object, args));
    }

    fn timer(&mut self, role: RoleId, object: Object, after: Option<u64>) {
        self.handling.effects.timers.push((role, object, after));
    }

    fn probe(&mut self, block: Object) -> Line {
        if self.handling.requested != Some(block) {
            self.did(Primitive::Probe);
        }
        self.line_of(block)
    }

    fn line(&mut self, block: Object) -> Line {
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
        self.handling.effects.trouble.get_or_insert_with(|| what.into());
    }

    #[inline]
    fn charge(&mut self, what: Charge) {
        // `ARCHITECTURE.md`, "Written where it stays".
        match what {
            Charge::Record(_, kind) => self.did(Primitive::Record(kind == RoleKind::Home)),
            Charge::Steps(steps) => self.did(Primitive::Steps(steps)),
            Charge::Element => self.did(Primitive::Element),
        }
    }
}
