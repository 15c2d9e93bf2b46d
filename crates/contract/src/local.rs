//! The plainest [`Mechanisms`]: one node in memory, which notes what its handlers do. For tests and benchmarks,
//! and as a reading aid for whoever writes another implementation.

use std::collections::BTreeMap;
use trivium_engine::number::{fit, index, index_of_word};
use trivium_engine::{
    Args, CacheLine, Charge, ClockMechanisms, Deed, Engine, HandlerAccess, LineMechanisms, MemoryMechanisms,
    NetworkMechanisms, Node, Object, Outgoing, Payload, Pending, RecordMechanisms, Thread, ThreadMechanisms,
};
use trivium_protocol::source::Span;
use trivium_protocol::{Access, BLOCK, LaneId, Line, NODE, RoleId, StateId, TaskId};

/// Something that a handler did to the world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Effect {
    Sent { to: Node, message: Outgoing },
    Access { block: Object, from: Access, to: Access },
    Resumed(Object),
    Completed(Object),
    CompletedWith { object: Object, thread: Thread, value: u64 },
    Performed { block: Object, access: HandlerAccess },
    InstalledOwn(u64),
    Answered { thread: Thread, value: i64 },
    Started { task: TaskId, object: Object, args: Args },
    Timer { role: RoleId, object: Object, after: Option<u64> },
    Changed { role: RoleId, object: Object, from: StateId, to: StateId },
}

/// An access at which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Whose.
    pub thread: Thread,
    /// For which block.
    pub block: Object,
    /// Whether it is a store.
    pub store: bool,
    /// Which access.
    pub pending: Pending,
}

/// The data of a payload, with the places from which a list was gathered.
#[derive(Clone, Debug)]
struct Data {
    bytes: Vec<u8>,
    sources: Vec<usize>,
}

/// One node in memory. Block `b` has the bytes from `b * block_bytes` on; the home of object `i` is node
/// `i mod nodes`.
#[derive(Clone, Debug)]
pub struct Local {
    me: Node,
    nodes: u32,
    block_bytes: usize,
    engine: Engine,
    lane_of: Vec<LaneId>,
    /// For each lane: what it holds, and what has been sent and not yet been delivered.
    lanes: Vec<(Option<u32>, u32)>,
    records: BTreeMap<(RoleId, Object), Vec<u8>>,
    memory: Vec<u8>,
    payloads: Vec<Data>,
    waiting: Vec<Waiting>,
    lines: BTreeMap<Object, (CacheLine, Vec<u8>)>,
    /// The engine's side of images.
    images: BTreeMap<Object, Vec<u8>>,
    /// What handlers did, in order.
    pub effects: Vec<Effect>,
    /// What was charged, in order; empty unless `charging`.
    pub charges: Vec<Charge>,
    /// Whether charges are kept.
    pub charging: bool,
}

impl Local {
    /// Node `me` with memory for so many blocks of so many bytes.
    pub fn new(engine: &Engine, me: Node, blocks: u32, block_bytes: usize) -> Local {
        let protocol = engine.protocol();
        Local {
            me,
            nodes: engine.nodes(),
            block_bytes,
            engine: engine.clone(),
            lane_of: protocol.messages.iter().map(|m| m.lane).collect(),
            lanes: (0..protocol.lanes.len()).map(|lane| (engine.lane_holds(LaneId::at(lane)), 0)).collect(),
            records: BTreeMap::new(),
            memory: vec![0; blocks as usize * block_bytes],
            payloads: Vec::new(),
            waiting: Vec::new(),
            lines: BTreeMap::new(),
            images: BTreeMap::new(),
            effects: Vec::new(),
            charges: Vec::new(),
            charging: false,
        }
    }

    /// The bytes of this node's memory.
    pub fn memory(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// The bytes of a block.
    pub fn block(&mut self, block: Object) -> &mut [u8] {
        let at = block.id as usize * self.block_bytes;
        &mut self.memory[at..at + self.block_bytes]
    }

    /// A thread waits with an access.
    pub fn wait(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }

    /// Messages of a lane have arrived elsewhere, which makes room.
    pub fn delivered(&mut self, lane: LaneId, count: u32) {
        let (_, sent) = &mut self.lanes[lane.index()];
        *sent = sent.saturating_sub(count);
    }

    /// What the processor's cache has of a block, and its contents.
    pub fn line(&mut self, block: Object) -> &mut (CacheLine, Vec<u8>) {
        self.lines.entry(block).or_default()
    }

    fn requested(&self, block: Object) -> bool {
        self.waiting.iter().any(|w| w.block == block)
    }

    /// All records that exist, in order.
    pub fn records(&self) -> impl Iterator<Item = (RoleId, Object, &[u8])> {
        self.records.iter().map(|(&(role, object), bytes)| (role, object, &bytes[..]))
    }

    /// Forgets all notes and payloads, so that a long loop does not fill the memory.
    pub fn forget(&mut self) {
        self.effects.clear();
        self.charges.clear();
        self.payloads.clear();
        self.lanes.iter_mut().for_each(|(_, sent)| *sent = 0);
    }

    fn keep(&mut self, bytes: Vec<u8>, sources: Vec<usize>) -> Payload {
        self.payloads.push(Data { bytes, sources });
        Payload(fit(self.payloads.len() - 1, "a handle, which has 32 bits"))
    }
}

impl RecordMechanisms for Local {
    fn me(&self) -> Node {
        self.me
    }

