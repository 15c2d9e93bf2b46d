//! Constructs of the language, from text to effect.

use std::sync::Arc;
use trivium_contract::local::{Effect, Local, Waiting};
use trivium_engine::{
    Args, Charge, Disposition, Engine, Event, FaultKind, MemoryMechanisms, Node, Object, Payload, Pending,
    RecordMechanisms, SystemView,
};
use trivium_protocol::{Access, BLOCK, CopyIn, EventKind, MessageId, NODE, OpId, RoleId, RoleKind, TaskId};

fn load(text: &str, nodes: u32) -> Engine {
    let protocol = trivium_lang::compile("test.tri", text, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    Engine::load(Arc::new(protocol), nodes).unwrap()
}

fn block(id: u32) -> Object {
    Object { kind: BLOCK, id }
}

fn message(engine: &Engine, name: &str) -> MessageId {
    engine.protocol().message(name).unwrap()
}

fn arrival(engine: &Engine, name: &str, object: Object, sender: Node, args: &[i64]) -> Event {
    Event { sender, args: Args::of(args), ..Event::local(EventKind::Message(message(engine, name)), object, 0) }
}

fn describe(engine: &Engine, m: &mut Local, role: &str, object: Object) -> String {
    let role = engine.protocol().role(role).unwrap();
    engine.describe(role, m.record(role, object))
}

fn sent(m: &Local, engine: &Engine) -> Vec<String> {
    let name = |id: MessageId| engine.protocol().messages[id.index()].name.clone();
    let line = |effect: &Effect| match effect {
        Effect::Sent { to, message } => Some(format!("{}{:?}->{to}", name(message.message), message.args.words())),
        _ => None,
    };
    m.effects.iter().filter_map(line).collect()
}

const WAITS: &str = "protocol waits
lane main fifo buffered
message Ask, Go(n: 0..99), Ack, Stop, Fine on main
role cache of block { state Any { on Ask, Fine { } } }
role home of block defers up to 4 {
  var sharers: set of node
  var total: 0..200
  otherwise impossible
  state Idle: write {
    on Go(n) {
      sharers = all - {me}
      for s in sharers { send Ask to s }
      await all Ack from sharers { total = total + n; send Fine to sender; goto Idle }
      while waiting on Stop { lower none }
      otherwise defer
    }
  }
}";

#[test]
fn an_await_keeps_sender_and_arguments_and_waits_for_each_once() {
    let engine = load(WAITS, 4);
    let mut m = Local::new(&engine, 0, 4, 16);
    engine.dispatch(&arrival(&engine, "Go", block(0), 2, &[33]), &mut m).unwrap();
    assert_eq!(sent(&m, &engine), ["Ask[]->1", "Ask[]->2", "Ask[]->3"]);
    let home = engine.protocol().role("home").unwrap();
    assert_eq!(engine.access(home, m.record(home, block(0))), Access::Write, "a waiting state keeps the access");
    engine.dispatch(&arrival(&engine, "Stop", block(0), 1, &[]), &mut m).unwrap();
    assert_eq!(engine.access(home, m.record(home, block(0))), Access::None, "until it is lowered");
    let again = engine.dispatch(&arrival(&engine, "Go", block(0), 1, &[5]), &mut m).unwrap();
    assert_eq!(again.disposition, Disposition::Deferred);
    engine.dispatch(&arrival(&engine, "Ack", block(0), 3, &[]), &mut m).unwrap();
    assert!(!engine.replay_due(home, m.record(home, block(0))), "the state has not changed");
    let mut twice = m.clone();
    assert!(engine.dispatch(&arrival(&engine, "Ack", block(0), 3, &[]), &mut twice).is_err(), "a second from 3");
    engine.dispatch(&arrival(&engine, "Ack", block(0), 1, &[]), &mut m).unwrap();
    m.forget();
    engine.dispatch(&arrival(&engine, "Ack", block(0), 2, &[]), &mut m).unwrap();
    assert_eq!(sent(&m, &engine), ["Fine[]->2"]);
    assert!(describe(&engine, &mut m, "home", block(0)).starts_with("Idle total=33"));
    engine.replay(home, block(0), &mut m).unwrap();
    assert_eq!(sent(&m, &engine), ["Fine[]->2", "Ask[]->1", "Ask[]->2", "Ask[]->3"]);
}

#[test]
fn an_await_of_nobody_runs_at_once() {
    let engine = load(WAITS, 1);
    let mut m = Local::new(&engine, 0, 4, 16);
    let outcome = engine.dispatch(&arrival(&engine, "Go", block(0), 0, &[7]), &mut m).unwrap();
    assert_eq!(outcome.before, outcome.after);
    assert_eq!(sent(&m, &engine), ["Fine[]->0"]);
    assert_eq!(describe(&engine, &mut m, "home", block(0)), "Idle total=7");
}

const MOVES: &str = "protocol moves
lane main fifo buffered
message Words on main with memory
message Many  on main with list
message Pull(a: address) on main
object pile
op gather(p: pile, a: address): word
op keep(p: pile, b: word): word
role heap of pile everywhere {
  var places: list of address up to 4
  var last: word
  otherwise impossible
  state Ready {
    on gather(a) { places.push(a); if places.length == 2 { send Many with list places to me; places.clear() }; return places.length }
    on keep(b)   { memory[16] = b; copy 16 to 24, 8; last = last + memory[24]; return last }
    on Pull(a)   { send Words with memory[a..a + 16] to sender }
    on Words     { install at 64 }
    on Many      { install }
  }
}";

#[test]
fn words_and_lists_travel_and_come_back() {
    let engine = load(MOVES, 2);
    let mut m = Local::new(&engine, 0, 8, 16);
    let pile = Object { kind: trivium_protocol::ObjectKindId(2), id: 0 };
    let call = |op: u16, arg: i64| Event { args: Args::of(&[arg]), ..Event::local(EventKind::Op(OpId(op)), pile, 3) };
    m.store(32, 11);
    m.store(8, 22);
    for address in [32, 8] {
        engine.dispatch(&call(0, address), &mut m).unwrap();
    }
    assert!(m.effects.contains(&Effect::Answered { thread: 3, value: 1 }));
    let Some(Effect::Sent { message, .. }) = m.effects.iter().find(|e| matches!(e, Effect::Sent { .. })).cloned()
    else {
        panic!("the list was not sent: {:?}", m.effects)
    };
    m.store(32, 0);
    m.store(8, 0);
    engine.dispatch(&Event::message(0, &message), &mut m).unwrap();
    assert_eq!((m.load(32), m.load(8)), (11, 22));
    engine.dispatch(&call(1, 77), &mut m).unwrap();
    assert_eq!((m.load(16), m.load(24)), (77, 77));
    m.store(24, 0);
    engine.dispatch(&call(1, 77), &mut m).unwrap();
    assert_eq!(describe(&engine, &mut m, "heap", pile), "Ready last=154");
    m.effects.clear();
    engine.dispatch(&arrival(&engine, "Pull", pile, 1, &[16]), &mut m).unwrap();
    let Some(Effect::Sent { to: 1, message }) = m.effects.pop() else { panic!("{:?}", m.effects) };
    engine.dispatch(&Event::message(0, &message), &mut m).unwrap();
    assert_eq!((m.load(64), m.load(72)), (77, 77));
}

const TASKS: &str = "protocol tasks
lane main fifo buffered
message Poke, Done on main
role home of block {
  state Idle: write {
    on Poke { start work(3, sender) }
  }
  var rounds: 0..9
  task work(n: 0..9, who: node) {
    rounds += 1
    if rounds < n { yield } else { send Done to who; rounds = 0; agent.note(who, object) }
  }
}
role helper of block { state Away { on Done { } } }
role agent of node {
  var seen: set of node
  var latest: block
  action note(who: node, b: block) { seen += who; latest = b }
  state Up { }
}";

#[test]
fn a_task_yields_until_it_is_done_and_tells_the_agent() {
    let engine = load(TASKS, 2);
    let mut m = Local::new(&engine, 0, 8, 16);
    m.charging = true;
    engine.dispatch(&arrival(&engine, "Poke", block(2), 1, &[]), &mut m).unwrap();
    let mut runs = 0;
    while let Some(Effect::Started { task, object, args }) = m.effects.pop() {
        assert_eq!((task, object, args.words()), (TaskId(0), block(2), &[3, 1][..]));
        let event = Event { args, ..Event::local(EventKind::Task(task), object, 0) };
        m.charges.clear();
        engine.dispatch(&event, &mut m).unwrap();
        runs += 1;
        if runs == 3 {
            break;
        }
    }
    assert_eq!(runs, 3);
    assert_eq!(sent(&m, &engine), ["Done[]->1"]);
    let node = Object { kind: NODE, id: 0 };
    assert_eq!(describe(&engine, &mut m, "agent", node), "Up seen={1} latest=block 2");
    let touched: Vec<&Charge> = m.charges.iter().filter(|c| matches!(c, Charge::Record(..))).collect();
    assert_eq!(
        touched,
        [
            &Charge::Record(RoleId(0), RoleKind::Home),
            &Charge::Record(engine.protocol().role("agent").unwrap(), RoleKind::Agent)
        ]
    );
}

const FAULTS: &str = "protocol faults
lane main fifo buffered
message Take(a: address, w: word, size: 0..8) on main
role home of block { state Idle: write { on Take(a, w, size) { memory[a] = w } } }
role cache of block {
  state Invalid { on write(a, v) { send Take(a, v, 1) to home; complete }  on read { resume } }
}";

#[test]
fn a_fault_tells_its_address_and_value() {
    let engine = load(FAULTS, 2);
    let mut m = Local::new(&engine, 0, 4, 16);
    let pending = Pending { address: 24, size: 8, value: 99, ..Pending::default() };
    m.wait(Waiting { thread: 5, block: block(1), store: true, pending });
    engine.dispatch(&Event::local(EventKind::Write, block(1), 5), &mut m).unwrap();
    assert_eq!(sent(&m, &engine), ["Take[24, 99, 1]->1"]);
    assert_eq!(m.load(24), 99, "complete performs the store on the node's own memory");
}

const CLAIMS: &str = "protocol claims
lane main fifo buffered
message Give, Back on main
role home of block {
  var owner: node?
  state Idle: write { on Back impossible }
  state Lent { on Back { owner = none; goto Idle }  on read, write { resume } }
}
role cache of block {
  state Away { on Give { goto Here }  on read, write { resume } }
  state Here: write { on Give impossible }
}
invariant one of block: (count n: cache at n is Here) <= 1
invariant lent of block: home is Idle or (any n: cache at n is Here) or flight(Give) + flight(Back) == 1
invariant owned of block: all n: not (cache at n is Here) or home.owner == n
";

/// Three nodes, of which 0 is the home.
struct Three {
    home: Vec<u8>,
    caches: [Vec<u8>; 3],
    gives: u32,
}

impl SystemView for Three {
    fn block_bytes(&self) -> u64 {
        16
    }

    fn home(&self, _: Object) -> Node {
        0
    }
    fn record(&self, node: Node, role: RoleId, _: Object) -> &[u8] {
        if role == RoleId(0) { &self.home } else { &self.caches[node as usize] }
    }
    fn contents(&self, node: Node, _: Object, copy: CopyIn) -> u64 {
        if copy == CopyIn::Memory { 9 } else { u64::from(node) }
    }
    fn access(&self, node: Node, _: Object) -> Access {
        if node == 1 { Access::Read } else { Access::None }
    }
    fn in_flight(&self, message: MessageId, _: Object, to: Option<Node>) -> u32 {
        assert_eq!(to, None);
        if message == MessageId(0) { self.gives } else { 0 }
    }
}

#[test]
fn invariants_see_all_nodes_and_messages() {
    let engine = load(CLAIMS, 3);
    let home = |state, owner: i64| vec![state, (owner + 1) as u8];
    let claims = |world: &Three| -> Vec<bool> {
        let all = engine.protocol().invariants.iter();
        all.map(|claim| engine.evaluate_invariant(claim, block(0), world).unwrap()).collect()
    };
    let (away, here) = (vec![0], vec![1]);
    let caches = |a: &Vec<u8>, b: &Vec<u8>| [here.clone(), a.clone(), b.clone()];
    let quiet = Three { home: home(0, -1), caches: caches(&away, &away), gives: 0 };
    assert_eq!(claims(&quiet), [true, true, true], "node 0 has no cache: what lies there is not looked at");
    let lent = Three { home: home(1, 2), caches: caches(&away, &here), gives: 0 };
    assert_eq!(claims(&lent), [true, true, true]);
    let both = Three { home: home(1, 2), caches: caches(&here, &here), gives: 0 };
    assert_eq!(claims(&both), [false, true, false]);
    let lost = Three { home: home(1, 2), caches: caches(&away, &away), gives: 0 };
    assert_eq!(claims(&lost), [true, false, true]);
    let flying = Three { home: home(1, 2), caches: caches(&away, &away), gives: 1 };
    assert_eq!(claims(&flying), [true, true, true]);
}

#[test]
fn invariants_see_contents_and_access() {
    let text =
        "protocol seen\nlane main buffered\nmessage Go on main\nrole home of block { state Here: write { on Go { } } }
invariant own of block: contents at home == 0 and memory at home == 9
invariant same of block: all n: access at n is (none, write) or contents at n == 1
invariant known of block: (count n: access at n is read) == 1
invariant other of block: any n: contents at n == 9 or access at n is write
";
    let engine = load(text, 3);
    let world = Three { home: vec![0], caches: [vec![0], vec![0], vec![0]], gives: 0 };
    let holds = |claim| engine.evaluate_invariant(claim, block(0), &world).unwrap();
    let claims: Vec<bool> = engine.protocol().invariants.iter().map(holds).collect();
    assert_eq!(claims, [true, true, true, false]);
}

#[test]
fn a_fault_points_at_the_text() {
    let text = "protocol sad\nlane main buffered\nmessage Go(n: 0..9) on main\nrole home of block {\n  var n: 0..3\n  state Idle: write { on Go(k) { n = k } }\n}";
    let engine = load(text, 2);
    let mut m = Local::new(&engine, 0, 4, 16);
    let fault = engine.dispatch(&arrival(&engine, "Go", block(0), 1, &[7]), &mut m).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Range { value: 7, lo: 0, hi: 3 });
    assert_eq!(fault.message, "node 0: block 0: home in Idle: Go(7) from 1: 7 is outside 0..3 (test.tri:6:38)");
    assert_eq!((fault.node, fault.event.unwrap().sender), (0, 1));
    let stray = Event { payload: Some(Payload(1)), ..arrival(&engine, "Go", block(1), 1, &[7]) };
    assert_eq!(engine.dispatch(&stray, &mut m).unwrap_err().kind, FaultKind::NotHere);
}

