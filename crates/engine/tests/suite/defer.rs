//! The law of deferring and replaying (`docs/semantics.md`, section 4).

use crate::hand::*;
use trivium_contract::local::{Effect, Local};
use trivium_engine::{Disposition, Engine, Event, FaultKind, Payload, RecordMechanisms};
use trivium_protocol::*;

/// A home that is `Busy` or `Free`: `Get(k)` is deferred while busy, and handled when free if k is 1; `Turn`
/// goes from one to the other; `Data` is deferred in both.
struct Bed {
    engine: Engine,
    m: Local,
    get: MessageId,
    turn: MessageId,
    data: MessageId,
    free: StateId,
}

fn bed() -> Bed {
    let mut hand = Hand::new();
    let busy = hand.state("Busy", Access::None);
    let free = hand.state("Free", Access::Read);
    let get = hand.message("Get", &[range(0, 300)], PayloadShape::Nothing);
    let turn = hand.message("Turn", &[], PayloadShape::Nothing);
    let data = hand.message("Data", &[Type::NodeSet], PayloadShape::Block);
    let (on_get, on_turn, on_data) = (EventKind::Message(get), EventKind::Message(turn), EventKind::Message(data));
    hand.answer(busy, on_get, Response::Defer);
    let again = binary(Operator::Different, local(0), constant(1));
    let keep = step(StepKind::If(again, vec![step(StepKind::Defer)], vec![]));
    hand.on(free, on_get, &[], vec![keep]);
    hand.on(busy, on_turn, &[], vec![goto(free)]);
    hand.on(free, on_turn, &[], vec![goto(busy)]);
    hand.answer(busy, on_data, Response::Defer);
    hand.answer(free, on_data, Response::Defer);
    hand.answer(busy, EventKind::Read, Response::Defer);
    hand.answer(busy, EventKind::Write, Response::Hold);
    hand.on(free, EventKind::Write, &[], vec![]);
    hand.defers(3, &[on_get, on_data, EventKind::Read]);
    let engine = hand.load(70);
    let m = node0(&engine);
    Bed { engine, m, get, turn, data, free }
}

impl Bed {
    fn arrive(&mut self, event: Event) -> Disposition {
        self.engine.dispatch(&event, &mut self.m).unwrap().disposition
    }

    fn due(&mut self) -> bool {
        self.engine.replay_due(HOME, self.m.record(HOME, block(0)))
    }

    fn replay(&mut self) -> Disposition {
        self.engine.replay(HOME, block(0), &mut self.m).unwrap().disposition
    }

    fn kept(&mut self) -> String {
        let record = self.m.record(HOME, block(0)).to_vec();
        let events = self.engine.deferred(HOME, block(0), &record);
        events.iter().map(|e| format!("{}:{} ", e.sender, e.args.words().first().unwrap_or(&0))).collect()
    }
}

#[test]
fn events_are_kept_whole_and_tried_only_after_a_change_of_state() {
    let mut bed = bed();
    let data = Event { payload: Some(Payload(17)), ..arrival(bed.data, 69, &[5, 33]) };
    let read = Event::local(EventKind::Read, block(0), 4);
    let get = arrival(bed.get, 2, &[300]);
    for event in [data, read, get] {
        assert_eq!(bed.arrive(event), Disposition::Deferred);
        assert!(!bed.due());
    }
    let record = bed.m.record(HOME, block(0)).to_vec();
    assert_eq!(bed.engine.deferred(HOME, block(0), &record), [data, read, get]);
    assert_eq!(bed.engine.replay_event(HOME, block(0), &record), None);
    assert_eq!(bed.engine.describe(HOME, &record), "Busy deferred=[Data({0,2,64,69}) from 69, read, Get(300) from 2]");
    let one_more = bed.engine.dispatch(&get, &mut bed.m).unwrap_err();
    assert_eq!(one_more.kind, FaultKind::DeferFull);
    bed.arrive(arrival(bed.turn, 1, &[]));
    let record = bed.m.record(HOME, block(0)).to_vec();
    assert_eq!(bed.engine.replay_event(HOME, block(0), &record), Some(data));
    assert!(bed.due());
}

#[test]
fn a_round_tries_each_once_and_what_is_deferred_again_keeps_its_place() {
    let mut bed = bed();
    for (sender, k) in [(1, 0), (2, 1), (3, 2)] {
        bed.arrive(arrival(bed.get, sender, &[k]));
    }
    bed.arrive(arrival(bed.turn, 1, &[]));
    assert_eq!(bed.replay(), Disposition::Deferred);
    assert_eq!(bed.kept(), "1:0 2:1 3:2 ");
    assert_eq!(bed.replay(), Disposition::Handled);
    assert_eq!(bed.kept(), "1:0 3:2 ");
    assert_eq!(bed.replay(), Disposition::Deferred);
    assert!(!bed.due());
    assert_eq!(bed.engine.replay(HOME, block(0), &mut bed.m).unwrap_err().kind, FaultKind::NoReplay);
    // What comes when no replay is due has been tried by coming.
    bed.arrive(arrival(bed.get, 4, &[5]));
    assert_eq!(bed.kept(), "1:0 3:2 4:5 ");
    assert!(!bed.due());
    // A change of state begins with the oldest again.
    bed.arrive(arrival(bed.turn, 1, &[]));
    let record = bed.m.record(HOME, block(0)).to_vec();
    assert_eq!(bed.engine.replay_event(HOME, block(0), &record).unwrap().sender, 1);
}

#[test]
fn a_deferred_read_that_the_tag_allows_by_now_is_resumed() {
    let mut bed = bed();
    bed.arrive(Event::local(EventKind::Read, block(0), 4));
    bed.arrive(arrival(bed.turn, 1, &[]));
    bed.m.forget();
    assert_eq!(bed.replay(), Disposition::Passed);
    assert_eq!(bed.m.effects, [Effect::Resumed(block(0))]);
    let record = bed.m.record(HOME, block(0)).to_vec();
    assert!(bed.engine.deferred(HOME, block(0), &record).is_empty());
    assert_eq!(bed.engine.state(HOME, &record), bed.free);
    assert!(record[1..].iter().all(|&byte| byte == 0), "free places of the defer space are zero");
}

#[test]
fn a_held_event_leaves_no_trace() {
    let mut bed = bed();
    let before = bed.m.record(HOME, block(0)).to_vec();
    assert_eq!(bed.arrive(Event::local(EventKind::Write, block(0), 2)), Disposition::Held);
    assert_eq!(bed.m.record(HOME, block(0)), before);
    assert!(bed.m.effects.is_empty());
}

#[test]
fn who_sends_from_beyond_the_nodes_is_not_kept_as_another() {
    let mut bed = bed();
    let stray = bed.engine.dispatch(&arrival(bed.get, 256, &[5]), &mut bed.m).unwrap_err();
    assert_eq!(stray.kind, FaultKind::NoSuchNode(256));
    assert_eq!(bed.kept(), "");
}
