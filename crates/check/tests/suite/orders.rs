//! The order in which handlers take nodes: every one is tried that can be told apart, and nodes are alike again.

use crate::every::files;
use crate::random::{Random, Text};
use crate::shipped;
use crate::shipped::written;
use crate::slow;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, every_order_at_every_loop, explore, orbits, text};
use trivium_protocol::Protocol;

/// Some nodes ask; the home remembers them, and answers in loops. `body` is what it does when node s has asked.
fn protocol(body: &str, claims: &str) -> Arc<Protocol> {
    written(&format!(
        "protocol orders\nlane up fifo buffered\nlane down fifo buffered\nobject thing\nop poke(t: thing)\n\
         message Ask on up\nmessage Go on down\n\
         role user of thing {{\n  otherwise impossible\n  state Free {{ on poke {{ send Ask to home; await Go {{ return; goto Free }} }} }}\n}}\n\
         role home of thing {{\n  var asked: set of node\n  var last: node?\n  otherwise impossible\n  \
         state S {{ on Ask {{ asked += sender; {body} }} }}\n}}\n{claims}"
    ))
}

fn config(nodes: u32, every_order: bool) -> Config<'static> {
    System { nodes, clients: Some(nodes), ops: Some(1), every_order, ..System::default() }.into()
}

/// What is wrong with one order of arbitration alone is found, and not where nodes are taken in ascending order.
#[test]
fn a_fault_of_one_order_is_found() {
    for body in [
        "for s in asked { if last != none { assert index(last) < index(s) }; last = s }",
        "let s = pick(asked); asked -= s; let t = pick(asked); assert index(s) < index(t)",
    ] {
        let protocol =
            protocol(&format!("send Go to sender; if asked.count == 2 {{ {body}; asked = {{}}; last = none }}"), "");
        let checked = |every_order| {
            let system = System { nodes: 3, ops: Some(1), every_order, ..System::default() };
            explore(&protocol, &system.into()).unwrap()
        };
        assert_eq!(checked(false).verdict, Verdict::Holds, "{}", text(&checked(false)));
        let every = checked(true);
        assert_eq!((every.verdict, every.property.as_deref()), (Verdict::Violated, Some("fault")), "{}", text(&every));
        assert!(text(&every).contains("it takes node 2"), "{}", text(&every));
        assert!(text(&checked(false)).contains("; ascending order;"), "{}", text(&checked(false)));
    }
}

/// Where every order is taken nodes are alike, and there are as many states as orbits.
#[test]
fn where_every_order_is_taken_nodes_are_alike() {
    for (body, shows) in [
        ("last = pick(asked); asked -= last; send Go to last", true),
        (
            "for s in asked { if last == none { last = s } }; for s in asked { send Go to s }; asked = {}; last = none",
            true,
        ),
        (
            "for s in asked { if last != s { send Go to s; asked -= s } }; last = sender; if sender in asked { asked = {}; send Go to sender }",
            true,
        ),
        ("for s in asked { send Go to s }; asked = {}", false),
    ] {
        let protocol = protocol(body, "");
        let [every, ascending] = [true, false].map(|every| explore(&protocol, &config(4, every)).unwrap());
        let plain = explore(&protocol, &Config { symmetry: false, ..config(4, true) }).unwrap();
        assert_eq!(
            (every.verdict, every.symmetry, ascending.symmetry),
            (plain.verdict, true, !shows),
            "{}",
            text(&every)
        );
        assert_eq!(orbits(&protocol, &config(4, true)).unwrap(), (plain.states, every.states), "{body}");
        assert!(every.states < plain.states && ascending.states <= plain.states);
    }
}

const FAIR: &str = r#"// the home gives to a picked node; the least always refused when another waits
protocol fair4
object job
op want(j: job)
lane main fifo buffered
message Want, Got on main
role home of job {
  var ws: set of node
  var bad: node?
  task serve() {
    let n = pick(ws)
    if bad == n and ws.count > 1 { start serve() } else { ws -= {n}; bad = none; send Got to n; if ws != {} { start serve() } }
  }
  state A {
    on Want { if ws == {} { start serve() }; ws += sender; if bad == none { bad = sender } }
    on want { return }
  }
}
role user of job { state I { on want { send Want to home; await Got { goto I; return } } on Got impossible } }
"#;

/// An arbiter that always takes the least node may serve nobody for ever: what must happen is told for fair ones, and the verdict says so.
#[test]
fn deadlock_is_told_for_arbiters_that_neglect_nobody() {
    let protocol = written(FAIR);
    let reports = [true, false].map(|every| explore(&protocol, &config(3, every)).unwrap());
    assert_eq!(reports[0].verdict, Verdict::Holds, "{}", text(&reports[0]));
    assert_eq!(reports[1].verdict, Verdict::Violated, "{}", text(&reports[1]));
    assert!(text(&reports[0]).contains("orders        every one"), "{}", text(&reports[0]));
    assert!(!text(&reports[1]).contains("orders        every one"), "{}", text(&reports[1]));
}

