//! The contract harness accepts the plain implementation and finds what others do wrong.

use crate::hand::*;
use trivium_contract::local::Local;
use trivium_contract::{Bench, LocalBench, check_mechanisms};
use trivium_engine::*;
use trivium_protocol::source::Span;
use trivium_protocol::*;

/// A protocol with a finite lane, a second role, an agent, calls and data.
fn engine(cached: bool) -> Engine {
    let mut hand = Hand::new();
    let span = Default::default();
    hand.protocol.cached = cached;
    hand.protocol.lanes.push(Lane {
        name: "few".into(),
        fifo: true,
        holds: Some(Formula::Number(3)),
        queues: false,
        lossy: false,
        duplicating: false,
        merged: false,
        behind: None,
        span,
    });
    hand.state("Idle", Access::Write);
    hand.var("owner", some_node(), 0);
    hand.message("Get", &[], PayloadShape::Nothing);
    hand.role("cache", RoleKind::Everywhere, BLOCK);
    hand.state("Invalid", Access::None);
    hand.var("sharers", Type::NodeSet, 0);
    let data = hand.message("Data", &[Type::NodeSet], PayloadShape::Block);
    hand.protocol.messages[data.index()].lane = LaneId(1);
    hand.role("agent", RoleKind::Agent, NODE);
    hand.state("Up", Access::None);
    hand.load(4)
}

/// Its home's records are not zero at first.
fn begun() -> Engine {
    let text = include_str!("../../../../protocols/stache.tri");
    // An invariant looks at the variable, so that it is not cleared; nobody looks at `sharers` in the first state.
    let begins = "  initially { mark = me; sharers = all }\n  var mark: node\n  var owner: node";
    let text = text.replace("  var owner: node", begins) + "\ninvariant marked of block: home.mark == home\n";
    let protocol = trivium_lang::compile("begun.tri", &text, &Default::default()).unwrap();
    Engine::load(std::sync::Arc::new(protocol), 4).unwrap()
}

#[test]
fn records_begin_as_their_role_says() {
    let engine = begun();
    assert!(check_mechanisms(&LocalBench::new(begun())).is_empty());
    let home = engine.protocol().role("home").unwrap();
    let block = Object { kind: BLOCK, id: 2 };
    let first = |me| engine.first_record(home, block, me, 2, &mut |_, _| {}).unwrap();
    assert_eq!(engine.describe(home, &first(2)), "Idle mark=2");
    assert_eq!(Local::new(&engine, 2, 4, 32).record(home, block), first(2));
    let cache = engine.protocol().role("cache").unwrap();
    assert!(!engine.has_initially(cache));
    assert!(engine.first_record(cache, block, 0, 2, &mut |_, _| {}).unwrap().iter().all(|&byte| byte == 0));
}

#[test]
fn the_plain_implementation_keeps_the_contract() {
    for cached in [false, true] {
        let breaches = check_mechanisms(&LocalBench::new(engine(cached)));
        assert!(breaches.is_empty(), "{breaches:#?}");
    }
}

/// What a [`Sloppy`] implementation does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sin {
    ShareRecords,
    DirtyRecords,
    LatePayload,
    EndlessRoom,
    NoRoom,
    WanderingHome,
    ForgetfulList,
    LostStore,
    ShortCopy,
    VaguePending,
    LazyComplete,
    LazyPerform,
    LazyData,
    ShiftedData,
    WidePerform,
    BusyComplete,
    TagErases,
    UnaskedFill,
    LateFill,
    TakesMemory,
    Undying,
}

/// [`Local`] with one sin.
struct Sloppy {
    local: Local,
    sin: Sin,
    calls: std::cell::Cell<u16>,
    late: Option<Object>,
}

impl RecordMechanisms for Sloppy {
    fn me(&self) -> Node {
        self.local.me()
    }

    fn home(&self, object: Object) -> Node {
        self.calls.set(self.calls.get() + 1);
        if self.sin == Sin::WanderingHome { self.calls.get() % 2 } else { self.local.home(object) }
    }

    fn record(&mut self, role: RoleId, object: Object) -> &mut [u8] {
        let object = if self.sin == Sin::ShareRecords { Object { id: 0, ..object } } else { object };
        let record = self.local.record(role, object);
        if self.sin == Sin::DirtyRecords && record[0] == 0 {
            record[0] = 1;
        }
        record
    }