/// `none` among words and numbers: by what is sent, what the record is then, or what is wrong.
#[test]
fn none_goes_where_a_value_may_be_none() {
    let text = "
protocol optional
lane main fifo buffered
message Word(w: word) on main
message Less(n: 0..3) on main
message Both(n: 0..3?, w: word?) on main
message Look on main
role home of block {
  var w: word?
  var n: 2..3?
  var same: bool?
  state Only: write {
    on Word(x) { w = x; same = w == x }
    on Less(x) { same = n == x - 1; n = x - 1 }
    on Both(x, y) { n = x; w = y; same = x == y; if x != none { w = x } else { w = x } }
    on Look { if w == none and n == none and same == none { goto Only } }
  }
}";
    let engine = load(text, 2);
    let none = trivium_protocol::NO_WORD;
    let said = |name: &str, args: &[i64]| {
        let mut m = Local::new(&engine, 0, 1, 32);
        match engine.dispatch(&arrival(&engine, name, block(0), 1, args), &mut m) {
            Ok(_) => describe(&engine, &mut m, "home", block(0)),
            Err(fault) => fault.kind.to_string(),
        }
    };
    let walked = load(text, 2).walking();
    for (name, args, told) in [
        ("Word", &[7][..], "Only w=7 same=true"),
        ("Word", &[none], "the word 0x8000000000000001 stands for `none` where a word may be none"),
        ("Less", &[0], "-1 is outside 2..3"),
        ("Less", &[1], "0 is outside 2..3"),
        ("Less", &[3], "Only n=2 same=false"),
        ("Both", &[2, 2], "Only w=2 n=2 same=true"),
        ("Both", &[-1, none], "Only same=true"),
        ("Both", &[-1, -1], "Only same=false"),
        ("Both", &[1, 1], "1 is outside 2..3"),
    ] {
        assert_eq!(said(name, args), told, "{name} {args:?}");
        let mut m = Local::new(&walked, 0, 1, 32);
        let outcome = walked.dispatch(&arrival(&walked, name, block(0), 1, args), &mut m);
        let alone =
            outcome.map_or_else(|fault| fault.kind.to_string(), |_| describe(&walked, &mut m, "home", block(0)));
        assert_eq!(alone, told, "walked: {name} {args:?}");
    }
}
