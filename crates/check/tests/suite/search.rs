//! The fast search against the brute force: the same states, the same verdicts, for any number of host threads; and
//! under symmetry as many states as there are different ones.

use crate::answers::answer;
use crate::every::files;
use crate::file_test;
use crate::shipped::protocol;
use crate::slow;
use std::path::Path;
use std::sync::Arc;
use trivium_check::{Config, Method, Report, Search, System, Verdict, explore, is_minimal, orbits, text};

/// Whether something never comes although events go on.
fn trap(report: &Report) -> bool {
    let is_trap = |property: &str| ["starvation", "livelock"].contains(&property) || property.starts_with("leads_to ");
    report.property.as_deref().is_some_and(is_trap)
}

fn systems() -> Vec<Config<'static>> {
    let of = |nodes, objects| {
        let system = System { nodes, objects, ops: Some(2), ..System::default() }.unreduced();
        Config { system, symmetry: false, ..Config::default() }
    };
    vec![of(2, 1), of(2, 2), of(3, 1)]
}

/// States of each search, and of those under symmetry.
fn limit() -> u64 {
    slow::all_or(40_000, 2_000)
}

#[test]
fn it_finds_what_the_brute_force_finds() {
    let max_states = Some(limit());
    for file in slow::one_in(2, files()) {
        let protocol = protocol(&file);
        for config in systems() {
            let brute = explore(&protocol, &Config { search: Search::Brute, max_states, ..config.clone() });
            let fast = explore(&protocol, &Config { max_states, ..config.clone() });
            let (Ok(brute), Ok(fast)) = (brute, fast) else { continue };
            if brute.verdict != Verdict::Incomplete {
                assert_eq!(answer(&fast), answer(&brute), "{file} {config:?}");
            } else if fast.verdict == Verdict::Violated && !trap(&fast) {
                // The limit ends the fast search after a batch, and the brute force within it.
                let brute = explore(&protocol, &Config { search: Search::Brute, ..config.clone() }).unwrap();
                assert_eq!(answer(&Report { states: brute.states, ..fast }), answer(&brute), "{file} {config:?}");
            } else {
                assert!(fast.verdict == Verdict::Incomplete || trap(&fast), "{file} {config:?}");
            }
        }
    }
}

#[test]
fn host_threads_change_nothing() {
    for (number, file) in slow::one_in(2, files()).enumerate() {
        let protocol = protocol(&file);
        for symmetry in [false, true] {
            let config = Config { symmetry, max_states: Some(limit()), ..Config::default() };
            let with = |jobs| answer(&explore(&protocol, &Config { jobs, ..config.clone() }).unwrap());
            let alone = with(1);
            // Each number of threads meets each file, and both kinds of search.
            for jobs in [2, 5] {
                let is_its_turn = (number % 2 == 0) == (symmetry == (jobs == 5));
                if slow::is_asked_for() || is_its_turn {
                    assert_eq!(with(jobs), alone, "{file}");
                }
            }
        }
    }
}

/// Larger words of blocks have numbers, which each host thread would give in another order.
#[test]
fn host_threads_agree_on_large_values() {
    agree_on_large_values(
        "at 0 { write(0, 1); x = read(1); write(1, 2); a = read(0) }
         at 1 { write(1, 1); z = read(1); write(0, 100000); c = read(1) }
         at 2 { write(0, 1); w = read(0); write(0, 200000); e = read(0) }",
        10_000,
    );
}

#[test]
#[ignore = "a minute"]
fn host_threads_agree_on_large_values_of_long_threads() {
    agree_on_large_values(
        "at 0 { write(0, 1); write(1, 1); x = read(1); y = read(0); write(0, 2); write(1, 2); a = read(0); b = read(1) }
         at 1 { write(1, 1); write(0, 2); z = read(1); write(0, 100000); c = read(1); write(0, 100000) }
         at 2 { write(0, 1); write(1, 2); w = read(0); write(0, 200000); e = read(0); write(0, 200000) }",
        100_000,
    );
}

