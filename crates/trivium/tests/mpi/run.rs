//! `mpirun -n N trivium run`: programs whose nodes are ranks give the answers of those whose nodes are threads, and end well however they
//! end. Needs the feature `mpi` (`make mpi`).

use crate::harness::live::{CUSTOM, PROGRAMS, SEQUENTIAL, fits};
use crate::harness::ranks::job;
use crate::harness::{self, Run, command, root, trivium};
use crate::slow;
use crate::viewer::live::{count, events, is_on, is_valid};
use crate::viewer::number;
use crate::{ended, refused, start};
use crate::{of_job, ranks_of};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const TRIVIUM: &str = env!("CARGO_BIN_EXE_trivium");
fn mpirun(ranks: u32, args: &[&str]) -> Command {
    let mut command = harness::ranks::mpirun(ranks, args);
    command.current_dir(root());
    command
}

/// The command line of a run of a program under protocols.
fn arguments<'a>(path: &'a str, protocols: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["run", path, "--max-seconds", "120", "--format", "json"];
    protocols.iter().for_each(|protocol| args.extend(["-p", protocol]));
    args.extend(more);
    args
}

fn live(path: &str, protocols: &[&str], ranks: u32, more: &[&str]) -> Run {
    ended(start(mpirun(ranks, &arguments(path, protocols, more))))
}

/// Its answer is right, as the program itself says.
#[track_caller]
fn right(program: &str, protocols: &[&str], ranks: u32, args: &[&str]) {
    let more: Vec<&str> = if args.is_empty() { Vec::new() } else { [&["--"], args].concat() };
    let result = live(&format!("programs/{program}"), protocols, ranks, &more).json(0);
    let output = result["output"].as_str().unwrap();
    let is_right = output.contains("ok") || output.contains("has counted to") || ranks < 2;
    assert!(is_right, "{program} under {protocols:?} on {ranks}: {output}");
    assert_eq!((&result["transport"], &result["nodes"]), (&"mpi".into(), &ranks.into()));
}

/// Every program once, in parts of which each is a test: those at `part`, `part + parts` and so on of each list; of these half, unless all is asked for.
fn some_are_right(part: usize, parts: usize) {
    for (at, (program, args)) in slow::one_in(2, PROGRAMS.into_iter().enumerate().skip(part).step_by(parts)) {
        right(program, &[SEQUENTIAL[at % SEQUENTIAL.len()]], [2, 3, 4][at % 3], args);
    }
    for (at, (program, protocols)) in slow::one_in(2, CUSTOM.into_iter().enumerate().skip(part).step_by(parts)) {
        right(program, protocols, [4, 2, 3][at % 3], &[]);
    }
}

/// A program in C*, by what a protocol does with loads and stores and by its calls, and through a tree of the ranks.
#[test]
fn c_star_prints_the_same_over_mpi() {
    let expected = include_str!("../c-star/combined.txt");
    for (protocol, ranks, flags) in [("stache", 3, "--cc="), ("uncached", 4, "--cc=-DCSTAR_TREES")] {
        let result = live("crates/trivium/tests/c-star/combined.cs", &[protocol], ranks, &[flags]).json(0);
        assert_eq!(result["output"].as_str(), Some(expected), "{protocol}");
    }
}

mod programs_are_right_over_mpi {
    macro_rules! parts {
        ($($name:ident: $part:expr),+) => {
            const PARTS: &[usize] = &[$($part),+];
            $(
                #[test]
                fn $name() {
                    assert!(PARTS.iter().copied().eq(0..PARTS.len()));
                    super::some_are_right($part, PARTS.len());
                }
            )+
        };
    }
    parts!(
        part_0: 0, part_1: 1, part_2: 2, part_3: 3, part_4: 4, part_5: 5, part_6: 6, part_7: 7, part_8: 8, part_9: 9, part_10: 10
    );
}

