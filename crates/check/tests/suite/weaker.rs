//! Promises about loads that are weaker than `last_write`: what each allows is seen under the protocol that promises it,
//! what it forbids is not; and what is found under a broken one no weaker promise finds.

use crate::slow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trivium_check::{Report, Search, System, Verdict, explore, text};
use trivium_lang::Options;
use trivium_protocol::Protocol;

/// A name, nodes, what the threads do, and the outcome that sequential consistency forbids.
const LITMUS: [(&str, u32, &str, &str); 6] = [
    ("mp", 3, "at 1 { write(0, 1); write(1, 1) } at 2 { read(0); a = read(1); b = read(0) }", "a == 1 and b == 0"),
    (
        "sb",
        2,
        "at 0 { read(1); write(0, 1); a = read(1) } at 1 { read(0); write(1, 1); b = read(0) }",
        "a == 0 and b == 0",
    ),
    ("lb", 2, "at 0 { a = read(0); write(1, 1) } at 1 { b = read(1); write(0, 1) }", "a == 1 and b == 1"),
    (
        "corr",
        3,
        "at 0 { write(0, 1) } at 1 { read(0); a = read(0); b = read(0) } at 2 { read(0) }",
        "a == 1 and b == 0",
    ),
    ("corw", 2, "at 0 { write(0, 1) } at 1 { read(0); write(0, 2); a = read(0); b = read(0) }", "a == 1 and b == 2"),
    (
        "iriw",
        4,
        "at 0 { write(0, 1) } at 1 { write(1, 1) } at 2 { read(1); a = read(0); b = read(1) }
         at 3 { read(0); c = read(1); d = read(0) }",
        "a == 1 and b == 0 and c == 1 and d == 0",
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols")
}

/// A protocol of the folder with its values for `check`, and with another text in the place of some.
fn changed(file: &str, changes: &[(&str, &str)], more: &str) -> Arc<Protocol> {
    let load = |name: &str| {
        let mut text = std::fs::read_to_string(name).map_err(|error| error.to_string())?;
        changes.iter().for_each(|(from, to)| text = text.replace(from, to));
        Ok(text)
    };
    let name = folder().join(file).with_file_name("changed.tri").display().to_string();
    let own = Path::new(file).file_name().unwrap().to_string_lossy().into_owned();
    let source = format!("protocol changed\nuse \"{own}\"\n{more}\n");
    let compile = |params| {
        let options = Options { params, load: Some(&load) };
        trivium_lang::compile(&name, &source, &options).unwrap_or_else(|wrong| panic!("{wrong}"))
    };
    Arc::new(compile(compile(Vec::new()).sizes_to_check()))
}

fn checked(protocol: &Arc<Protocol>, nodes: u32, objects: u32, scenario: Option<&str>) -> Report {
    let scenario = scenario.map(String::from);
    // Three accesses or calls of each thread are enough for all that is found here.
    let system = System { nodes, objects, ops: Some(3), scenario, ..System::default() };
    explore(protocol, &system.into()).unwrap_or_else(|error| panic!("{}: {error}", protocol.name))
}

/// Which of the outcomes that sequential consistency forbids are seen under a protocol.
fn seen(file: &str) -> Vec<&'static str> {
    let is_seen = |&(name, nodes, threads, outcome): &(&'static str, u32, &str, &str)| {
        let scenario = format!("scenario {name} {{ {threads} forbid {outcome} }}");
        let report = checked(&changed(file, &[], &scenario), nodes, 1, Some(name));
        match report.verdict {
            Verdict::Holds => None,
            _ => {
                assert_eq!(report.property, Some(format!("scenario {name}")), "{file}\n{}", text(&report));
                Some(name)
            }
        }
    };
    LITMUS.iter().filter_map(is_seen).collect()
}

#[test]
fn each_promise_allows_what_it_should_and_nothing_more() {
    assert_eq!(seen("write-update.tri"), ["mp", "sb", "iriw"]);
    assert_eq!(seen("tso-cc.tri"), ["sb"]);
    assert_eq!(seen("eager-exclusive.tri"), ["mp", "sb"]);
    // Two minutes.
    if slow::is_asked_for() {
        assert_eq!(seen("flash-fenced.tri"), ["mp", "sb"]);
    }
    assert_eq!(seen("msi.tri"), [""; 0]);
}

