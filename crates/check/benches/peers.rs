//! The search beside other checkers, in one run: `cargo bench -p trivium-check --bench peers`, about ten minutes.
//!
//! *One system*: `german` without the reductions that exported models do not have. Rumur and SPIN explore what
//! `trivium export` writes; all three have the same states and transitions, which is asserted.
//!
//! *By hand*: German's protocol as somebody writes it who knows the language: `tests/rumur/german.m` for Rumur and
//! `benches/peers/german.pml` for SPIN, with the same states and firings as each other. Beside them, `german` as
//! `trivium check` explores it by default, whose client does more and whose rules do more at once (docs/checking.md, 11).
//!
//! Each checker has one thread and no symmetry unless the row says so; SPIN searches depth first, without partial order
//! reduction, which it does best. Each run is a process; its time is its own or the whole, its memory the greatest that it had.
//! The best of three runs counts. Instructions are counted by valgrind, where it is installed, in runs of their own, and
//! less what it takes to read the protocol. What is not installed is skipped by name. `-- "by hand"` runs only the
//! rows whose names begin so.

mod apart;

use apart::{Found, german, only_case, peak, run_apart, run_case, wanted};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use trivium_check::{Config, System};
use trivium_export::{murphi, spin};

const ROUNDS: usize = 3;
/// A case that reads the protocol and explores nothing.
const NOTHING: &str = "nothing";
/// The most messages of a lane between two nodes in the exported models.
const CHANNEL: u32 = 4;

/// Who explores.
#[derive(Clone, Copy, PartialEq)]
enum Checker {
    Trivium,
    Rumur,
    Spin,
}

/// One line of the table.
struct Row {
    /// What is explored, and by whom.
    name: &'static str,
    system: &'static str,
    checker: Checker,
    /// Whether its instructions are counted: that is some fifty times slower.
    counted: bool,
}

const fn row(name: &'static str, system: &'static str, checker: Checker, counted: bool) -> Row {
    Row { name, system, checker, counted }
}

const ONE_VALUE: &str = "one system: 3 nodes, 1 value";
const TWO_VALUES: &str = "one system: 3 nodes, 2 values";
const THREE: &str = "by hand: 3 clients";
const FOUR: &str = "by hand: 4 clients";

const ROWS: [Row; 14] = [
    row("one system, 1 value: trivium", ONE_VALUE, Checker::Trivium, true),
    row("one system, 1 value: rumur", ONE_VALUE, Checker::Rumur, true),
    row("one system, 1 value: spin", ONE_VALUE, Checker::Spin, true),
    row("one system, 2 values: trivium", TWO_VALUES, Checker::Trivium, false),
    row("one system, 2 values: rumur", TWO_VALUES, Checker::Rumur, false),
    row("one system, 2 values: spin", TWO_VALUES, Checker::Spin, false),
    row("by hand, 3 clients: rumur", THREE, Checker::Rumur, true),
    row("by hand, 3 clients: spin", THREE, Checker::Spin, true),
    row("by hand, 3 clients: trivium, no symmetry", "3 nodes, no symmetry", Checker::Trivium, true),
    row("by hand, 3 clients: trivium", "3 nodes", Checker::Trivium, false),
    row("by hand, 4 clients: rumur", FOUR, Checker::Rumur, false),
    row("by hand, 4 clients: spin", FOUR, Checker::Spin, false),
    row("by hand, 4 clients: trivium, no symmetry", "4 nodes, no symmetry", Checker::Trivium, false),
    row("by hand, 4 clients: trivium", "4 nodes", Checker::Trivium, false),
];

/// What Trivium explores.
fn config(system: &str) -> Config<'static> {
    let exported = |values| System { nodes: 3, values, late_values: false, dead_copies: false, ..System::default() };
    let plain = |system| Config { system, symmetry: false, liveness: false, ..Config::default() };
    let nodes = |nodes| System { nodes, ..System::default() };
    match system {
        ONE_VALUE => plain(exported(1)),
        TWO_VALUES => plain(exported(2)),
        "3 nodes, no symmetry" => plain(nodes(3)),
        "3 nodes" => Config { symmetry: true, ..plain(nodes(3)) },
        "4 nodes, no symmetry" => plain(nodes(4)),
        "4 nodes" => Config { symmetry: true, ..plain(nodes(4)) },
        other => panic!("no system is called {other}"),
    }
}

fn main() {
    match only_case().as_deref() {
        Some(NOTHING) => return drop(german()),
        Some(system) => return run_case(system, &config(system)),
        None => {}
    }
    println!(
        "{:42} {:>9} {:>11} {:>8} {:>13} {:>14} {:>12} {:>13}",
        "german",
        "states",
        "transitions",
        "seconds",
        "transitions/s",
        "instructions/t",
        "packed bytes",
        "process bytes"
    );
    let mut found = Vec::new();
    for row in ROWS.iter().filter(|row| wanted(row.name)) {
        let Some(best) = best_of(row) else { continue };
        let counted = if row.counted { instructions(row) } else { None };
        let counted = counted.map_or(String::new(), |count| format!("{:.0}", count / best.transitions));
        let packed = if best.packed > 0.0 { format!("{:.1}", best.packed) } else { String::new() };
        println!(
            "{:42} {:>9} {:>11} {:>8.2} {:>13.0} {counted:>14} {packed:>12} {:>13.1}",
            row.name,
            best.states,
            best.transitions,
            best.seconds,
            best.transitions / best.seconds,
            best.memory / best.states
        );
        found.push((row, best));
    }
    same_systems(&found);
}