/// Nodes refuse at random whatever may be refused.
#[test]
fn copies_are_right_over_mpi_whatever_is_refused() {
    let short = ["--block", "128", "--set", "protocol.requests=2", "--set", "protocol.replies=2", "--"];
    let cases = [("fbcopy", "fbcopy", 2, &["-w", "16"]), ("anycopy", "fbcopy-whole", 3, &["-r", "2"])];
    for (program, protocol, ranks, args) in cases {
        let protocol = format!("crates/trivium/tests/refusing/{protocol}.tri");
        let more = [&short[..], args].concat();
        let result = live(&format!("programs/{program}.c"), &[&protocol], ranks, &more).json(0);
        assert!(result["output"].as_str().unwrap().contains("ok"), "{program} on {ranks}: {result}");
    }
}

#[test]
fn programs_in_split_c_are_right_over_mpi() {
    right("split-c/em3d.sc", &["swcc"], 3, &[]);
    right("split-c/samplesort.sc", &["stache"], 2, &[]);
}

#[test]
#[ignore = "minutes"]
fn every_program_is_right_under_every_protocol_over_mpi() {
    for ranks in [1, 2, 3, 4, 8] {
        for protocol in SEQUENTIAL {
            for (program, args) in PROGRAMS.iter().filter(|(program, _)| fits(program, ranks)) {
                right(program, &[protocol], ranks, args);
            }
        }
        for (program, protocols) in CUSTOM {
            right(program, protocols, ranks, &[]);
        }
    }
}

/// What does not depend on timing is what threads count.
#[test]
fn faults_and_messages_are_those_of_threads() {
    are_those_of_threads(&[
        ("em3d.c", &["stache"], &["--", "-n", "200", "-i", "2"]),
        ("em3d-update.c", &["stache", "deferred-update"], &["--", "-n", "200"]),
    ]);
}

#[test]
fn faults_and_messages_of_more_are_those_of_threads() {
    are_those_of_threads(&[
        ("em3d.c", &["stache"], &["--", "-n", "2000", "-i", "2", "-z", "1", "-f", "2"]),
        ("matmul.c", &["msi"], &["--", "-n", "24"]),
    ]);
}

/// Programs with their protocols and arguments.
fn are_those_of_threads(runs: &[(&str, &[&str], &[&str])]) {
    for &(program, protocols, args) in runs {
        let path = format!("programs/{program}");
        let over_mpi = live(&path, protocols, 4, args).json(0);
        let on_threads = trivium(&arguments(&path, protocols, &[&["--nodes", "4"], args].concat())).json(0);
        for key in ["misses", "messages", "bytes", "instructions", "output", "hashes", "memory", "nodes", "args"] {
            assert_eq!(over_mpi[key], on_threads[key], "{program}: {key}");
        }
        let names = |result: &serde_json::Value| harness::keys(result).join(" ");
        assert_eq!(names(&over_mpi), names(&on_threads));
    }
}

/// Lists and arrays reach a call on every rank as on threads; what they cannot be ends the job.
#[test]
fn lists_and_arrays_are_passed_to_calls_on_ranks() {
    let program = "crates/trivium/tests/calls/passes.c";
    let protocols = ["msi", "crates/trivium/tests/calls/mailbox.tri"];
    let lines = |run: Run| {
        let output = run.json(0)["output"].as_str().unwrap().to_string();
        let mut lines: Vec<String> = output.lines().map(String::from).collect();
        lines.sort();
        lines
    };
    let over_mpi = lines(live(program, &protocols, 3, &[]));
    assert_eq!(over_mpi, ["0 12", "219", "23 3", "4"]);
    assert_eq!(over_mpi, lines(trivium(&arguments(program, &protocols, &["--nodes", "3"]))));
    let told = "mailbox.post: element 2 of `w`: 300 is outside 0..200";
    let wrong = ["run", program, "-p", protocols[0], "-p", protocols[1], "--", "e"];
    ended(start(mpirun(3, &wrong))).refuses(1, &[told, "passes.c:"]);
}

