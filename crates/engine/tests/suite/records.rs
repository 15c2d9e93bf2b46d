//! Records of every type, and events of every kind, by property tests.

use crate::hand::*;
use proptest::prelude::*;
use trivium_engine::{Args, Engine, Event, MemoryMechanisms, Object, Payload, RecordMechanisms, Value};
use trivium_protocol::*;

/// A handler that assigns its argument to a variable of type `ty`; returns what the variable holds then.
fn round_trip(ty: Type, initial: i64, nodes: u32, value: i64) -> Value {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let before = hand.var("before", range(0, 200), 77);
    let it = hand.var("it", ty, initial);
    let after = hand.var("after", Type::Bool, 1);
    let go = hand.message("Go", &[Type::Word], PayloadShape::Nothing);
    hand.on(idle, EventKind::Message(go), &[], vec![assign(it, local(0))]);
    let engine = hand.load(nodes);
    let mut m = node0(&engine);
    assert_eq!(engine.describe(HOME, m.record(HOME, block(0))), "Idle");
    engine.dispatch(&arrival(go, 0, &[value]), &mut m).unwrap();
    let record = m.record(HOME, block(0)).to_vec();
    assert_eq!(engine.read_var(HOME, &record, before), Value::Scalar(77));
    assert_eq!(engine.read_var(HOME, &record, after), Value::Scalar(1));
    engine.read_var(HOME, &record, it)
}

/// A range, a first value and a value in it.
fn ranges() -> impl Strategy<Value = (i64, i64, i64, i64)> {
    let bounds = prop_oneof![
        (-300i64..300, 0i64..600).prop_map(|(lo, len)| (lo, lo + len)),
        (any::<i64>(), any::<i64>()).prop_map(|(a, b)| (a.min(b), a.max(b))),
        Just((i64::MIN, i64::MAX)),
        Just((0, 255)),
        Just((0, 256)),
        Just((-1, 65534)),
        Just((-1, 65535)),
    ];
    bounds.prop_flat_map(|(lo, hi)| (Just(lo), Just(hi), lo..=hi, lo..=hi))
}

proptest! {
    #[test]
    fn numbers_round_trip((lo, hi, initial, value) in ranges()) {
        prop_assert_eq!(round_trip(range(lo, hi), initial, 4, value), Value::Scalar(value));
    }

    #[test]
    fn other_scalars_round_trip(nodes in 1u32..=1024, at in 0u32..=256, word in any::<i64>(), optional in any::<bool>()) {
        let node = i64::from(at % (nodes + 1)) - 1;
        prop_assert_eq!(round_trip(Type::Node { optional }, 0, nodes, node), Value::Scalar(node));
        prop_assert_eq!(round_trip(Type::Word, 5, nodes, word), Value::Scalar(word));
        prop_assert_eq!(round_trip(Type::Address, 0, nodes, word), Value::Scalar(word));
        let id = word & 0xffff_ffff;
        prop_assert_eq!(round_trip(Type::Object(BLOCK), 0, nodes, id), Value::Scalar(id));
        prop_assert_eq!(round_trip(Type::Bool, 1, nodes, word & 1), Value::Scalar(word & 1));
        let thread = word.rem_euclid(256) - 1;
        prop_assert_eq!(round_trip(Type::Thread, 0, nodes, thread), Value::Scalar(thread));
    }

    #[test]
    fn scalars_that_may_be_none_round_trip(nodes in 1u32..=1024, word in any::<i64>(), lo in 0i64..600, len in 0i64..600) {
        let optional = |of: Type| Type::OrNone(Box::new(of));
        let first = Value::Scalar(word);
        prop_assert_eq!(round_trip(optional(Type::Word), NO_WORD, nodes, word), first.clone());
        prop_assert_eq!(round_trip(optional(Type::Address), -1, nodes, word), first);
        let truth = word.rem_euclid(3) - 1;
        prop_assert_eq!(round_trip(optional(Type::Bool), 1, nodes, truth), Value::Scalar(truth));
        for value in [-1, lo, lo + len] {
            prop_assert_eq!(round_trip(optional(range(lo, lo + len)), -1, nodes, value), Value::Scalar(value));
            let (below, negative) = (range(-2 - lo - len, -2 - lo), if value == -1 { -1 } else { -2 - value });
            prop_assert_eq!(round_trip(optional(below), -1, nodes, negative), Value::Scalar(negative));
        }
    }

    #[test]
    fn sets_of_numbers_round_trip(lo in -500i64..500, count in 1i64..=256, picks in prop::collection::vec(0i64..256, 0..40)) {
        let ty = Type::IntSet { lo: Bound::fixed(lo), hi: Bound::fixed(lo + count - 1) };
        let mut hand = Hand::new();
        let idle = hand.state("Idle", Access::Write);
        let it = hand.var("it", ty.clone(), 0);
        let copy = hand.var("copy", Type::IntSet { lo: Bound::fixed(lo - 1), hi: Bound::fixed(lo + 254) }, 0);
        let go = hand.message("Go", &[number()], PayloadShape::Nothing);
        let whole = expr(ExprKind::Var(place(it)), ty);
        hand.on(idle, EventKind::Message(go), &[], vec![step(StepKind::Insert(place(it), local(0)))]);
        let turn = hand.message("Turn", &[], PayloadShape::Nothing);
        hand.on(idle, EventKind::Message(turn), &[], vec![step(StepKind::Assign(place(copy), vec![whole]))]);
        let engine = hand.load(3);
        let mut m = node0(&engine);
        let mut model = std::collections::BTreeSet::new();
        for pick in picks {
            let fits = pick < count;
            prop_assert_eq!(engine.dispatch(&arrival(go, 0, &[lo + pick]), &mut m).is_ok(), fits);
            if fits {
                model.insert(lo + pick);
            }
        }
        let elements: Vec<i64> = model.into_iter().collect();
        prop_assert_eq!(engine.read_var(HOME, m.record(HOME, block(0)), it), Value::Set(elements.clone()));
        // A set of another range takes the elements over, or refuses them.
        let fits = elements.last().is_none_or(|&last| last <= lo + 254);
        prop_assert_eq!(engine.dispatch(&arrival(turn, 0, &[]), &mut m).is_ok(), fits);
        if fits {
            prop_assert_eq!(engine.read_var(HOME, m.record(HOME, block(0)), copy), Value::Set(elements));
        }
    }

    #[test]
    fn no_sequence_of_events_panics(events in prop::collection::vec(any_event(), 1..80), nodes in 1u32..=1024) {
        let engine = busy_protocol(nodes);
        let mut m = node0(&engine);
        let payload = m.gather_block(block(0));
        for (mut event, replay) in events {
            if let Some(p) = &mut event.payload {
                *p = payload;
            }
            let _ = engine.dispatch(&event, &mut m);
            let record = m.record(HOME, block(0)).to_vec();
            if replay && engine.replay_due(HOME, &record) {
                let _ = engine.replay(HOME, block(0), &mut m);
            }
            prop_assert!(!engine.describe(HOME, m.record(HOME, block(0))).is_empty());
        }
    }
}

