//! How fast the search is and how much memory a state takes: `cargo bench -p trivium-check --bench search [-- MODEL..]`.
//!
//! The model is `stache` on 4 nodes, 4,830,946 states without symmetry (one object, two values). It is explored whole, with all promises
//! and the data for counterexamples, which are always kept. Memory is that of the search (`bytes_per_state`) and the
//! greatest of the whole process (`VmHWM`).

use std::path::Path;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, Verdict, explore};

fn main() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/stache.tri");
    let protocol = Arc::new(trivium_lang::compile_file(&path, &[]).unwrap_or_else(|e| panic!("{e}")));
    let plain = Config { nodes: 4, values: 2, symmetry: false, liveness: false, ..Config::default() };
    let cases = [
        ("one host thread", plain.clone()),
        ("two host threads", Config { jobs: 2, ..plain.clone() }),
        ("with liveness", Config { liveness: true, ..plain.clone() }),
        ("symmetry, liveness", Config { liveness: true, symmetry: true, ..plain.clone() }),
        ("brute force", Config { search: Search::Brute, ..plain }),
    ];
    println!(
        "{:20} {:>10} {:>11} {:>8} {:>12} {:>13} {:>12} {:>8}",
        "stache, 4 nodes", "states", "transitions", "seconds", "states/s", "transitions/s", "bytes/state", "peak MB"
    );
    for (name, config) in cases {
        let report = explore(&protocol, &config).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report.verdict, Verdict::Holds, "{name}");
        print(name, &report);
    }
}

fn print(name: &str, report: &Report) {
    let rate = |count: u64| count as f64 / report.seconds;
    println!(
        "{name:20} {:>10} {:>11} {:>8.2} {:>12.0} {:>13.0} {:>12.1} {:>8}",
        report.states,
        report.transitions,
        report.seconds,
        rate(report.states),
        rate(report.transitions),
        report.bytes_per_state,
        peak_megabytes().map_or("?".into(), |peak| peak.to_string()),
    );
}

/// The most memory that this process has had so far.
fn peak_megabytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}