/// One message, on standard error, names what went wrong, and all ranks have ended.
#[test]
fn whatever_ends_a_run_ends_all_ranks() {
    let all = [
        ("deadlock.c", 2, 1, &["deadlock: nothing can happen any more", "node 1: waits at the barrier"][..]),
        ("divide.c", 4, 1, &["divided by zero", "programs/bad/divide.c:4", "note: node 0 in divide"]),
        ("null.c", 2, 1, &["a null pointer was used", "null.c:9"]),
        ("recursion.c", 2, 1, &["the call stack is full"]),
        ("trap.c", 3, 1, &["the program aborted"]),
        ("wrong-answer.c", 2, 1, &["1 + 1 is not 3"]),
        ("unknown-import.c", 2, 2, &["trivium.teleport"]),
        ("exhaust.c", 2, 1, &["shared memory"]),
        ("wild-pointer.c", 2, 1, &["0x30000000"]),
        ("out-of-bounds.c", 3, 1, &["note: node"]),
        ("syntax.c", 2, 2, &["syntax.c:3"]),
    ];
    for &(program, ranks, code, words) in slow::all_or(&all[..], &all[..3]) {
        let begun = Instant::now();
        let run = live(&format!("programs/bad/{program}"), &["stache"], ranks, &[]);
        let threads =
            trivium(&arguments(&format!("programs/bad/{program}"), &["stache"], &["--nodes", &ranks.to_string()]));
        assert_eq!((run.code, run.code), (Some(code), threads.code), "{program}: {run:?}");
        words.iter().for_each(|word| assert!(run.err.contains(word), "{program}: {run:?}"));
        assert_eq!(run.err.matches("error: ").count(), threads.err.matches("error: ").count(), "{run:?}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{program}: {:?}", begun.elapsed());
    }
    for (why, what) in [("0", "is away from its home, node 0"), ("2", "but node 1 binds 0x40000000 to `msi`")] {
        let run = live("programs/bad/bind.c", &["stache", "msi"], 2, &["--", why]);
        assert!(run.code == Some(1) && run.err.contains(what), "{why}: {run:?}");
    }
    live("programs/bad/bind.c", &["stache", "msi"], 3, &["--", "4"]).json(0);
    let away = live("programs/bad/start.c", &["stache"], 2, &["--", "0"]);
    assert!(away.code == Some(1) && away.err.contains("block 64 is away from its home, node 0"), "{away:?}");
    live("programs/bad/start.c", &["stache"], 4, &["--", "4"]).json(0);
}

/// The code with which a node leaves `main` before others becomes that of all ranks.
#[test]
fn the_code_of_a_node_that_leaves_early_is_that_of_the_job() {
    let folder = crate::harness::folder();
    let program = folder.path().join("early.c");
    let text =
        "#include \"trivium.h\"\nint main(void) { if (trivium_node() == 1) return 7; trivium_barrier(); return 0; }\n";
    std::fs::write(&program, text).unwrap();
    let run = live(program.to_str().unwrap(), &["stache"], 3, &[]);
    assert!(run.code == Some(7) && run.err.contains("node 1: has left main, with code 7"), "{run:?}");
}

#[test]
fn allocations_that_differ_end_all_ranks() {
    let folder = crate::harness::folder();
    let program = folder.path().join("differ.c");
    let text = "#include \"trivium.h\"\nint main(void) {\n    trivium_alloc_on(0, trivium_node() == 1 ? 128 : 64);\n    trivium_barrier();\n}\n";
    std::fs::write(&program, text).unwrap();
    let run = live(program.to_str().unwrap(), &["stache"], 3, &[]);
    assert!(run.code == Some(1) && run.err.contains("but another node asked for"), "{run:?}");
    assert_eq!(run.err.matches("error:").count(), 1, "{run:?}");
}