/// An event that may or may not fit the protocol below.
fn any_event() -> impl Strategy<Value = (Event, bool)> {
    let kind = prop_oneof![
        (0u16..5).prop_map(|m| EventKind::Message(MessageId(m))),
        (0u16..3).prop_map(|o| EventKind::Op(OpId(o))),
        Just(EventKind::Read),
        Just(EventKind::Write),
        Just(EventKind::Evict),
        Just(EventKind::Timer),
        Just(EventKind::Task(TaskId(0))),
    ];
    let words = prop::collection::vec(prop_oneof![-2i64..6, any::<i64>()], 0..=4);
    let object = (0u8..3, 0u32..2).prop_map(|(kind, id)| Object { kind: ObjectKindId(kind), id });
    let object = prop_oneof![8 => Just(block(0)), 1 => object];
    (kind, object, 0u16..300, any::<u8>(), words, any::<bool>(), any::<bool>()).prop_map(
        |(kind, object, sender, thread, words, data, replay)| {
            let payload = data.then_some(Payload(0));
            (Event { kind, object, sender, thread, args: Args::of(&words), payload }, replay)
        },
    )
}

/// A protocol that does a little of everything.
fn busy_protocol(nodes: u32) -> Engine {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let busy = hand.state("Busy", Access::None);
    let owner = hand.var("owner", some_node(), 0);
    let sharers = hand.var("sharers", Type::NodeSet, 0);
    let few = hand.var("few", range(-3, 3), 2);
    let list = Type::List { of: Box::new(range(0, 40)), up_to: Bound::fixed(3), queue: false };
    let queue = hand.var("queue", list, 0);
    hand.protocol.roles[0].states[0].dead = vec![owner];
    let get = hand.message("Get", &[some_node()], PayloadShape::Nothing);
    let data = hand.message("Data", &[number()], PayloadShape::Block);
    let add = hand.op("add", &[range(0, 5), number()]);
    let (on_get, on_data, on_add) = (EventKind::Message(get), EventKind::Message(data), EventKind::Op(add));
    let sender = || expr(ExprKind::Sender, some_node());
    let whole = expr(ExprKind::Var(place(sharers)), Type::NodeSet);
    let element = expr(ExprKind::Element(place(queue), Box::new(local(0)), 0), number());
    hand.on(
        idle,
        on_get,
        &[some_node()],
        vec![
            assign(owner, local(0)),
            step(StepKind::Insert(place(sharers), sender())),
            step(StepKind::ForSet(LocalId(1), whole, vec![send(get, vec![local(1)], local(0))])),
            goto(busy),
        ],
    );
    hand.answer(busy, on_get, Response::Defer);
    hand.on(
        idle,
        on_data,
        &[],
        vec![
            step(StepKind::Push(place(queue), vec![local(0)])),
            assign(few, binary(Operator::Divide, constant(12), local(0))),
            send(data, vec![binary(Operator::Multiply, local(0), local(0))], var(owner)),
        ],
    );
    hand.on(
        busy,
        on_data,
        &[],
        vec![step(StepKind::Install(None)), goto(idle), assign(few, binary(Operator::Subtract, var(few), element))],
    );
    hand.on(idle, on_add, &[], vec![step(StepKind::Return { value: Some(local(1)), to: None }), goto(busy)]);
    hand.answer(busy, on_add, Response::Defer);
    hand.answer(busy, EventKind::Read, Response::Defer);
    hand.on(busy, EventKind::Write, &[], vec![goto(idle), step(StepKind::Defer)]);
    hand.defers(4, &[on_get, on_add, EventKind::Read, EventKind::Write]);
    hand.load(nodes)
}
