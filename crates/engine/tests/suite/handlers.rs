//! What the steps of a handler do, one law at a time (`docs/semantics.md`).

use crate::hand::*;
use trivium_contract::local::{Effect, Local};
use trivium_engine::{
    Args, Charge, Disposition, Engine, Event, FaultKind, MemoryMechanisms, Outgoing, RecordMechanisms, Value,
};
use trivium_protocol::*;

fn value(engine: &Engine, m: &mut Local, var: VarId) -> Value {
    engine.read_var(HOME, m.record(HOME, block(0)), var)
}

/// Runs one handler of a fresh home, made of `steps`, on the event `Go(a, b)` from node 3.
fn fault_of(make: impl FnOnce(&mut Hand) -> Vec<Step>) -> Option<FaultKind> {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let go = hand.message("Go", &[number(), number()], PayloadShape::Nothing);
    let steps = make(&mut hand);
    hand.on(idle, EventKind::Message(go), &[number()], steps);
    let engine = hand.load(4);
    let mut m = node0(&engine);
    engine.dispatch(&arrival(go, 3, &[7, 2]), &mut m).err().map(|fault| fault.kind)
}

#[test]
fn a_goto_changes_the_tag_at_once_and_later_steps_still_run() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let lent = hand.state("Lent", Access::None);
    let get = hand.message("Get", &[], PayloadShape::Nothing);
    let n = hand.var("n", range(0, 9), 0);
    hand.on(idle, EventKind::Message(get), &[], vec![goto(lent), assign(n, constant(5)), step(StepKind::Resume)]);
    let engine = hand.load(4);
    let mut m = node0(&engine);
    let outcome = engine.dispatch(&arrival(get, 2, &[]), &mut m).unwrap();
    assert_eq!((outcome.before, outcome.after, outcome.disposition), (idle, lent, Disposition::Handled));
    assert_eq!(outcome.steps, 3);
    assert_eq!(value(&engine, &mut m, n), Value::Scalar(5));
    assert_eq!(engine.access(HOME, m.record(HOME, block(0))), Access::None);
    let (from, to) = (Access::Write, Access::None);
    assert_eq!(
        m.effects,
        [
            Effect::Access { block: block(0), from, to },
            Effect::Resumed(block(0)),
            Effect::Changed { role: HOME, object: block(0), from: idle, to: lent },
        ]
    );
}

#[test]
fn a_goto_without_change_of_access_leaves_the_tag_alone() {
    let mut hand = Hand::new();
    let one = hand.state("One", Access::Read);
    let two = hand.state("Two", Access::Read);
    let get = hand.message("Get", &[], PayloadShape::Nothing);
    hand.on(one, EventKind::Message(get), &[], vec![goto(two)]);
    let engine = hand.load(4);
    let mut m = node0(&engine);
    engine.dispatch(&arrival(get, 2, &[]), &mut m).unwrap();
    assert!(!m.effects.iter().any(|e| matches!(e, Effect::Access { .. })));
}

#[test]
fn variables_that_are_dead_in_the_final_state_are_cleared() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let busy = hand.state("Busy", Access::Write);
    let (a, b, c) = (hand.var("a", range(1, 9), 4), hand.var("b", some_node(), 0), hand.var("c", range(0, 9), 0));
    let go = hand.message("Go", &[], PayloadShape::Nothing);
    hand.protocol.roles[0].states[busy.index()].dead = vec![b, a];
    let set = vec![assign(a, constant(7)), assign(b, constant(2)), assign(c, constant(3))];
    hand.on(idle, EventKind::Message(go), &[], [set, vec![goto(busy)]].concat());
    let engine = hand.load(4);
    let mut m = node0(&engine);
    engine.dispatch(&arrival(go, 2, &[]), &mut m).unwrap();
    assert_eq!(value(&engine, &mut m, a), Value::Scalar(4));
    assert_eq!(value(&engine, &mut m, b), Value::Scalar(-1));
    assert_eq!(value(&engine, &mut m, c), Value::Scalar(3));
    assert_eq!(engine.describe(HOME, m.record(HOME, block(0))), "Busy c=3");
}

