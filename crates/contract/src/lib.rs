//! The contract of the engine's [`Mechanisms`], as checks that every implementation must pass.
//!
//! An implementation is put on a [`Bench`], which says how to make one and what it is able to hold; a test of
//! the implementation's own crate then asks [`check_mechanisms`] for breaches and expects none:
//!
//! ```
//! # use std::sync::Arc;
//! # use trivium_contract::{LocalBench, check_mechanisms};
//! # use trivium_engine::Engine;
//! # fn any_protocol() -> Arc<trivium_protocol::Protocol> {
//! #     Arc::new(trivium_contract::empty_protocol())
//! # }
//! let engine = Engine::load(any_protocol(), 2).unwrap();
//! let breaches = check_mechanisms(&LocalBench::new(engine));
//! assert!(breaches.is_empty(), "{breaches:?}");
//! ```

// A number that does not fit must not be cut in silence.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

pub mod local;

use crate::local::{Local, Waiting};
use std::fmt;
use trivium_engine::{
    Args, Charge, ClockMechanisms, Deed, Engine, HandlerAccess, LineMechanisms, Mechanisms, MemoryMechanisms,
    NetworkMechanisms, Object, Outgoing, Payload, Pending, RecordMechanisms, Thread, ThreadMechanisms,
};
use trivium_protocol::source::Span;
use trivium_protocol::{
    Access, BLOCK, EventKind, LaneId, Line, MessageId, NODE, ObjectKindId, Operation, PayloadShape, Protocol, RoleId,
};

/// An implementation of [`Mechanisms`] with what a test needs to know and do about it.
pub trait Bench {
    /// The implementation.
    type M: Mechanisms;

    /// The loaded protocol that the implementation serves.
    fn engine(&self) -> &Engine;

    /// A fresh one, in which no object has been touched.
    fn make(&self) -> Self::M;

    /// Two blocks of which the node can hold contents.
    fn blocks(&self) -> [Object; 2];

    /// Gives the node's copy of a block contents that depend on `seed` (1 to 9): other seed, other contents.
    fn fill(&self, m: &mut Self::M, block: Object, seed: u8);

    /// The contents of the node's copy of a block, in any form that tells contents apart.
    fn contents(&self, m: &mut Self::M, block: Object) -> Vec<u8>;

    /// The address of eight consecutive words of the node's memory that may be written, or `None` where memory
    /// is not addressable.
    fn words(&self) -> Option<u64>;

    /// Whether a word has eight bytes that can be told apart.
    fn sizes(&self) -> bool {
        true
    }

    /// Whether payloads of several blocks (and of several words, where there are words) are possible.
    fn lists(&self) -> bool;

    /// Lets a thread wait for a block with a store that changes the contents left by `fill` with seed 1;
    /// returns what `pending` must say. `None` where threads cannot be made to wait from outside.
    fn wait(&self, m: &mut Self::M, thread: Thread, block: Object) -> Option<Pending>;

    /// Ends the handler: what it asked for on behalf of threads takes effect. Nothing to do for an
    /// implementation that does it at once.
    fn end(&self, m: &mut Self::M) {
        let _ = m;
    }
}

/// A clause of the contract that an implementation breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The clause.
    pub clause: &'static str,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.clause, self.seen)
    }
}

/// Checks an implementation, clause by clause; an empty list means that it keeps the contract.
pub fn check_mechanisms<B: Bench>(bench: &B) -> Vec<Breach> {
    let mut book = Book::default();
    identity(bench, &mut book);
    records(bench, &mut book);
    blocks(bench, &mut book);
    lanes(bench, &mut book);
    if let Some(words) = bench.words() {
        memory(bench, words, &mut book);
    }
    if bench.lists() {
        lists(bench, &mut book);
    }
    waiting(bench, &mut book);
    if bench.engine().protocol().cached {
        cache(bench, &mut book);
    } else {
        performing(bench, &mut book);
    }
    no_side_effects(bench, &mut book);
    book.breaches
}

/// The breaches so far.
#[derive(Default)]
struct Book {
    breaches: Vec<Breach>,
}