    fn home(&self, object: Object) -> Node {
        if object.kind == NODE { self.me } else { fit(object.id % self.nodes, "the number of a node") }
    }

    fn record(&mut self, role: RoleId, object: Object) -> &mut [u8] {
        let (me, home) = (self.me, self.home(object));
        let engine = &self.engine;
        // What goes wrong there leaves the record as it would be without.
        let first = || engine.first_record(role, object, me, home, &mut |_, _| {});
        self.records
            .entry((role, object))
            .or_insert_with(|| first().unwrap_or_else(|_| vec![0; engine.record_bytes(role)]))
    }

    fn start(&mut self, task: TaskId, object: Object, args: Args) {
        self.effects.push(Effect::Started { task, object, args });
    }

    fn state_changed(&mut self, role: RoleId, object: Object, from: StateId, to: StateId) {
        self.effects.push(Effect::Changed { role, object, from, to });
    }
}

impl MemoryMechanisms for Local {
    fn block_bytes(&self) -> u64 {
        self.block_bytes as u64
    }

    fn block_at(&mut self, address: u64) -> Option<u32> {
        let block = address / self.block_bytes as u64;
        let is_there = (block + 1) * self.block_bytes as u64 <= self.memory.len() as u64;
        u32::try_from(block).ok().filter(|_| is_there)
    }

    fn gather_block(&mut self, block: Object) -> Payload {
        let bytes = self.block(block).to_vec();
        self.keep(bytes, Vec::new())
    }

    fn gather_memory(&mut self, from: u64, to: u64) -> Payload {
        let bytes = self.memory[index(from)..index(to)].to_vec();
        self.keep(bytes, Vec::new())
    }

    fn gather_list(&mut self, blocks: bool, items: &[i64]) -> Payload {
        let (scale, size) = if blocks { (self.block_bytes, self.block_bytes) } else { (1, 8) };
        let sources: Vec<usize> = items.iter().map(|&item| index_of_word(item) * scale).collect();
        let bytes = sources.iter().flat_map(|&at| self.memory[at..at + size].iter().copied()).collect();
        self.keep(bytes, sources)
    }

    /// There is no program: zeros.
    fn gather_own(&mut self, from: u64, to: u64) -> Payload {
        self.keep(vec![0; index(to - from)], Vec::new())
    }

    fn gather_access(&mut self, block: Object, access: &HandlerAccess) -> Payload {
        let at = index(access.address);
        let bytes = self.memory[at..at + index(access.bytes)].to_vec();
        self.effects.push(Effect::Performed { block, access: *access });
        self.keep(bytes, Vec::new())
    }

    fn install_own(&mut self, _payload: Payload, at: u64) {
        self.effects.push(Effect::InstalledOwn(at));
    }

