//! Searches that keep a few bits of a state: as many states as there are where there is room, real violations, and never more
//! said than is known.

use crate::shipped::protocol;
use crate::slow;
use trivium_check::{Config, Method, Report, System, Verdict, explore, is_minimal, text};

const BITS: Method = Method::Bits { bytes: 1 << 24, hashes: 4 };
const COMPACT: Method = Method::Compact { bits: 64 };

/// What a search counts, and what it shows.
fn found(report: &Report) -> (u64, u64, u32, Option<String>, String, String) {
    let steps = format!("{:?}", report.counterexample);
    let reason = report.property.as_ref().and(report.reason.clone());
    (report.states, report.transitions, report.depth, report.property.clone(), reason.unwrap_or_default(), steps)
}

#[test]
fn with_room_they_find_what_the_exact_search_finds() {
    let (mut held, mut violated) = (0, 0);
    let files = [
        "msi",
        "stache",
        "german",
        "token-lock",
        "pool",
        "token-ring",
        "broken/msi-forgotten-ack",
        "broken/early-reply",
    ];
    for file in
        files.into_iter().chain(["broken/stache-lost-upgrade", "broken/eager-stale-upgrade", "broken/pool-uncounted"])
    {
        let protocol = protocol(&format!("{file}.tri"));
        for &symmetry in slow::all_or(&[false, true][..], &[true]) {
            let system = System { ops: Some(3), ..System::default() };
            let config = Config { system, symmetry, liveness: false, ..Config::default() };
            let exact = explore(&protocol, &config).unwrap();
            for (method, jobs) in [(COMPACT, 1), (BITS, 1), (COMPACT, 3), (BITS, 2)] {
                let report = explore(&protocol, &Config { method, jobs, ..config.clone() }).unwrap();
                assert_eq!(found(&report), found(&exact), "{file} {method:?}");
                assert_eq!((report.checked.as_slice(), report.liveness), (&["safety", "deadlock"][..], false));
                if exact.verdict == Verdict::Violated {
                    violated += 1;
                    assert!(report.verdict == Verdict::Violated && report.omission.is_none());
                    assert!(is_minimal(&protocol, &config.system, &report).unwrap(), "{file}");
                } else {
                    held += 1;
                    assert_eq!(report.verdict, Verdict::Incomplete, "it never says that it holds");
                    assert_eq!((&report.coverage, &report.clauses), (&exact.coverage, &exact.clauses), "{file}");
                    let omission = report.omission.as_ref().unwrap();
                    assert!(omission.probability > 0.0 && omission.probability < 1e-3, "{omission:?}");
                    assert!(text(&report).contains("no violation was found, but states may have been left out: "));
                }
            }
        }
    }
    assert!(held > slow::all_or(20, 10) && violated > slow::all_or(20, 10), "{held} held, {violated} were violated");
}

/// With too few bits states are left out, which the verdict says; other ones under another seed; and what is found is real.
#[test]
fn with_too_few_bits_states_are_left_out_and_it_is_said() {
    let stache = protocol("stache.tri");
    let system = System { late_values: false, dead_copies: false, ..System::default() };
    let config = Config { system, symmetry: false, liveness: true, ..Config::default() };
    let exact = explore(&stache, &Config { liveness: false, ..config.clone() }).unwrap();
    for method in [Method::Compact { bits: 18 }, Method::Bits { bytes: 1 << 15, hashes: 2 }] {
        let reports: Vec<Report> =
            (1..4).map(|seed| explore(&stache, &Config { method, seed, ..config.clone() }).unwrap()).collect();
        for report in &reports {
            assert!(report.states < exact.states && report.verdict == Verdict::Incomplete, "{}", text(report));
            let omission = report.omission.as_ref().unwrap();
            assert!(omission.probability > 0.999 && omission.expected > 100.0, "{omission:?}");
            assert!(
                report.reason.as_ref().unwrap().ends_with("; starvation was not looked for"),
                "{:?}",
                report.reason
            );
        }
        assert!(reports[0].states != reports[1].states || reports[1].states != reports[2].states);
    }
    let broken = protocol("broken/stache-lost-upgrade.tri");
    for seed in 0..6 {
        let method = Method::Bits { bytes: 1 << 7, hashes: 1 };
        let report = explore(&broken, &Config { method, seed, ..Config::default() }).unwrap();
        if report.verdict == Verdict::Violated {
            assert!(is_minimal(&broken, &System::default(), &report).unwrap(), "{}", text(&report));
        }
    }
}

#[test]
fn limits_end_them_with_what_is_known() {
    let stache = protocol("stache.tri");
    for method in [COMPACT, BITS] {
        let config = Config { method, symmetry: false, max_states: Some(500), ..Config::default() };
        let report = explore(&stache, &config).unwrap();
        assert_eq!((report.verdict, report.states), (Verdict::Incomplete, 500));
        let reason = report.reason.unwrap();
        assert!(reason.starts_with("the limit of 500 states is reached, and before it states may"), "{reason}");
    }
    let memory = Config { method: COMPACT, memory: Some(20_000), ..System { nodes: 4, ..System::default() }.into() };
    assert!(explore(&stache, &memory).unwrap().reason.unwrap().contains("20000 bytes of memory"));
}