    fn start(&mut self, task: TaskId, object: Object, args: Args) {
        self.local.start(task, object, args);
    }
}

impl MemoryMechanisms for Sloppy {
    fn block_bytes(&self) -> u64 {
        self.local.block_bytes()
    }

    fn block_at(&mut self, address: u64) -> Option<u32> {
        self.local.block_at(address)
    }

    fn gather_block(&mut self, block: Object) -> Payload {
        self.late = Some(block);
        self.local.gather_block(block)
    }

    fn gather_memory(&mut self, from: u64, to: u64) -> Payload {
        self.local.gather_memory(from, to)
    }

    fn gather_list(&mut self, blocks: bool, items: &[i64]) -> Payload {
        let items = if self.sin == Sin::ForgetfulList { &items[..1] } else { items };
        self.local.gather_list(blocks, items)
    }

    fn gather_own(&mut self, from: u64, to: u64) -> Payload {
        self.local.gather_own(from, to)
    }

    fn gather_access(&mut self, block: Object, access: &HandlerAccess) -> Payload {
        let start = if self.sin == Sin::ShiftedData { access.address - 8 } else { access.address };
        self.local.gather_access(block, &HandlerAccess { address: start, ..*access })
    }

    fn install_own(&mut self, payload: Payload, at: u64) {
        self.local.install_own(payload, at);
    }

    fn install_block(&mut self, payload: Payload, block: Object) {
        let payload = match (self.sin, self.late) {
            (Sin::LatePayload, Some(source)) => self.local.gather_block(source),
            _ => payload,
        };
        self.local.install_block(payload, block);
    }

    fn install_memory(&mut self, payload: Payload, address: Option<u64>) {
        self.local.install_memory(payload, address);
    }

    fn set_access(&mut self, block: Object, from: Access, to: Access) {
        if self.sin == Sin::TagErases && to == Access::None {
            self.local.block(block).fill(0);
        }
        self.local.set_access(block, from, to);
    }

    fn load(&mut self, address: u64) -> u64 {
        self.local.load(address)
    }

    fn store(&mut self, address: u64, value: u64) {
        if self.sin != Sin::LostStore {
            self.local.store(address, value);
        }
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        let bytes = if self.sin == Sin::ShortCopy { bytes.min(8) } else { bytes };
        self.local.copy(from, to, bytes);
    }

    fn perform(&mut self, block: Object, access: &HandlerAccess) -> u64 {
        let stores = matches!(access.deed, Deed::Store(_));
        match self.sin {
            Sin::LazyPerform if stores => 0,
            Sin::LazyData if matches!(access.deed, Deed::StoreData(_)) => 0,
            Sin::WidePerform if stores => {
                self.local.perform(block, &HandlerAccess { address: access.address / 8 * 8, bytes: 8, ..*access })
            }
            _ => self.local.perform(block, access),
        }
    }
}

impl LineMechanisms for Sloppy {
    fn probe(&mut self, block: Object) -> Line {
        self.local.probe(block)
    }

    fn fill(&mut self, block: Object, to: Line) -> bool {
        if self.sin == Sin::UnaskedFill && self.local.pending(0) == Pending::default() {
            self.local.line(block).0.line = to;
            return true;
        }
        if self.sin == Sin::LateFill {
            self.local.line(block).0.overtaken = false;
        }
        self.local.fill(block, to)
    }

    fn upgrade(&mut self, block: Object) -> bool {
        self.local.upgrade(block)
    }

    fn take(&mut self, block: Object, to: Line) {
        if self.sin == Sin::TakesMemory {
            self.local.line(block).1 = self.local.block(block).to_vec();
        }
        self.local.take(block, to);
    }

    fn invalidate(&mut self, block: Object) {
        if self.sin != Sin::Undying {
            self.local.invalidate(block);
        }
    }

    fn compose(&mut self, image: Object, word: u64) {
        self.local.compose(image, word);
    }

    fn image_word(&mut self, image: Object) -> u64 {
        self.local.image_word(image)
    }
}

impl ThreadMechanisms for Sloppy {
    fn resume(&mut self, object: Object) {
        self.local.resume(object);
    }

    fn complete(&mut self, object: Object) {
        if self.sin != Sin::LazyComplete {
            self.local.complete(object);
        }
    }

