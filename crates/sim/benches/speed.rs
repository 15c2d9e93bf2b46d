//! How fast programs are simulated, all in one run: `make bench`.
//!
//! Rates are of the region of interest: of two runs that differ in its length, the difference of what was simulated by
//! the difference of the time. Instructions are counted as everywhere (`crates/guest`); times are the least of several.

#[path = "../tests/suite/bench/mod.rs"]
mod bench;

use bench::{Run, file, machine, text_program};
use std::cell::RefCell;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::time::Instant;
use trivium_guest::{
    AccessStep, Build, Call, CallStep, Executed, LoadStore, NodeOutcome, Processor, Program, ProgramFault, Shelf,
    Stage, Switching, Toolchain,
};
use trivium_sim::{Machine, SimResult};

/// What one run took, in seconds of the host, and what came out.
fn timed(run: &Run, times: u32) -> (f64, SimResult) {
    let mut all: Vec<_> = (0..times)
        .map(|_| {
            let begun = Instant::now();
            let result = run.right();
            (begun.elapsed().as_secs_f64(), result)
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.swap_remove(0)
}

/// Of a longer and a shorter run: seconds, instructions and remote misses of the difference.
struct Difference {
    seconds: f64,
    instructions: f64,
    misses: f64,
}

/// The differences of some runs, which take turns, since the machine is never quiet; of each time the least counts.
fn differences<const N: usize>(runs: [&Run; N], short: &[&str], long: &[&str], times: u32) -> [Difference; N] {
    let with = |run: &Run, args: &[&str]| Run { args: args.iter().map(|arg| arg.to_string()).collect(), ..run.clone() };
    let mut all = runs.map(|run| (timed(&with(run, short), 1), timed(&with(run, long), 1)));
    for _ in 1..times {
        for (run, (shorter, longer)) in runs.iter().zip(&mut all) {
            shorter.0 = shorter.0.min(timed(&with(run, short), 1).0);
            longer.0 = longer.0.min(timed(&with(run, long), 1).0);
        }
    }
    let misses = |result: &SimResult| (result.misses.read + result.misses.write + result.misses.upgrade) as f64;
    all.map(|(shorter, longer)| Difference {
        seconds: longer.0 - shorter.0,
        instructions: (longer.1.instructions - shorter.1.instructions) as f64,
        misses: misses(&longer.1) - misses(&shorter.1),
    })
}

/// The same C compiled for this machine, with `-O2` as the simulated programs are. (That it may use vectors makes no
/// difference to these two.)
fn native(name: &str) -> PathBuf {
    let toolchain = Toolchain::find().unwrap_or_else(|error| panic!("{error}"));
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("native-{name}"));
    let shelf = Shelf::of_user().unwrap_or_else(|error| panic!("{error}"));
    let mut compile = toolchain.command(shelf.library(), shelf.library());
    compile.args(["cc", "-O2", "-w", "-I"]).arg(file("programs/include"));
    compile.arg(file(&format!("programs/{name}.c"))).arg(file("crates/sim/benches/native.c"));
    assert!(compile.args(["-lm", "-o"]).arg(&program).status().expect("the C compiler starts").success());
    program
}

/// Seconds of a native program's region of interest.
fn native_seconds(program: &PathBuf, args: &[&str]) -> f64 {
    let output = Command::new(program).args(args).output().expect("the program starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).trim().parse::<f64>().expect("seconds")
}

/// One node beside the same C natively, for so many rounds (option `option`): `rounds` take some 0.3 s natively.
/// The two take turns, since the machine is never quiet, and the best of each counts.
fn one_node(name: &str, args: &[&str], option: &str, rounds: u32) {
    let with = |rounds: u32| -> Vec<String> {
        args.iter()
            .map(|arg| arg.to_string())
            .chain(["-c".into(), "0".into(), option.into(), rounds.to_string()])
            .collect()
    };
    let (short, long, few) = (with(rounds / 10), with(rounds), with(rounds / 20));
    let words = |args: &[String]| -> Vec<String> { args.to_vec() };
    let run = Run::of(name, &[]).nodes(1);
    let program = native(name);
    let (mut best_native, mut best_fast, mut instructions) = (f64::INFINITY, f64::INFINITY, 0.0);
    for _ in 0..4 {
        let long_words: Vec<&str> = long.iter().map(String::as_str).collect();
        best_native = best_native.min(native_seconds(&program, &long_words));
        let longer = timed(&Run { args: words(&long), ..run.clone() }, 1);
        let shorter = timed(&Run { args: words(&short), ..run.clone() }, 1);
        instructions = (longer.1.instructions - shorter.1.instructions) as f64;
        best_fast = best_fast.min((longer.0 - shorter.0) / instructions);
        instructions = longer.1.instructions as f64;
    }
    let native_each = best_native / instructions;
    let reference = Run { program: run.program.clone().by_reference(), ..run };
    let least = timed(&Run { args: words(&with(1.max(rounds / 200))), ..reference.clone() }, 1);
    let more = timed(&Run { args: words(&few), ..reference }, 1);
    let slow = (more.0 - least.0) / (more.1.instructions - least.1.instructions) as f64;
    println!(
        "one node, {name:7} {:28} {:7.0} MIPS, {:5.2} times native ({best_native:.2} s); reference build {:5.0} MIPS, {:5.1} times native",
        long.join(" "),
        1e-6 / best_fast,
        best_fast / native_each,
        1e-6 / slow,
        slow / native_each,
    );
}

fn many_nodes(name: &str, latency: &str, short: &[&str], long: &[&str]) {
    let run = Run::of(name, &[]).nodes(32).on(machine("typhoon", &[("network.latency", latency)]));
    let [fast, two] = differences([&run, &run.clone().jobs(2)], short, long, 5);
    println!(
        "32 nodes, {name:7} {:28} {:7.1} MIPS in sum, {:8.0} remote misses a second, {:5.0} instructions a miss, latency {latency}; two host threads {:.2} times as fast",
        long.join(" "),
        fast.instructions / fast.seconds / 1e6,
        fast.misses / fast.seconds,
        fast.instructions / fast.misses,
        fast.seconds / two.seconds,
    );
}

/// EM3D under its own protocol, which misses most in the TLB, beside the same machine without one: the length of the region differs.
fn with_tlb() {
    let em3d = Run::of("em3d-update", &[]).nodes(32).under(&["stache", "deferred-update"]);
    let without = em3d.clone().on(Machine { tlb: None, ..machine("typhoon", &[]) });
    let arguments = |rounds| ["-t", "192000", "-p", "0", "-w", "1", "-i", rounds];
    let [with, without] = differences([&em3d, &without], &arguments("2"), &arguments("12"), 5);
    println!(
        "32 nodes, custom EM3D, an iteration              {:8.2} s, {:.2} times as long as without a TLB (bar 1.5)",
        with.seconds / 10.0,
        with.seconds / without.seconds
    );
}

/// Says that it waits, to everything.
struct Waits;

impl Processor for Waits {
    fn access(&mut self, _: Executed, _: LoadStore) -> Result<AccessStep, ProgramFault> {
        Ok(AccessStep::Wait)
    }

    fn poll(&mut self, _: Executed) -> Result<AccessStep, ProgramFault> {
        Ok(AccessStep::Wait)
    }

    fn call(&mut self, _: Executed, _: &Call) -> Result<CallStep, ProgramFault> {
        Ok(CallStep::Wait)
    }
}

/// Nodes that take turns and do nothing else: nanoseconds from one to the next and back to the host.
fn turns(program: &Program) -> f64 {
    const TURNS: u32 = 100_000;
    let stage = Stage::new(program, Build::Fast).expect("a stage");
    let make = |number| stage.node(number, &[], Rc::new(RefCell::new(Waits))).expect("a node");
    let mut nodes: Vec<_> = (0..32).map(make).collect();
    let begun = Instant::now();
    (0..TURNS).for_each(|_| nodes.iter_mut().for_each(|node| assert_eq!(node.resume(), NodeOutcome::Suspended)));
    begun.elapsed().as_secs_f64() / f64::from(TURNS) / nodes.len() as f64 * 1e9
}

/// The ways in which nodes can take turns, one after the other, beside each other in one run.
fn switches() {
    let waits = text_program(r#"(module (func (export "_start")))"#);
    let em3d = Run::of("em3d", &["-t", "192000", "-i", "2", "-c", "0"]).nodes(32);
    let mut least = vec![(f64::INFINITY, f64::INFINITY); Switching::all().len()];
    for _ in 0..3 {
        for (least, switching) in least.iter_mut().zip(Switching::all()) {
            least.0 = least.0.min(turns(&waits.clone().switching_by(*switching)));
            let run = Run { program: em3d.program.clone().switching_by(*switching), ..em3d.clone() };
            least.1 = least.1.min(timed(&run, 1).0);
        }
    }
    for ((turn, seconds), switching) in least.iter().zip(Switching::all()) {
        println!(
            "32 nodes, {switching:?}: {turn:.0} ns a turn; em3d -t 192000 -i 2 -c 0 {seconds:.2} s from start to end"
        );
    }
}

fn misses() {
    let [fast] = differences([&Run::of("pingpong", &[])], &["-n", "1000"], &["-n", "100000"], 3);
    println!(
        "2 nodes,  pingpong                             {:8.0} remote misses a second",
        fast.misses / fast.seconds
    );
}

/// Every node stores to its part of 16 MB of shared memory and then loads from all others'.
const WIDE: &str = r#"(module
    (import "trivium" "node" (func $node (result i32)))
    (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
    (import "trivium" "barrier" (func $barrier))
    (memory 1)
    (func (export "_start") (local $base i32) (local $i i32)
        (local.set $base (call $alloc (i64.const 16777216) (i32.const 1) (i32.const 0) (i32.const 0)))
        (loop $mine
            (i32.store (i32.add (local.get $base) (i32.add (i32.mul (call $node) (i32.const 65536)) (local.get $i))) (i32.const 1))
            (br_if $mine (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 64))) (i32.const 65536))))
        (call $barrier)
        (local.set $i (i32.const 0))
        (loop $all
            (if (i32.ne (i32.load (i32.add (local.get $base) (local.get $i))) (i32.const 1)) (then unreachable))
            (br_if $all (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 65536))) (i32.const 16777216))))))"#;