/// What chooses no order makes nodes differ.
#[test]
fn a_claim_that_picks_switches_symmetry_off() {
    let body = "send Go to sender; last = sender; asked = {}";
    let claim = "invariant least of thing: (home.asked == {} or pick(home.asked) == pick(home.asked)) and home.last != pick(all - {home})";
    let protocol = protocol(body, claim);
    let report = explore(&protocol, &config(3, true)).unwrap();
    assert!(!report.symmetry, "{}", text(&report));
    assert_eq!(report.verdict, Verdict::Violated);
}

struct Writer {
    random: Random,
    text: Text,
    /// Whether the lane down has so many places.
    is_finite: bool,
}

/// A random protocol whose home takes nodes of sets in loops and by `pick`, in branches, guards, arguments, nested, and as long as there is room.
fn random_protocol(seed: u64) -> String {
    let mut random = Random(seed);
    for _ in 0..4 {
        random.below(2);
    }
    let down = random.one(&["buffered", "holds 3", "queues 2", "buffered"]);
    let mut writer = Writer { random, text: Text::default(), is_finite: down != "buffered" };
    let order = writer.random.one(&["fifo", "unordered"]);
    let head = format!(
        "protocol orders\nwaive lane_rule \"lanes may block each other here\"\nlane up fifo buffered\nlane down {order} {down}\n\
         object thing\nop poke(t: thing)\nmessage Ask on up\nmessage Go on down\nmessage Tell(n: node?) on down\n"
    );
    writer.text.open("role user of thing {");
    writer.text.line("var had: node?");
    writer.text.open("state Free {");
    writer.text.open("on poke {");
    writer.text.line("send Ask to home");
    writer.text.line("await Go { return; goto Free }");
    writer.text.line("while waiting on Tell(n) { had = n }");
    writer.text.close();
    writer.text.line("on Go { }");
    writer.text.line("on Tell(n) { had = n }");
    writer.text.close();
    writer.text.close();
    writer.text.open("role home of thing {");
    writer.text.line("var asked: set of node");
    writer.text.line("var some: set of node");
    writer.text.line("var last: node?");
    writer.text.open("state S {");
    if writer.random.once_in(3) {
        let set = writer.set();
        writer.text.open(&format!("on Ask when {set} != {{}} and pick({set}) != sender {{"));
        writer.handler();
        writer.text.close();
    }
    writer.text.open("on Ask {");
    writer.handler();
    writer.text.close();
    writer.text.close();
    writer.text.close();
    let claim = match writer.random.below(4) {
        0 => "invariant apart of thing: home.last == none or home.last in home.some or not (home.last in home.asked)\n",
        1 => "invariant few of thing: home.some.count < 3\n",
        _ => "",
    };
    head + &writer.text.written + claim
}

impl Writer {
    fn set(&mut self) -> &'static str {
        self.random.one(&["asked", "some", "asked", "(asked + some)", "(all - asked)"])
    }

    fn handler(&mut self) {
        self.text.line("asked += sender");
        let most = 1 + self.random.below(3);
        for _ in 0..most {
            self.statement(&[]);
        }
        match self.random.below(3) {
            0 => self.text.line("for s in asked { send Go to s }; asked = {}"),
            1 => self.text.line("let first = pick(asked); asked -= first; send Go to first"),
            _ => self.text.line("send Go to sender"),
        }
    }

    /// A statement, where these nodes have names.
    fn statement(&mut self, names: &[&'static str]) {
        let node = |writer: &mut Writer| match names.len() {
            0 => "sender",
            _ => writer.random.one(&[names, &["sender"]].concat()),
        };
        let n = node(self);
        match self.random.below(if names.len() < 2 { 11 } else { 8 }) {
            0 => self.text.line(&format!("last = {n}")),
            1 => self.text.line(&format!("if last == none {{ last = {n} }}")),
            2 => self.text.line(&format!("some += {n}")),
            3 => self.text.line(&format!("asked -= {n}")),
            4 => self.text.line(&format!("send Tell(last) to {n}")),
            5 => {
                let set = self.set();
                self.text.line(&format!("if {set} != {{}} {{ send Tell(pick({set})) to {n} }}"));
            }
            6 => self.text.line(&format!("if {n} in some {{ some -= {n}; last = none }}")),
            7 => self.text.line(&format!("send Go to {n}")),
            _ => {
                let set = self.set();
                let name = if names.is_empty() { "s" } else { "u" };
                let limit = if self.is_finite && self.random.once_in(2) { " while room(down, 1)" } else { "" };
                self.text.open(&format!("for {name} in {set}{limit} {{"));
                let within: Vec<&'static str> = names.iter().copied().chain([name]).collect();
                let most = 1 + self.random.below(2);
                for _ in 0..most {
                    self.statement(&within);
                }
                self.text.close();
            }
        }
    }
}

