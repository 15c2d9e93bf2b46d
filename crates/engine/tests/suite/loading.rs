//! What does not fit is refused when the protocol is loaded, with a message that says what to do.

use crate::hand::*;
use std::sync::Arc;
use trivium_engine::Engine;
use trivium_protocol::*;

fn refusal(hand: Hand, nodes: u32) -> String {
    Engine::load(Arc::new(hand.protocol), nodes).unwrap_err().message
}

fn plain() -> Hand {
    let mut hand = Hand::new();
    hand.state("Idle", Access::Write);
    hand
}

#[test]
fn the_number_of_nodes_is_1_to_1024() {
    assert_eq!(refusal(plain(), 0), "a machine has 1 to 1024 nodes, not 0");
    assert_eq!(refusal(plain(), 1025), "a machine has 1 to 1024 nodes, not 1025");
    for nodes in [1, 256, 257, 1024] {
        assert_eq!(plain().load(nodes).nodes(), nodes);
    }
}

#[test]
fn arguments_must_fit_sixteen_words() {
    let with_sets = || {
        let mut hand = plain();
        hand.message("Two", &[Type::NodeSet, Type::NodeSet, number()], PayloadShape::Nothing);
        hand
    };
    assert_eq!(with_sets().load(448).nodes(), 448);
    assert!(refusal(with_sets(), 449).starts_with("the arguments of message Two take 17 words with 449 nodes"));
}

#[test]
fn a_set_has_at_most_256_elements_or_as_many_as_there_are_nodes() {
    let mut hand = plain();
    hand.var("s", Type::IntSet { lo: Bound::fixed(0), hi: Bound { constant: 0, per_node: 4 } }, 0);
    assert!(refusal(hand, 64).starts_with("a set of 0..256 does not fit: at most 256 elements"));
    let with = |per_node| {
        let mut hand = plain();
        hand.var("s", Type::IntSet { lo: Bound::fixed(1), hi: Bound { constant: 0, per_node } }, 0);
        hand
    };
    assert_eq!(with(1).load(1024).nodes(), 1024);
    assert!(refusal(with(2), 513).starts_with("a set of 1..1026 does not fit: at most 513 elements"));
}

#[test]
fn a_handler_that_is_too_long_with_more_nodes_than_the_compiler_looks_at_is_refused_for_these() {
    let text = "protocol t\nlane main buffered\nobject thing\nop go(t: thing)\nmessage M on main\n\
        role c of thing everywhere {\n  var n: 0..9\n  state A {\n\
        on M { for s in all { for t in all { for i in 1..9 { n = 1 } } } }\n\
        on go { send M to home; return }\n  }\n}\n";
    let protocol = Arc::new(trivium_lang::compile("t.tri", text, &Default::default()).unwrap());
    assert_eq!(Engine::load(protocol.clone(), 256).unwrap().nodes(), 256);
    let refused = Engine::load(protocol, 1024).unwrap_err();
    assert!(refused.message.starts_with("`A.M` may take "), "{}", refused.message);
    assert!(refused.message.contains("steps with 1024 nodes; a handler takes at most 4000000: use up to 256 nodes"));
}

#[test]
fn a_record_takes_at_most_64_kib() {
    let mut hand = plain();
    let list = |up_to| Type::List { of: Box::new(Type::Word), up_to: Bound::fixed(up_to), queue: false };
    hand.var("l", list(8192), 0);
    assert!(refusal(hand, 2).starts_with("a record of role home takes 65539 bytes; 65536 are possible"));
}

#[test]
fn a_range_must_not_be_empty_and_hold_its_first_value() {
    let mut hand = plain();
    hand.var("n", Type::Int { lo: Bound::fixed(2), hi: Bound { constant: -1, per_node: 1 } }, 2);
    assert_eq!(refusal(hand, 2), "the range 2..1 is empty with 2 nodes");
    let mut hand = plain();
    hand.var("n", Type::Int { lo: Bound::fixed(0), hi: Bound { constant: -1, per_node: 1 } }, 3);
    assert_eq!(refusal(hand, 3), "the first value 3 is outside 0..2 with 3 nodes");
}

