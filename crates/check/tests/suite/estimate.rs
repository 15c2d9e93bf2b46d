//! How far off the estimate of all states is that a search prints which a limit has ended. The table is that of `docs/checking.md`.

use crate::shipped::protocol;
use trivium_check::{Config, System, Verdict, explore};

/// Protocols, nodes, and whether what nobody can observe is left out.
const SYSTEMS: [(&str, u32, bool); 12] = [
    ("msi", 3, true),
    ("msi", 4, true),
    ("stache", 3, true),
    ("stache", 4, true),
    ("stache", 3, false),
    ("german", 3, true),
    ("german", 4, true),
    ("german", 3, false),
    ("flash-coherence", 2, true),
    ("token-ring", 5, true),
    ("token-lock", 3, true),
    ("pool", 3, true),
];

/// After how many of a hundred states the search is ended, and how far off the estimate is then at most.
const PARTS: [(u64, f64); 4] = [(10, 6.0), (25, 4.0), (50, 2.0), (75, 1.8)];

/// Estimates by a search that finds so many states, in parts of what there is; `None` where nothing is said.
fn estimates(config: &Config, file: &str) -> (u64, Vec<Option<f64>>) {
    let protocol = protocol(&format!("{file}.tri"));
    let report = explore(&protocol, config).unwrap();
    assert_eq!(report.verdict, Verdict::Holds, "{file}");
    let after = |percent: u64| {
        let most = report.states * percent / 100;
        let ended = explore(&protocol, &Config { max_states: Some(most), ..config.clone() }).unwrap();
        assert_eq!((ended.verdict, ended.states), (Verdict::Incomplete, most), "{file}");
        ended.estimated_states.map(|states| states as f64 / report.states as f64)
    };
    (report.states, PARTS.map(|(percent, _)| after(percent)).to_vec())
}

#[test]
fn the_estimate_is_of_the_right_size() {
    println!("| system | states | 10 % | 25 % | 50 % | 75 % |");
    let mut said = [0; PARTS.len()];
    for (file, nodes, reduced) in SYSTEMS {
        let system = System { nodes, late_values: reduced, dead_copies: reduced, ..System::default() };
        let (states, estimates) = estimates(&Config { liveness: false, ..system.into() }, file);
        let shown: Vec<String> = estimates.iter().map(|e| e.map_or("-".into(), |e| format!("{e:.2}"))).collect();
        let option = if reduced { "" } else { " --no-late-values --no-dead-copies" };
        println!("| `{file} --nodes {nodes}{option}` | {states} | {} |", shown.join(" | "));
        for (at, estimate) in estimates.iter().enumerate() {
            let (percent, most) = PARTS[at];
            let Some(factor) = estimate else { continue };
            assert!((1.0 / most..most).contains(factor), "{file} at {percent} %: {factor}");
            said[at] += 1;
        }
    }
    assert!(said[2] >= 11 && said[3] == SYSTEMS.len(), "{said:?}");
}
