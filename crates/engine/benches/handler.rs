//! Host time of one handler of `protocols/stache.tri` with a machine that costs nothing. Bar: 60 ns median, not yet reached by those that go over sharers or install data.
// The macros of criterion make public functions without documentation.
#![allow(missing_docs)]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::sync::Arc;
use trivium_engine::{
    Args, Charge, ClockMechanisms, Engine, Event, HandlerAccess, LineMechanisms, MemoryMechanisms, NetworkMechanisms,
    Node, Object, Outgoing, Payload, Pending, RecordMechanisms, Thread, ThreadMechanisms,
};
use trivium_protocol::source::Span;
use trivium_protocol::{Access, BLOCK, EventKind, LaneId, Line, MessageId, RoleId, TaskId};

/// A machine that does nothing but keep the records of one block and count messages.
#[derive(Clone)]
struct Null {
    me: Node,
    records: Vec<Vec<u8>>,
    sent: u64,
}

impl Null {
    fn new(engine: &Engine, me: Node) -> Null {
        let records = (0..engine.protocol().roles.len()).map(|i| vec![0; engine.record_bytes(RoleId(i as u8))]);
        Null { me, records: records.collect(), sent: 0 }
    }
}

impl RecordMechanisms for Null {
    fn me(&self) -> Node {
        self.me
    }

    fn home(&self, _: Object) -> Node {
        0
    }

    fn record(&mut self, role: RoleId, _: Object) -> &mut [u8] {
        &mut self.records[role.index()]
    }

    fn start(&mut self, _: TaskId, _: Object, _: Args) {}
}

impl MemoryMechanisms for Null {
    fn block_bytes(&self) -> u64 {
        64
    }

    fn block_at(&mut self, address: u64) -> Option<u32> {
        u32::try_from(address / 64).ok()
    }

    fn gather_block(&mut self, _: Object) -> Payload {
        Payload(0)
    }

    fn gather_memory(&mut self, _: u64, _: u64) -> Payload {
        Payload(0)
    }

    fn gather_list(&mut self, _: bool, _: &[i64]) -> Payload {
        Payload(0)
    }

    fn gather_own(&mut self, _: u64, _: u64) -> Payload {
        Payload(0)
    }

    fn gather_access(&mut self, _: Object, _: &HandlerAccess) -> Payload {
        Payload(0)
    }

    fn install_own(&mut self, payload: Payload, at: u64) {
        black_box((payload, at));
    }

    fn install_block(&mut self, payload: Payload, block: Object) {
        black_box((payload, block));
    }

    fn install_memory(&mut self, payload: Payload, address: Option<u64>) {
        black_box((payload, address));
    }

    fn set_access(&mut self, block: Object, from: Access, to: Access) {
        black_box((block, from, to));
    }

    fn load(&mut self, _: u64) -> u64 {
        0
    }

    fn store(&mut self, _: u64, _: u64) {}

    fn copy(&mut self, _: u64, _: u64, _: u64) {}

    fn perform(&mut self, _: Object, _: &HandlerAccess) -> u64 {
        0
    }
}

impl LineMechanisms for Null {
    fn fill(&mut self, _: Object, _: Line) -> bool {
        true
    }

    fn upgrade(&mut self, _: Object) -> bool {
        true
    }

    fn take(&mut self, _: Object, _: Line) {}

    fn invalidate(&mut self, _: Object) {}

    fn compose(&mut self, _: Object, word: u64) {
        black_box(word);
    }

    fn image_word(&mut self, _: Object) -> u64 {
        0
    }

    fn probe(&mut self, _: Object) -> Line {
        Line::Absent
    }
}

impl ThreadMechanisms for Null {
    fn resume(&mut self, object: Object) {
        black_box(object);
    }

    fn complete(&mut self, _: Object) {}

    fn complete_with(&mut self, _: Object, _: Thread, _: u64, _: Span) {}

    fn answer(&mut self, _: Thread, _: i64) {}

    fn pending(&mut self, _: Thread) -> Pending {
        Pending::default()
    }
}

impl NetworkMechanisms for Null {
    fn send(&mut self, to: Node, message: &Outgoing) {
        black_box((to, message));
        self.sent += 1;
    }

    fn room(&mut self, _: LaneId, _: u32, _: u32) -> bool {
        true
    }
}

impl ClockMechanisms for Null {
    fn timer(&mut self, _: RoleId, _: Object, _: Option<u64>) {}

    fn charge(&mut self, what: Charge) {
        black_box(what);
    }
}

fn stache() -> Engine {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocols/stache.tri");
    let text = std::fs::read_to_string(path).expect("protocols/stache.tri is part of the repository");
    let protocol = trivium_lang::compile("stache.tri", &text, &Default::default()).expect("stache compiles");
    Engine::load(Arc::new(protocol), 32).expect("stache fits 32 nodes")
}

const BLOCK_0: Object = Object { kind: BLOCK, id: 0 };

/// A message of `stache` from a node, with data if its kind has some.
fn arrival(engine: &Engine, name: &str, sender: Node) -> Event {
    let message: MessageId = engine.protocol().message(name).expect("a message of stache");
    let data = engine.protocol().messages[message.index()].payload != trivium_protocol::PayloadShape::Nothing;
    let kind = EventKind::Message(message);
    Event { sender, payload: data.then_some(Payload(0)), ..Event::local(kind, BLOCK_0, 0) }
}

/// The node after some events.
fn after(engine: &Engine, me: Node, events: &[Event]) -> Null {
    let mut null = Null::new(engine, me);
    for event in events {
        engine.dispatch(event, &mut null).expect("stache has no fault");
    }
    null
}

fn handlers(c: &mut Criterion) {
    let engine = stache();
    let from = |name: &str, sender: Node| arrival(&engine, name, sender);
    let read = Event::local(EventKind::Read, BLOCK_0, 0);
    let write = Event::local(EventKind::Write, BLOCK_0, 0);
    let shared = [from("GetRead", 1), from("GetRead", 2), from("GetRead", 3)];
    let cases: Vec<(&str, Node, Vec<Event>, Event)> = vec![
        ("cache: read fault", 5, vec![], read),
        ("cache: data arrives", 5, vec![read], from("Readable", 0)),
        ("cache: invalidated", 5, vec![read, from("Readable", 0)], from("Invalidate", 0)),
        ("cache: upgrade fault", 5, vec![read, from("Readable", 0)], write),
        ("home: first reader", 0, vec![], from("GetRead", 1)),
        ("home: another reader", 0, shared.to_vec(), from("GetRead", 4)),
        ("home: writer, three sharers", 0, shared.to_vec(), from("GetWrite", 4)),
        ("home: last acknowledgement", 0, [&shared[..1], &[from("GetWrite", 4)]].concat(), from("Ack", 1)),
        ("home: deferred request", 0, [&shared[..], &[from("GetWrite", 4)]].concat(), from("GetRead", 6)),
        ("home: recall answered", 0, vec![from("GetWrite", 1), from("GetRead", 2)], from("Back", 1)),
    ];
    let mut group = c.benchmark_group("handler");
    for (name, me, before, event) in &cases {
        let ready = after(&engine, *me, before);
        group.bench_function(*name, |b| {
            b.iter_batched_ref(
                || ready.clone(),
                |null| engine.dispatch(black_box(event), null).expect("stache has no fault"),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(50)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_millis(1000));
    targets = handlers
}
criterion_main!(benches);
