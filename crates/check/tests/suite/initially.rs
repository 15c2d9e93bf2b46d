//! What records are initially: no search, and no symmetry, makes another first state of it.

use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, explore, orbits, text};
use trivium_protocol::Protocol;

/// Who has the turn keeps it until the home asks for it, for another. `INITIALLY` says who has it at first.
const TURNS: &str = "
protocol turns
promises mutex(acquire, release)
assume alternate(acquire, release), one_thread_per_node
object lock
op acquire(l: lock)
op release(l: lock)
lane main fifo buffered
message Ask, Give, Back, Take on main

role home of lock {
  var waiting: set of node
  var has: node?
  var queue_of: queue of node up to nodes
  HOME
  state Ready {
    on Ask {
      queue_of.push(sender)
      if queue_of.length == 1 { if has == none { let next = queue_of.pop(); has = next; send Give to next } else { send Take to has } }
    }
    on Back {
      has = none
      if queue_of.length > 0 {
        let next = queue_of.pop(); has = next; send Give to next
        if queue_of.length > 0 { send Take to next }
      }
    }
  }
}
role user of lock everywhere {
  var waiter: thread
  var wanted: bool
  INITIALLY
  state Out {
    on acquire { waiter = caller; send Ask to home; goto Asking }
    on Take { }
    on release, Give impossible
  }
  state Asking {
    on Give { return to waiter; goto In }
    on Take { wanted = true }
    on acquire, release impossible
  }
  state In {
    on Take { wanted = true }
    on release { return; if wanted { wanted = false; send Back to home; goto Out } else { goto Kept } }
    on acquire, Give impossible
  }
  state Kept {
    on acquire { goto In; return }
    on Take { send Back to home; goto Out }
    on release, Give impossible
  }
}
";

fn turns(home: &str, user: &str) -> Arc<Protocol> {
    let text = TURNS.replace("HOME", home).replace("INITIALLY", user);
    Arc::new(trivium_lang::compile("turns.tri", &text, &Default::default()).unwrap_or_else(|e| panic!("{e}")))
}

fn explored(protocol: &Arc<Protocol>, symmetry: bool, search: Search, nodes: u32) -> Report {
    let system = System { nodes, ops: Some(2), ..System::default() };
    explore(protocol, &Config { symmetry, search, ..system.into() }).unwrap()
}

/// Where node 1 has the turn at first, as `node(1)` or as what the order of nodes gives, nodes are not alike.
#[test]
fn what_names_a_node_switches_symmetry_off() {
    let homes = ["initially { has = node(1) }", "initially { has = pick(all - {home}) }"];
    let loops = "initially { has = none; for n in all - {home} { if has == none { has = n } } }";
    for home in homes.into_iter().chain([loops]) {
        let protocol = turns(home, "initially { if index(me) == 1 { goto Kept } }");
        let plain = explored(&protocol, false, Search::Fast, 3);
        assert_eq!(plain.verdict, Verdict::Holds, "{}", text(&plain));
        let brute = explored(&protocol, false, Search::Brute, 3);
        assert_eq!(brute.verdict, plain.verdict);
        let with = explored(&protocol, true, Search::Fast, 3);
        let counts = |report: &Report| (report.verdict, report.states, report.transitions);
        assert_eq!(counts(&with), counts(&plain));
    }
}

/// Only what is in `initially` tells the nodes apart here; `index` and `node` are not said.
#[test]
fn what_depends_on_the_order_of_nodes_switches_symmetry_off() {
    let alike = turns("", "");
    let fewer = explored(&alike, true, Search::Fast, 3).states;
    assert!(fewer < explored(&alike, false, Search::Fast, 3).states);
    let loops = "for n in all { if has == none { has = n } }; has = none";
    for unordered in ["waiting = {pick(all)}; waiting = {}", loops] {
        let protocol = turns(&format!("initially {{ {unordered} }}"), "");
        assert!(protocol.asymmetric.is_none());
        let (plain, with) = (explored(&protocol, false, Search::Fast, 3), explored(&protocol, true, Search::Fast, 3));
        assert_eq!((with.verdict, with.states), (plain.verdict, plain.states), "{unordered}");
    }
}

/// Nodes that begin alike are alike: with symmetry there are as many states as there are different ones.
#[test]
fn nodes_that_begin_alike_stay_alike() {
    let protocol = turns("initially { has = home }", "initially { if me == home { goto Kept } }");
    for nodes in [3, 4] {
        let system = System { nodes, ops: Some(1), ..System::default() };
        let config = Config { ..system.into() };
        let with = explore(&protocol, &config).unwrap();
        let (plain, brute) = (
            explore(&protocol, &Config { symmetry: false, ..config.clone() }).unwrap(),
            explore(&protocol, &Config { symmetry: false, search: Search::Brute, ..config.clone() }).unwrap(),
        );
        assert_eq!((with.verdict, plain.verdict, brute.verdict), (Verdict::Holds, Verdict::Holds, Verdict::Holds));
        assert_eq!((plain.states, plain.transitions), (brute.states, brute.transitions));
        assert_eq!(orbits(&protocol, &config).unwrap(), (plain.states, with.states));
        assert!(with.states < plain.states);
    }
}

/// Every node believes that it has the turn: found whatever the search, and by as short a story.
#[test]
fn two_that_begin_with_the_turn_are_found() {
    let protocol = turns("initially { has = home }", "initially { goto Kept }");
    for (symmetry, search) in [(true, Search::Fast), (false, Search::Fast), (false, Search::Brute)] {
        let found = explored(&protocol, symmetry, search, 3);
        assert_eq!(found.property.as_deref(), Some("mutex(acquire, release)"), "{}", text(&found));
        assert_eq!(found.counterexample.len(), 2, "{}", text(&found));
    }
}

/// What `initially` gave a variable is not its first value: cleared, it has that of its declaration.
#[test]
fn clearing_changes_nothing() {
    let protocol = turns("initially { has = home }", "initially { wanted = me == home; if me == home { goto Kept } }");
    let explored = |clearing| {
        let system = System { nodes: 2, objects: 2, ops: Some(2), clearing, ..System::default() };
        explore(&protocol, &Config { ..system.into() }).unwrap()
    };
    let (with, without) = (explored(true), explored(false));
    assert_eq!((with.verdict, &with.property), (without.verdict, &without.property));
    assert!(with.states <= without.states);
}