    fn install_block(&mut self, payload: Payload, block: Object) {
        let at = block.id as usize * self.block_bytes;
        let bytes = &self.payloads[payload.0 as usize].bytes;
        self.memory[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn install_memory(&mut self, payload: Payload, address: Option<u64>) {
        let Data { bytes, sources } = &self.payloads[payload.0 as usize];
        match address {
            Some(at) => self.memory[index(at)..index(at) + bytes.len()].copy_from_slice(bytes),
            None => {
                let size = bytes.len() / sources.len().max(1);
                for (&at, part) in sources.iter().zip(bytes.chunks(size.max(1))) {
                    self.memory[at..at + size].copy_from_slice(part);
                }
            }
        }
    }

    fn set_access(&mut self, block: Object, from: Access, to: Access) {
        self.effects.push(Effect::Access { block, from, to });
    }

    fn load(&mut self, address: u64) -> u64 {
        let at = index(address);
        u64::from_le_bytes(std::array::from_fn(|i| self.memory[at + i]))
    }

    fn store(&mut self, address: u64, value: u64) {
        self.memory[index(address)..index(address) + 8].copy_from_slice(&value.to_le_bytes());
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        self.memory.copy_within(index(from)..index(from + bytes), index(to));
    }

    fn perform(&mut self, block: Object, access: &HandlerAccess) -> u64 {
        let (at, bytes) = (index(access.address), index(access.bytes));
        let mut word = [0; 8];
        let kept = bytes.min(8);
        word[..kept].copy_from_slice(&self.memory[at..at + kept]);
        let old = u64::from_le_bytes(word);
        let new = match access.deed {
            Deed::Load | Deed::LoadTo(_) => None,
            Deed::StoreFrom(_) => {
                self.memory[at..at + bytes].fill(0);
                None
            }
            Deed::StoreData(payload) => {
                let data = &self.payloads[payload.0 as usize].bytes;
                self.memory[at..at + bytes].copy_from_slice(data);
                None
            }
            Deed::Store(value) => Some(value),
            Deed::Modify { operation, operand, expected } => {
                Some(operation.apply(fit(bytes, "at most 8 bytes"), old, operand, expected))
            }
        };
        if let Some(new) = new {
            self.memory[at..at + bytes].copy_from_slice(&new.to_le_bytes()[..bytes]);
        }
        self.effects.push(Effect::Performed { block, access: *access });
        match access.deed {
            Deed::Load | Deed::Modify { .. } => old,
            Deed::LoadTo(_) | Deed::Store(_) | Deed::StoreFrom(_) | Deed::StoreData(_) => 0,
        }
    }
}

impl LineMechanisms for Local {
    fn probe(&mut self, block: Object) -> Line {
        self.line(block).0.line
    }

    fn fill(&mut self, block: Object, to: Line) -> bool {
        if !self.requested(block) {
            return false;
        }
        let copy = self.engine_side(block);
        let (line, contents) = self.line(block);
        if line.fill(to) {
            *contents = copy;
        }
        true
    }

    fn upgrade(&mut self, block: Object) -> bool {
        if !self.requested(block) {
            return false;
        }
        self.line(block).0.upgrade();
        true
    }

    fn take(&mut self, block: Object, to: Line) {
        let requested = self.requested(block);
        let (line, contents) = self.line(block);
        line.take(to, requested);
        let contents = contents.clone();
        if block.kind == BLOCK {
            self.block(block).copy_from_slice(&contents);
        } else {
            self.images.insert(block, contents);
        }
    }

    fn invalidate(&mut self, block: Object) {
        let requested = self.requested(block);
        self.line(block).0.invalidate(requested);
    }

    fn compose(&mut self, image: Object, word: u64) {
        self.images.insert(image, word.to_le_bytes().to_vec());
    }

    fn image_word(&mut self, image: Object) -> u64 {
        let mut word = [0; 8];
        word.copy_from_slice(&self.engine_side(image)[..8]);
        u64::from_le_bytes(word)
    }
}

impl Local {
    /// What a fill gives: the node's copy of a block, the word of an image.
    fn engine_side(&mut self, object: Object) -> Vec<u8> {
        match object.kind {
            BLOCK => self.block(object).to_vec(),
            _ => self.images.get(&object).cloned().unwrap_or_else(|| vec![0; 8]),
        }
    }
}

impl ThreadMechanisms for Local {
    fn resume(&mut self, object: Object) {
        if let Some((line, _)) = self.lines.get_mut(&object) {
            line.answered();
        }
        self.effects.push(Effect::Resumed(object));
    }

    fn complete(&mut self, object: Object) {
        for waiting in std::mem::take(&mut self.waiting) {
            if waiting.block != object {
                self.waiting.push(waiting);
            } else if waiting.store {
                let (at, size) = (index(waiting.pending.address), usize::from(waiting.pending.size));
                self.memory[at..at + size].copy_from_slice(&waiting.pending.value.to_le_bytes()[..size]);
            }
        }
        self.effects.push(Effect::Completed(object));
    }

    fn complete_with(&mut self, object: Object, thread: Thread, value: u64, _: Span) {
        self.waiting.retain(|waiting| (waiting.block, waiting.thread) != (object, thread));
        self.effects.push(Effect::CompletedWith { object, thread, value });
    }

    fn answer(&mut self, thread: Thread, value: i64) {
        self.effects.push(Effect::Answered { thread, value });
    }

    fn pending(&mut self, thread: Thread) -> Pending {
        self.waiting.iter().find(|w| w.thread == thread).map(|w| w.pending).unwrap_or_default()
    }
}

impl NetworkMechanisms for Local {
    fn send(&mut self, to: Node, message: &Outgoing) {
        self.lanes[self.lane_of[message.message.index()].index()].1 += 1;
        self.effects.push(Effect::Sent { to, message: *message });
    }

    fn room(&mut self, lane: LaneId, count: u32, together: u32) -> bool {
        let (holds, sent) = self.lanes[lane.index()];
        let is_shared_room = self.engine.shared_by(lane).is_none_or(|shared| {
            let sent: u32 = shared.lanes.iter().map(|lane| self.lanes[lane.index()].1).sum();
            sent.saturating_add(count.max(together)) <= shared.places
        });
        is_shared_room && holds.is_none_or(|holds| sent.saturating_add(count) <= holds)
    }
}

impl ClockMechanisms for Local {
    fn timer(&mut self, role: RoleId, object: Object, after: Option<u64>) {
        self.effects.push(Effect::Timer { role, object, after });
    }

    fn charge(&mut self, what: Charge) {
        match what {
            _ if !self.charging => {}
            // However many are charged at once.
            Charge::Steps(steps) => self.charges.extend((0..steps).map(|_| Charge::Steps(1))),
            what => self.charges.push(what),
        }
    }
}
