//! How fast the search is, how much memory a state takes, and how that compares with Rumur:
//! `cargo bench -p trivium-check --bench search`, about six minutes.
//!
//! The model is `german` on 3 nodes with 4 values, without symmetry. It is explored whole, with all promises, and with
//! what counterexamples are made of, which is always kept. Each case is a process of its own, so that its memory is its
//! own (`VmHWM`, all of it, whatever it is for). Rumur is given the exported model and one thread, in the same run, and
//! skipped where it is not installed. The fast cases run a few times, one after the other, and the best time counts: another
//! process on the machine can only make it worse. `-- two rumur` runs only the cases whose names begin so.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;
use trivium_check::{Config, Search, System, Verdict, explore, murphi};
use trivium_lang::protocol::Protocol;

/// How often each case runs; the slow ones, which take minutes, once.
const ROUNDS: usize = 3;
const SLOW: [&str; 2] = [BRUTE, RUMUR];
const BRUTE: &str = "brute force";
const ONE: &str = "one host thread";
const TWO: &str = "two host threads";
const LIVENESS: &str = "with liveness";
const RUMUR: &str = "rumur, one thread";

/// What one run of a case has found.
#[derive(Clone, Copy)]
struct Found {
    states: f64,
    transitions: f64,
    seconds: f64,
    /// Greatest memory of the whole process, in bytes.
    memory: f64,
    /// Bytes of an average state as it is stored.
    packed: f64,
}

fn protocol() -> Arc<Protocol> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/german.tri");
    Arc::new(trivium_lang::compile_file(&path, &[]).unwrap_or_else(|e| panic!("{e}")))
}

fn cases() -> Vec<(&'static str, Config<'static>)> {
    let reduced = System { nodes: 3, values: 4, ..System::default() };
    // What the exported models explore, so that the rows can be compared.
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
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--case") {
        return run_case(&arguments[at + 1]);
    }
    let wanted: Vec<&String> = arguments.iter().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &&str| wanted.is_empty() || wanted.iter().any(|word| name.starts_with(word.as_str()));
    let names: Vec<&str> = cases().iter().map(|(name, _)| *name).chain([RUMUR]).filter(is_wanted).collect();
    let model = if names.contains(&RUMUR) { rumur_model() } else { None };
    let mut best: Vec<(&str, Found)> = Vec::new();
    for round in 0..ROUNDS {
        for name in names.iter().copied().filter(|name| round == 0 || !SLOW.contains(name)) {
            let found = match (name, &model) {
                (RUMUR, None) => continue,
                (RUMUR, Some(model)) => run_rumur(model),
                _ => run_apart(name),
            };
            match best.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) if known.seconds <= found.seconds => {}
                Some((_, known)) => *known = found,
                None => best.push((name, found)),
            }
        }
    }
    print(&best);
}

/// Explores, and prints what is found for [`run_apart`].
fn run_case(name: &str) {
    let (_, config) = cases().into_iter().find(|(case, _)| *case == name).expect("a case");
    let report = explore(&protocol(), &config).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(report.verdict, Verdict::Holds, "{name}");
    println!(
        "{} {} {} {} {}",
        report.states,
        report.transitions,
        report.seconds,
        peak_memory().unwrap_or(0),
        report.packed_bytes
    );
}

/// Runs a case in a process of its own.
fn run_apart(name: &str) -> Found {
    let program = std::env::current_exe().expect("this program has a path");
    let out = Command::new(program).args(["--case", name]).output().expect("this program can be run again");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [states, transitions, seconds, memory, packed] = numbers[..] else {
        panic!("{name}: {text}{}", String::from_utf8_lossy(&out.stderr))
    };
    Found { states, transitions, seconds, memory, packed }
}

/// The most memory that this process has had, in bytes.
fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Rumur's verifier of the exported model, if Rumur is installed.
fn rumur_model() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = |ending: &str| folder.join(format!("bench.{ending}"));
    let (_, config) = cases().swap_remove(0);
    let model = murphi(&protocol(), &config.system, 4).unwrap_or_else(|e| panic!("{e}"));
    std::fs::write(file("m"), model).ok()?;
    let options = ["--deadlock-detection", "off", "--symmetry-reduction", "off", "--threads", "1"];
    let made = Command::new("rumur").args(options).arg("-o").arg(file("c")).arg(file("m")).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("rumur is not installed: no comparison");
        return None;
    }
    let options = ["-O3", "-march=native", "-w", "-mcx16", "-o"];
    let compiled = Command::new("cc").args(options).arg(file("x")).arg(file("c")).arg("-lpthread").status();
    compiled.is_ok_and(|status| status.success()).then(|| file("x"))
}

fn run_rumur(model: &Path) -> Found {
    let begun = Instant::now();
    let out = Command::new(model).output().expect("the verifier was compiled");
    let seconds = begun.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&out.stdout);
    let number = |behind: &str| -> f64 {
        let before = text.rsplit_once(behind).map_or("", |(before, _)| before);
        let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next();
        digits.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("{text}"))
    };
    assert!(text.contains("No error found"), "{text}");
    Found { states: number(" states, "), transitions: number(" rules fired"), seconds, memory: 0.0, packed: 0.0 }
}

fn print(best: &[(&str, Found)]) {
    println!(
        "{:20} {:>10} {:>11} {:>8} {:>13} {:>12} {:>14}",
        "german, 3 nodes", "states", "transitions", "seconds", "transitions/s", "packed bytes", "process bytes"
    );
    for (name, found) in best {
        let each = |bytes: f64| if bytes > 0.0 { format!("{:.1}", bytes / found.states) } else { String::new() };
        println!(
            "{name:20} {:>10} {:>11} {:>8.2} {:>13.0} {:>12} {:>14}",
            found.states,
            found.transitions,
            found.seconds,
            found.transitions / found.seconds,
            each(found.packed * found.states),
            each(found.memory),
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
    if let Some(rumur) = of(RUMUR) {
        assert_eq!((rumur.states, rumur.transitions), (one.states, one.transitions), "the same model");
        println!("one host thread against rumur's  {:.1} times as fast", rate(one) / rate(rumur));
    }
}
