//! Objects that nothing tells apart, with their homes: states that differ in their names alone are one.

use crate::answers::found;
use crate::arrays;
use crate::blocks;
use crate::every::files;
use crate::shipped;
use crate::shipped::written;
use crate::slow;
use std::collections::BTreeMap;
use std::sync::Arc;
use trivium_check::{Config, System, Verdict, explore, orbits, text};
use trivium_protocol::Protocol;

/// Compares a protocol with objects exchanged and told apart, and counts the states under all names: the verdict, and whether there are fewer. `None` if it is too large, or objects are told apart in it.
fn agrees(protocol: &Arc<Protocol>, system: &System, what: &str) -> Option<(Verdict, bool)> {
    let most = slow::all_or(60_000, 4_000);
    let config = Config { max_states: Some(most), ..system.clone().into() };
    let with = explore(protocol, &config).ok()?;
    if with.states >= most || with.exchanged.objects == 0 {
        return None;
    }
    let all = Config { max_states: None, ..config };
    let apart = explore(protocol, &Config { home_symmetry: false, ..all.clone() }).unwrap();
    assert_eq!(found(&with), found(&apart), "{what}\n{}\n{}", text(&with), text(&apart));
    let mut fewer = false;
    if with.verdict == Verdict::Holds {
        let plain = explore(protocol, &Config { symmetry: false, ..all.clone() }).unwrap();
        assert_eq!(orbits(protocol, &all).unwrap(), (plain.states, with.states), "{what}, {system:?}");
        assert!(with.states <= apart.states, "{what}, {system:?}");
        fewer = with.states < apart.states;
    }
    Some((with.verdict, fewer))
}

/// How many systems held with fewer states, and how many were violated.
#[derive(Default)]
struct Tally {
    held: u32,
    violated: u32,
}

impl Tally {
    fn add(&mut self, agreed: Option<(Verdict, bool)>) {
        match agreed {
            Some((Verdict::Holds, fewer)) => self.held += u32::from(fewer),
            Some(_) => self.violated += 1,
            None => {}
        }
    }
}

#[test]
fn shipped_protocols_are_the_same_with_objects_exchanged() {
    let mut tally = Tally::default();
    let systems = [(2, 2, None), (1, 3, None), (3, 2, Some(2)), (2, 4, None), (3, 3, None)];
    for (number, file) in files().into_iter().enumerate() {
        let protocol = shipped::protocol(&file);
        for (nodes, objects, clients) in slow::in_turn(systems.len(), number, systems) {
            let ops = Some(if nodes * objects > 4 { 1 } else { 2 });
            let system = System { nodes, objects, clients, ops, ..System::declared(&protocol) };
            tally.add(agrees(&protocol, &system, &file));
        }
    }
    let Tally { held, violated } = tally;
    let enough = slow::all_or(20, 4);
    assert!(held > enough && violated > enough, "{held} held, {violated} violated");
}

#[test]
fn random_protocols_are_the_same_with_objects_exchanged() {
    let mut tally = Tally::default();
    for seed in 0..slow::all_or(3000, 200) {
        let source = if seed % 2 == 0 { blocks::protocol(seed) } else { arrays::protocol(seed) };
        let protocol = written(&source);
        let [nodes, objects] = [[2, 2], [3, 2], [1, 3], [2, 4]][(seed / 2 % 4) as usize];
        let ops = Some(if nodes * objects > 4 { 1 } else { 2 });
        tally.add(agrees(&protocol, &System { nodes, objects, ops, ..System::default() }, &source));
    }
    let Tally { held, violated } = tally;
    assert!(held > 3 && violated > 10, "{held} held, {violated} violated");
}

/// Several kinds of objects, tables of homes, and several threads at a home.
#[test]
fn homes_that_have_the_same_are_exchanged() {
    let protocol = shipped::protocol("msi.tri");
    let homes = |homes: &[u32]| BTreeMap::from([("block".to_string(), homes.to_vec())]);
    let exchanged = |system: &System| explore(&protocol, &system.clone().into()).unwrap().exchanged.objects;
    let system = |nodes, objects, homes| System { nodes, objects, homes, ops: Some(1), ..System::default() };
    for (system, objects) in [
        (system(3, 2, homes(&[0, 1])), 2),
        (system(3, 2, homes(&[2, 0])), 2),
        (system(2, 2, homes(&[1])), 2),
        // The first home has two, which change places.
        (system(3, 3, homes(&[0, 0, 1])), 2),
        (System { clients: Some(1), ..system(2, 2, homes(&[0, 1])) }, 0),
        (System { threads_per_node: 2, ..system(2, 2, homes(&[0, 1])) }, 2),
        (system(2, 1, homes(&[0])), 0),
    ] {
        assert_eq!(exchanged(&system), objects, "{system:?}");
        if objects > 0 {
            agrees(&protocol, &system, "msi");
        }
    }
}

