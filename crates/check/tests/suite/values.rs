//! Values that nothing tells apart: states that differ in their names alone are one, and the verdict is for any number of them.

use crate::answers::found;
use crate::blocks;
use crate::every::files;
use crate::shipped;
use crate::shipped::written;
use crate::slow;
use std::sync::Arc;
use trivium_check::{Config, Report, System, Verdict, explore, orbits, text};
use trivium_protocol::Protocol;

/// Compares a protocol with values exchanged and told apart, alone and together with nodes. `None` if it is too large, or values are told apart in it.
fn agrees(protocol: &Arc<Protocol>, system: &System, what: &str) -> Option<(Report, Report)> {
    let most = slow::all_or(100_000, 15_000);
    let config = Config { max_states: Some(most), ..system.clone().into() };
    let with = explore(protocol, &config).ok()?;
    // A search that a limit ends tells of starvation that it has seen, where a fault lies deeper.
    if with.states >= most || !with.exchanged.values {
        return None;
    }
    let apart = explore(protocol, &Config { value_symmetry: false, max_states: None, ..config.clone() }).unwrap();
    assert_eq!(found(&with), found(&apart), "{what}\n{}\n{}", text(&with), text(&apart));
    if with.verdict == Verdict::Holds {
        let plain = explore(protocol, &Config { symmetry: false, max_states: None, ..config.clone() }).unwrap();
        assert_eq!(
            orbits(protocol, &Config { max_states: None, ..config.clone() }).unwrap(),
            (plain.states, with.states),
            "{what}"
        );
        assert!(with.states < apart.states, "{what}");
    }
    Some((with, apart))
}

#[test]
fn shipped_protocols_are_the_same_with_values_exchanged() {
    let (mut held, mut violated, mut of_three) = (0, 0, 0);
    for (number, file) in files().into_iter().enumerate() {
        let protocol = shipped::protocol(&file);
        let systems = [(2, 1, 2), (2, 2, 2), (2, 1, 3), (3, 1, 2)];
        let one = number % systems.len();
        for &(nodes, objects, values) in slow::all_or(&systems[..], &systems[one..=one]) {
            let system = System { nodes, objects, values, ops: Some(2), ..System::declared(&protocol) };
            let Some((with, apart)) = agrees(&protocol, &system, &file) else { continue };
            match with.verdict {
                Verdict::Holds => held += 1,
                _ => violated += 1,
            }
            if values == 3 && with.verdict == Verdict::Holds {
                of_three += u32::from(apart.states > 2 * with.states);
            }
        }
    }
    let all = slow::all_or([10, 10, 2], [4, 4, 0]);
    assert!(held > all[0] && violated > all[1] && of_three > all[2], "{held} held, {violated} violated, {of_three}");
}

/// What two values show, three and four show.
#[test]
fn two_values_stand_for_any() {
    let mut violated = 0;
    for file in slow::one_in(2, files()) {
        let protocol = shipped::protocol(&file);
        let with = |values| {
            let system = System { nodes: 2, values, ops: Some(2), ..System::declared(&protocol) };
            explore(&protocol, &Config { max_states: Some(15_000), ..system.into() })
        };
        let Ok(two) = with(2) else { continue };
        if two.verdict == Verdict::Incomplete || !two.exchanged.any_values {
            continue;
        }
        for values in [3, 4] {
            let more = with(values).unwrap();
            if more.verdict != Verdict::Incomplete {
                assert_eq!(found(&more), found(&two), "{file}, {values} values\n{}\n{}", text(&two), text(&more));
                violated += u32::from(more.verdict == Verdict::Violated);
            }
        }
    }
    assert!(violated > slow::all_or(10, 4), "{violated}");
}

#[test]
fn random_protocols_are_the_same_with_values_exchanged() {
    let (mut held, mut violated) = (0, 0);
    for seed in 0..slow::all_or(3000, 300) {
        let source = blocks::protocol(seed);
        let protocol = written(&source);
        let system =
            System { nodes: 2 + seed as u32 % 2, ops: Some(2), values: 2 + (seed / 2) as u32 % 2, ..System::default() };
        match agrees(&protocol, &system, &source) {
            Some((with, _)) if with.verdict == Verdict::Holds => held += 1,
            Some(_) => violated += 1,
            None => {}
        }
    }
    assert!(held > 3 && violated > 10, "{held} held, {violated} violated");
}

const FEW: &str = r#"// many different messages on a duplicating lane
protocol dup
lane main unordered duplicating lossy
message Data on main with block
op ask(b: block)
role cache of block {
  state Here { on ask { return } on Data { } on read, write impossible }
}
role home of block { state Here: write { on ask { for n in all - {me} { send Data to n }; return } } }
assume read when me == home
assume home_writes
assume write when me == home
invariant few of block: not any n: flight(Data to n) > 2
"#;

/// A protocol that moves blocks, with something that tells values apart in each place where that can be said.
#[test]
fn what_tells_values_apart_is_noticed() {
    let msi = std::fs::read_to_string(format!("{}/../../protocols/msi.tri", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let protocol = written(&msi);
    let system = System { nodes: 2, ops: Some(2), ..System::declared(&protocol) };
    let report = |source: &str| explore(&written(source), &Config { ..system.clone().into() }).unwrap();
    let plain = report(&msi);
    assert!(plain.exchanged.values && plain.exchanged.any_values, "{}", text(&plain));
    for claim in [
        "invariant small of block: contents at home != 1",
        "invariant sum of block: contents at home + memory at home != 2",
        "ghost g of block { var last: word; on write(n, v) { last = v } }\ninvariant zero of block: g.last != 1",
        "ghost g of block { var last: word; on read(n, v) { last = v } }\ninvariant zero of block: g.last != 1",
    ] {
        let told = report(&format!("{msi}\n{claim}\n"));
        assert!(!told.exchanged.values, "{claim}\n{}", text(&told));
        assert_eq!(told.verdict, Verdict::Violated, "{claim}");
        let same =
            explore(&written(&format!("{msi}\n{claim}\n")), &Config { symmetry: false, ..system.clone().into() })
                .unwrap();
        assert_eq!(found(&told), found(&same), "{claim}");
    }
    // Equal messages on a duplicating lane are one: how many there are tells how many values there are.
    let few = |values| explore(&written(FEW), &System { nodes: 2, values, ..System::default() }.into()).unwrap();
    assert!(few(2).exchanged.values && !few(2).exchanged.any_values, "{}", text(&few(2)));
    assert_eq!((few(2).verdict, few(3).verdict), (Verdict::Holds, Verdict::Violated));
    // Contents that are compared with contents tell nothing apart, and may need more values than two.
    let same = report(&format!("{msi}\ninvariant same of block: contents at home == contents at home\n"));
    assert!(same.exchanged.values && !same.exchanged.any_values, "{}", text(&same));
}
