//! What clearing takes away is read by nobody: every verdict is the same without it, and what is left of the states
//! when each is cleared afterwards are the states that a search finds which clears at once.

use crate::calls;
use crate::mutant::{self, config};
use crate::shipped::written;
use crate::slow;
use crate::wrong_lists;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, explore, leftovers, text};
use trivium_protocol::Protocol;

/// States after which an exploration is left.
const MOST: u64 = 8000;

fn searched((nodes, objects, ops): (u32, u32, u32), clearing: bool) -> Config<'static> {
    let system = System { nodes, objects, clearing, ops: Some(ops), ..System::default() };
    Config { system, symmetry: false, liveness: false, max_states: Some(MOST), ..Config::default() }
}

/// Systems, with the accesses and calls of a thread: to write, to be put into another state and to read there takes at least three.
const SYSTEMS: [(u32, u32, u32); 4] = [(1, 1, 5), (1, 1, 4), (1, 2, 4), (2, 1, 2)];

/// What must be the same in every search.
fn found(report: &Report) -> (Verdict, Option<String>, usize) {
    (report.verdict, report.property.clone(), report.counterexample.len())
}

/// Explores a protocol with and without clearing, and otherwise in other ways. `None`: it is too large.
fn agree(protocol: &Arc<Protocol>, system: (u32, u32, u32)) -> Result<Option<(Report, Report)>, TestCaseError> {
    let explored = |config: &Config| explore(protocol, config).map_err(|error| TestCaseError::fail(error.message));
    let (clearing, keeping) = (searched(system, true), searched(system, false));
    let (cleared, kept) = (explored(&clearing)?, explored(&keeping)?);
    prop_assert!(cleared.clearing && !kept.clearing);
    if [cleared.verdict, kept.verdict].contains(&Verdict::Incomplete) {
        return Ok(None);
    }
    prop_assert_eq!(found(&cleared), found(&kept), "{}\nwithout clearing: {}", text(&cleared), text(&kept));
    let brute = explored(&Config { search: Search::Brute, ..clearing.clone() })?;
    // What stops at a fault may have seen less by then.
    if brute.verdict == Verdict::Incomplete {
        return Ok(None);
    }
    prop_assert_eq!(found(&cleared), found(&brute), "{}\nby brute force: {}", text(&cleared), text(&brute));
    let symmetric = explored(&Config { symmetry: true, ..clearing.clone() })?;
    prop_assert_eq!(cleared.verdict, symmetric.verdict, "{}\nby symmetry: {}", text(&cleared), text(&symmetric));
    if cleared.verdict == Verdict::Holds {
        prop_assert!(kept.states <= brute.states, "brute force leaves out nothing");
        prop_assert!(symmetric.states <= cleared.states);
        let counted = leftovers(protocol, &clearing).map_err(|error| TestCaseError::fail(error.message))?;
        prop_assert_eq!(counted, Some((kept.states, cleared.states)), "states without clearing, and with");
    }
    Ok(Some((cleared, kept)))
}

proptest! {
    #![proptest_config(config(slow::all_or(200, 100)))]

    #[test]
    fn nothing_that_is_cleared_is_read_again(seed: u64, system in prop::sample::select(&SYSTEMS[..])) {
        let text = calls::protocol(seed);
        let protocol = written(&text);
        agree(&protocol, system).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    }
}

/// The property above would say nothing if most of these protocols were too large, or cleared nothing.
#[test]
fn many_protocols_that_call_each_other_are_explored() {
    let mut found = BTreeMap::new();
    let mut note = |what: &str| *found.entry(what.to_string()).or_insert(0) += 1;
    for seed in 0..100 {
        let protocol = written(&calls::protocol(seed * 7919));
        match agree(&protocol, (2, 1, 2)).unwrap_or_else(|error| panic!("{error}")) {
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
        ["holds", "violated", "fewer states"].iter().all(|what| found.get(*what).is_some_and(|&n| n > 3)),
        "{found:?}"
    );
}

/// Nobody but the claim reads the variable.
const CLAIMED: &str = "protocol kept
object box
op put(b: box)
role home of box {
  var full: bool
  state Idle { on put { full = true; goto Kept; return } }
  state Kept { on put { return } }
}
invariant never of box: not home.full
";

/// Lists of what is dead that a mistake in the analysis would make: each is noticed in several of so many protocols. This
/// needs what a random protocol seldom has by itself: handlers that run at all, a variable that is written in one event and
/// read in a later one, a state between them to which only others lead, and a reading that makes another state.
#[test]
fn wrong_lists_of_what_is_dead_are_noticed() {
    let mut told = Vec::new();
    for (name, mistake) in wrong_lists::MISTAKES {
        let notices = |&(number, system): &(usize, (u32, u32, u32))| {
            let protocol = written(&calls::protocol(number as u64 * 7919));
            wrong_lists::mistaken(&protocol, mistake).is_some_and(|wrong| agree(&wrong, system).is_err())
        };
        let systems = SYSTEMS.iter().copied().cycle().enumerate().take(slow::all_or(120, 40));
        told.push((name, systems.filter(notices).count()));
    }
    println!("noticed: {told:?}");
    assert!(told.iter().all(|&(_, noticed)| noticed > slow::all_or(3, 0)), "{told:?}");
    // What only a claim reads is seldom dead in a random protocol, and more seldom missed.
    let wrong = wrong_lists::mistaken(&written(CLAIMED), wrong_lists::CLAIMS_FORGOTTEN.1).expect("a claim reads it");
    assert!(agree(&wrong, (1, 1, 4)).is_err(), "{}", wrong_lists::CLAIMS_FORGOTTEN.0);
}

/// All protocols of the repository, in small systems.
#[test]
fn shipped_protocols_are_the_same_without_clearing() {
    let mut complete = 0;
    for (path, text) in slow::one_in(3, mutant::protocols()) {
        let protocol = mutant::small(&path, &text).unwrap_or_else(|| panic!("{}", path.display()));
        let explored = agree(&protocol, (2, 1, 2)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        complete += usize::from(explored.is_some());
    }
    assert!(complete > slow::all_or(12, 4), "{complete} were explored");
}