#[test]
fn an_access_that_the_tag_allows_by_now_is_resumed_without_a_handler() {
    let mut hand = Hand::new();
    let reading = hand.state("Reading", Access::Read);
    hand.answer(reading, EventKind::Read, Response::Passes);
    hand.on(reading, EventKind::Write, &[], vec![]);
    let engine = hand.load(4);
    let mut m = node0(&engine);
    let read = engine.dispatch(&Event::local(EventKind::Read, block(0), 1), &mut m).unwrap();
    assert_eq!((read.disposition, read.handler), (Disposition::Passed, None));
    assert_eq!(m.effects, [Effect::Resumed(block(0))]);
    let write = engine.dispatch(&Event::local(EventKind::Write, block(0), 1), &mut m).unwrap();
    assert_eq!(write.disposition, Disposition::Handled);
}

#[test]
fn the_first_handler_whose_guard_holds_runs() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let go = hand.message("Go", &[number()], PayloadShape::Nothing);
    let n = hand.var("n", range(0, 9), 0);
    let is = |k| Some(binary(Operator::Equal, local(0), constant(k)));
    hand.on_when(idle, EventKind::Message(go), is(1), &[], vec![assign(n, constant(1))]);
    hand.on_when(idle, EventKind::Message(go), is(2), &[], vec![assign(n, constant(2))]);
    hand.on(idle, EventKind::Message(go), &[], vec![assign(n, constant(9))]);
    let engine = hand.load(4);
    for (arg, handler, expected) in [(1, 0, 1), (2, 1, 2), (3, 2, 9)] {
        let mut m = node0(&engine);
        let outcome = engine.dispatch(&arrival(go, 1, &[arg]), &mut m).unwrap();
        assert_eq!(outcome.handler, Some(HandlerId(handler)));
        assert_eq!(value(&engine, &mut m, n), Value::Scalar(expected));
    }
}

#[test]
fn a_loop_over_a_set_goes_in_ascending_order_over_the_set_as_it_was() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let sharers = hand.var("sharers", Type::NodeSet, 0);
    let go = hand.message("Go", &[Type::NodeSet], PayloadShape::Nothing);
    let inv = hand.message("Invalidate", &[], PayloadShape::Nothing);
    let whole = expr(ExprKind::Var(place(sharers)), Type::NodeSet);
    let body = vec![step(StepKind::Remove(place(sharers), local(1))), send(inv, vec![], local(1))];
    hand.on(
        idle,
        EventKind::Message(go),
        &[some_node()],
        vec![
            step(StepKind::Assign(place(sharers), vec![expr(ExprKind::Local(LocalId(0)), Type::NodeSet)])),
            step(StepKind::ForSet(LocalId(1), whole, body)),
        ],
    );
    let engine = hand.load(200);
    let mut m = node0(&engine);
    let mut args = Args::of(&[1 << 5 | 1 << 3, 0, 1 << 1, 1 << 7]);
    let event = |args| Event { args, ..arrival(go, 2, &[]) };
    engine.dispatch(&event(args), &mut m).unwrap();
    let to: Vec<_> = m.effects.iter().map(|e| if let Effect::Sent { to, .. } = e { *to } else { 999 }).collect();
    assert_eq!(to, [3, 5, 129, 199]);
    assert_eq!(value(&engine, &mut m, sharers), Value::Set(vec![]));
    args.push(0);
    assert_eq!(engine.dispatch(&event(args), &mut m).unwrap_err().kind, FaultKind::BadArguments);
}