/// The rows of one system must have the same states and transitions, or the table compares different things.
fn same_systems(found: &[(&Row, Found)]) {
    for (row, one) in found {
        for (other, two) in found.iter().filter(|(other, _)| other.system == row.system) {
            let equal = (one.states, one.transitions) == (two.states, two.transitions);
            assert!(equal, "{} and {} explore different systems", row.name, other.name);
        }
    }
}

fn best_of(row: &Row) -> Option<Found> {
    let peer = if row.checker == Checker::Trivium { None } else { Some(built(row, true)?) };
    let runs = (0..ROUNDS).map(|_| match &peer {
        None => run_apart(row.system),
        Some(program) => run_peer(row, program),
    });
    runs.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

/// All instructions of a run but those that read the protocol.
fn instructions(row: &Row) -> Option<f64> {
    match row.checker {
        Checker::Trivium => Some(counted(&mut apart::apart(row.system))? - counted(&mut apart::apart(NOTHING))?),
        // Valgrind does not know each host's newest instructions.
        checker => counted(&mut peer(checker, &built(row, false)?)),
    }
}

/// The instructions of a process, by valgrind.
fn counted(command: &mut Command) -> Option<f64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let out = valgrind.arg(command.get_program()).args(command.get_args()).output();
    let Ok(out) = out else {
        println!("valgrind is not installed: instructions are not counted");
        return None;
    };
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    let number = text.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, number)| number.trim().parse());
    Some(number.unwrap_or_else(|| panic!("{text}")).expect("a number"))
}

/// The text of a model for a peer.
fn model(row: &Row) -> String {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(tests.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    match (row.system, row.checker) {
        (THREE, Checker::Rumur) => read("tests/rumur/german.m"),
        (FOUR, Checker::Rumur) => read("tests/rumur/german.m").replacen("const N: 3;", "const N: 4;", 1),
        (THREE, _) => read("benches/peers/german.pml"),
        (FOUR, _) => format!("#define N 4\n{}", read("benches/peers/german.pml")),
        (system, checker) => {
            let write = if checker == Checker::Rumur { murphi } else { spin };
            write(&german(), &config(system).system, CHANNEL).unwrap_or_else(|e| panic!("{e}"))
        }
    }
}

/// A peer's program for a row, if the peer is installed. `native` makes it for this very processor.
fn built(row: &Row, native: bool) -> Option<PathBuf> {
    let name: String = row.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}{}", if native { "" } else { "-counted" }));
    std::fs::create_dir_all(&folder).expect("a folder of the build");
    std::fs::write(folder.join("model"), model(row)).expect("a folder of the build");
    let mut maker = match row.checker {
        Checker::Rumur => Command::new("rumur"),
        _ => Command::new("spin"),
    };
    match row.checker {
        Checker::Rumur => {
            maker.args(["--deadlock-detection", "off", "--symmetry-reduction", "off", "--threads", "1"]);
            maker.args(["-o", "pan.c", "model"])
        }
        _ => maker.args(["-a", "model"]),
    };
    let Ok(made) = maker.current_dir(&folder).output() else {
        println!("{}: {} is not installed", row.name, maker.get_program().to_string_lossy());
        return None;
    };
    assert!(made.status.success(), "{}: {}", row.name, String::from_utf8_lossy(&made.stderr));
    let mut cc = Command::new("cc");
    cc.args(["-O3", "-w", "-mcx16", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c", "-lpthread"]);
    if native {
        cc.arg("-march=native");
    }
    let compiled = cc.current_dir(&folder).status().expect("a C compiler, which Rust needs as well");
    assert!(compiled.success(), "{}: the model is not compiled", row.name);
    Some(folder.join("pan"))
}

fn peer(checker: Checker, program: &Path) -> Command {
    let mut command = Command::new(program);
    if checker == Checker::Spin {
        // A table of 2^20 places, and a stack that is deep enough for all of these.
        command.args(["-w20", "-m2000000"]);
    }
    command.stdout(Stdio::piped());
    command
}

fn run_peer(row: &Row, program: &Path) -> Found {
    let (text, seconds, memory) = watched(peer(row.checker, program));
    let number = |behind: &str| -> f64 {
        let before = text.rsplit_once(behind).map_or("", |(before, _)| before);
        let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next();
        digits.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("{text}"))
    };
    let (states, transitions) = match row.checker {
        Checker::Spin => {
            assert!(text.contains("errors: 0") && !text.contains("not completed"), "{text}");
            // The state before the process's first step, and the steps to it and to each first state of the model.
            let firsts = if row.system.starts_with("by hand") { 2.0 } else { 1.0 };
            (number(" states, stored") - 1.0, number(" transitions (= stored+matched)") - 1.0 - firsts)
        }
        _ => {
            assert!(text.contains("No error found"), "{text}");
            (number(" states, "), number(" rules fired"))
        }
    };
    Found { states, transitions, seconds, memory, packed: 0.0 }
}

/// Runs a program to its end: what it prints, its seconds, and the greatest memory that was seen.
fn watched(mut command: Command) -> (String, f64, f64) {
    let begun = Instant::now();
    let child = command.stdout(Stdio::piped()).spawn().expect("the program was built");
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        while let Some(memory) = peak(&status) {
            most = most.max(memory);
            std::thread::sleep(Duration::from_millis(2));
        }
        most
    });
    let out = child.wait_with_output().expect("a child process");
    let seconds = begun.elapsed().as_secs_f64();
    let memory = watch.join().expect("the watching thread");
    (String::from_utf8_lossy(&out.stdout).into_owned(), seconds, memory as f64)
}
