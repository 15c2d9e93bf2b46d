//! Small programs that tell sequential consistency from anything weaker, under every protocol that promises it. Each
//! block's home is another node, so that each program is also run with its blocks at home and away.

use crate::slow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trivium_check::{Config, System, Verdict, explore, text};
use trivium_lang::Options;
use trivium_protocol::{Promise, Protocol};

/// Nodes that a program needs, and the program. An outcome that sequential consistency forbids is forbidden in each.
const PROGRAMS: [(u32, &str); 7] = [
    // A message and its flag.
    (2, "scenario mp { at 0 { write(0, 1); write(1, 1) } at 1 { a = read(1); b = read(0) } forbid a == 1 and b == 0 }"),
    // Dekker: each asks whether the other has come.
    (2, "scenario sb { at 0 { write(0, 1); a = read(1) } at 1 { write(1, 1); b = read(0) } forbid a == 0 and b == 0 }"),
    // Nobody reads what is stored later.
    (2, "scenario lb { at 0 { a = read(0); write(1, 1) } at 1 { b = read(1); write(0, 1) } forbid a == 1 and b == 1 }"),
    // Two readers see the stores to one block in one order.
    (
        3,
        "scenario coherence { at 0 { write(0, 1) } at 1 { a = read(0); b = read(0) } at 2 { c = read(0); d = read(0) }
         forbid a == 1 and b == 0 or c == 1 and d == 0 }",
    ),
    // Two readers see independent stores in one order.
    (
        4,
        "scenario iriw { at 0 { write(0, 1) } at 1 { write(1, 1) } at 2 { a = read(0); b = read(1) }
         at 3 { c = read(1); d = read(0) } forbid a == 1 and b == 0 and c == 1 and d == 0 }",
    ),
    // Who waits for the flag sees the message.
    (2, "scenario spin { at 0 { write(0, 1); write(1, 1) } at 1 { until read(1) == 1; a = read(0) } forbid a == 0 }"),
    // Only one of two that have set a flag goes in without having seen the other's.
    (
        2,
        "scenario flags { at 0 { read(1); write(0, 1); if read(1) == 0 { a = 1 } }
         at 1 { read(0); write(1, 1); if read(0) == 0 { b = 1 } } forbid a == 1 and b == 1 }",
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols")
}

/// The shipped protocols that promise sequential consistency.
fn sequential() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.filter(|name| name.ends_with(".tri")).collect();
    files.sort();
    files.retain(|name| {
        let protocol = trivium_lang::compile_file(&folder().join(name), &[]).unwrap_or_else(|e| panic!("{e}"));
        protocol.promises.contains(&Promise::Sequential)
    });
    files
}

/// A protocol with a scenario more.
fn with(file: &str, scenario: &str) -> Arc<Protocol> {
    let load = |name: &str| std::fs::read_to_string(name).map_err(|e| e.to_string());
    let options = Options { params: Vec::new(), load: Some(&load) };
    let source = format!("protocol litmus\nuse \"{file}\"\n{scenario}\n");
    let name = folder().join("litmus.tri");
    Arc::new(trivium_lang::compile(&name.display().to_string(), &source, &options).unwrap_or_else(|d| panic!("{d}")))
}

fn name(scenario: &str) -> &str {
    scenario.split_whitespace().nth(1).unwrap()
}

#[test]
fn no_program_sees_what_sequential_consistency_forbids() {
    let files = sequential();
    assert!(files.len() >= 4, "{files:?}");
    // Each file and each program is among those of the part, not each pair: each next file has the next program. Of those that have many states,
    // only the first are looked at.
    let in_turn = |(turn, file)| slow::in_turn(PROGRAMS.len(), turn + 5, PROGRAMS).map(move |program| (file, program));
    let (mut tried, mut held) = (0, 0);
    for (file, (nodes, scenario)) in files.iter().enumerate().flat_map(in_turn) {
        let protocol = with(file, scenario);
        for more in 0..slow::all_or(2, 1) {
            let system = System { nodes: nodes + more, scenario: Some(name(scenario).into()), ..System::default() };
            let config = Config { max_states: slow::all_or(None, Some(30_000)), ..system.into() };
            let report = explore(&protocol, &config).unwrap_or_else(|e| panic!("{file} {scenario}: {e}"));
            assert_ne!(report.verdict, Verdict::Violated, "{file} {scenario}\n{}", text(&report));
            tried += 1;
            held += u32::from(report.verdict == Verdict::Holds);
        }
    }
    assert!(held >= slow::all_or(tried, tried / 2), "{held} of {tried} were gone through");
}

#[test]
fn what_sequential_consistency_allows_is_seen() {
    let swaps = [("forbid a == 1 and b == 0", "forbid a == 0 and b == 1"), ("a == 0 and b == 0", "a == 1 and b == 1")];
    for ((nodes, scenario), (forbidden, allowed)) in PROGRAMS.into_iter().zip(swaps) {
        let scenario = scenario.replace(forbidden, allowed);
        let system = System { nodes, scenario: Some(name(&scenario).into()), ..System::default() };
        let report = explore(&with("stache.tri", &scenario), &system.into()).unwrap();
        let property = report.property.as_deref().unwrap_or_default();
        assert_eq!(property, format!("scenario {}", name(&scenario)), "{}", text(&report));
    }
}