#[test]
fn lists_keep_order_and_records_and_are_full_at_their_bound() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let pair = hand.record(&[some_node(), range(10, 20)]);
    let list = Type::List { of: Box::new(pair.clone()), up_to: Bound::fixed(2), queue: true };
    let queue = hand.var("queue", list, 0);
    let last = hand.var("last", pair.clone(), 0);
    let push = hand.message("Push", &[number()], PayloadShape::Nothing);
    let pop = hand.message("Pop", &[], PayloadShape::Nothing);
    let sender = expr(ExprKind::Sender, some_node());
    hand.on(idle, EventKind::Message(push), &[], vec![step(StepKind::Push(place(queue), vec![sender, local(0)]))]);
    hand.on(
        idle,
        EventKind::Message(pop),
        &[pair],
        vec![
            step(StepKind::Pop(place(queue), LocalId(0))),
            step(StepKind::Assign(place(last), vec![local(0), expr(ExprKind::LocalField(LocalId(0), 1), number())])),
        ],
    );
    let engine = hand.load(4);
    let mut m = node0(&engine);
    engine.dispatch(&arrival(push, 2, &[11]), &mut m).unwrap();
    engine.dispatch(&arrival(push, 3, &[12]), &mut m).unwrap();
    assert_eq!(engine.describe(HOME, m.record(HOME, block(0))), "Idle queue=[(a0=2 a1=11), (a0=3 a1=12)]");
    assert_eq!(engine.dispatch(&arrival(push, 1, &[13]), &mut m).unwrap_err().kind, FaultKind::ListFull);
    engine.dispatch(&arrival(pop, 0, &[]), &mut m).unwrap();
    assert_eq!(value(&engine, &mut m, last), Value::Record(vec![2, 11]));
    engine.dispatch(&arrival(pop, 0, &[]), &mut m).unwrap();
    assert_eq!(value(&engine, &mut m, last), Value::Record(vec![3, 12]));
    assert_eq!(value(&engine, &mut m, queue), Value::List(vec![]));
    assert_eq!(engine.dispatch(&arrival(pop, 0, &[]), &mut m).unwrap_err().kind, FaultKind::Empty);
    let range = FaultKind::Range { value: 21, lo: 10, hi: 20 };
    assert_eq!(engine.dispatch(&arrival(push, 1, &[21]), &mut m).unwrap_err().kind, range);
}

#[test]
fn a_popped_list_equals_a_list_that_never_held_more() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let list = Type::List { of: Box::new(range(0, 99)), up_to: Bound::fixed(3), queue: true };
    let queue = hand.var("queue", list, 0);
    let push = hand.message("Push", &[number()], PayloadShape::Nothing);
    let pop = hand.message("Pop", &[], PayloadShape::Nothing);
    hand.on(idle, EventKind::Message(push), &[], vec![step(StepKind::Push(place(queue), vec![local(0)]))]);
    hand.on(idle, EventKind::Message(pop), &[number()], vec![step(StepKind::Pop(place(queue), LocalId(0)))]);
    let engine = hand.load(4);
    let (mut long, mut short) = (node0(&engine), node0(&engine));
    for i in [1, 2, 3] {
        engine.dispatch(&arrival(push, 1, &[i]), &mut long).unwrap();
    }
    engine.dispatch(&arrival(pop, 1, &[]), &mut long).unwrap();
    for i in [2, 3] {
        engine.dispatch(&arrival(push, 1, &[i]), &mut short).unwrap();
    }
    assert_eq!(long.record(HOME, block(0)), short.record(HOME, block(0)));
}

#[test]
fn a_message_carries_what_was_true_when_it_was_sent() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let data = hand.message("Data", &[], PayloadShape::Block);
    let send_block = || {
        let to = constant(1);
        step(StepKind::Send { message: data, args: vec![], payload: PayloadSource::Block, object: None, to })
    };
    hand.on(idle, EventKind::Message(data), &[], vec![send_block(), step(StepKind::Install(None)), send_block()]);
    let engine = hand.load(4);
    let mut m = node0(&engine);
    m.block(block(4)).fill(9);
    let payload = m.gather_block(block(4));
    let event = Event { payload: Some(payload), ..arrival(data, 1, &[]) };
    engine.dispatch(&event, &mut m).unwrap();
    assert_eq!(m.block(block(0)), [9; 32]);
    let sent: Vec<Outgoing> = m
        .effects
        .iter()
        .filter_map(|e| if let Effect::Sent { message, .. } = e { Some(*message) } else { None })
        .collect();
    m.install_block(sent[0].payload.unwrap(), block(4));
    assert_eq!(m.block(block(4)), [0; 32]);
    m.install_block(sent[1].payload.unwrap(), block(4));
    assert_eq!(m.block(block(4)), [9; 32]);
    let bare = engine.dispatch(&arrival(data, 1, &[]), &mut m).unwrap_err();
    assert_eq!(bare.kind, FaultKind::NoData);
}

