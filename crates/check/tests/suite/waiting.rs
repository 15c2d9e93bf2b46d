//! Messages that wait: random protocols that stall, defer and push back on lanes of every kind are the same with every reduction and by brute force, and to Rumur.

mod protocol;

use protocol::protocol;

use crate::oracle::quicker;
use crate::slow;
use trivium_check::{Config, Report, Search, System, Verdict, explore, orbits, text};

fn found(report: &Report) -> (Verdict, Option<String>, usize) {
    (report.verdict, report.property.clone(), report.counterexample.len())
}

#[test]
fn random_protocols_wait_alike_with_every_reduction() {
    let (mut held, mut violated) = (0, 0);
    for seed in 0..slow::all_or(3000, 300) {
        let source = protocol(seed);
        let Ok(compiled) = trivium_lang::compile(&format!("{seed}.tri"), &source, &Default::default()) else {
            continue;
        };
        let compiled = std::sync::Arc::new(compiled);
        let system = System { nodes: 2 + (seed % 2) as u32, ops: Some(1), ..System::default() };
        let config = Config { max_states: Some(4_000), ..system.clone().into() };
        let Ok(with) = explore(&compiled, &config) else { continue };
        if with.verdict == Verdict::Incomplete {
            continue;
        }
        let plain = explore(&compiled, &Config { symmetry: false, max_states: None, ..config.clone() }).unwrap();
        assert_eq!(found(&with), found(&plain), "{seed}\n{source}\n{}\n{}", text(&with), text(&plain));
        let whole = Config { symmetry: false, max_states: None, ..system.unreduced().into() };
        let fast = explore(&compiled, &whole).unwrap();
        let brute = explore(&compiled, &Config { search: Search::Brute, ..whole.clone() }).unwrap();
        assert_eq!(found(&fast), found(&brute), "{seed}\n{source}\n{}\n{}", text(&fast), text(&brute));
        assert_eq!(fast.verdict, plain.verdict, "{seed}\n{source}\n{}\n{}", text(&fast), text(&plain));
        if with.verdict == Verdict::Holds {
            held += 1;
            assert_eq!((fast.states, fast.transitions), (brute.states, brute.transitions), "{seed}\n{source}");
            let unlived = Config { liveness: false, max_states: None, ..config };
            assert_eq!(orbits(&compiled, &unlived).unwrap(), (plain.states, with.states), "{seed}\n{source}");
        } else {
            violated += 1;
        }
    }
    println!("{held} hold, {violated} are violated");
    assert!(held > 10 && violated > 10, "{held} hold, {violated} are violated");
}

#[test]
fn another_checker_counts_the_same_states_of_random_protocols_that_wait() {
    let other = quicker();
    if !other.is_installed() {
        return;
    }
    let mut left = slow::all_or(60, 2);
    for seed in 0.. {
        let Ok(compiled) = trivium_lang::compile(&format!("{seed}.tri"), &protocol(seed), &Default::default()) else {
            continue;
        };
        let compiled = std::sync::Arc::new(compiled);
        let config = Config {
            max_states: Some(4_000),
            symmetry: false,
            ..System { nodes: 2, ops: Some(1), ..System::default() }.into()
        };
        let Ok(report) = explore(&compiled, &config) else { continue };
        if report.verdict == Verdict::Incomplete || report.states < 20 {
            continue;
        }
        other.compare(&format!("waiting-{seed}"), &compiled, &Config { max_states: None, ..config }, &report).unwrap();
        left -= 1;
        if left == 0 {
            return;
        }
    }
}
