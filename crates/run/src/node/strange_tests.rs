//! Packets that no node of the run has sent: each ends the run with an error, or does no harm, and none is a panic.

use super::{Limits, NodeState};
use crate::packets::spare::Spare;
use crate::packets::wire::{
    Control, Packet, Report, Told, Where, read, write_control, write_credit, write_message, write_page,
};
use crate::transport::Transport;
use crate::transport::threads::{Threads, join};
use proptest::prelude::*;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use trivium_diagnostic::Code;
use trivium_engine::{Args, Engine, Event, Node, Object};
use trivium_guest::Placement;
use trivium_node::{Awaited, Binding, Data, NodeError, NodeMemory, Placing, Protocols, Purpose, RUNNING, Wait};
use trivium_protocol::{BLOCK, EventKind, LaneId, MessageId, ObjectKindId};

/// A node with 16 KiB of shared memory, half of it placed by first touch, and the end of another.
fn node(me: usize) -> (NodeState, Threads) {
    let engine = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../protocols/{name}.tri"));
        Rc::new(Engine::load(Arc::new(trivium_lang::compile_file(&path, &[]).unwrap()), 2).unwrap())
    };
    let protocols = Rc::new(Protocols::new(["stache", "deferred-update", "token-lock"].map(engine).to_vec(), 64, 2));
    let mut ends = join(2);
    let other = ends.remove(1 - me);
    let limits = Limits { cancel: Arc::default(), nanoseconds: None };
    let mut node = NodeState::new(Box::new(ends.remove(0)), protocols, (4096, Instant::now()), limits);
    node.core.space.borrow_mut().allocate(0, 0, 8192, Placement::RoundRobin, 0).unwrap();
    node.core.space.borrow_mut().allocate(0, 1, 8192, Placement::FirstTouch, 0).unwrap();
    node.core.memory = NodeMemory::Plain(vec![0; 16384]);
    (node, other)
}

/// A number that is often small, and often just too large.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..4, 60u64..70, 126u64..132, 8190u64..8200, Just(1 << 31), Just(u64::MAX), any::<u64>()]
}

fn small(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

fn control() -> impl Strategy<Value = Control> {
    let placement =
        prop_oneof![number().prop_map(|n| Where::On(n as u32)), Just(Where::RoundRobin), Just(Where::FirstTouch)];
    let doing = prop_oneof![
        Just(Told::Runs),
        Just(Told::Waits),
        Just(Told::AtBarrier(Purpose::Bind(Binding { region: 9, protocol: 9 }))),
        Just(Told::HasEnded)
    ];
    prop_oneof![
        number().prop_map(|n| Control::Claim { page: small(n) }),
        (number(), any::<u16>()).prop_map(|(n, home)| Control::Placed { page: small(n), home }),
        (number(), number(), placement, number()).prop_map(|(index, bytes, placement, protocol)| {
            Control::Allocated { index: small(index), bytes, placement, protocol: small(protocol) }
        }),
        (number(), number(), any::<bool>()).prop_map(|(index, region, is_left)| Control::Freed {
            index: small(index),
            region: small(region),
            is_left
        }),
        (number(), number()).prop_map(|(phase, n)| Control::Stored { phase, blocks: vec![n as u32] }),
        (number(), number()).prop_map(|(phase, n)| Control::StoredSoFar { phase, blocks: vec![n as u32] }),
        (doing, number(), number()).prop_map(|(doing, round, n)| Control::Report(Report {
            round,
            doing,
            told: String::new(),
            moved: n,
            went_on: n,
            sent: n,
            received: n,
            is_quiet: true,
            goes_on_by_itself: false,
            asks: Some((n as u32, Some(n))),
            taken: vec![(n as u32, n, vec![n as u32])],
        })),
        number().prop_map(|round| Control::Ask { round }),
        Just(Control::Open),
        (number(), number()).prop_map(|(r, p)| Control::Bind(Binding { region: small(r), protocol: small(p) })),
        (number(), any::<u16>()).prop_map(|(n, to)| Control::Move { page: small(n), to: to % 4 }),
        Just(Control::Start),
        (number(), any::<u8>(), any::<u32>(), any::<u16>())
            .prop_map(|(p, kind, object, home)| Control::Place(Placing { protocol: small(p), kind, object, home })),
        Just(Control::Arranged),
        Just(Control::End),
        Just(Control::Failed(NodeError::subject(Code::Ranks, "it fails"))),
        Just(Control::Stopped("stopped".into())),
    ]
}

fn packet() -> impl Strategy<Value = Vec<u8>> {
    let data = (0usize..3, proptest::collection::vec((number(), 0u32..80), 0..3));
    let head = (0u64..4, 0u16..12, 0u8..3, number());
    let message = (head, proptest::collection::vec(any::<i64>().prop_map(|n| n % 5), 0..3), data).prop_map(
        |((protocol, message, kind, id), args, (has_data, places))| {
            let length = if places.is_empty() { 64 } else { places.iter().map(|(_, length)| *length as usize).sum() };
            let data = Data { bytes: vec![7; length], places };
            let object = Object { kind: ObjectKindId(kind), id: id as u32 };
            let data = (has_data > 0).then_some(&data);
            write_message(Vec::new(), (small(protocol), MessageId(message)), object, &Args::of(&args), data)
        },
    );
    prop_oneof![
        4 => message,
        2 => control().prop_map(|control| write_control(&control)),
        1 => (0usize..4, any::<u8>()).prop_map(|(protocol, lane)| write_credit(protocol, LaneId(lane % 6))),
        1 => (0u64..70, 4090usize..4100).prop_map(|(n, bytes)| write_page(small(n), &vec![7; bytes])),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ]
}

/// Node 0 asks twice before handlers have their turn, as where the host takes the processor away while a node takes packets in: the node is then
/// none that waits in vain, however equal its answers are.
#[test]
fn who_has_something_to_handle_goes_on_by_itself() {
    let (mut node, mut other) = node(1);
    let block = Object { kind: BLOCK, id: 0 };
    let number = node.core.threads[RUNNING].asks(Awaited::Access(block));
    node.raise(0, &Event::local(EventKind::Read, block, RUNNING), number);
    node.core.threads[RUNNING].wait = Some(Wait::Access(block));
    let mut answers = |node: &mut NodeState, round| {
        other.send(1, write_control(&Control::Ask { round }));
        node.take_in().unwrap();
        let packets = std::iter::from_fn(|| other.poll());
        let read =
            |(from, packet): (Node, Vec<u8>)| match read(from, &packet, &node.core.protocols, &mut Spare::default()) {
                Ok(Packet::Control(Control::Report(report))) => Some(report.goes_on_by_itself),
                _ => None,
            };
        packets.filter_map(read).last().unwrap()
    };
    assert!(answers(&mut node, 1) && answers(&mut node, 2));
    while node.handle_one().unwrap() {}
    assert!(!answers(&mut node, 3), "what it has asked for is on its way");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn no_packet_is_a_panic(me in 0usize..2, packets in proptest::collection::vec(packet(), 1..12)) {
        let (mut node, mut other) = node(me);
        for packet in packets {
            other.send(node.core.me, packet);
            // Whatever it is, the node says so, or goes on.
            while node.progress().is_ok_and(|any| any) {}
            if node.leaving.left.is_some() {
                break;
            }
        }
    }
}