#[test]
fn faults_of_a_protocol_are_told_apart() {
    use Operator::*;
    let assign_of = |value: Expr| {
        move |hand: &mut Hand| {
            let n = hand.var("n", range(-5, 5), 0);
            vec![assign(n, value)]
        }
    };
    assert_eq!(fault_of(assign_of(constant(5))), None);
    assert_eq!(fault_of(assign_of(constant(6))), Some(FaultKind::Range { value: 6, lo: -5, hi: 5 }));
    assert_eq!(fault_of(assign_of(binary(Divide, local(0), constant(0)))), Some(FaultKind::DivisionByZero));
    assert_eq!(fault_of(assign_of(binary(Remainder, local(0), constant(0)))), Some(FaultKind::DivisionByZero));
    assert_eq!(fault_of(assign_of(binary(Add, constant(i64::MAX), local(0)))), Some(FaultKind::Overflow));
    assert_eq!(fault_of(assign_of(binary(Divide, constant(i64::MIN), constant(-1)))), Some(FaultKind::Overflow));
    assert_eq!(fault_of(|_| vec![step(StepKind::Impossible)]), Some(FaultKind::Impossible));
    let less = |a, b| step(StepKind::Assert(binary(Less, a, b), Asserted::Written));
    assert_eq!(fault_of(|_| vec![less(local(1), local(0))]), None);
    assert_eq!(fault_of(|_| vec![less(local(0), local(1))]), Some(FaultKind::Assertion));
    let send_to = |to: i64| move |_: &mut Hand| vec![send(MessageId(0), vec![constant(1), constant(2)], constant(to))];
    assert_eq!(fault_of(send_to(3)), None);
    assert_eq!(fault_of(send_to(-1)), Some(FaultKind::NoneUsed));
    assert_eq!(fault_of(send_to(4)), Some(FaultKind::NoSuchNode(4)));
    let answer = step(StepKind::Return { value: None, to: None });
    assert_eq!(fault_of(|_| vec![answer]), Some(FaultKind::NoneUsed));
    let store = step(StepKind::Store(constant(-8), constant(1)));
    assert_eq!(fault_of(|_| vec![store]), Some(FaultKind::BadAddress(-8)));
    let nothing = expr(ExprKind::SetOf(vec![]), Type::NodeSet);
    let pick = expr(ExprKind::Pick(Box::new(nothing)), some_node());
    assert_eq!(fault_of(|_| vec![send(MessageId(0), vec![constant(1), constant(2)], pick)]), Some(FaultKind::Empty));
}

#[test]
fn an_impossible_event_names_node_object_state_and_event() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let go = hand.message("Go", &[], PayloadShape::Nothing);
    hand.answer(idle, EventKind::Message(go), Response::Impossible);
    let engine = hand.load(4);
    let fault = engine.dispatch(&arrival(go, 3, &[]), &mut node0(&engine)).unwrap_err();
    assert_eq!(fault.message, "node 0: block 0: home in Idle: Go from 3: this was declared impossible");
    let elsewhere = Event { object: block(1), ..arrival(go, 3, &[]) };
    assert_eq!(engine.dispatch(&elsewhere, &mut node0(&engine)).unwrap_err().kind, FaultKind::NotHere);
    let never = Event::local(EventKind::Evict, block(0), 0);
    assert_eq!(engine.dispatch(&never, &mut node0(&engine)).unwrap_err().kind, FaultKind::Unanswered);
}

