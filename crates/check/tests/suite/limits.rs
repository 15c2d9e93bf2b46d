//! An exploration that is stopped, and one that is repeated.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trivium_check::{Config, Method, Progress, Report, Search, System, Verdict, explore, text};
use trivium_protocol::Protocol;

fn protocol(file: &str) -> Arc<Protocol> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(file);
    Arc::new(trivium_lang::compile_file(&path, &[]).unwrap_or_else(|e| panic!("{e}")))
}

/// A search that is not over at once: of all states.
fn stache(config: &Config) -> Report {
    let system = System { late_values: false, dead_copies: false, ..config.system.clone() };
    explore(&protocol("stache.tri"), &Config { system, ..config.clone() }).unwrap()
}

#[test]
fn a_limit_of_memory_ends_incomplete() {
    let limit = 1 << 20;
    let report = stache(&Config { memory: Some(limit), symmetry: false, ..Config::default() });
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert!(report.states > 1000, "{} states", report.states);
    assert!(report.reason.unwrap().contains("bytes of memory"));
    let bytes = report.states as f64 * report.bytes_per_state;
    assert!(bytes < 1.5 * limit as f64, "{bytes} bytes");
}

#[test]
fn a_wish_to_stop_is_heard_soon() {
    let cancel = AtomicBool::new(false);
    let stop = |_: &Progress| cancel.store(true, Ordering::Relaxed);
    let report = stache(&Config { cancel: Some(&cancel), progress: Some(&stop), ..Config::default() });
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert!(report.states < 81_368, "it went on to {} states", report.states);
}

#[test]
fn a_wish_to_stop_is_heard_while_starvation_is_looked_for() {
    let cancel = AtomicBool::new(false);
    let stop = |p: &Progress| cancel.store(p.waiting == 0, Ordering::Relaxed);
    let report = stache(&Config { cancel: Some(&cancel), progress: Some(&stop), ..Config::default() });
    let whole = stache(&Config::default());
    assert_eq!((report.verdict, report.states, report.liveness), (Verdict::Incomplete, whole.states, false));
    assert!(report.reason.unwrap().contains("starvation was still looked for"));
}

#[test]
fn a_scenario_stores_the_largest_values_of_a_word() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/msi.tri");
    for value in [u32::MAX - 1, u32::MAX] {
        let text = std::fs::read_to_string(&path).unwrap()
            + &format!("scenario wide {{\n  at 1 {{ write(0, {value}) }}\n  at 2 {{ a = read(0) }}\n}}\n");
        let protocol = Arc::new(trivium_lang::compile("wide.tri", &text, &trivium_lang::Options::default()).unwrap());
        let system = System { scenario: Some("wide".into()), ..System::default() };
        let report = explore(&protocol, &Config::from(system)).unwrap();
        assert_eq!(report.verdict, Verdict::Holds, "{value}: {:?}", report.reason);
    }
}

/// Each of many nodes can begin something, so that the states of one batch lead to very many.
#[test]
fn limits_are_looked_at_soon_where_states_lead_to_many() {
    for method in [Method::Exact, Method::Compact { bits: 64 }, Method::Bits { bytes: 1 << 20, hashes: 3 }] {
        let system = System { nodes: 200, ..System::default() };
        let config =
            Config { symmetry: false, liveness: false, max_states: Some(3000), method, ..Config::from(system) };
        let report = explore(&protocol("msi.tri"), &config).unwrap();
        assert_eq!((report.verdict, report.states), (Verdict::Incomplete, 3000), "{method:?}");
        assert!(report.transitions < 20_000, "{method:?}: {} transitions", report.transitions);
    }
}