/// Of each protocol: its promise, and a broken variant with the smallest system in which it is found to be broken.
const PROTOCOLS: [(&str, &str, &str, u32, u32); 3] = [
    ("write-update.tri", "coherent", "write-update-no-turn", 2, 1),
    ("tso-cc.tri", "tso", "tso-cc-home-learns-nothing", 2, 2),
    ("eager-exclusive.tri", "release_consistency(fence)", "eager-exclusive-lent-early", 3, 1),
];

#[test]
fn no_weaker_promise_finds_what_is_broken() {
    for (_, promise, broken, nodes, objects) in PROTOCOLS {
        let file = format!("broken/{broken}.tri");
        let report = checked(&changed(&file, &[], ""), nodes, objects, None);
        assert_eq!(report.property.as_deref(), Some(promise), "{broken}\n{}", text(&report));
        let promises = format!("promises {promise}");
        let weaker = if promise == "coherent" { "" } else { "promises coherent" };
        let report = checked(&changed(&file, &[(&promises, weaker)], ""), nodes, objects, None);
        assert_eq!(report.verdict, Verdict::Holds, "{broken}\n{}", text(&report));
    }
}

#[test]
fn no_stronger_promise_holds() {
    for (file, promise, ..) in PROTOCOLS {
        let promises = format!("promises {promise}");
        for stronger in ["last_write", "sequential"] {
            let protocol = changed(file, &[(&promises, &format!("promises {stronger}"))], "");
            let report = checked(&protocol, 2, 2, None);
            assert_eq!(report.property.as_deref(), Some(stronger), "{file}\n{}", text(&report));
        }
    }
}

/// A copy that is done counts as a store of what its source held: who knows of it does not see what was there before, and sees what is copied.
#[test]
fn under_coherent_a_copy_is_a_store_of_who_knows_of_it() {
    let promises = "promises only coherent, copies(copy, wait)";
    for (file, is_broken) in [
        ("fbcopy.tri", false),
        ("broken/fbcopy-owner-kept.tri", true),
        ("broken/fbcopy-memory-sent.tri", true),
        ("broken/fbcopy-refused-landing-counted.tri", true),
    ] {
        let (nodes, objects, clients, ops) = (2, 2, Some(1), Some(5));
        let system = System { nodes, objects, clients, ops, ..System::default() };
        let report = explore(&changed(file, &[], promises), &system.into()).unwrap();
        assert_eq!(report.property.as_deref(), is_broken.then_some("coherent"), "{file}\n{}", text(&report));
        assert!(!is_broken || text(&report).contains("node 0 reads 0 from block 1"), "{file}\n{}", text(&report));
    }
}

/// What is remembered of a marked store is the same in both searches, and is renamed with the nodes.
#[test]
fn the_reference_search_and_symmetry_agree() {
    for (file, ..) in slow::one_in(2, PROTOCOLS) {
        let protocol = changed(file, &[], "");
        let system = System { nodes: 3, ops: Some(2), ..System::default() };
        let fast = trivium_check::Config { symmetry: false, ..system.unreduced().into() };
        let brute = trivium_check::Config { search: Search::Brute, ..system.clone().into() };
        let (fast, brute) = (explore(&protocol, &fast).unwrap(), explore(&protocol, &brute).unwrap());
        let counts = |report: &Report| (report.verdict, report.states, report.transitions);
        assert_eq!(counts(&fast), counts(&brute), "{file}");
        let (fast, reduced) =
            (fast, explore(&protocol, &trivium_check::Config { symmetry: false, ..system.clone().into() }).unwrap());
        assert_eq!(reduced.verdict, fast.verdict, "{file}");
        let (states, orbits) = trivium_check::orbits(&protocol, &system.clone().into()).unwrap();
        let symmetric = explore(&protocol, &system.into()).unwrap();
        assert_eq!((states, orbits), (reduced.states, symmetric.states), "{file}");
        assert!(orbits < states, "{file}");
    }
}