/// A lock whose requests say something: the present object, or a number.
const TELLING: &str = "protocol telling
lane main fifo buffered
message Ask(what: WHAT), Here on main
object lock
op get(l: lock)
role holder of lock {
  var seen: 0..1
  state Idle { on get { send Ask(VALUE) to home; await Here { return; goto Idle } } on Here impossible }
}
role home of lock { state Only { on Ask { send Here to sender } } }
";

#[test]
fn what_tells_objects_apart_is_noticed() {
    let objects = |protocol: &Arc<Protocol>| {
        explore(protocol, &System { nodes: 2, objects: 2, ops: Some(1), ..System::default() }.into())
            .unwrap()
            .exchanged
            .objects
    };
    let telling = |what, value| written(&TELLING.replace("WHAT", what).replace("VALUE", value));
    assert_eq!(objects(&telling("0..1", "seen")), 2);
    assert_eq!(objects(&telling("lock", "object")), 0, "a message says which object is meant");
    let asymmetric = "protocol numbered
object lock
op get(l: lock)
role home of lock { state Only { on get { if index(me) == 0 { return } else { return } } } }
role other of lock { state Only { on get { return } } }
";
    assert_eq!(objects(&written(asymmetric)), 0, "the home tells its number");
}

/// An owner that the home does not note, under a promise for which a store or an exchange that waits names the thread that observes it.
const OBSERVED: &str = "protocol tso-rmw
promises tso
lane main fifo buffered
message GetRead, GetWrite, Recall on main
message Shared, Owned, Back on main with block
role cache of block {
  otherwise impossible
  state Invalid {
    on read  { send GetRead  to home; await Shared { install; goto Clean; resume } }
    on write { send GetWrite to home; await Owned  { install; goto Dirty; resume } }
    on rmw { send GetWrite to home; await Owned  { install; goto Dirty; resume } }
  }
  state Clean: read {
    on write { send GetWrite to home; await Owned { install; goto Dirty; resume } }
    on rmw { send GetWrite to home; await Owned { install; goto Dirty; resume } }
    on after 100 { goto Invalid }
  }
  state Dirty: write { on Recall { send Back to home; goto Invalid } }
}
role home of block defers up to nodes {
  var owner: node
  otherwise impossible
  action lend(n: node) { owner = n; send Owned to n; goto Idle }
  state Idle: write {
    on GetRead  { send Shared to sender }
    on GetWrite { lend(sender) }
  }
  state Lent {
    on GetRead { send Recall to owner; await Back { install; send Shared to sender; goto Idle } otherwise defer }
    on GetWrite    { send Recall to owner; await Back { install; lend(sender) } otherwise defer }
    on read, write { send Recall to owner; await Back { install; goto Idle; resume } otherwise defer }
    on rmw { send Recall to owner; await Back { install; goto Idle; resume } otherwise defer }
  }
}
";

#[test]
fn an_exchange_that_names_its_observer_is_renamed() {
    let protocol = written(OBSERVED);
    let homes = BTreeMap::from([("block".to_string(), vec![0])]);
    for (system, home_symmetry) in [
        (System { nodes: 2, objects: 2, ops: Some(2), ..System::default() }, true),
        // Nodes alone change their names.
        (System { nodes: 3, objects: 2, homes, ops: Some(2), ..System::default() }, false),
    ] {
        let config = Config { home_symmetry, liveness: false, ..Config::from(system) };
        let with = explore(&protocol, &config).unwrap();
        assert!(with.exchanged.objects > 0 || with.exchanged.nodes > 0);
        let apart = explore(&protocol, &Config { symmetry: false, ..config }).unwrap();
        assert_eq!(found(&with), found(&apart), "{}\n{}", text(&with), text(&apart));
        assert_eq!(with.property.as_deref(), Some("tso"));
    }
}

#[test]
fn lists_and_arrays_of_objects_name_them() {
    for what in ["list of lock up to 1", "[0..1] of lock"] {
        let source = format!(
            "protocol named\nlane main fifo buffered\nmessage Ask(z: {what}) on main\nobject lock\nop get(l: lock)\n\
             role home of lock {{ state Only {{ on get {{ return }} on Ask {{ }} }} }}\n\
             role other of lock {{ state Only {{ on get {{ return }} }} }}\n"
        );
        let system = System { nodes: 2, objects: 2, ops: Some(1), ..System::default() };
        assert_eq!(explore(&written(&source), &system.into()).unwrap().exchanged.objects, 0, "{what}");
    }
}