/// These threads have at least so many states, which are enough for host threads to share.
fn agree_on_large_values(threads: &str, least: u64) {
    let source = format!("protocol big\nuse \"msi.tri\"\nscenario big {{\n{threads}\n}}");
    let load = |name: &str| {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(name))
            .map_err(|error| error.to_string())
    };
    let options = trivium_lang::Options { params: Vec::new(), load: Some(&load) };
    let protocol = trivium_lang::compile("big.tri", &source, &options).unwrap_or_else(|wrong| panic!("{wrong}"));
    let protocol = Arc::new(protocol);
    let system = System { scenario: Some("big".into()), ..System::default() };
    let config = Config { symmetry: false, ..system.unreduced().into() };
    let with = |search, jobs| explore(&protocol, &Config { search, jobs, ..config.clone() }).unwrap();
    let reference = with(Search::Brute, 1);
    assert_eq!(reference.verdict, Verdict::Holds);
    assert!(reference.states >= least, "{} states", reference.states);
    for jobs in [1, 2, 2, 2, 5] {
        assert_eq!(answer(&with(Search::Fast, jobs)), answer(&reference), "{jobs} host threads");
    }
}

/// Names of nodes do not count for what of the text was carried out, nor does who found it.
#[test]
fn symmetry_and_host_threads_cover_the_same() {
    let mut held = 0;
    for file in slow::one_in(2, files()) {
        let protocol = protocol(&file);
        let system = System { ops: Some(2), ..System::default() };
        let config = Config { max_states: Some(limit().max(8_000)), ..system.into() };
        let seen = |symmetry, jobs| {
            let report = explore(&protocol, &Config { symmetry, jobs, ..config.clone() }).unwrap();
            let Report { coverage, clauses, branches, vacuous, .. } = report;
            (report.verdict == Verdict::Holds).then_some((coverage, clauses, branches, vacuous))
        };
        let plain = seen(false, 1);
        held += u32::from(plain.as_ref().is_some_and(|(_, _, branches, _)| branches.reached > 2));
        if plain.is_some() {
            assert_eq!(seen(true, 1), plain, "{file}");
            assert_eq!(seen(true, 3), plain, "{file}");
        }
    }
    assert!(held > slow::all_or(5, 2), "{held} protocols that hold have branches");
}

#[test]
fn under_symmetry_there_are_as_many_states_as_orbits() {
    let (mut fewer, mut of_four) = (0, 0);
    for file in files() {
        let protocol = protocol(&file);
        for (nodes, clients) in [(3, None), (4, Some(3)), (4, None)] {
            let system = System { nodes, clients, ops: Some(1), ..System::default() };
            let config = Config { max_states: Some(limit()), ..system.into() };
            let plain = explore(&protocol, &Config { symmetry: false, ..config.clone() }).unwrap();
            if plain.verdict == Verdict::Incomplete {
                continue;
            }
            of_four += u32::from(nodes == 4 && clients.is_none());
            let symmetric = explore(&protocol, &config).unwrap();
            assert_eq!(symmetric.verdict, plain.verdict, "{file}");
            assert_eq!(symmetric.counterexample.len(), plain.counterexample.len(), "{file}");
            if plain.verdict == Verdict::Holds {
                let (states, orbits) = orbits(&protocol, &config).unwrap();
                assert_eq!((states, orbits), (plain.states, symmetric.states), "{file}");
                fewer += u32::from(symmetric.states < plain.states);
            }
        }
    }
    assert!(fewer > 3 && of_four > 3, "symmetry has paid {fewer} times; {of_four} systems of four acting nodes");
}

const SPINNING: &str = "
protocol spinning
lane main fifo buffered
message Ask, Wait on main
object thing
op get(t: thing)
role asker of thing {
  otherwise impossible
  state Idle   { on get { send Ask to home; goto Asking } }
  state Asking { on Wait { send Ask to home } on get impossible }
}
role home of thing {
  otherwise impossible
  state Busy { on Ask { send Wait to sender } }
}
";

