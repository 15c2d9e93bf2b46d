//! Random walks and searches that are bounded in depth: what they cover, and that they never say more.

use std::path::Path;
use std::sync::Arc;
use trivium_check::{Config, Method, Verdict, explore, is_minimal, text};
use trivium_protocol::Protocol;

fn protocol(file: &str) -> Arc<Protocol> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(file);
    Arc::new(trivium_lang::compile_file(&path, &[]).unwrap_or_else(|e| panic!("{e}")))
}

fn walks(count: u64, depth: u32) -> Method<'static> {
    Method::Walks { count, depth }
}

#[test]
fn walks_find_real_violations_and_never_say_that_a_protocol_holds() {
    let msi = protocol("msi.tri");
    let whole = explore(&msi, &Config::default()).unwrap();
    let with = |count, seed, jobs| {
        explore(&msi, &Config { method: walks(count, 60), seed, jobs, ..Config::default() }).unwrap()
    };
    let report = with(500, 1, 1);
    assert_eq!((report.verdict, report.checked.as_slice()), (Verdict::Incomplete, &["safety", "deadlock"][..]));
    assert!(report.reason.as_ref().unwrap().starts_with("500 random walks of at most 60 events found no violation"));
    assert!(report.states > whole.states / 2 && report.states <= whole.states, "{} {}", report.states, whole.states);
    assert!(report.clauses.reached > whole.clauses.reached / 2 && report.depth == 60);
    let counts = |report: &trivium_check::Report| (report.states, report.transitions, report.coverage.clone());
    assert_eq!(counts(&with(500, 1, 3)), counts(&report), "host threads change nothing");
    assert_ne!(counts(&with(500, 2, 1)), counts(&report), "the seed chooses the walks");
    assert!(with(20, 1, 1).states < report.states);
    for (file, property) in [("msi-forgotten-ack", "deadlock"), ("stache-lost-upgrade", "last_write")] {
        let broken = protocol(&format!("broken/{file}.tri"));
        let config = Config { method: walks(20_000, 40), ..Config::default() };
        let report = explore(&broken, &config).unwrap();
        assert_eq!(report.property.as_deref(), Some(property), "{file}: {}", text(&report));
        assert!(is_minimal(&broken, &config.system, &report).unwrap(), "{file}");
    }
}

#[test]
fn a_bound_of_depth_ends_a_search_and_is_said() {
    let msi = protocol("msi.tri");
    let whole = explore(&msi, &Config::default()).unwrap();
    let mut before = 0;
    for depth in [1, 4, 9, whole.depth] {
        for method in [Method::Exact, Method::Compact { bits: 64 }] {
            let report = explore(&msi, &Config { max_depth: Some(depth), method, ..Config::default() }).unwrap();
            let reason = report.reason.clone().unwrap_or_default();
            assert!(report.verdict == Verdict::Incomplete && report.depth == depth, "{depth} {}", text(&report));
            assert!(reason.starts_with(&format!("the limit of {depth} events is reached")), "{reason}");
            assert!(report.states >= before && report.states <= whole.states);
            before = report.states;
        }
    }
    let deep = explore(&msi, &Config { max_depth: Some(whole.depth + 1), ..Config::default() }).unwrap();
    assert_eq!((deep.verdict, deep.states), (Verdict::Holds, whole.states));
    // What lies within the bound is found.
    let broken = protocol("broken/stache-lost-upgrade.tri");
    let found = explore(&broken, &Config::default()).unwrap();
    let length = found.counterexample.len() as u32;
    let bounded = |depth| explore(&broken, &Config { max_depth: Some(depth), ..Config::default() }).unwrap().verdict;
    assert_eq!((bounded(length - 2), bounded(length)), (Verdict::Incomplete, Verdict::Violated));
}
