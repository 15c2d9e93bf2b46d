//! The way out of a handler on a live node, once for all of them: effects on this node are true at once, and what it asks for on behalf of
//! others is noted ([`Effects`]) until it has ended. What becomes of that, and how long it takes, its host says ([`HandlerHost`]).

mod asked;
mod blocked;
mod effects;
mod ended;
mod memory;
mod next;
mod primitive;

pub use asked::{Asked, AskedStep, Request, pending};
pub use blocked::tells_of_a_stall;
pub use effects::{Effects, Touched};
pub use ended::{GoesOn, ThreadHost, let_threads_go_on, resume_threads, try_again};
pub use memory::HandlerMemory;
pub use next::{Lanes, Stuck};
pub use primitive::{DataFrom, Primitive};

use crate::space::Data;
use std::ops::DerefMut;
use trivium_engine::{
    Args, CacheLine, Charge, ClockMechanisms, Deed, HandlerAccess, LineMechanisms, MemoryMechanisms, NetworkMechanisms,
    Node, Object, Outgoing, Payload, Pending, RecordMechanisms, SharedPlaces, Thread, ThreadMechanisms,
};
use trivium_protocol::source::Span;
use trivium_protocol::{Access, LaneId, Line, RoleId, RoleKind, TaskId};

/// Data of a message that leaves.
pub enum Carried<'a> {
    /// None.
    Nothing,
    /// Those of a payload, which stays.
    Of(&'a Data),
    /// These.
    Own(Box<Data>),
}

/// What of a running handler depends on where its node lives.
pub trait HandlerHost: HandlerMemory {
    /// How many messages are on their way.
    type Lanes: Lanes;

    /// How many messages of this node are on their way on its lanes, without those of the running handler.
    fn lanes(&self) -> &Self::Lanes;

    /// The handler has used a primitive.
    #[inline(always)]
    fn used(&mut self, primitive: Primitive) {
        let _ = primitive;
    }

    /// Data to be filled, without any in them.
    fn empty_data(&mut self) -> Box<Data>;