#[test]
fn an_end_is_foretold() {
    let seen = RefCell::new(Vec::new());
    let note = |p: &Progress| seen.borrow_mut().push(*p);
    let report = stache(&Config { progress: Some(&note), symmetry: false, ..Config::default() });
    let seen = seen.into_inner();
    let late: Vec<_> = seen.iter().filter(|p| p.waiting > 0 && p.states * 2 > report.states).collect();
    assert!(late.len() > 10, "{}", late.len());
    for p in late {
        let factor = p.whole.unwrap() as f64 / report.states as f64;
        assert!((0.5..2.0).contains(&factor), "{factor} at {} of {} states", p.states, report.states);
    }
    assert_eq!(report.estimated_states, None, "all are known");
}

#[test]
fn progress_is_told_and_grows() {
    let seen = RefCell::new(Vec::new());
    let note = |p: &Progress| seen.borrow_mut().push(*p);
    let report = stache(&Config { progress: Some(&note), ..Config::default() });
    let seen = seen.into_inner();
    assert!(seen.len() > 10, "told {} times", seen.len());
    assert!(seen.windows(2).all(|w| w[0].states <= w[1].states && w[0].depth <= w[1].depth));
    assert!(seen.last().unwrap().states <= report.states);
}

#[test]
fn the_same_question_has_the_same_answer() {
    for file in ["stache.tri", "broken/stache-lost-upgrade.tri", "broken/msi-forgotten-ack.tri"] {
        let protocol = protocol(file);
        let answer = || {
            let mut report = explore(&protocol, &Config::default()).unwrap();
            report.seconds = 0.0;
            (text(&report), serde_json::to_string(&report).unwrap())
        };
        assert_eq!(answer(), answer());
    }
}

#[test]
fn the_keys_are_those_of_the_contract() {
    let report = explore(&protocol("broken/msi-forgotten-ack.tri"), &Config::default()).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    let keys = "verdict property states transitions depth seconds bytes_per_state symmetry promises uncompared assumptions \
                coverage clauses branches vacuous counterexample wait_cycle";
    for key in keys.split_whitespace() {
        assert!(json.get(key).is_some(), "no key `{key}`");
    }
    assert_eq!(json["verdict"], "violated");
    for key in "reached total unreached".split_whitespace() {
        for counted in ["coverage", "clauses", "branches"] {
            assert!(json[counted].get(key).is_some(), "no key `{counted}.{key}`");
        }
    }
    for key in "step node event object before after sends".split_whitespace() {
        assert!(json["counterexample"][0].get(key).is_some(), "no key `counterexample[].{key}`");
    }
}

/// An endless flood: each message makes eight, of eighty bytes. Soon a state takes more bytes than two bytes can count.
const FLOOD: &str = "
protocol flood
object box
op post(b: box)
lane main fifo buffered
message Post(a: word, b: word, c: word, d: word, e: word, f: word, g: word, h: word) on main
role home of box {
  action again() {
    send Post(-9000000000000000000, -9000000000000000000, -9000000000000000000, -9000000000000000000,
      -9000000000000000000, -9000000000000000000, -9000000000000000000, -9000000000000000000) to me
  }
  state S { on Post { again(); again(); again(); again(); again(); again(); again(); again() } }
}
role client of box everywhere {
  state S { on post { send Post(0, 0, 0, 0, 0, 0, 0, 0) to home; return } }
}
";

#[test]
fn a_flood_of_long_states_ends_incomplete() {
    let options = trivium_lang::Options::default();
    let protocol = Arc::new(trivium_lang::compile("flood.tri", FLOOD, &options).unwrap_or_else(|e| panic!("{e}")));
    let system = System { nodes: 1, ops: Some(1), ..System::default() };
    for search in [Search::Fast, Search::Brute] {
        let with = |max_states, memory| Config { search, max_states, memory, ..Config::from(system.clone()) };
        for config in [with(Some(300), None), with(None, Some(64 << 20))] {
            let report = explore(&protocol, &config).unwrap();
            let reason = report.reason.unwrap_or_default();
            assert_eq!(report.verdict, Verdict::Incomplete, "{search:?}: {reason}");
            assert!(report.packed_bytes > 65_536.0, "{search:?}: {} bytes each", report.packed_bytes);
            assert!(reason.contains("lane main from node 0 to node 0 may grow without bound"), "{search:?}: {reason}");
            let limit = if config.memory.is_some() { "67108864 bytes of memory" } else { "300 states" };
            assert!(reason.contains(limit), "{search:?}: {reason}");
            assert_eq!(report.estimated_states, None, "of something without an end: {reason}");
        }
    }
}

