//! How fast the search is, and how much memory a state takes: `cargo bench -p trivium-check --bench search`, about two minutes.
//!
//! The model is `german` on 3 nodes with 4 values, without symmetry. It is explored whole, with all promises, and with
//! what counterexamples are made of, which is always kept. Each case is a process of its own, so that its memory is its
//! own (`VmHWM`, all of it, whatever it is for). The fast cases run a few times, one after the other, and the best time counts: another
//! process on the machine can only make it worse. `-- two` runs only the cases whose names begin so. How this compares with
//! other checkers is `--bench peers`.

mod apart;

use apart::{Found, only_case, run_apart, run_case, wanted};
use trivium_check::{Config, Search, System};

/// How often each case runs; the slow one, which takes a minute, once.
const ROUNDS: usize = 3;
const BRUTE: &str = "brute force";
const ONE: &str = "one host thread";
const TWO: &str = "two host threads";
const LIVENESS: &str = "with liveness";

fn cases() -> Vec<(&'static str, Config<'static>)> {
    let reduced = System { nodes: 3, values: 4, ..System::default() };
    // More states, which is what is measured here.
    let system = System { late_values: false, dead_copies: false, ..reduced.clone() };
    let plain = Config { system, symmetry: false, liveness: false, ..Config::default() };
    vec![
        (ONE, plain.clone()),
        (TWO, Config { jobs: 2, ..plain.clone() }),
        (LIVENESS, Config { liveness: true, ..plain.clone() }),
        ("symmetry, liveness", Config { liveness: true, symmetry: true, ..plain.clone() }),
        ("all reductions", Config { system: reduced, liveness: true, symmetry: true, ..plain.clone() }),
        (BRUTE, Config { search: Search::Brute, ..plain }),
    ]
}

fn main() {
    if let Some(name) = only_case() {
        let (_, config) = cases().into_iter().find(|(case, _)| *case == name).expect("a case");
        return run_case(&name, &config);
    }
    let names: Vec<&str> = cases().iter().map(|(name, _)| *name).filter(|name| wanted(name)).collect();
    let mut best: Vec<(&str, Found)> = Vec::new();
    for round in 0..ROUNDS {
        for name in names.iter().copied().filter(|name| round == 0 || *name != BRUTE) {
            let found = run_apart(name);
            match best.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) if known.seconds <= found.seconds => {}
                Some((_, known)) => *known = found,
                None => best.push((name, found)),
            }
        }
    }
    print(&best);
}

fn print(best: &[(&str, Found)]) {
    println!(
        "{:20} {:>10} {:>11} {:>8} {:>13} {:>12} {:>14}",
        "german, 3 nodes", "states", "transitions", "seconds", "transitions/s", "packed bytes", "process bytes"
    );
    for (name, found) in best {
        println!(
            "{name:20} {:>10} {:>11} {:>8.2} {:>13.0} {:>12.1} {:>14.1}",
            found.states,
            found.transitions,
            found.seconds,
            found.transitions / found.seconds,
            found.packed,
            found.memory / found.states,
        );
    }
    let of = |name: &str| best.iter().find(|(known, _)| *known == name).map(|(_, found)| found);
    let rate = |found: &Found| found.transitions / found.seconds;
    let Some(one) = of(ONE) else { return };
    println!("\nprocess against packed state     {:.1} bytes more a state", one.memory / one.states - one.packed);
    if let Some(live) = of(LIVENESS) {
        let more = (live.memory - one.memory) / one.transitions;
        println!("liveness                         {more:.1} bytes a transition");
    }
    if let Some(two) = of(TWO) {
        println!("two host threads against one     {:.2} times as fast", rate(two) / rate(one));
    }
}
