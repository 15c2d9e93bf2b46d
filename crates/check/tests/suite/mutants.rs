//! Shipped protocols with random mistakes, as far as they are still protocols: both explorers say the same of them, no
//! engine panics, and whatever is found can be told, drawn and exported.

use crate::mutant::{Slip, config, mutant, protocols, slip};
use crate::slow;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, chart, explore, is_minimal, text};
use trivium_export::murphi;
use trivium_protocol::Protocol;

/// States after which an exploration is left: mistakes show early.
const MOST: u64 = 1500;

fn explored(protocol: &Arc<Protocol>, config: &Config) -> Result<Report, String> {
    explore(protocol, config).map_err(|error| {
        assert!(!error.message.is_empty());
        error.message
    })
}

/// Explores a protocol in several ways.
fn agree(protocol: &Arc<Protocol>, nodes: u32, objects: u32) -> Result<(), TestCaseError> {
    let system = System { nodes, objects, ..System::default() };
    let fast = Config {
        system: system.unreduced(),
        symmetry: false,
        liveness: false,
        max_states: Some(MOST),
        ..Config::default()
    };
    let brute = Config { search: Search::Brute, ..fast.clone() };
    let (fast, brute) = (explored(protocol, &fast), explored(protocol, &brute));
    let (fast, brute) = match (fast, brute) {
        (Ok(fast), Ok(brute)) => (fast, brute),
        (fast, brute) => {
            prop_assert_eq!(fast.err(), brute.err(), "one explorer refuses");
            return Ok(());
        }
    };
    // Where the limit is met in the middle of a step, one of them may still see what the other does not.
    if [fast.verdict, brute.verdict].contains(&Verdict::Incomplete) {
        return Ok(());
    }
    prop_assert_eq!(fast.verdict, brute.verdict, "{}\n{}", text(&fast), text(&brute));
    prop_assert_eq!(&fast.property, &brute.property);
    if fast.verdict == Verdict::Holds {
        prop_assert_eq!((fast.states, fast.transitions), (brute.states, brute.transitions));
    }
    prop_assert_eq!(fast.counterexample.len(), brute.counterexample.len(), "{}\n{}", text(&fast), text(&brute));

    let whole = Config { system: system.clone(), max_states: Some(MOST), ..Config::default() };
    let symmetric = explored(protocol, &whole).expect("the same system has just been explored");
    let again = explored(protocol, &Config { jobs: 2, ..whole }).expect("it has just been explored");
    prop_assert_eq!(told(&symmetric), told(&again), "with two host threads");
    if fast.verdict == Verdict::Holds && symmetric.property.as_deref() != Some("livelock") {
        prop_assert_eq!(symmetric.verdict, Verdict::Holds, "{}", text(&symmetric));
    }
    if fast.verdict == Verdict::Violated {
        prop_assert!(symmetric.verdict == Verdict::Violated, "{}\n{}", text(&fast), text(&symmetric));
        // In the system in which it was found: another one may number calls otherwise.
        prop_assert!(is_minimal(protocol, &system.unreduced(), &fast).unwrap_or(true), "{}", text(&fast));
    }
    retold(protocol, &system, &symmetric)?;
    if let Ok(model) = murphi(protocol, &system, 8) {
        prop_assert!(!model.is_empty());
    }
    Ok(())
}

/// A counterexample can be drawn, written down, read, and goes the same way again.
fn retold(protocol: &Arc<Protocol>, system: &System, report: &Report) -> Result<(), TestCaseError> {
    let Some(story) = chart::story(protocol, system, report).expect("it has just been explored") else { return Ok(()) };
    prop_assert!(chart::svg(&story).ends_with("</svg>\n") && !chart::text(&story, chart::WIDTH).is_empty());
    let recording = chart::Recording::of(protocol, system, report, &story).unwrap().expect("there is a story");
    let written = serde_json::to_string(&recording).unwrap();
    let read: chart::Recording = serde_json::from_str(&written).unwrap();
    let again = chart::replay(protocol, system, &read.events, &read.told).unwrap();
    let mut again = again.map_err(|step| TestCaseError::fail(format!("event {step} cannot happen again")))?;
    prop_assert!(read.compare(&again).is_ok(), "{}", text(report));
    read.conclude(&mut again);
    prop_assert_eq!(chart::svg(&again), chart::svg(&story));
    Ok(())
}

/// All of a report but the time.
fn told(report: &Report) -> String {
    text(&Report { seconds: 0.0, ..report.clone() })
}

proptest! {
    #![proptest_config(config(slow::all_or(400, 150)))]

    #[test]
    fn explorers_agree_about_protocols_with_mistakes(
        which in any::<prop::sample::Index>(),
        slips in prop::collection::vec(slip(), 1..12),
        nodes in 1u32..4,
        objects in 1u32..3,
    ) {
        let all = protocols();
        let (path, source) = which.get(&all);
        if let Some((protocol, text)) = mutant(path, source, &slips) {
            let result = std::panic::catch_unwind(AssertUnwindSafe(|| agree(&protocol, nodes, objects)));
            prop_assert!(result.is_ok(), "a panic with {}", text);
            result.unwrap().map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        }
    }
}

/// The property above would say nothing if most mistakes left no protocol, or all the same.
#[test]
fn many_mistakes_leave_protocols_good_and_bad() {
    let all = protocols();
    let mut found = BTreeMap::new();
    for round in 0..144usize {
        let (path, source) = &all[round % all.len()];
        let slips: Vec<Slip> = (0..6).map(|i| Slip::Exchange((round + i) * 7919, (round + i) * 104_729)).collect();
        let Some((protocol, _)) = mutant(path, source, &slips) else { continue };
        let config = Config { max_states: Some(MOST), ..System { nodes: 2, ..System::default() }.into() };
        if let Ok(report) = explored(&protocol, &config) {
            let property = report.property.filter(|property| !property.contains('(')).unwrap_or_default();
            *found.entry(format!("{} {property}", report.verdict)).or_insert(0) += 1;
        }
    }
    let of = |verdict: &str| found.iter().filter(|(what, _)| what.starts_with(verdict)).map(|(_, n)| n).sum::<u32>();
    assert!(of("holds") > 5 && of("violated") > 10 && of("incomplete") > 5, "{found:?}");
    assert!(found.keys().filter(|what| what.starts_with("violated")).count() > 2, "{found:?}");
}
