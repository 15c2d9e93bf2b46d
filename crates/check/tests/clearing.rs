//! What clearing takes away is read by nobody: every verdict is the same without it, and what is left of the states
//! when each is cleared afterwards are the states that a search finds which clears at once.

mod calls;
#[path = "../../lang/tests/mutant/mod.rs"]
mod mutant;

use mutant::config;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, explore, leftovers, text};
use trivium_lang::protocol::Protocol;

/// States after which an exploration is left.
const MOST: u64 = 6000;

fn compiled(text: &str) -> Arc<Protocol> {
    let compiled = trivium_lang::compile("calls.tri", text, &Default::default());
    Arc::new(compiled.unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn searched(nodes: u32, objects: u32, clearing: bool) -> Config<'static> {
    let system = System { nodes, objects, clearing, ops: Some(2), ..System::default() };
    Config { system, symmetry: false, liveness: false, max_states: Some(MOST), ..Config::default() }
}

/// What must be the same in every search.
fn found(report: &Report) -> (Verdict, Option<String>, usize) {
    (report.verdict, report.property.clone(), report.counterexample.len())
}

/// Explores a protocol with and without clearing, and otherwise in other ways. `None`: it is too large.
fn agree(protocol: &Arc<Protocol>, nodes: u32, objects: u32) -> Result<Option<(Report, Report)>, TestCaseError> {
    let explored = |config: &Config| explore(protocol, config).map_err(|error| TestCaseError::fail(error.message));
    let (clearing, keeping) = (searched(nodes, objects, true), searched(nodes, objects, false));
    let (cleared, kept) = (explored(&clearing)?, explored(&keeping)?);
    prop_assert!(cleared.clearing && !kept.clearing);
    if [cleared.verdict, kept.verdict].contains(&Verdict::Incomplete) {
        return Ok(None);
    }
    prop_assert_eq!(found(&cleared), found(&kept), "{}\nwithout clearing: {}", text(&cleared), text(&kept));
    let brute = explored(&Config { search: Search::Brute, ..clearing.clone() })?;
    prop_assert_eq!(found(&cleared), found(&brute), "{}\nby brute force: {}", text(&cleared), text(&brute));
    let symmetric = explored(&Config { symmetry: true, ..clearing.clone() })?;
    prop_assert_eq!(cleared.verdict, symmetric.verdict, "{}\nby symmetry: {}", text(&cleared), text(&symmetric));
    if cleared.verdict == Verdict::Holds {
        prop_assert_eq!((cleared.states, cleared.transitions), (brute.states, brute.transitions));
        prop_assert!(symmetric.states <= cleared.states);
        let counted = leftovers(protocol, &clearing).map_err(|error| TestCaseError::fail(error.message))?;
        prop_assert_eq!(counted, Some((kept.states, cleared.states)), "states without clearing, and with");
    }
    Ok(Some((cleared, kept)))
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn nothing_that_is_cleared_is_read_again(seed: u64, nodes in 1u32..3, objects in 1u32..3) {
        let text = calls::protocol(seed);
        let protocol = compiled(&text);
        agree(&protocol, nodes, objects).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    }
}

/// The property above would say nothing if most of these protocols were too large, or cleared nothing.
#[test]
fn many_protocols_that_call_each_other_are_explored() {
    let mut found = BTreeMap::new();
    let mut note = |what: &str| *found.entry(what.to_string()).or_insert(0) += 1;
    for seed in 0..60 {
        let protocol = compiled(&calls::protocol(seed * 7919));
        match agree(&protocol, 2, 1).unwrap_or_else(|error| panic!("{error}")) {
            None => note("too large"),
            Some((cleared, kept)) => {
                note(&cleared.verdict.to_string());
                if cleared.states < kept.states {
                    note("fewer states");
                }
            }
        }
    }
    assert!(
        ["holds", "violated", "fewer states"].iter().all(|what| found.get(*what).is_some_and(|&n| n > 8)),
        "{found:?}"
    );
}

/// All protocols of the repository, in small systems.
#[test]
fn shipped_protocols_are_the_same_without_clearing() {
    let mut complete = 0;
    for (path, text) in mutant::protocols() {
        let protocol = mutant::small(&path, &text).unwrap_or_else(|| panic!("{}", path.display()));
        let explored = agree(&protocol, 2, 1).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        complete += usize::from(explored.is_some());
    }
    assert!(complete > 12, "{complete} were explored");
}