impl Book {
    fn expect(&mut self, clause: &'static str, kept: bool, seen: impl FnOnce() -> String) {
        if !kept {
            self.breaches.push(Breach { clause, seen: seen() });
        }
    }
}

/// The instances that the node has of the protocol's roles for the bench's blocks, two objects of each other
/// kind, and the node itself.
fn instances<B: Bench>(bench: &B, m: &B::M) -> Vec<(RoleId, Object)> {
    let engine = bench.engine();
    let mut found = Vec::new();
    for kind in (0..engine.protocol().objects.len()).map(|i| ObjectKindId::at(i)) {
        let objects = match kind {
            BLOCK => bench.blocks().to_vec(),
            NODE => vec![Object { kind, id: 0 }],
            _ => vec![Object { kind, id: 0 }, Object { kind, id: 1 }],
        };
        for object in objects {
            let is_home = kind != NODE && m.home(object) == m.me();
            found.extend(engine.roles_of(kind, is_home).map(|role| (role, object)));
        }
    }
    found
}

fn identity<B: Bench>(bench: &B, book: &mut Book) {
    let m = bench.make();
    let nodes = bench.engine().nodes();
    book.expect("the node's number is below the number of nodes", u32::from(m.me()) < nodes, || m.me().to_string());
    for block in bench.blocks() {
        let home = m.home(block);
        book.expect("an object has a home", u32::from(home) < nodes, || format!("{block:?} at {home}"));
        let other = bench.make();
        book.expect("the home of an object is fixed", m.home(block) == home && other.home(block) == home, || {
            format!("{block:?} at {home}, then at {} and {}", m.home(block), other.home(block))
        });
    }
}

fn records<B: Bench>(bench: &B, book: &mut Book) {
    let mut m = bench.make();
    let instances = instances(bench, &m);
    for &(role, object) in &instances {
        let wanted = bench.engine().record_bytes(role);
        let (me, home) = (m.me(), m.home(object));
        let record = m.record(role, object);
        let len = record.len();
        book.expect("a record has the length that the engine planned", len == wanted, || {
            format!("{role:?} of {object:?}: {len} bytes, not {wanted}")
        });
        let is_zero = record.iter().all(|&b| b == 0);
        if bench.engine().has_initially(role) {
            let first = bench.engine().first_record(role, object, me, home, &mut |_, _| {});
            let begun = first.is_ok_and(|first| first == record);
            book.expect("an untouched record is what `initially` makes", begun, || format!("{role:?} of {object:?}"));
        } else {
            book.expect("an untouched record is all zero", is_zero, || format!("{role:?} of {object:?}"));
        }
    }
    let marked: Vec<(u8, (RoleId, Object))> = (1..=u8::MAX).cycle().zip(instances.iter().copied()).collect();
    for &(mark, (role, object)) in &marked {
        m.record(role, object).fill(mark);
    }
    for &(mark, (role, object)) in &marked {
        let kept = m.record(role, object).iter().all(|&b| b == mark);
        book.expect("a record keeps what is written, and nobody else's", kept, || format!("{role:?} of {object:?}"));
    }
}

fn blocks<B: Bench>(bench: &B, book: &mut Book) {
    let [a, b] = bench.blocks();
    let mut m = bench.make();
    bench.fill(&mut m, a, 1);
    bench.fill(&mut m, b, 2);
    let (first, second) = (bench.contents(&mut m, a), bench.contents(&mut m, b));
    book.expect("bench: other seed, other contents", first != second, || "seeds 1 and 2 look the same".into());

    let of_a = m.gather_block(a);
    let of_b = m.gather_block(b);
    bench.fill(&mut m, a, 3);
    m.install_block(of_a, b);
    book.expect("a payload carries what was true when it was gathered", bench.contents(&mut m, b) == first, || {
        "a later store to the block shows, or the data did not arrive".into()
    });
    m.install_block(of_b, a);
    book.expect("payloads do not disturb each other", bench.contents(&mut m, a) == second, || {
        "the older of two payloads has other data".into()
    });
    bench.fill(&mut m, b, 3);
    m.install_block(of_a, b);
    book.expect("a payload can be installed again", bench.contents(&mut m, b) == first, || {
        "the second install brought other data".into()
    });
    let passed_on = m.gather_block(b);
    m.install_block(passed_on, a);
    book.expect("installed data can be gathered", bench.contents(&mut m, a) == first, || "data changed".into());
}