#[test]
fn livelocks_are_looked_for_however_long_a_state_is() {
    let source = "
protocol wide
object box
op post(b: box)
lane main fifo buffered
message Post, Again on main
role home of box {
  var log: list of word up to 4096
  var more: list of word up to 4000
  state S {
    on post { log.push(1); send Post to me; return }
    on Post { more.push(1); send Again to me }
    on Again { log.clear(); more.clear() }
  }
}
";
    let options = trivium_lang::Options::default();
    let protocol = Arc::new(trivium_lang::compile("wide.tri", source, &options).unwrap_or_else(|e| panic!("{e}")));
    let system = System { nodes: 1, ops: Some(1), ..System::default() };
    let report = explore(&protocol, &system.clone().into()).unwrap();
    assert_eq!((report.verdict, report.states, report.liveness), (Verdict::Holds, 4, true));
    let brute = explore(&protocol, &Config { search: Search::Brute, ..Config::from(system) }).unwrap();
    assert_eq!((brute.verdict, brute.states, brute.transitions), (Verdict::Holds, 4, report.transitions));
    assert!(brute.packed_bytes > 60_000.0);
}

/// A trap that lies within what was seen is told, however much was not seen.
#[test]
fn a_livelock_is_found_where_a_limit_ends_the_search() {
    let source = include_str!("../files/livelock-beside-much-else.test");
    let options = trivium_lang::Options::default();
    let protocol = trivium_lang::compile("livelock-beside-much-else.tri", source, &options);
    let protocol = Arc::new(protocol.unwrap_or_else(|d| panic!("{d}")));
    let system = System { nodes: 2, ..System::default() };
    for config in [
        Config { max_states: Some(120_000), ..system.clone().into() },
        Config { memory: Some(8_000_000), ..system.into() },
    ] {
        let report = explore(&protocol, &config).unwrap();
        assert_eq!(report.property.as_deref(), Some("livelock"), "{}", text(&report));
    }
}

/// What a search was told not to look for is not among what it says holds.
#[test]
fn without_liveness_nothing_is_said_of_what_must_follow() {
    let test = include_str!("../files/leads-to.test");
    let protocol = trivium_lang::compile("leads-to.tri", test, &Default::default()).unwrap_or_else(|d| panic!("{d}"));
    let protocol = Arc::new(protocol);
    let system = System { nodes: 2, ops: Some(1), ..System::default() };
    let with = explore(&protocol, &system.clone().into()).unwrap();
    assert!(text(&with).contains("leads_to heard"), "{}", text(&with));
    let without = explore(&protocol, &Config { liveness: false, ..system.into() }).unwrap();
    assert!(!text(&without).contains("leads_to"), "{}", text(&without));
    assert_eq!(without.checked, ["safety", "deadlock"]);
}

#[test]
fn what_a_state_has_no_room_to_count_is_refused() {
    let refused = |system: System| {
        let config = Config { system, ..Config::default() };
        explore(&protocol("stache.tri"), &config).expect_err("it is refused").to_string()
    };
    let least = System { nodes: 1, ..System::default() };
    let ops = refused(System { ops: Some(65_536), ..least.clone() });
    assert!(ops.contains("65536 accesses and calls of each thread are more than the 65535"), "{ops}");
    let ways = refused(System { objects: 256, values: 256, ..least });
    assert!(ways.contains("66304 different accesses and calls are more than the 65535"), "{ways}");
}