    fn complete_with(&mut self, object: Object, thread: Thread, value: u64, place: Span) {
        self.local.complete_with(object, thread, value, place);
        if self.sin == Sin::BusyComplete {
            let address = u64::from(object.id) * 64;
            let deed = Deed::Store(0x77);
            self.local.perform(object, &HandlerAccess { address, bytes: 1, deed, asker: None, place });
        }
    }

    fn answer(&mut self, thread: Thread, value: i64) {
        self.local.answer(thread, value);
    }

    fn pending(&mut self, thread: Thread) -> Pending {
        let pending = self.local.pending(thread);
        if self.sin == Sin::VaguePending { Pending { size: 8, ..pending } } else { pending }
    }
}

impl NetworkMechanisms for Sloppy {
    fn send(&mut self, to: Node, message: &Outgoing) {
        self.local.send(to, message);
    }

    fn room(&mut self, lane: LaneId, count: u32, together: u32) -> bool {
        match self.sin {
            Sin::EndlessRoom => true,
            Sin::NoRoom => count < 100 && self.local.room(lane, count, together),
            _ => self.local.room(lane, count, together),
        }
    }
}

impl ClockMechanisms for Sloppy {
    fn timer(&mut self, role: RoleId, object: Object, after: Option<u64>) {
        self.local.timer(role, object, after);
    }

    fn charge(&mut self, what: Charge) {
        self.local.charge(what);
    }
}

struct SloppyBench {
    plain: LocalBench,
    sin: Sin,
}

impl Bench for SloppyBench {
    type M = Sloppy;
    fn engine(&self) -> &Engine {
        self.plain.engine()
    }
    fn make(&self) -> Sloppy {
        Sloppy { local: self.plain.make(), sin: self.sin, calls: Default::default(), late: None }
    }
    fn blocks(&self) -> [Object; 2] {
        self.plain.blocks()
    }
    fn fill(&self, m: &mut Sloppy, block: Object, seed: u8) {
        self.plain.fill(&mut m.local, block, seed);
    }
    fn contents(&self, m: &mut Sloppy, block: Object) -> Vec<u8> {
        self.plain.contents(&mut m.local, block)
    }
    fn words(&self) -> Option<u64> {
        self.plain.words()
    }
    fn lists(&self) -> bool {
        self.plain.lists()
    }
    fn wait(&self, m: &mut Sloppy, thread: Thread, block: Object) -> Option<Pending> {
        self.plain.wait(&mut m.local, thread, block)
    }
}

#[test]
fn every_sin_is_found() {
    let sins = [
        (Sin::ShareRecords, "a record keeps what is written"),
        (Sin::DirtyRecords, "an untouched record is all zero"),
        (Sin::LatePayload, "a payload carries what was true"),
        (Sin::EndlessRoom, "a finite lane has no room for more"),
        (Sin::NoRoom, "a buffered lane always has room"),
        (Sin::WanderingHome, "the home of an object is fixed"),
        (Sin::ForgetfulList, "blocks of a list go back"),
        (Sin::LostStore, "a word keeps what is stored"),
        (Sin::ShortCopy, "bytes are copied"),
        (Sin::VaguePending, "`pending` says"),
        (Sin::LazyComplete, "`complete` performs"),
        (Sin::LazyPerform, "a performed store changes"),
        (Sin::LazyData, "bytes that a load gave are stored"),
        (Sin::ShiftedData, "bytes that a load gave are stored"),
        (Sin::WidePerform, "a performed access keeps to its own bytes"),
        (Sin::BusyComplete, "`complete with` performs nothing"),
        (Sin::TagErases, "tags, charges and timers do not change"),
        (Sin::UnaskedFill, "what nobody asked for is not filled"),
        (Sin::LateFill, "what an intervention overtook is not filled"),
        (Sin::TakesMemory, "what is taken is what was filled"),
        (Sin::Undying, "a line that is invalidated is gone"),
    ];
    for (sin, clause) in sins {
        let cached = matches!(sin, Sin::UnaskedFill | Sin::LateFill | Sin::TakesMemory | Sin::Undying);
        let breaches = check_mechanisms(&SloppyBench { plain: LocalBench::new(engine(cached)), sin });
        let found = breaches.iter().any(|breach| breach.clause.starts_with(clause));
        assert!(found, "{sin:?}: {breaches:#?}");
    }
}