fn memory<B: Bench>(bench: &B, words: u64, book: &mut Book) {
    let mut m = bench.make();
    let at = |i: u64| words + 8 * i;
    let values: Vec<u64> = (0..8).map(|i| 0x0123_4567_89ab_cdef_u64.rotate_left(8 * i)).collect();
    for (i, &value) in values.iter().enumerate() {
        m.store(at(i as u64), value);
    }
    for (i, &value) in values.iter().enumerate() {
        let seen = m.load(at(i as u64));
        book.expect("a word keeps what is stored", seen == value, || format!("word {i}: {seen:#x}, not {value:#x}"));
    }
    m.store(at(0) + 4, u64::MAX);
    let low = m.load(at(0));
    book.expect("words are little-endian bytes", low == values[0] & 0xffff_ffff | 0xffff_ffff << 32, || {
        format!("after a store of ones four bytes on: {low:#x}")
    });
    m.store(at(0), values[0]);
    m.store(at(1), values[1]);

    let payload = m.gather_memory(at(0), at(2));
    m.store(at(0), 0);
    m.install_memory(payload, Some(at(4)));
    let seen = [m.load(at(4)), m.load(at(5)), m.load(at(6))];
    book.expect("memory is gathered as it is, and installed where it is asked", seen[..2] == values[..2], || {
        format!("{seen:x?}")
    });
    book.expect("an install writes no more than the payload has", seen[2] == values[6], || format!("{seen:x?}"));

    m.copy(at(6), at(2), 16);
    let seen = [m.load(at(2)), m.load(at(3)), m.load(at(4))];
    book.expect("bytes are copied", seen == [values[6], values[7], values[0]], || format!("{seen:x?}"));

    if bench.lists() {
        m.store(at(2), 22);
        m.store(at(5), 55);
        let payload = m.gather_list(false, &[at(5).cast_signed(), at(2).cast_signed()]);
        m.store(at(2), 0);
        m.store(at(5), 0);
        m.install_memory(payload, None);
        let seen = [m.load(at(2)), m.load(at(5))];
        book.expect("words of a list go back to where they came from", seen == [22, 55], || format!("{seen:?}"));
    }
}

fn lists<B: Bench>(bench: &B, book: &mut Book) {
    let [a, b] = bench.blocks();
    let mut m = bench.make();
    bench.fill(&mut m, a, 1);
    bench.fill(&mut m, b, 2);
    let before = (bench.contents(&mut m, a), bench.contents(&mut m, b));
    let payload = m.gather_list(true, &[i64::from(b.id), i64::from(a.id)]);
    bench.fill(&mut m, a, 3);
    bench.fill(&mut m, b, 4);
    m.install_memory(payload, None);
    let after = (bench.contents(&mut m, a), bench.contents(&mut m, b));
    book.expect("blocks of a list go back to where they came from", before == after, || "other contents".into());
}

/// A message of a kind with arguments that nobody looks at.
fn sample<B: Bench>(bench: &B, m: &mut B::M, message: MessageId) -> Option<Outgoing> {
    let declared = &bench.engine().protocol().messages[message.index()];
    let payload: Option<Payload> = match declared.payload {
        PayloadShape::Nothing => None,
        PayloadShape::Block => Some(m.gather_block(bench.blocks()[0])),
        PayloadShape::Memory | PayloadShape::List | PayloadShape::Bytes => return None,
    };
    let object = match declared.object {
        BLOCK => bench.blocks()[0],
        kind => Object { kind, id: 0 },
    };
    let words = bench.engine().argument_words(EventKind::Message(message));
    Some(Outgoing { message, object, args: Args::of(&vec![0; words]), payload })
}