#[test]
fn steps_elsewhere_change_the_other_record_and_settle_it() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::Write);
    let go = hand.message("Go", &[], PayloadShape::Nothing);
    let kept = hand.var("kept", range(0, 9), 0);
    hand.on(idle, EventKind::Message(go), &[], Vec::new());
    let agent = hand.role("agent", RoleKind::Agent, NODE);
    let resting = hand.state("Resting", Access::None);
    let working = hand.state("Working", Access::None);
    let count = hand.var("count", range(0, 9), 0);
    let scratch = hand.var("scratch", range(0, 9), 0);
    hand.protocol.roles[1].states[working.index()].dead = vec![scratch];
    let there = |var| place_of(agent, var);
    let body = vec![
        step(StepKind::Assign(there(scratch), vec![constant(3)])),
        step(StepKind::Assign(there(count), vec![expr(ExprKind::Var(place(kept)), number())])),
        goto(working),
    ];
    let reach = Place { owner: Owner::Role(agent), ..there(count) };
    let more = binary(Operator::Add, expr(ExprKind::Var(reach.clone()), number()), constant(1));
    hand.protocol.roles[0].handlers[0].steps = vec![
        assign(kept, constant(4)),
        step(StepKind::Elsewhere(Owner::Role(agent), agent, body)),
        step(StepKind::Assign(reach, vec![more])),
    ];
    let engine = hand.load(4);
    let mut m = node0(&engine);
    m.charging = true;
    engine.dispatch(&arrival(go, 1, &[]), &mut m).unwrap();
    let node = trivium_engine::Object { kind: NODE, id: 0 };
    assert_eq!(engine.describe(agent, m.record(agent, node)), "Working count=5");
    assert_eq!(m.effects, [Effect::Changed { role: agent, object: node, from: resting, to: working }]);
    let records: Vec<_> = m.charges.iter().filter(|c| matches!(c, Charge::Record(..))).collect();
    assert_eq!(records, [&Charge::Record(HOME, RoleKind::Home), &Charge::Record(agent, RoleKind::Agent)]);
}

#[test]
fn a_timer_is_set_on_entering_its_state_and_cancelled_on_leaving() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::None);
    let timed = hand.state("Timed", Access::None);
    hand.protocol.roles[0].states[timed.index()].timer = Some(Bound { constant: 10, per_node: 5 });
    let go = hand.message("Go", &[], PayloadShape::Nothing);
    hand.on(idle, EventKind::Message(go), &[], vec![goto(timed)]);
    hand.on(timed, EventKind::Message(go), &[], vec![goto(timed)]);
    hand.on(timed, EventKind::Timer, &[], vec![goto(idle)]);
    let engine = hand.load(4);
    let mut m = node0(&engine);
    for _ in 0..2 {
        engine.dispatch(&arrival(go, 1, &[]), &mut m).unwrap();
    }
    engine.dispatch_to(HOME, &Event::local(EventKind::Timer, block(0), 0), &mut m).unwrap();
    m.effects.retain(|e| matches!(e, Effect::Timer { .. }));
    let timer = |after| Effect::Timer { role: HOME, object: block(0), after };
    assert_eq!(m.effects, [timer(Some(30)), timer(None)]);
}

#[test]
fn a_call_is_checked_against_its_declaration_and_answered_to_its_thread() {
    let mut hand = Hand::new();
    let idle = hand.state("Idle", Access::None);
    let add = hand.op("add", &[range(0, 9)]);
    let sum = binary(Operator::Add, local(0), constant(1));
    hand.on(idle, EventKind::Op(add), &[], vec![step(StepKind::Return { value: Some(sum), to: None })]);
    let engine = hand.load(4);
    let mut m = node0(&engine);
    engine.dispatch(&call(add, 6, &[8]), &mut m).unwrap();
    assert_eq!(m.effects, [Effect::Answered { thread: 6, value: 9 }]);
    let range = FaultKind::Range { value: 10, lo: 0, hi: 9 };
    assert_eq!(engine.dispatch(&call(add, 6, &[10]), &mut m).unwrap_err().kind, range);
    assert_eq!(engine.dispatch(&call(add, 6, &[]), &mut m).unwrap_err().kind, FaultKind::BadArguments);
}