#[test]
fn a_rank_may_be_alone() {
    let result = ended(start(mpirun(1, &["run", "programs/hello.c", "-p", "stache", "--format", "json"]))).json(0);
    assert_eq!((&result["transport"], &result["nodes"]), (&"mpi".into(), &1.into()));
}

#[test]
fn a_time_limit_ends_all_ranks_with_what_is_known() {
    let args = ["run", "programs/bad/endless.c", "-p", "stache", "--max-seconds", "1", "--format", "json"];
    let result = ended(start(mpirun(3, &args))).json(3);
    assert!(result["incomplete"].as_str().unwrap().contains("1 seconds have passed"), "{result}");
    assert!(result["instructions"].as_u64().unwrap() > 100_000);
}

/// A program that does not end, on three ranks that have begun; the result goes into a file.
fn endless(out: &Path) -> (Child, Vec<String>) {
    endless_with(out, &[], &[])
}

/// The same, with variables of the environment, and with more options.
fn endless_with(out: &Path, variables: &[(&str, &Path)], more: &[&str]) -> (Child, Vec<String>) {
    let out = out.to_str().unwrap();
    let mut command = mpirun(3, &[&["run", "programs/bad/endless.c", "-p", "stache", "--out", out], more].concat());
    command.envs(variables.iter().copied());
    let child = start(command);
    std::thread::sleep(Duration::from_secs(4));
    let ranks = ranks_of(&child);
    assert_eq!(ranks.len(), 3, "{ranks:?}");
    (child, ranks)
}

fn signal(name: &str, process: &str) {
    assert!(Command::new("kill").args([name, process]).status().unwrap().success());
}

/// So long may all ranks take to end, behind a launcher that looks once a second, on a machine that has other work.
const SOON: Duration = Duration::from_secs(8);

#[test]
fn who_stops_a_rank_ends_the_run_with_what_is_known() {
    let folder = crate::harness::folder();
    let out = folder.path().join("result");
    let (child, ranks) = endless(&out);
    let begun = Instant::now();
    signal("-TERM", &ranks[1]);
    let run = ended(child);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains("incomplete: it was interrupted") && begun.elapsed() < SOON, "{run:?}");
    assert!(std::fs::read_to_string(&out).unwrap().contains("incomplete    it was interrupted"));
}

#[test]
fn an_interrupt_of_the_launcher_ends_all_ranks() {
    let folder = crate::harness::folder();
    let (child, ranks) = endless(&folder.path().join("result"));
    let begun = Instant::now();
    signal("-INT", &child.id().to_string());
    let run = ended(child);
    assert!(run.code != Some(0) && begun.elapsed() < SOON, "{run:?}");
    nobody_is_left(&ranks);
}

#[test]
fn who_kills_a_rank_ends_the_job_without_a_result() {
    let folder = crate::harness::folder();
    let out = folder.path().join("result");
    let (child, ranks) = endless(&out);
    signal("-KILL", &ranks[2]);
    let begun = Instant::now();
    let run = ended(child);
    assert!(run.code != Some(0) && of_job(&run.out).is_empty(), "{run:?}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    nobody_is_left(&ranks);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is half written");
}

/// A library that makes a process leave with code 0, without a word to MPI, when it gets a signal.
const LEAVES: &str = "#include <signal.h>\n#include <unistd.h>\n\
    static void leave(int signal) { (void)signal; _exit(0); }\n\
    __attribute__((constructor)) static void begin(void) { signal(SIGUSR2, leave); }\n";