fn lanes<B: Bench>(bench: &B, book: &mut Book) {
    let protocol = bench.engine().protocol();
    for (i, lane) in protocol.lanes.iter().enumerate() {
        let id = LaneId::at(i);
        let mut m = bench.make();
        let Some(holds) = bench.engine().lane_holds(id) else {
            let room = m.room(id, 1_000_000, 0);
            book.expect("a buffered lane always has room", room, || lane.name.clone());
            continue;
        };
        let (all, more) = (m.room(id, holds, 0), m.room(id, holds + 1, 0));
        book.expect("an idle finite lane has room for what it holds", all, || lane.name.clone());
        book.expect("a finite lane has no room for more than it holds", !more, || lane.name.clone());
        let kinds = (0..protocol.messages.len()).map(|k| MessageId::at(k));
        let of_lane: Vec<MessageId> = kinds.filter(|k| protocol.messages[k.index()].lane == id).collect();
        if let Some(message) = of_lane.into_iter().find_map(|kind| sample(bench, &mut m, kind)) {
            let to = m.home(message.object);
            m.send(to, &message);
            let (rest, all) = (m.room(id, holds - 1, 0), m.room(id, holds, 0));
            book.expect("a message that was sent takes one place of its lane", rest && !all, || {
                format!("{}: room for {}: {rest}, for {holds}: {all}", lane.name, holds - 1)
            });
        }
    }
}

fn waiting<B: Bench>(bench: &B, book: &mut Book) {
    let [block, _] = bench.blocks();
    let mut m = bench.make();
    bench.fill(&mut m, block, 1);
    let before = bench.contents(&mut m, block);
    let Some(expected) = bench.wait(&mut m, 0, block) else { return };
    let seen = m.pending(0);
    book.expect("`pending` says what the thread waits with", seen == expected, || format!("{seen:?}"));
    let unchanged = bench.contents(&mut m, block) == before;
    book.expect("an access that waits has had no effect", unchanged, || "the contents changed".into());
    if bench.engine().protocol().cached {
        return; // A cached processor's accesses are never completed in memory.
    }
    m.complete(block);
    bench.end(&mut m);
    let changed = bench.contents(&mut m, block) != before;
    book.expect("`complete` performs a waiting store", changed, || "the contents are the old ones".into());
}

/// Accesses that handlers perform.
fn performing<B: Bench>(bench: &B, book: &mut Book) {
    let [block, _] = bench.blocks();
    let mut m = bench.make();
    let Some(expected) = bench.wait(&mut m, 0, block) else { return };
    let (me, at) = (m.me(), expected.address / 8 * 8);
    let access = |address, bytes, deed| HandlerAccess { address, bytes, deed, asker: None, place: Span::default() };
    bench.fill(&mut m, block, 2);
    let before = bench.contents(&mut m, block);
    m.perform(block, &access(at, 8, Deed::Store(1)));
    let changed = bench.contents(&mut m, block) != before;
    book.expect("a performed store changes the block", changed, || "the contents are the old ones".into());
    let before = bench.contents(&mut m, block);
    let loaded = m.perform(block, &access(at, 8, Deed::Load));
    book.expect("a performed load gives what is there", loaded == 1, || loaded.to_string());
    m.perform(block, &access(at, 8, Deed::LoadTo(0)));
    let unchanged = bench.contents(&mut m, block) == before;
    book.expect("a performed load changes no block", unchanged, || "the contents changed".into());
    if bench.sizes() {
        let data = m.gather_access(block, &access(at, 5, Deed::Load));
        m.perform(block, &access(at, 8, Deed::Store(0x1122_3344_5566_7788)));
        m.perform(block, &access(at, 5, Deed::StoreData(data)));
        let seen = m.perform(block, &access(at, 8, Deed::Load));
        let kept = seen == 0x1122_3300_0000_0001;
        book.expect("bytes that a load gave are stored where a store says, and no others", kept, || {
            format!("{seen:#x}")
        });
        m.perform(block, &access(at, 8, Deed::Store(1)));
    }
    let exchange = Deed::Modify { operation: Operation::Exchange, operand: 0, expected: 0 };
    let (old, new) = (m.perform(block, &access(at, 8, exchange)), m.perform(block, &access(at, 8, Deed::Load)));
    book.expect("an exchange gives the old word and leaves the new one", (old, new) == (1, 0), || {
        format!("{old}, {new}")
    });
    let asked = HandlerAccess {
        asker: Some((me, Some(0))),
        ..access(expected.address, expected.size.into(), Deed::Store(expected.value))
    };
    let given = m.perform(block, &asked);
    let before = bench.contents(&mut m, block);
    m.complete_with(block, 0, given, Span::default());
    bench.end(&mut m);
    let unchanged = bench.contents(&mut m, block) == before;
    book.expect("`complete with` performs nothing", unchanged, || "the contents changed".into());
    if bench.sizes() {
        sizes(bench, book);
    }
}