#[test]
fn a_handler_must_not_send_more_than_a_lane_holds() {
    let make = |holds| {
        let mut hand = plain();
        hand.protocol.lanes[0].holds = Some(Formula::Number(holds));
        let go = hand.message("Go", &[], PayloadShape::Nothing);
        hand.on(StateId(0), EventKind::Message(go), &[], vec![]);
        hand.protocol.roles[0].handlers[0].sends = vec![Bound { constant: -1, per_node: 1 }];
        hand
    };
    let engine = make(3).load(4);
    assert_eq!(engine.room_needed(EventKind::Message(MessageId(0)), HOME, StateId(0)), [3]);
    assert_eq!(engine.room_needed(EventKind::Evict, HOME, StateId(0)), [0]);
    assert!(refusal(make(3), 5).starts_with("handler h0 may send 4 messages on lane main with 5 nodes, which holds 3"));
}

#[test]
fn a_lane_holds_what_its_formula_gives_for_the_number_of_nodes() {
    let make = |operator, right| {
        let mut hand = plain();
        hand.protocol.lanes[0].holds = Some(Formula::of(operator, Formula::Nodes, Formula::Number(right)));
        hand
    };
    let less = |nodes| make(Operator::Subtract, 2).load(nodes).lane_holds(LaneId(0));
    assert_eq!([less(3), less(256)], [Some(1), Some(254)]);
    assert_eq!(
        refusal(make(Operator::Subtract, 2), 2),
        "lane main holds nodes - 2 messages, with 2 nodes 0; 1 to 65535 are possible: \
         let it hold another number, or use another number of nodes"
    );
    assert!(refusal(make(Operator::Subtract, 2), 1).contains("with 1 node -1; 1 to 65535"));
    assert!(refusal(make(Operator::Multiply, 1 << 10), 64).contains("with 64 nodes 65536; 1 to 65535"));
    assert!(refusal(make(Operator::Multiply, i64::MAX), 2).contains("with 2 nodes no number of 64 bits"));
    assert!(refusal(make(Operator::Divide, 0), 2).contains("holds nodes / 0 messages, with 2 nodes no number"));
}

#[test]
fn what_is_deferred_must_have_a_place() {
    let mut hand = plain();
    let go = hand.message("Go", &[], PayloadShape::Nothing);
    hand.answer(StateId(0), EventKind::Message(go), Response::Defer);
    assert!(refusal(hand, 2).starts_with("role home defers Go but reserves no place for it"));
}

#[test]
fn records_are_small() {
    let mut hand = plain();
    hand.var("owner", some_node(), 0);
    hand.var("sharers", Type::NodeSet, 0);
    let get = hand.message("Get", &[], PayloadShape::Nothing);
    hand.answer(StateId(0), EventKind::Message(get), Response::Defer);
    hand.defers(2, &[EventKind::Message(get)]);
    // State 1, owner 1, sharers 4, cursor 1, length 1, and 2 for each deferred event.
    let engine = |nodes| Engine::load(Arc::new(hand.protocol.clone()), nodes).unwrap();
    assert_eq!(engine(32).record_bytes(HOME), 12);
    // Beyond 255 nodes an owner, who may be `none`, takes two bytes; beyond 256 a sender too.
    assert_eq!(engine(256).record_bytes(HOME), 1 + 2 + 32 + 1 + 1 + 2 * 2);
    assert_eq!(engine(257).record_bytes(HOME), 1 + 2 + 33 + 1 + 1 + 2 * 3);
}

/// What `show` says is possible is: with a parameter at an end of its range, a shipped protocol can be loaded for two nodes.
#[test]
fn parameters_of_shipped_protocols_may_have_the_values_that_they_allow() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let mut tried = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "tri") {
            continue;
        }
        let compiled =
            |params: &[_]| trivium_lang::compile_file(&path, params).unwrap_or_else(|error| panic!("{error}"));
        for param in &compiled(&[]).params {
            for value in [param.lo, param.hi] {
                let protocol = compiled(&[(param.name.clone(), value)]);
                let loaded = Engine::load(Arc::new(protocol), 2);
                assert!(loaded.is_ok(), "{} with {} = {value}: {:?}", path.display(), param.name, loaded.err());
                tried += 1;
            }
        }
    }
    assert!(tried > 10, "{tried}");
}
