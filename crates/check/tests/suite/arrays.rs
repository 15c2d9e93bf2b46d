//! Arrays and lists as values, and their elements: what is left out of the search, or exchanged in it, is seen by nobody.

mod protocol;

pub use protocol::protocol;

use crate::answers::found;
use crate::mutant::config;
use crate::shipped::written;
use crate::slow;
use proptest::prelude::*;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, every_order_at_every_loop, explore, text};
use trivium_protocol::Protocol;

/// States after which an exploration is left.
const MOST: u64 = 15_000;

fn search(nodes: u32) -> Config<'static> {
    let system = System { nodes, objects: 1, ops: Some(if nodes == 2 { 2 } else { 1 }), ..System::default() };
    Config { system, max_states: Some(MOST), ..Config::default() }
}

/// Explores a system with everything that is left out or exchanged, and without. `None` if it is too large.
pub fn agree(protocol: &Arc<Protocol>, nodes: u32) -> Result<Option<Report>, TestCaseError> {
    let explored = |config: &Config| explore(protocol, config).map_err(|error| TestCaseError::reject(error.message));
    let whole = search(nodes);
    let plain = Config {
        system: System { clearing: false, idle_words: false, ..whole.system.clone() },
        symmetry: false,
        ..whole.clone()
    };
    let all = explored(&whole)?;
    let others = [
        Config { symmetry: false, ..whole.clone() },
        Config { system: System { clearing: false, ..whole.system.clone() }, ..whole.clone() },
        Config { system: System { idle_words: false, ..whole.system.clone() }, ..whole.clone() },
        plain.clone(),
        Config { search: Search::Brute, ..plain.clone() },
    ];
    for other in others {
        let other = explored(&other)?;
        if all.states >= MOST || other.states >= MOST {
            return Ok(None);
        }
        prop_assert_eq!(found(&all), found(&other), "{}\nwith less left out: {}", text(&all), text(&other));
        prop_assert!(all.verdict != Verdict::Holds || all.states <= other.states);
    }
    let every = every_order_at_every_loop(protocol, &plain).map_err(|error| TestCaseError::reject(error.message))?;
    if every.states < MOST {
        prop_assert_eq!(found(&all), found(&every), "{}\nevery order at every loop: {}", text(&all), text(&every));
    }
    Ok(Some(all))
}

proptest! {
    #![proptest_config(config(slow::all_or(200, 40)))]

    #[test]
    fn random_protocols_with_arrays_are_the_same_with_all_kept(seed: u64, nodes in 2u32..4) {
        let text = protocol(seed);
        agree(&written(&text), nodes).map_err(|error| match error {
            TestCaseError::Fail(error) => TestCaseError::fail(format!("{error}\n{text}")),
            rejected => rejected,
        })?;
    }
}

#[test]
fn random_protocols_with_arrays_hold_or_fail_and_nodes_are_exchanged() {
    let mut verdicts = [0; 3];
    let mut symmetric = 0;
    for seed in 0..30u64 {
        let nodes = 2 + u32::from(seed % 2 == 1);
        let Ok(Some(report)) = agree(&written(&protocol(seed * 7919)), nodes) else { continue };
        verdicts[report.verdict as usize] += 1;
        symmetric += u32::from(report.symmetry);
    }
    assert!(verdicts[Verdict::Holds as usize] > 2 && verdicts[Verdict::Violated as usize] > 2, "{verdicts:?}");
    assert!(symmetric > 2, "{symmetric}");
}