    /// A message leaves when the handler has ended.
    fn leaves(&mut self, to: Node, message: &Outgoing, data: Carried<'_>);

    /// How many messages the handler has sent on a lane.
    fn sent_on(&self, lane: LaneId) -> u32;

    /// The tag of a block has become another one.
    fn has_tag(&mut self, block: Object, from: Access, to: Access);

    /// The handler performs an access of this node's program.
    #[inline(always)]
    fn performs(&mut self, access: &HandlerAccess) {
        let _ = access;
    }

    /// The handler asks what the cache has of a block.
    fn probes(&mut self, block: Object) {
        let _ = block;
    }

    /// The access that a line of the cache gives has become another one.
    fn shows_line(&mut self, block: Object, from: Access, to: Access);

    /// A block has come into the cache.
    fn brings_in(&mut self, block: Object, to: Line) {
        let _ = (block, to);
    }
}

/// A node whose handler runs.
pub struct RunningHandler<N>(pub N);

impl<P> RunningHandler<P>
where
    P: DerefMut,
    P::Target: HandlerHost,
{
    /// What lies in places of this node's memory, one after the other, as a payload; to be put back there if `back`.
    fn gather(&mut self, places: impl Iterator<Item = (u64, u64)>, back: bool, origin: DataFrom) -> Payload {
        let mut data = self.0.empty_data();
        self.0.gather_into(&mut data, places, back);
        self.gathered(data, origin)
    }

    fn gathered(&mut self, data: Box<Data>, origin: DataFrom) -> Payload {
        let payload = self.0.core_mut().payloads.keep(data);
        self.0.effects_mut().gathered.push((payload, origin));
        payload
    }

    /// The block that is the node's line of an object: its image, or the block itself.
    fn line_of(&self, object: Object) -> Object {
        self.0.core().line_of(self.0.effects().protocol, object)
    }

    /// The place of a block in shared memory.
    fn place_of(&self, block: Object) -> (u64, u64) {
        (self.0.core().offset_of(block), self.0.core().protocols.block)
    }

    /// A message leaves, if it finds room.
    #[inline(always)]
    fn leaves(&mut self, to: Node, message: &Outgoing, data: Carried<'_>) {
        let protocol = self.0.effects().protocol;
        if self.0.core().protocols.finite[protocol] {
            self.must_find_room(protocol, message);
        }
        self.0.leaves(to, message, data);
    }

    #[cold]
    fn must_find_room(&mut self, protocol: usize, message: &Outgoing) {
        let declared = self.0.core().protocols.engines[protocol].protocol();
        let lane = declared.messages[message.message.index()].lane;
        if !self.is_room(lane, 1, 1) {
            let name = &declared.lanes[lane.index()].name;
            let what = format!("a message is sent on lane `{name}`, which is full: no room was kept for it");
            self.0.effects_mut().trouble.get_or_insert(what);
        }
    }

    /// Whether a lane has room for so many more messages, after those that the handler has sent, and a queue that it shares for so many at least.
    fn is_room(&self, lane: LaneId, count: u32, together: u32) -> bool {
        let protocol = self.0.effects().protocol;
        let engine = &self.0.core().protocols.engines[protocol];
        let Some(holds) = engine.lane_holds(lane) else { return true };
        self.0.lanes().on_lane(protocol, lane) + self.0.sent_on(lane) + count <= holds
            && engine.shared_by(lane).is_none_or(|shared| self.is_shared_room(protocol, shared, count.max(together)))
    }

    /// Whether a queue that lanes share has so many places, after those that the handler has taken.
    fn is_shared_room(&self, protocol: usize, shared: &SharedPlaces, count: u32) -> bool {
        let sent: u32 = shared.lanes.iter().map(|&lane| self.0.sent_on(lane)).sum();
        self.0.lanes().together(protocol, shared) + sent + count <= shared.places
    }

    /// The line of a block becomes another one; with it what the program may do.
    fn show_line(&mut self, block: Object, line: CacheLine) {
        self.0.effects_mut().changed.push(block);
        if let Some((from, to)) = self.0.core_mut().set_line(block, line) {
            self.0.shows_line(block, from, to);
        }
    }
}

impl<P> RecordMechanisms for RunningHandler<P>
where
    P: DerefMut,
    P::Target: HandlerHost,
{
    fn me(&self) -> Node {
        self.0.core().me
    }

    fn home(&self, object: Object) -> Node {
        self.0.core().home_for_handler(self.0.effects().protocol, object)
    }

    #[inline]
    fn record(&mut self, role: RoleId, object: Object) -> &mut [u8] {
        self.0.touched_record(role, object)
    }

    fn start(&mut self, task: TaskId, object: Object, args: Args) {
        self.home(object);
        self.0.used(Primitive::Start);
        self.0.effects_mut().tasks.push((task, object, args));
    }
}

impl<P> MemoryMechanisms for RunningHandler<P>
where
    P: DerefMut,
    P::Target: HandlerHost,
{
    fn block_bytes(&self) -> u64 {
        self.0.core().protocols.block
    }

    fn block_at(&mut self, address: u64) -> Option<u32> {
        self.0.core().known_block(self.0.effects().protocol, address)
    }

    fn gather_block(&mut self, block: Object) -> Payload {
        let place = self.place_of(block);
        self.gather(std::iter::once(place), false, DataFrom::Block(block))
    }

    fn gather_memory(&mut self, from: u64, to: u64) -> Payload {
        self.gather(std::iter::once((from, to.saturating_sub(from))), false, DataFrom::Memory)
    }

    fn gather_list(&mut self, blocks: bool, items: &[i64]) -> Payload {
        let block = self.0.core().protocols.block;
        let place =
            |&item: &i64| if blocks { (item.cast_unsigned() * block, block) } else { (item.cast_unsigned(), 8) };
        self.gather(items.iter().map(place), true, if blocks { DataFrom::Memory } else { DataFrom::Words })
    }

    fn gather_own(&mut self, from: u64, to: u64) -> Payload {
        let mut data = self.0.empty_data();
        self.0.read_own(from, to.saturating_sub(from), &mut data.bytes);
        self.gathered(data, DataFrom::Memory)
    }

    fn gather_access(&mut self, block: Object, access: &HandlerAccess) -> Payload {
        let mut data = self.0.empty_data();
        self.0.load_data(block, access, &mut data);
        self.0.performs(access);
        self.gathered(data, DataFrom::Memory)
    }

    fn install_own(&mut self, payload: Payload, at: u64) {
        self.0.with_data(payload, |node, data| {
            node.used(Primitive::InstallMemory(data.bytes.len() as u64));
            node.write_own(at, &data.bytes);
        });
    }

    fn install_block(&mut self, payload: Payload, object: Object) {
        let block = self.line_of(object);
        self.0.used(Primitive::InstallBlock(block));
        self.0.with_data(payload, |node, data| node.put(node.core().offset_of(block), &data.bytes));
    }

    fn install_memory(&mut self, payload: Payload, address: Option<u64>) {
        self.0.with_data(payload, |node, data| {
            let words = address.is_none() && data.places.iter().all(|&(_, length)| length == 8);
            node.used(match words {
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
        self.0.used(Primitive::Tag(block, from, to));
        self.0.effects_mut().changed.push(block);
        self.0.core_mut().set_tag(block, to);
        self.0.has_tag(block, from, to);
    }

    fn load(&mut self, address: u64) -> u64 {
        self.0.used(Primitive::Load);
        u64::from_le_bytes(self.0.word(address))
    }

    fn store(&mut self, address: u64, value: u64) {
        self.0.used(Primitive::Store);
        self.0.put(address, &value.to_le_bytes());
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        self.0.used(Primitive::Copy(bytes));
        self.0.copy_within(from, to, bytes);
    }

    fn perform(&mut self, block: Object, access: &HandlerAccess) -> u64 {
        match access.deed {
            Deed::Load => self.0.used(Primitive::Load),
            Deed::LoadTo(_) | Deed::StoreFrom(_) if access.bytes > 8 => self.0.used(Primitive::Copy(access.bytes)),
            Deed::StoreData(_) => self.0.used(Primitive::InstallMemory(access.bytes)),
            Deed::Store(_) => self.0.used(Primitive::Store),
            Deed::LoadTo(_) | Deed::StoreFrom(_) | Deed::Modify { .. } => {
                self.0.used(Primitive::Load);
                self.0.used(Primitive::Store);
            }
        }
        if access.asker.is_none_or(|(_, thread)| thread.is_none()) {
            self.0.performs(access);
        }
        self.0.perform_access(block, access)
    }
}

impl<P> LineMechanisms for RunningHandler<P>
where
    P: DerefMut,
    P::Target: HandlerHost,
{
    fn probe(&mut self, object: Object) -> Line {
        let block = self.line_of(object);
        self.0.probes(block);
        self.line(block)
    }

    fn line(&mut self, object: Object) -> Line {
        let block = self.line_of(object);
        self.0.core().lines.line(block).line
    }

    fn fill(&mut self, object: Object, to: Line) -> bool {
        let block = self.line_of(object);
        if !self.0.core().requests(block) {
            return false;
        }
        self.0.used(Primitive::FillLine);
        let mut line = self.0.core().lines.line(block);
        let fills = line.fill(to);
        if fills {
            self.0.fill_from_copy(block);
        }
        self.show_line(block, line);
        if fills {
            self.0.brings_in(block, to);
        }
        true
    }

    fn upgrade(&mut self, object: Object) -> bool {
        let block = self.line_of(object);
        if !self.0.core().requests(block) {
            return false;
        }
        self.0.used(Primitive::UpgradeLine);
        let mut line = self.0.core().lines.line(block);
        line.upgrade();
        self.show_line(block, line);
        true
    }

    fn take(&mut self, object: Object, to: Line) {
        let block = self.line_of(object);
        self.0.used(Primitive::TakeLine);
        self.0.take_to_copy(block);
        let mut line = self.0.core().lines.line(block);
        line.take(to, self.0.core().requests(block));
        self.show_line(block, line);
    }

    fn invalidate(&mut self, object: Object) {
        let block = self.line_of(object);
        self.0.used(Primitive::InvalidateLine);
        let mut line = self.0.core().lines.line(block);
        line.invalidate(self.0.core().requests(block));
        self.show_line(block, line);
    }

    fn compose(&mut self, image: Object, word: u64) {
        let offset = self.0.core().offset_of(self.line_of(image));
        self.store(offset, word);
    }

    fn image_word(&mut self, image: Object) -> u64 {
        let offset = self.0.core().offset_of(self.line_of(image));
        self.load(offset)
    }
}

impl<P> ThreadMechanisms for RunningHandler<P>
where
    P: DerefMut,
    P::Target: HandlerHost,
{
    fn resume(&mut self, object: Object) {
        let object = self.line_of(object);
        if self.0.is_cached() {
            self.0.answered_line(object);
        }
        self.0.used(Primitive::Resume);
        self.0.effects_mut().resume(object);
    }

    fn complete(&mut self, object: Object) {
        self.0.used(Primitive::Resume);
        self.0.complete_accesses(object);
    }

    fn complete_with(&mut self, object: Object, thread: Thread, value: u64, place: Span) {
        if self.0.is_cached() {
            self.0.answered_line(object);
        }
        self.0.used(Primitive::Resume);
        self.0.complete_access(object, thread, value, place);
    }

    fn answer(&mut self, thread: Thread, value: i64) {
        self.0.used(Primitive::Resume);
        self.0.effects_mut().answers.push((thread, value));
    }

    fn pending(&mut self, thread: Thread) -> Pending {
        self.0.pending_of(thread)
    }
}

impl<P> NetworkMechanisms for RunningHandler<P>
where
    P: DerefMut,
    P::Target: HandlerHost,
{
    fn send(&mut self, to: Node, message: &Outgoing) {
        self.home(message.object);
        let words = message.args.words().len() as u64;
        let data = message.payload.and_then(|payload| self.0.core_mut().payloads.take(payload));
        let (Some(payload), Some(data)) = (message.payload, data) else {
            self.0.used(Primitive::Send { words, data: None });
            return self.leaves(to, message, Carried::Nothing);
        };
        let made = self.0.effects().gathered.iter().find(|made| made.0 == payload);
        let origin = made.map_or(DataFrom::Received, |made| made.1);
        self.0.used(Primitive::Send { words, data: Some((origin, data.bytes.len() as u64)) });
        self.leaves(to, message, Carried::Of(&data));
        self.0.core_mut().payloads.put_back(payload, data);
    }

    /// The contents go where they are sent without becoming a payload in between.
    fn send_block(&mut self, to: Node, message: &mut Outgoing) {
        let words = message.args.words().len() as u64;
        let mut data = self.0.empty_data();
        let place = self.place_of(message.object);
        self.0.gather_into(&mut data, std::iter::once(place), false);
        let bytes = data.bytes.len() as u64;
        self.0.used(Primitive::Send { words, data: Some((DataFrom::Block(message.object), bytes)) });
        self.leaves(to, message, Carried::Own(data));
    }

    fn room(&mut self, lane: LaneId, count: u32, together: u32) -> bool {
        self.0.used(Primitive::Room);
        self.is_room(lane, count, together)
    }
}

impl<P> ClockMechanisms for RunningHandler<P>
where
    P: DerefMut,
    P::Target: HandlerHost,
{
    fn timer(&mut self, role: RoleId, object: Object, after: Option<u64>) {
        self.0.effects_mut().timers.push((role, object, after));
    }

    #[inline]
    fn charge(&mut self, what: Charge) {
        // `ARCHITECTURE.md`, "Written where it stays".
        match what {
            Charge::Record(_, kind) => self.0.used(Primitive::Record(kind == RoleKind::Home)),
            Charge::Steps(steps) => self.0.used(Primitive::Steps(steps)),
            Charge::Element => self.0.used(Primitive::Element),
        }
    }
}