fn found(report: &Report) -> (Verdict, Option<String>, usize) {
    (report.verdict, report.property.clone(), report.counterexample.len())
}

/// Whether a protocol is the same with every order at every loop, by brute force, without symmetry and with it; `None` if it is too large,
/// or no system can be made of it.
fn agrees(protocol: &Arc<Protocol>, system: &System, what: &str) -> Option<Verdict> {
    let config = Config { max_states: Some(20_000), liveness: false, ..system.clone().into() };
    let with = explore(protocol, &config).ok()?;
    if with.verdict == Verdict::Incomplete {
        return None;
    }
    let plain = explore(protocol, &Config { symmetry: false, max_states: None, ..config.clone() }).unwrap();
    assert_eq!(found(&with), found(&plain), "{what}\n{}\n{}", text(&with), text(&plain));
    let always = every_order_at_every_loop(protocol, &Config { max_states: None, ..config.clone() }).unwrap();
    assert_eq!(found(&plain), found(&always), "{what}\n{}\n{}", text(&plain), text(&always));
    let whole = system.unreduced();
    let whole = Config { symmetry: false, max_states: None, liveness: false, ..whole.into() };
    let (fast, brute) = (
        explore(protocol, &whole).unwrap(),
        explore(protocol, &Config { search: Search::Brute, ..whole.clone() }).unwrap(),
    );
    assert_eq!(
        (found(&fast), found(&brute)),
        (found(&plain), found(&plain)),
        "{what}\n{}\n{}",
        text(&fast),
        text(&brute)
    );
    if plain.verdict == Verdict::Holds {
        assert_eq!((fast.states, fast.transitions), (brute.states, brute.transitions), "{what}");
        assert_eq!(fast.states, always.states, "{what}");
        assert!(always.transitions >= fast.transitions, "{what}");
        assert_eq!(
            orbits(protocol, &Config { max_states: None, ..config.clone() }).unwrap(),
            (plain.states, with.states),
            "{what}"
        );
        let ascending = System { every_order: false, ..system.clone() };
        let ascending = explore(protocol, &Config { symmetry: false, liveness: false, ..ascending.into() }).unwrap();
        assert_eq!(ascending.verdict, Verdict::Holds, "{what}\n{}", text(&ascending));
        assert!(ascending.states <= plain.states, "{what}");
    }
    Some(plain.verdict)
}

#[test]
fn random_protocols_are_the_same_with_every_order_at_every_loop() {
    let (mut held, mut violated) = (0, 0);
    for seed in 0..slow::all_or(2000, 120) {
        let source = random_protocol(seed * 7919);
        // Some send more than a lane takes.
        let Ok(compiled) = trivium_lang::compile("orders.tri", &source, &Default::default()) else { continue };
        let system = System { nodes: 2 + seed as u32 % 2, ops: Some(1), ..System::default() };
        match agrees(&Arc::new(compiled), &system, &source) {
            Some(Verdict::Holds) => held += 1,
            Some(_) => violated += 1,
            None => {}
        }
    }
    assert!(held > 20 && violated > 10, "{held} held, {violated} violated");
}

#[test]
fn shipped_protocols_are_the_same_with_every_order_at_every_loop() {
    let mut held = 0;
    for (number, file) in files().into_iter().enumerate() {
        if !slow::is_asked_for() && number % 5 != 0 {
            continue;
        }
        let protocol = shipped::protocol(&file);
        let system = System { nodes: 3, ops: Some(1), ..System::declared(&protocol) };
        held += u32::from(agrees(&protocol, &system, &file) == Some(Verdict::Holds));
    }
    assert!(held > 3, "{held}");
}

/// More alike nodes than there are orders to try: states grow with their number as a polynomial does, whose value for 12 nodes follows from fewer.
#[test]
fn twelve_nodes_are_alike() {
    let protocol = protocol("send Go to sender; asked = {}", "");
    let states = |nodes: u32| {
        let report = explore(&protocol, &Config { liveness: nodes < 10, ..config(nodes, true) }).unwrap();
        assert_eq!((report.verdict, report.exchanged.nodes), (Verdict::Holds, nodes - 1), "{}", text(&report));
        i64::try_from(report.states).unwrap()
    };
    // Differences of differences are constant in the end: a node that is not the home has a few ways to be.
    let mut rows = vec![(3..12).map(states).collect::<Vec<i64>>()];
    while rows[rows.len() - 1].iter().any(|&difference| difference != 0) {
        let row = rows[rows.len() - 1].windows(2).map(|pair| pair[1] - pair[0]).collect();
        rows.push(row);
    }
    assert!(rows.len() < 10, "{rows:?}");
    let next: i64 = rows.iter().filter_map(|row| row.last()).sum();
    assert_eq!(states(12), next, "{rows:?}");
}