/// Each performed access keeps to its own bytes.
fn sizes<B: Bench>(bench: &B, book: &mut Book) {
    let [block, _] = bench.blocks();
    let mut m = bench.make();
    let Some(expected) = bench.wait(&mut m, 0, block) else { return };
    let at = expected.address / 8 * 8;
    let access = |address, bytes, deed| HandlerAccess { address, bytes, deed, asker: None, place: Span::default() };
    for (bytes, skip) in (1u8..=8).flat_map(|bytes| (0..=8 - bytes).map(move |skip| (bytes, skip))) {
        let from = at + u64::from(skip);
        let own = (u64::MAX >> (64 - 8 * u32::from(bytes))) << (8 * skip);
        bench.fill(&mut m, block, 3);
        let mut word = m.perform(block, &access(at, 8, Deed::Load));
        for operation in [None, Some(Operation::Xor)] {
            let operand = 0x5aa5_3cc3_9669_0ff0;
            let deed = match operation {
                None => Deed::Store(operand),
                Some(operation) => Deed::Modify { operation, operand, expected: 0 },
            };
            let given = m.perform(block, &access(from, bytes.into(), deed));
            let old = if operation.is_some() { (word & own) >> (8 * skip) } else { 0 };
            let placed = (operand << (8 * skip)) & own;
            let wanted = if operation.is_some() { word ^ placed } else { word & !own | placed };
            let now = m.perform(block, &access(at, 8, Deed::Load));
            let part = m.perform(block, &access(from, bytes.into(), Deed::Load));
            let kept = (given, now, part) == (old, wanted, (wanted & own) >> (8 * skip));
            book.expect("a performed access keeps to its own bytes", kept, || {
                format!(
                    "{bytes} bytes at {skip}, {deed:?}: {word:#x} became {now:#x}, gave {given:#x}, {part:#x} is read"
                )
            });
            word = now;
        }
    }
}

/// What an engine does to its processor's cache, where the protocol has cached processors.
fn cache<B: Bench>(bench: &B, book: &mut Book) {
    let [block, _] = bench.blocks();
    let mut m = bench.make();
    let line = m.probe(block);
    book.expect("a cache has nothing at first", line == Line::Absent, || line.to_string());
    let asked = m.fill(block, Line::Shared);
    let line = m.probe(block);
    book.expect("what nobody asked for is not filled", !asked && line == Line::Absent, || line.to_string());
    if bench.wait(&mut m, 0, block).is_none() {
        return;
    }

    bench.fill(&mut m, block, 1);
    let first = bench.contents(&mut m, block);
    let asked = m.fill(block, Line::Exclusive);
    let line = m.probe(block);
    book.expect("a request is filled", asked && line == Line::Exclusive, || line.to_string());
    bench.fill(&mut m, block, 2);
    m.take(block, Line::Shared);
    let (line, seen) = (m.probe(block), bench.contents(&mut m, block));
    book.expect("a line that is taken shared stays shared", line == Line::Shared, || line.to_string());
    book.expect("what is taken is what was filled", seen == first, || format!("{seen:?}"));
    bench.fill(&mut m, block, 3);
    m.take(block, Line::Exclusive);
    let (line, seen) = (m.probe(block), bench.contents(&mut m, block));
    book.expect("a line that is taken exclusive is gone", line == Line::Absent, || line.to_string());
    book.expect("a shared line has its contents too", seen == first, || format!("{seen:?}"));
    let asked = m.fill(block, Line::Shared);
    let line = m.probe(block);
    book.expect("what an intervention overtook is not filled", asked && line == Line::Absent, || line.to_string());

    let mut m = bench.make();
    bench.wait(&mut m, 0, block);
    m.fill(block, Line::Shared);
    let asked = m.upgrade(block);
    let line = m.probe(block);
    book.expect("a shared line is upgraded", asked && line == Line::Exclusive, || line.to_string());
    m.invalidate(block);
    let line = m.probe(block);
    book.expect("a line that is invalidated is gone", line == Line::Absent, || line.to_string());
    m.resume(block);
    m.fill(block, Line::Shared);
    let line = m.probe(block);
    book.expect("after an answer nothing is overtaken", line == Line::Shared, || line.to_string());
}