#[test]
fn a_rank_that_leaves_early_ends_the_job_without_a_result() {
    let folder = crate::harness::folder();
    let (source, library, results) =
        (folder.path().join("leaves.c"), folder.path().join("leaves.so"), folder.path().join("out"));
    std::fs::write(&source, LEAVES).unwrap();
    std::fs::create_dir(&results).unwrap();
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(compiled.unwrap().success());
    let (child, ranks) = endless_with(&results.join("result"), &[("LD_PRELOAD", &library)], &[]);
    signal("-USR2", &ranks[1]);
    let begun = Instant::now();
    let run = ended(child);
    assert!(of_job(&run.out).is_empty() && begun.elapsed() < Duration::from_secs(10), "{run:?}");
    nobody_is_left(&ranks);
    assert_eq!(std::fs::read_dir(&results).unwrap().count(), 0, "nothing is half written");
    // MPICH's launcher takes the code 0 for a good end.
    let launcher = Command::new("mpirun").arg("--version").output().unwrap();
    if String::from_utf8_lossy(&launcher.stdout).contains("Open MPI") {
        assert!(run.code != Some(0), "{run:?}");
    }
}

/// A rank that does not answer keeps nobody. The trace lacks it, or is not there if it is the rank that writes it.
#[test]
fn who_does_not_answer_is_given_up() {
    for &stopped in slow::all_or(&[2, 0][..], &[2]) {
        let folder = crate::harness::folder();
        let trace = folder.path().join("trace.json");
        let (child, ranks) = endless_with(&folder.path().join("result"), &[], &["--trace", trace.to_str().unwrap()]);
        signal("-STOP", &ranks[stopped]);
        let begun = Instant::now();
        signal("-TERM", &ranks[1]);
        let run = ended(child);
        assert_eq!(run.code, Some(3), "{stopped}: {run:?}");
        assert!(run.err.contains("it was interrupted"), "{stopped}: {run:?}");
        assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
        nobody_is_left(&ranks);
        if stopped == 0 {
            assert!(run.err.contains("no trace is written") && !trace.exists(), "{run:?}");
            continue;
        }
        assert!(run.err.contains("the trace lacks all that was done by node 2: "), "{run:?}");
        let events = events(&trace);
        is_valid(&events, 3);
        let computed = [0, 1, 2].map(|node| count(&events, |event| is_on(event, node, 0)) > 0);
        assert_eq!(computed, [true, true, false]);
    }
}