/// The most memory that this process has had, in MB.
fn most_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}

fn wide() {
    let (seconds, result) = timed(&Run::with(text_program(WIDE), &[]).nodes(256), 1);
    println!(
        "256 nodes, 16 MB of shared memory                {:8.0} MB of memory at most, {seconds:.2} s, {} remote misses",
        most_memory(),
        result.misses.read + result.misses.write
    );
}

/// The command line on a small program, from start to end, the second time.
fn start_to_end() {
    let trivium = file("target/release/trivium");
    let mut seconds = f64::NAN;
    for _ in 0..2 {
        let begun = Instant::now();
        let hello = file("programs/hello.c");
        let run = Command::new(&trivium)
            .arg("sim")
            .arg(hello)
            .args(["--protocol", "stache", "--machine", "typhoon", "--nodes", "4"])
            .output();
        match run {
            Ok(output) if output.status.success() => seconds = begun.elapsed().as_secs_f64(),
            _ => return println!("hello.c from start to end: not measured, there is no {}", trivium.display()),
        }
    }
    println!("hello.c on 4 nodes, from start to end            {seconds:8.2} s");
}

fn main() {
    // `cargo test --benches` asks every benchmark to do nothing.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    // `make bench` measures all; names given to `cargo bench` some.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_chosen = |part: &str| chosen.is_empty() || chosen.iter().any(|name| name == part);
    if is_chosen("wide") {
        wide();
    }
    if is_chosen("hello") {
        start_to_end();
    }
    if is_chosen("one") {
        one_node("em3d", &["-t", "2000"], "-i", 80_000);
        one_node("em3d", &["-t", "16000"], "-i", 5_000);
        one_node("matmul", &["-n", "200"], "-r", 40);
    }
    if is_chosen("switch") {
        switches();
    }
    if is_chosen("tlb") {
        with_tlb();
    }
    if is_chosen("misses") {
        misses();
    }
    for latency in ["100", "1000"].into_iter().filter(|_| is_chosen("many")) {
        many_nodes("em3d", latency, &["-t", "192000", "-i", "2", "-c", "0"], &["-t", "192000", "-i", "10", "-c", "0"]);
        many_nodes("matmul", latency, &["-n", "64", "-c", "0"], &["-n", "256", "-c", "0"]);
    }
}