#[test]
fn a_livelock_is_a_way_into_a_trap_and_a_cycle() {
    let protocol = Arc::new(
        trivium_lang::compile("spinning.tri", SPINNING, &Default::default()).unwrap_or_else(|d| panic!("{d}")),
    );
    for symmetry in [false, true] {
        let config = Config { symmetry, ..Config::default() };
        let report = explore(&protocol, &config).unwrap();
        // The third node's thread spins as well, each for itself: nobody gets through.
        assert_eq!(report.property.as_deref(), Some("livelock"), "{}", text(&report));
        let events: Vec<&str> = report.counterexample.iter().map(|step| step.event.as_str()).collect();
        assert_eq!(events, ["get", "Ask from 1", "Wait from 0"], "{}", text(&report));
        assert!(report.reason.as_ref().unwrap().contains("events 2 to 3 repeat themselves"), "{}", text(&report));
        assert!(is_minimal(&protocol, &config.system, &report).unwrap());
        let without = explore(&protocol, &Config { liveness: false, ..config }).unwrap();
        assert_eq!((without.verdict, without.liveness), (Verdict::Holds, false));
    }
}

#[test]
fn without_memory_for_starvation_the_verdict_is_incomplete() {
    let stache = protocol("stache.tri");
    let whole = explore(&stache, &Config { liveness: false, ..Config::default() }).unwrap();
    assert_eq!(whole.checked, ["safety", "deadlock"]);
    let memory = (whole.states as f64 * whole.bytes_per_state * 1.02) as u64;
    let report = explore(&stache, &Config { memory: Some(memory), ..Config::default() }).unwrap();
    assert_eq!((report.verdict, report.liveness, report.states), (Verdict::Incomplete, false, whole.states));
    let reason = report.reason.unwrap();
    assert!(reason.contains("starvation was not looked for"), "{reason}");
    assert_eq!(report.checked, ["safety", "deadlock"]);
}

/// Where a thread starves it does so for both searches, with symmetry and without; and which threads get through is found by an
/// algorithm of its own in the brute force.
#[test]
fn starvation_is_found_whichever_way_one_looks() {
    let mut found = 0;
    for path in slow::one_in(2, file_test::paths()) {
        let test = file_test::FileTest::read(&path).unwrap();
        let Ok(protocol) = test.protocol().map(Arc::new) else { continue };
        let Ok(config) = test.config(&protocol) else { continue };
        for nodes in [config.system.nodes, config.system.nodes + 1] {
            let system = System { nodes, ops: config.system.ops.or(Some(2)), ..config.system.clone() };
            let config = Config { system, max_states: Some(4_000), ..config.clone() };
            let Ok(plain) = explore(&protocol, &Config { symmetry: false, ..config.clone() }) else { continue };
            if plain.verdict == Verdict::Incomplete {
                continue;
            }
            let with = explore(&protocol, &Config { symmetry: true, ..config.clone() }).unwrap();
            assert!(with.verdict != Verdict::Incomplete || trap(&plain), "{} {nodes}", path.display());
            if with.verdict == Verdict::Incomplete {
                continue;
            }
            assert_eq!(trap(&with), trap(&plain), "{} {nodes}\n{}", path.display(), text(&with));
            let brute = explore(&protocol, &Config { search: Search::Brute, ..config.clone() }).unwrap();
            if brute.verdict == Verdict::Incomplete {
                // It leaves nothing out, so that it meets the limit earlier.
                continue;
            }
            let told = |report: &Report| (report.verdict, trap(report), report.property.clone());
            assert_eq!(told(&brute), told(&plain), "{} {nodes}", path.display());
            found += u32::from(trap(&plain));
        }
    }
    assert!(found > slow::all_or(8, 3), "{found} traps");
}

/// The limit of states is reached beside a violation that was executed: it is told.
#[test]
fn a_limit_of_states_hides_no_violation() {
    for file in ["broken/stache-lost-upgrade.tri", "broken/eager-stale-upgrade.tri", "broken/msi-forgotten-ack.tri"] {
        let protocol = protocol(file);
        let config = Config { symmetry: false, liveness: false, ..Config::default() };
        let with =
            |method, most| explore(&protocol, &Config { method, max_states: Some(most), ..config.clone() }).unwrap();
        for method in [Method::Exact, Method::Compact { bits: 64 }] {
            let whole = with(method, u64::MAX);
            assert_eq!(whole.verdict, Verdict::Violated);
            let mut cut = 0;
            for less in 1..40 {
                let report = with(method, whole.states - whole.states * less / 100);
                if report.transitions == whole.transitions {
                    assert_eq!(report.counterexample, whole.counterexample, "{file}: {}", text(&report));
                    cut += 1;
                }
            }
            assert!(cut > 0 || file.contains("msi"), "{file}: no limit was reached beside the violation");
        }
    }
}
