//! An independent oracle: what `check` says about a protocol, Rumur says about the exported model.
//!
//! Where a protocol holds, Rumur, the fast search without symmetry and the brute-force explorer must have seen the same
//! number of states, and as many firings of rules as transitions. Where something is violated, it must be the same.
//! Skipped where Rumur (a Debian package) is not installed.

mod file_test;

use file_test::FileTest;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, explore, murphi};
use trivium_lang::protocol::Protocol;

/// Systems in which a fault is looked for: nodes and objects, the smallest first.
const SIZES: [(u32, u32); 4] = [(2, 1), (3, 1), (3, 2), (4, 1)];
/// More states than this are left to the slow tests.
const FAST: u64 = 40_000;
const SLOW: u64 = 800_000;

/// What Rumur says of a model.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    /// What is violated, in Rumur's words.
    error: Option<String>,
    states: u64,
    firings: u64,
}

/// A system without symmetry, of which the model knows nothing.
fn system(nodes: u32, objects: u32) -> Config<'static> {
    Config { system: System { nodes, objects, ..System::default() }, symmetry: false, ..Config::default() }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn slow() -> bool {
    std::env::var_os("TRIVIUM_SLOW").is_some()
}

fn is_installed() -> bool {
    let found = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found("rumur") || !found("cc") {
        println!("skipped: rumur is not installed");
        return false;
    }
    true
}

fn run(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    // The model exits with 1 when it has found something.
    if out.status.success() || text.contains("error(s) found") {
        return Ok(text);
    }
    Err(format!("{command:?}\n{text}{}", String::from_utf8_lossy(&out.stderr)))
}

/// Gives a model to Rumur.
fn ask(name: &str, model: &str, optimised: bool) -> Result<Answer, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rumur");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let file = |ending: &str| folder.join(format!("{name}.{ending}"));
    std::fs::write(file("m"), model).map_err(|e| e.to_string())?;
    let options = ["--deadlock-detection", "off", "--symmetry-reduction", "off", "--threads", "1"];
    run(Command::new("rumur").args(options).arg("-o").arg(file("c")).arg(file("m")))?;
    run(Command::new("cc")
        .args([if optimised { "-O1" } else { "-O0" }, "-w", "-mcx16", "-o"])
        .arg(file("x"))
        .arg(file("c"))
        .arg("-lpthread"))?;
    let text = run(&mut Command::new(file("x")))?;
    if text.contains("the model's") {
        return Err(format!("{name}: the model is too small for this system\n{text}"));
    }
    let number = |behind: &str| {
        let before = text.rsplit_once(behind)?.0;
        before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    match (number(" states, "), number(" rules fired")) {
        (Some(states), Some(firings)) => {
            let mut lines = text.lines().skip_while(|line| !line.contains("error trace for the error"));
            let error = lines.nth(2).map(|line| line.trim().to_string());
            if error.is_none() && !text.contains("No error found") {
                return Err(format!("{name}: Rumur says\n{text}"));
            }
            Ok(Answer { error, states, firings })
        }
        _ => Err(format!("{name}: Rumur says\n{text}")),
    }
}

/// What both say of a protocol in a system must be the same.
fn compare(name: &str, protocol: &Arc<Protocol>, config: &Config, report: &Report) -> Result<(), String> {
    let model = murphi(protocol, &config.system, 8).map_err(|e| format!("{name}: {e}"))?;
    let answer = ask(name, &model, report.states > FAST)?;
    let line = format!(
        "{name}: {} nodes, {} objects: check {} {} states {} transitions; rumur {answer:?}",
        config.system.nodes, config.system.objects, report.verdict, report.states, report.transitions
    );
    println!("{line}");
    let same = match report.verdict {
        Verdict::Holds => {
            let brute = Config { search: Search::Brute, ..config.clone() };
            let brute = explore(protocol, &brute).map_err(|e| format!("{name}: {e}"))?;
            let counts = (report.states, report.transitions);
            answer.error.is_none()
                && (answer.states, answer.firings) == counts
                && (brute.states, brute.transitions) == counts
        }
        Verdict::Violated => {
            let property = report.property.as_deref().unwrap_or_default();
            answer.error.as_deref().is_some_and(|error| means(error, property))
        }
        Verdict::Incomplete => return Err(format!("{line}: not explored to its end")),
    };
    if same { Ok(()) } else { Err(line) }
}

/// Whether what Rumur reports is the violation of a property, or a deadlock that is reached by as many events: Rumur looks
/// at a state when it is found, `check` when it is expanded.
fn means(error: &str, property: &str) -> bool {
    let deadlock = "invariant \"deadlock\" failed";
    match property {
        _ if error.contains(deadlock) => true,
        "fault" => error.contains("fault: ") || error.contains("out-of-range"),
        "last_write" | "last_phase" | "sequential" => error.contains("a read misses the last write"),
        "single_writer" => error.contains("invariant \"single_writer\" failed"),
        other if other.starts_with("mutex") => error.contains("mutex: "),
        other if other.starts_with("barrier") => error.contains("barrier: "),
        other => error.contains(other.strip_prefix("invariant ").unwrap_or(other)) && error.contains("failed"),
    }
}

/// The `.tri` files of a folder, in order.
fn protocols(folder: &str) -> Vec<(String, PathBuf)> {
    let files = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "tri")).collect();
    files.sort();
    files.into_iter().map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path)).collect()
}

/// With the values of parameters that are for `check`.
fn compile(path: &Path) -> Arc<Protocol> {
    let with = |params: &[(String, i64)]| trivium_lang::compile_file(path, params).unwrap_or_else(|e| panic!("{e}"));
    Arc::new(with(&with(&[]).sizes_to_check()))
}

