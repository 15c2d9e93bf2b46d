//! Searches that run in a process of their own, so that their memory is their own: what the benchmarks share.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use trivium_check::{Config, Verdict, explore};
use trivium_protocol::Protocol;

/// What one run of a case has found.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub states: f64,
    pub transitions: f64,
    pub seconds: f64,
    /// Greatest memory of the whole process, in bytes.
    pub memory: f64,
    /// Bytes of an average state as it is stored; 0 where the checker does not say.
    pub packed: f64,
}

/// The protocol that is measured.
pub fn german() -> Arc<Protocol> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/german.tri");
    Arc::new(trivium_lang::compile_file(&path, &[]).unwrap_or_else(|e| panic!("{e}")))
}

/// If this process is to run one case only, its name.
pub fn only_case() -> Option<String> {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|argument| argument == "--case")?;
    Some(arguments[at + 1].clone())
}

/// The names of cases that were asked for: those that begin with a word of the command line; all, if there is none.
pub fn wanted(name: &str) -> bool {
    let words: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    words.is_empty() || words.iter().any(|word| name.starts_with(word.as_str()))
}

/// Explores, and prints what is found for [`run_apart`].
pub fn run_case(name: &str, config: &Config) {
    let report = explore(&german(), config).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(report.verdict, Verdict::Holds, "{name}");
    let packed = report.packed_bytes;
    println!("{} {} {} {} {packed}", report.states, report.transitions, report.seconds, own_peak().unwrap_or(0));
}

/// This program, asked to run one case.
pub fn apart(name: &str) -> Command {
    let mut program = Command::new(std::env::current_exe().expect("this program has a path"));
    program.args(["--case", name]);
    program
}

/// Runs a case in a process of its own.
pub fn run_apart(name: &str) -> Found {
    let out = apart(name).output().expect("this program can be run again");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [states, transitions, seconds, memory, packed] = numbers[..] else {
        panic!("{name}: {text}{}", String::from_utf8_lossy(&out.stderr))
    };
    Found { states, transitions, seconds, memory, packed }
}

/// The most memory that this process has had, in bytes.
fn own_peak() -> Option<u64> {
    peak(Path::new("/proc/self/status"))
}

/// The most memory that a process has had, in bytes, by its page of `/proc`; `None` when it has ended.
pub fn peak(status: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