fn no_side_effects<B: Bench>(bench: &B, book: &mut Book) {
    let [block, other] = bench.blocks();
    let mut m = bench.make();
    bench.fill(&mut m, block, 1);
    let contents = bench.contents(&mut m, block);
    let instances = instances(bench, &m);
    let records: Vec<Vec<u8>> = instances.iter().map(|&(role, object)| m.record(role, object).to_vec()).collect();
    m.set_access(block, Access::None, Access::Write);
    m.set_access(block, Access::Write, Access::None);
    m.charge(Charge::Steps(1));
    m.charge(Charge::Element);
    if let Some(&(role, object)) = instances.first() {
        m.charge(Charge::Record(role, bench.engine().protocol().roles[role.index()].kind));
        m.timer(role, object, Some(100));
        m.timer(role, object, None);
    }
    m.resume(other);
    let payload = m.gather_block(block);
    m.install_block(payload, block);
    let same = bench.contents(&mut m, block) == contents;
    book.expect("tags, charges and timers do not change a block", same, || format!("{block:?}"));
    for (&(role, object), before) in instances.iter().zip(&records) {
        let same = m.record(role, object) == &before[..];
        book.expect("only the engine writes records", same, || format!("{role:?} of {object:?}"));
    }
}

/// A protocol without lanes, messages and roles: the least that an engine can load.
pub fn empty_protocol() -> Protocol {
    let objects = vec!["block".into(), "node".into()];
    Protocol { name: "empty".into(), objects, ..Protocol::default() }
}

/// [`Local`] on the bench.
pub struct LocalBench {
    engine: Engine,
}

impl LocalBench {
    /// Blocks of 64 bytes.
    const BLOCK_BYTES: usize = 64;

    /// A bench for a protocol.
    pub fn new(engine: Engine) -> LocalBench {
        LocalBench { engine }
    }
}

impl Bench for LocalBench {
    type M = Local;

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn make(&self) -> Local {
        Local::new(&self.engine, 0, 4, Self::BLOCK_BYTES)
    }

    fn blocks(&self) -> [Object; 2] {
        [Object { kind: BLOCK, id: 0 }, Object { kind: BLOCK, id: 1 }]
    }

    fn fill(&self, m: &mut Local, block: Object, seed: u8) {
        for (i, byte) in (0..=u8::MAX).cycle().zip(m.block(block)) {
            *byte = seed.wrapping_mul(31).wrapping_add(i);
        }
    }

    fn contents(&self, m: &mut Local, block: Object) -> Vec<u8> {
        m.block(block).to_vec()
    }

    fn words(&self) -> Option<u64> {
        Some(2 * Self::BLOCK_BYTES as u64)
    }

    fn lists(&self) -> bool {
        true
    }

    fn wait(&self, m: &mut Local, thread: Thread, block: Object) -> Option<Pending> {
        let address = u64::from(block.id) * Self::BLOCK_BYTES as u64 + 8;
        let pending = Pending { address, size: 4, value: 0xdead_beef, ..Pending::default() };
        m.wait(Waiting { thread, block, store: true, pending });
        Some(pending)
    }
}