/// What a run of ranks says, and the events of its trace.
fn traced(program: &str, protocol: &str, ranks: u32, args: &[&str]) -> (Run, Vec<Value>) {
    let folder = crate::harness::folder();
    let file = folder.path().join("trace.json");
    let more = [&["--trace", file.to_str().unwrap()], args].concat();
    let run = live(&format!("programs/{program}"), &[protocol], ranks, &more);
    assert!(file.exists(), "{run:?}");
    assert_eq!(run.err.matches("trace: ").count(), 1, "one rank has written it: {run:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    (run, events(&file))
}

/// How many arrows a run has left out of its trace, as it says: the clocks of processes agree as nearly as the host lets them.
fn left_out(run: &Run) -> u64 {
    let line = run.err.lines().find(|line| line.contains("left out of the trace: by the clocks"));
    line.map_or(0, |line| line.split(' ').nth(1).unwrap().replace(',', "").parse().unwrap())
}

/// All that the result of a run without a region of interest counts is in its trace, and nothing else, but for so many arrows.
fn is_whole(events: &[Value], ranks: u64, result: &Value, left_out: u64) {
    is_valid(events, usize::try_from(ranks).unwrap());
    let mut missing = 0;
    for (name, sent) in result["messages"].as_object().unwrap() {
        let arrows = |end: &str| count(events, |event| event["ph"] == end && event["name"] == **name) as u64;
        let handlers = count(events, |event| {
            event["ph"] == "X" && event["name"] == **name && event["args"]["disposition"] != "held"
        });
        let drawn = arrows("s");
        assert!(drawn == arrows("f") && drawn <= sent.as_u64().unwrap(), "{name}");
        missing += sent.as_u64().unwrap() - drawn;
        assert!(handlers as u64 >= sent.as_u64().unwrap(), "{name}");
    }
    assert_eq!(missing, left_out);
    let stalls = |name: &str| count(events, |event| event["name"] == name) as u64;
    let faults = |key: &str| result["misses"][key].as_u64().unwrap();
    assert_eq!([stalls("read stall"), stalls("write stall")], [faults("read"), faults("write") + faults("upgrade")]);
    for (node, track) in (0..ranks).flat_map(|node| [(node, 0), (node, 1)]) {
        assert!(count(events, |event| is_on(event, node, track)) > 0, "node {node} has nothing on track {track}");
    }
}

#[test]
fn what_all_ranks_did_is_in_one_trace() {
    for (ranks, args) in
        [(2, &["--", "-n", "6"][..]), (3, &["--", "-n", "6"]), (3, &["--delays", "7", "--", "-n", "6"])]
    {
        let (run, events) = traced("litmus.c", "msi", ranks, args);
        is_whole(&events, ranks.into(), &run.json(0), left_out(&run));
    }
    // More than goes at a time. What the region of interest has is not all.
    let (run, events) = traced("em3d.c", "stache", 2, &["--", "-n", "4000", "-i", "8", "-z", "1"]);
    let sent: u64 = run.json(0)["messages"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert!(is_valid(&events, 2) as u64 + left_out(&run) == sent && sent > 20_000, "{sent}");
    let to = events.iter().filter(|event| event["cat"] == "stall").map(|event| number(event, "ts")).max().unwrap();
    // A hundredth of that time: on a busy host a second run may well be many times as fast as the first.
    let window = to / 100;
    let until = ["--trace-to", &(window / 1000).to_string(), "--", "-n", "4000", "-i", "8", "-z", "1"];
    let (_, part) = traced("em3d.c", "stache", 2, &until);
    is_valid(&part, 2);
    assert!(part.iter().filter(|event| event["cat"] == "stall").all(|event| number(event, "ts") <= window));
    assert!(part.len() < events.len(), "{} {}", part.len(), events.len());
}

/// A test that finds nothing wrong with a wrong trace shows nothing.
#[test]
fn a_trace_that_lacks_something_of_a_rank_is_found() {
    let (run, events) = traced("litmus.c", "msi", 2, &["--", "-n", "6"]);
    let result = run.json(0);
    let left_out = left_out(&run);
    is_whole(&events, 2, &result, left_out);
    let first = |wanted: fn(&Value) -> bool| events.iter().position(wanted).unwrap();
    let without = |at: usize| [&events[..at], &events[at + 1..]].concat();
    let of_one = |event: &Value| event["pid"] == json!(1001) && event["ph"] != "M";
    let moved = |by: i64| {
        let mut moved = events.clone();
        for event in moved.iter_mut().filter(|event| of_one(event)) {
            let time = i64::try_from(number(event, "ts")).unwrap();
            event["ts"] = json!(time.saturating_add(by).max(0));
        }
        moved
    };
    for (what, wrong) in [
        ("the end of an arrow", without(first(|event| event["ph"] == "f"))),
        ("the beginning of an arrow", without(first(|event| event["ph"] == "s"))),
        ("a stall", without(first(|event| event["cat"] == "stall" && event["name"] == "read stall"))),
        ("a track", without(first(|event| event["ph"] == "M" && event["name"] == "thread_name"))),
        ("a rank", events.iter().filter(|event| !of_one(event)).cloned().collect()),
        ("the handlers", events.iter().filter(|event| !is_on(event, 1, 1)).cloned().collect()),
        ("a clock that is behind", moved(1_000_000_000)),
    ] {
        assert!(std::panic::catch_unwind(|| is_whole(&wrong, 2, &result, left_out)).is_err(), "{what} is not missed");
    }
}

/// That is when one wants it most.
#[test]
fn a_run_of_ranks_that_fails_leaves_its_trace() {
    for ranks in [2, 3] {
        let (run, events) = traced("bad/deadlock.c", "stache", ranks, &[]);
        run.json(1);
        assert!(run.err.contains("deadlock: nothing can happen any more"), "{run:?}");
        is_valid(&events, usize::try_from(ranks).unwrap());
        // Whoever waits for ever is seen waiting.
        for node in 1..u64::from(ranks) {
            let waits = |event: &Value| is_on(event, node, 0) && event["args"]["what"] == "the barrier";
            assert!(count(&events, waits) > 0, "{node}: {events:?}");
        }
    }
    let (run, events) = traced("bad/divide.c", "stache", 3, &[]);
    is_valid(&events, 3);
    assert!(run.code == Some(1) && run.err.contains("divided by zero"), "{run:?}");
    assert!((0..3).all(|node| count(&events, |event| is_on(event, node, 0)) > 0), "{events:?}");
}

fn nobody_is_left(ranks: &[String]) {
    let begun = Instant::now();
    // One that has ended and that nobody has asked about yet has no command line.
    let is_there = |rank: &String| {
        std::fs::read(Path::new("/proc").join(rank).join("cmdline")).is_ok_and(|words| !words.is_empty())
    };
    while ranks.iter().any(is_there) {
        assert!(begun.elapsed() < Duration::from_secs(10), "{ranks:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// An object is at home where a program of ranks places it, and what ranks do not agree about is told.
#[test]
fn objects_are_placed_over_mpi() {
    let folder = crate::harness::folder();
    let place = |home: &str| {
        let text = format!(
            "#include \"trivium.h\"\n#include \"trivium/flash-lock.h\"\nint main(void) {{\n    \
             trivium_place(\"flash-lock\", \"lock\", 3, {home});\n    \
             if (trivium_node() == 1) {{ flash_lock_acquire(3); flash_lock_release(3); }}\n    return 0;\n}}\n"
        );
        harness::in_file(&folder, "place.c", &text)
    };
    let sent = |home: &str| {
        let result = live(&place(home), &["flash-lock"], 3, &[]).json(0);
        result["messages"]["flash-lock.LockReq"].as_u64().unwrap_or(0)
    };
    assert_eq!((sent("0"), sent("1")), (1, 0));
    let differs = ended(start(mpirun(3, &arguments(&place("trivium_node()"), &["flash-lock"], &[]))));
    let said = "node 0 places lock 3 of flash-lock at node 0, but node 1 places lock 3 of flash-lock at node 1";
    assert!(differs.code == Some(1) && differs.err.contains(said), "{differs:?}");
}

/// Something is said once, and all ranks end with its exit code.
#[track_caller]
#[test]
fn what_cannot_be_run_is_refused_once() {
    let hello = |more: &[&'static str]| mpirun(2, &[&["run", "programs/hello.c"], more].concat());
    let stache = |more: &[&'static str]| hello(&[&["-p", "stache"], more].concat());
    let mut two = mpirun(1, &["run", "programs/hello.c", "-p", "stache"]);
    two.args([":", "-n", "1", TRIVIUM, "run", "programs/hello.c", "-p", "msi"]);
    refused(vec![
        (hello(&["-p", "stach"]), "did you mean `stache`?"),
        (hello(&[]), "arguments were not provided"),
        (stache(&["--nodes", "3"]), "--nodes 3 was asked for, but 2 ranks were started"),
        (stache(&["--transport", "threads"]), "2 ranks were started, and with --transport threads"),
        (stache(&["--dir", "/nowhere"]), "no such folder"),
        (stache(&["--out", "/nowhere/at/all"]), "/nowhere/at/all"),
    ]);
    refused(vec![
        (stache(&["--record", "target/never.rec"]), "--record is for nodes that are threads"),
        (stache(&["--trace", "/nowhere/at/all.json"]), "/nowhere/at/all.json"),
        (stache(&["--trace-from", "5"]), "were not provided: --trace <FILE>"),
        (mpirun(2, &["run", "programs/splitphase.c", "-p", "stache"]), "add --protocol swcc"),
        (two, "the ranks do not agree on the command line"),
    ]);
    trivium(&["run", "programs/hello.c", "-p", "stache", "--transport", "mpi"]).refuses(2, &["mpirun -n NODES"]);
}

#[test]
fn the_launcher_of_another_mpi_is_noticed() {
    let run = || {
        let mut alone = command(&["run", "programs/hello.c", "-p", "stache"]);
        // This MPI does not hear of PMI, so that each process believes it is alone.
        let output = alone.env("PMI_SIZE", "2").env("PMI_RANK", "0").output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = run();
    assert!(code != Some(0), "{error}");
    assert!(code != Some(2) || error.contains("but to the MPI that it was built with"), "{error}");
}

/// Every node reads the data of the first rank's host, and only the first opens files.
#[test]
fn only_the_first_rank_opens_files() {
    let folder = crate::harness::folder();
    let [here, elsewhere] = ["here", "elsewhere"].map(|name| folder.path().join(name));
    std::fs::create_dir_all(here.join("data/deep")).unwrap();
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::write(here.join("data/deep/numbers"), "40 2").unwrap();
    std::fs::write(here.join("mine.tri"), include_str!("../../../../protocols/stache.tri")).unwrap();
    let text = r#"
#include <stdio.h>
#include "trivium.h"
int main(void) {
    int one = 0, two = 0, typed = 0;
    FILE *file = fopen("deep/numbers", "r");
    if (!file || fscanf(file, "%d %d", &one, &two) != 2) trivium_fail("the numbers cannot be read");
    if (scanf("%d", &typed) != 1) trivium_fail("nothing was typed");
    if (fopen("deep/missing", "r")) trivium_fail("there is a file too many");
    printf("node %d: %d\n", trivium_node(), one + two + typed);
    return 0;
}
"#;
    std::fs::write(here.join("reads.c"), text).unwrap();
    std::fs::write(here.join("typed"), "100\n").unwrap();
    let run = "run reads.c -p mine.tri --dir data --format json --out result --trace trace";
    let run: Vec<&str> = std::iter::once(TRIVIUM).chain(run.split(' ')).collect();
    let mut command = job();
    command.args(["-n", "1", "-wdir", here.to_str().unwrap()]).args(&run);
    command.args([":", "-n", "2", "-wdir", elsewhere.to_str().unwrap()]).args(&run);
    command.stdin(std::fs::File::open(here.join("typed")).unwrap());
    let run = ended(start(command));
    assert_eq!(run.code, Some(0), "{run:?}");
    let result: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(here.join("result")).unwrap()).unwrap();
    let output = result["output"].as_str().unwrap();
    (0..3).for_each(|node| assert!(output.contains(&format!("node {node}: 142\n")), "{output}"));
    for name in ["stdin", "file deep/numbers"] {
        assert!(result["hashes"][name].is_string(), "{name}: {result}");
    }
    is_valid(&events(&here.join("trace")), 3);
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

/// The program by hand, beside which `make bench` puts the custom protocol, computes the same.
#[test]
fn em3d_by_hand_computes_the_same() {
    let by_hand = Path::new(env!("CARGO_TARGET_TMPDIR")).join("em3d-by-hand");
    let mut compiler = Command::new("mpicc");
    compiler.args(["-O2", "-w", "-I", "programs/include", "programs/peers/em3d-mpi.c", "-lm", "-o"]).arg(&by_hand);
    assert!(compiler.current_dir(root()).status().expect("mpicc can be started").success());
    let arguments = ["-n", "200", "-r", "20", "-i", "3"];
    let mut command = job();
    command.args(["-n", "2"]).arg(&by_hand).args(arguments);
    let told = ended(start(command));
    assert_eq!(told.code, Some(0), "{told:?}");
    let sum = told.out.split_whitespace().nth(1).unwrap();
    let run = trivium(&[&["run", "programs/em3d.c", "-p", "stache", "--nodes", "2", "--"], &arguments[..]].concat());
    assert!(run.out.contains(&format!("em3d: ok, sum {sum}\n")), "{sum}: {run:?}");
}