/// Explores with as many operations of each thread as end below a limit of states.
fn explore_bounded(protocol: &Arc<Protocol>, config: Config<'static>, most: u64) -> (Config<'static>, Report) {
    for ops in [None, Some(4), Some(3), Some(2)] {
        let config = Config { max_states: Some(most), ..with_ops(&config, ops) };
        let report = explore(protocol, &config).unwrap_or_else(|e| panic!("{}: {e}", protocol.name));
        if report.verdict == Verdict::Holds {
            return (config, report);
        }
    }
    let config = with_ops(&config, Some(1));
    let report = explore(protocol, &config).unwrap();
    (config, report)
}

fn with_ops(config: &Config<'static>, ops: Option<u32>) -> Config<'static> {
    Config { system: System { ops, ..config.system.clone() }, ..config.clone() }
}

fn expect_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn rumur_counts_the_same_states_of_every_protocol() {
    if !is_installed() {
        return;
    }
    let found = protocols("protocols");
    assert!(found.len() >= 6, "the protocols are not where they should be");
    let wrong: Vec<String> = found
        .iter()
        .filter_map(|(name, path)| {
            let protocol = compile(path);
            let small = system(2, 1);
            let (config, report) = explore_bounded(&protocol, small, FAST);
            compare(name, &protocol, &config, &report).err()
        })
        .collect();
    expect_none(&wrong);
}

#[test]
fn rumur_counts_the_same_states_of_german_with_three_nodes() {
    if !is_installed() {
        return;
    }
    let protocol = compile(&root().join("protocols/german.tri"));
    let config = system(3, 1);
    let report = explore(&protocol, &config).unwrap();
    assert_eq!(report.verdict, Verdict::Holds);
    compare("german-3", &protocol, &config, &report).unwrap();
}

#[test]
fn german_by_hand_has_the_states_that_the_chapter_names() {
    if !is_installed() {
        return;
    }
    let answer = ask("german-by-hand", include_str!("rumur/german.m"), false).unwrap();
    assert_eq!(answer, Answer { error: None, states: 53_298, firings: 212_112 });
}

#[test]
fn rumur_finds_the_fault_of_every_broken_protocol() {
    if !is_installed() {
        return;
    }
    let found = protocols("protocols/broken");
    assert!(found.len() >= 5, "the broken protocols are not where they should be");
    let wrong: Vec<String> = found.iter().filter_map(|(name, path)| broken(name, path).err()).collect();
    expect_none(&wrong);
}

/// At the smallest size at which `check` catches the fault, Rumur does too; in the file's first scenario, if it has one.
fn broken(name: &str, path: &Path) -> Result<(), String> {
    let protocol = compile(path);
    for (nodes, objects) in SIZES {
        // A use that is wrong is a scenario, the first of the file; where the protocol is wrong, it tells the story briefly.
        let scenario = protocol.scenarios.first().map(|scenario| scenario.name.clone());
        let mut config = Config { max_states: Some(2_000_000), ..system(nodes, objects) };
        config.system.scenario = scenario;
        let report = explore(&protocol, &config).map_err(|e| format!("{name}: {e}"))?;
        // Rumur decides about states, not about what can happen for ever.
        if report.verdict == Verdict::Violated && report.property.as_deref() != Some("livelock") {
            return compare(&format!("broken-{name}"), &protocol, &config, &report);
        }
        if report.verdict == Verdict::Violated {
            println!("{name}: a livelock, which the model does not express");
            return Ok(());
        }
    }
    Err(format!("{name}: not caught in any of the sizes {SIZES:?}"))
}

#[test]
fn rumur_agrees_about_the_file_tests() {
    if !slow() || !is_installed() {
        println!("skipped: not asked for with TRIVIUM_SLOW=1, or rumur is not installed");
        return;
    }
    let paths = file_test::paths();
    let mut compared = 0;
    let wrong: Vec<String> = paths
        .iter()
        .filter_map(|path| match file_test(path) {
            Ok(true) => {
                compared += 1;
                None
            }
            Ok(false) => None,
            Err(error) => Some(error),
        })
        .collect();
    expect_none(&wrong);
    assert!(compared > 40, "only {compared} file tests were compared");
}

/// Whether a file test could be compared: not those of limits and of mistakes.
fn file_test(path: &Path) -> Result<bool, String> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let test = FileTest::read(path)?;
    let expected = test.directive("expect").unwrap_or_default();
    if ["error", "incomplete"].contains(&expected) || expected.ends_with("livelock") {
        return Ok(false);
    }
    let config = test.config().map_err(|e| format!("{name}: {e}"))?;
    let config = Config { symmetry: false, max_states: None, ..config };
    let protocol = Arc::new(test.protocol().map_err(|e| format!("{name}: {e}"))?);
    let report = explore(&protocol, &config).map_err(|e| format!("{name}: {e}"))?;
    if murphi(&protocol, &config.system, 8).is_err_and(|e| e.message.contains("cannot be exported")) {
        return Ok(false);
    }
    compare(&format!("file-{name}"), &protocol, &config, &report).map(|()| true)
}

#[test]
fn rumur_counts_the_same_states_of_larger_systems() {
    if !slow() || !is_installed() {
        println!("skipped: not asked for with TRIVIUM_SLOW=1, or rumur is not installed");
        return;
    }
    let mut wrong = Vec::new();
    for (name, path) in protocols("protocols") {
        for (nodes, objects) in [(3, 1), (2, 2)] {
            let protocol = compile(&path);
            let config = system(nodes, objects);
            let (config, report) = explore_bounded(&protocol, config, SLOW);
            wrong.extend(compare(&format!("{name}-{nodes}x{objects}"), &protocol, &config, &report).err());
        }
    }
    expect_none(&wrong);
}
