//! How commands end: whole files or none, Ctrl-C, limits, wrong answers.

use crate::harness::{self, Run, command, root, trivium};
use crate::slow;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_result_goes_whole_into_a_file() {
    let folder = crate::harness::folder();
    let path = folder.path().join("result.json");
    let out = path.to_str().unwrap();
    std::fs::write(&path, "what was there before").unwrap();
    let args = ["miss", "-m", "typhoon", "--block", "32", "--format", "json"];
    let run = trivium(&[&args[..], &["--out", out]].concat());
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "", ""));
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(written["total"], 401);
    assert_eq!(files(folder.path()), ["result.json"], "nothing is left beside it");
}

#[test]
fn what_goes_wrong_leaves_files_as_they_were() {
    let folder = crate::harness::folder();
    let path = folder.path().join("result.json");
    let out = path.to_str().unwrap();
    let wrong: [(i32, &[&str]); 6] = [
        (2, &["sim", "programs/hello.c", "-p", "mis", "-m", "typhoon"]),
        (2, &["sim", "programs/bad/syntax.c", "-p", "msi", "-m", "typhoon"]),
        (1, &["sim", "programs/bad/trap.c", "-p", "msi", "-m", "typhoon", "-n", "2"]),
        (2, &["miss", "-m", "typhoon", "-p", "token-lock"]),
        (2, &["check", "crates/trivium/tests/bad/syntax.tri"]),
        (2, &["show", "crates/trivium/tests/bad/missing.tri"]),
    ];
    for (code, args) in wrong {
        trivium(&[args, &["--out", out]].concat()).refuses(code, &[]);
        assert!(files(folder.path()).is_empty(), "{args:?}");
    }
    std::fs::write(&path, "precious").unwrap();
    for (code, args) in wrong {
        trivium(&[args, &["--out", out]].concat()).refuses(code, &[]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious", "{args:?}");
    }
    let nowhere = folder.path().join("nowhere/result.json");
    let run = trivium(&["miss", "-m", "typhoon", "--out", nowhere.to_str().unwrap()]);
    run.refuses(2, &["cannot be written", "its folder does not exist", "help: "]);
    let onto = trivium(&["miss", "-m", "typhoon", "--out", folder.path().to_str().unwrap()]);
    onto.refuses(2, &["cannot be written"]);
    assert_eq!(files(folder.path()), ["result.json"]);
}

#[test]
fn a_wrong_answer_ends_with_1_and_says_where() {
    trivium(&["sim", "programs/bad/wrong-answer.c", "-p", "stache", "-m", "typhoon", "-n", "3"])
        .refuses(1, &["1 + 1 is not 3", "node "]);
    let folder = crate::harness::folder();
    let source = folder.path().join("exit.c");
    std::fs::write(&source, "#include \"trivium.h\"\nint main(void) { return trivium_node() == 1 ? 7 : 0; }\n")
        .unwrap();
    let run = trivium(&["sim", source.to_str().unwrap(), "-p", "msi", "-m", "typhoon", "-n", "2", "--format", "json"]);
    assert_eq!(run.json(7)["exit_codes"], serde_json::json!({ "1": 7 }));
    assert!(run.err.contains("ended with code 7 on node 1"), "{run:?}");
}

#[test]
fn too_deep_a_recursion_is_a_trap() {
    let args = ["sim", "programs/bad/recursion.c", "-p", "msi", "-m", "typhoon", "-n", "1"];
    trivium(&args).refuses(1, &["the call stack is full", "descend"]);
}

#[test]
fn a_deadlock_of_the_protocol_says_which_node_waits_for_what() {
    let args = ["sim", "programs/litmus.c", "-p", "protocols/broken/msi-forgotten-ack.tri", "-m", "typhoon", "-n", "4"];
    trivium(&args).refuses(
        1,
        &[
            "error: deadlock",
            "note: node 0, since cycle ",
            "waits for access to block ",
            "(awaits Ack)",
            "waits at the barrier",
            "help: ",
        ],
    );
}

#[test]
fn a_limit_of_cycles_ends_with_3_and_what_is_known() {
    let args = ["sim", "programs/bad/endless.c", "-p", "msi", "-m", "typhoon", "-n", "2", "--max-cycles", "50000"];
    let run = trivium(&[&args[..], &["--format", "json"]].concat());
    let result = run.json(3);
    assert!(result["incomplete"].as_str().unwrap().contains("50000 cycles"), "{result}");
    assert!(result["cycles"].as_u64().unwrap() >= 50_000 && result["instructions"].as_u64().unwrap() > 0);
    assert!(run.err.contains("incomplete: "), "{}", run.err);
    let stood = &result["stood"][1];
    assert_eq!((&stood["node"], &stood["doing"]), (&1.into(), &"runs".into()), "{result}");
    assert!(stood["cycle"].as_u64().unwrap() >= 50_000, "{result}");
    let text = trivium(&args);
    assert!(text.code == Some(3) && text.out.contains("incomplete    the limit of 50000 cycles"), "{text:?}");
    assert!(text.out.contains("node 1, cycle 50,") && text.out.contains("endless.c:6 in main"), "{text:?}");
}

/// Where the nodes stand when a limit cuts a run off is told as a deadlock is, and is the same on any number of host threads.
#[test]
fn a_limit_of_cycles_tells_for_what_nodes_wait() {
    let folder = crate::harness::folder();
    let source = folder.path().join("waits.c");
    let text = "#include <trivium.h>\nint main(void) {\n  int *word = trivium_alloc_on(0, 64);\n\
        if (trivium_node() == 0) for (volatile int i = 0; ; i++) {}\n  trivium_wait_until_changed(word, 0);\n  return 0;\n}\n";
    std::fs::write(&source, text).unwrap();
    let args = ["sim", source.to_str().unwrap(), "-p", "msi", "-m", "typhoon", "-n", "3", "--max-cycles", "9000"];
    let run = trivium(&args);
    assert!(run.code == Some(3) && run.out.contains("the beginning of `word`, which is 0 here; "), "{run:?}");
    assert!(run.out.contains("waits.c:5 in main") && run.out.contains("waits.c:4 in main"), "{run:?}");
    for how in [["--jobs", "3"], ["--window", "0"]] {
        assert_eq!(trivium(&[&args[..], &how].concat()).out, run.out, "{how:?}");
    }
}

/// It was taken until the host had no more.
#[test]
fn memory_is_estimated_when_it_is_allocated_and_has_a_limit() {
    let folder = crate::harness::folder();
    let source = folder.path().join("large.c");
    let text = "#include <stdio.h>\n#include <trivium.h>\nint main(void) {\n  puts(\"begun\");\n\
        char *all = trivium_alloc_round_robin(1000 << 20);\n\
        for (int i = 0; i < 1000 << 20; i += 4096) all[i] = 1;\n  return 0;\n}\n";
    std::fs::write(&source, text).unwrap();
    let sim =
        |more: &[&str]| trivium(&[&["sim", source.to_str().unwrap(), "-p", "stache", "-m", "typhoon"], more].concat());
    for jobs in ["1", "2"] {
        let run = sim(&["-n", "256", "--jobs", jobs]);
        assert!(run.code == Some(2) && run.out.starts_with("begun\n"), "what it printed is kept: {run:?}");
        for word in ["allocates 1000 MiB", "for 256 copies", "for their tags", "large.c:5", "-n", "--block", "--memory"]
        {
            assert!(run.err.contains(word), "`{word}` is missing in {}", run.err);
        }
        let run = sim(&["-n", "2", "--memory", "60M", "--jobs", jobs]);
        assert!(run.code == Some(3) && run.out.contains("begun\n"), "{run:?}");
        assert!(run.out.contains("the limit of 60 MiB of the host's memory was reached"), "{run:?}");
        assert!(run.out.contains("large.c:6 in main"), "{run:?}");
    }
    let run = sim(&["-n", "256", "--blame"]);
    for word in ["to tell who is to blame", "without --blame"] {
        assert!(run.err.contains(word), "`{word}` is missing in {}", run.err);
    }
    let begun = sim(&["-n", "256", "--memory", "200G", "--max-cycles", "5000"]);
    assert_eq!(begun.code, Some(3), "a limit that is said replaces the estimate: {begun:?}");
    sim(&["--memory", "1T"]).refuses(2, &["512M"]);
}

/// Starts it, waits until it works, and asks it to stop as Ctrl-C does.
fn interrupted(args: &[&str]) -> (Option<i32>, String, String) {
    signalled("-INT", args)
}

fn signalled(signal: &str, args: &[&str]) -> (Option<i32>, String, String) {
    let mut child = command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().unwrap().is_none(), "{args:?} should still be at work");
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
    ends(&mut child, args);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn ends(child: &mut Child, args: &[&str]) {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            panic!("{args:?} does not stop");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_3_and_what_is_known() {
    // The program is compiled before, so that it is simulated when the signal comes.
    let endless = ["sim", "programs/bad/endless.c", "-p", "msi", "-m", "typhoon", "-n", "2"];
    trivium(&[&endless[..], &["--max-cycles", "10"]].concat());
    let (code, out, err) = interrupted(&[&endless[..], &["--format", "json"]].concat());
    assert_eq!(code, Some(3), "{out}{err}");
    let result: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(result["incomplete"].as_str().unwrap().contains("interrupted"), "{result}");
    assert!(result["cycles"].as_u64().unwrap() > 0);

    let (code, out, err) = interrupted(&["check", "stache", "--nodes", "4", "--objects", "3", "--format", "json"]);
    assert_eq!(code, Some(3), "{out}{err}");
    let result: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(result["verdict"], "incomplete");
    assert!(result["states"].as_u64().unwrap() > 1);
}

/// As systems end what runs: nothing is lost that is known, and nothing lies about.
#[cfg(unix)]
#[test]
fn sigterm_ends_as_ctrl_c_does() {
    let [folder, saved] = [crate::harness::folder(), crate::harness::folder()];
    let path = |folder: &crate::harness::Folder, name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (out, checkpoint) = (path(&folder, "result.json"), path(&saved, "checkpoint"));
    let endless = ["sim", "programs/bad/endless.c", "-p", "msi", "-m", "typhoon", "-n", "2"];
    trivium(&[&endless[..], &["--max-cycles", "10"]].concat());
    let long = ["check", "stache", "--nodes", "4", "--objects", "3", "--checkpoint", &checkpoint];
    let mutate = ["mutate", "flash-coherence", "--nodes", "3"];
    for args in [&endless[..], &long, &mutate] {
        let (code, text, err) = signalled("-TERM", &[args, &["--format", "json", "--out", &out]].concat());
        assert_eq!(code, Some(3), "{args:?}: {text}{err}");
        // Before the protocol itself is explored, mutate has no result.
        let left = files(folder.path());
        assert!(left == ["result.json"] || args[0] == "mutate" && left.is_empty(), "{args:?}: {left:?}");
    }
    assert_eq!(files(saved.path()), ["checkpoint"]);
}

#[test]
fn a_search_goes_on_from_its_checkpoint() {
    let folder = crate::harness::folder();
    let path = folder.path().join("checkpoint");
    let file = path.to_str().unwrap();
    let args = ["check", "msi", "--format", "json"];
    let host = |mut value: serde_json::Value| {
        ["host_seconds", "seconds", "bytes_per_state"].iter().for_each(|key| value[*key] = 0.into());
        value
    };
    let whole = host(trivium(&args).json(0));
    let part = trivium(&[&args[..], &["--max-states", "200", "--checkpoint", file]].concat()).json(3);
    assert_eq!((&part["checkpoint"]["file"], &part["states"]), (&serde_json::json!(file), &serde_json::json!(200)));
    // It is saved again where it was.
    let more = trivium(&["check", "msi", "--max-states", "300", "--resume", file]);
    assert!(more.code == Some(3) && more.out.contains(&format!("--resume {file} goes on from there")), "{more:?}");
    assert_eq!(host(trivium(&[&args[..], &["--resume", file, "--jobs", "2"]].concat()).json(0)), whole);
    assert_eq!(files(folder.path()), ["checkpoint"]);
    trivium(&["check", "german", "--resume", file]).refuses(2, &["is of protocol msi, and this is german", "help: "]);
    let other = ["check", "msi", "--nodes", "2", "--resume", file];
    trivium(&other).refuses(2, &["made with `--nodes 3`, and this is with `--nodes 2`"]);
    std::fs::write(&path, &std::fs::read(&path).unwrap()[..1000]).unwrap();
    trivium(&["check", "msi", "--resume", file]).refuses(2, &["is not whole: its end is missing"]);
    trivium(&["check", "msi", "--resume", "README.md"]).refuses(2, &["README.md is no checkpoint"]);
    trivium(&["check", "msi", "--resume", "nowhere"]).refuses(2, &["cannot be read"]);
    trivium(&["check", "msi", "--checkpoint", "nowhere/file"]).refuses(2, &["its folder does not exist"]);
    trivium(&["check", "msi", "--checkpoint", file, "--checkpoint-every", "5"]).refuses(2, &["90s, 30m, 2h"]);
    trivium(&["check", "msi", "--checkpoint-every", "5s"]).refuses(2, &["--checkpoint <FILE>|--resume <FILE>"]);
    trivium(&["check", "msi", "--max-states", "0"]).refuses(2, &["a whole number from 1"]);
    // What came to its end does not go on.
    let ended = trivium(&["check", "msi", "--checkpoint", file, "--checkpoint-every", "0s"]);
    assert!(ended.code == Some(0) && !ended.out.contains("--resume"), "{ended:?}");
}

#[test]
fn what_weakens_a_verdict_is_in_the_verdict() {
    for weaker in [&["--hash-compact"][..], &["--hash-compact=48"], &["--bitstate", "64K"]] {
        let args = [&["check", "msi"][..], weaker].concat();
        let run = trivium(&args);
        let told = [
            "incomplete: no violation was found, but states may have been left out: ",
            "starvation was not looked for",
        ];
        assert!(run.code == Some(3) && told.iter().all(|words| run.out.contains(words)), "{run:?}");
        let json = trivium(&[&args[..], &["--format", "json"]].concat()).json(3);
        assert!(json["omission"]["probability"].as_f64().is_some_and(|p| p > 0.0 && p < 0.01), "{}", json["omission"]);
        let violated = trivium(&[&["check", "broken/stache-lost-upgrade"][..], weaker].concat());
        assert!(
            violated.code == Some(1) && violated.out.contains("violated: last_write (data-value invariant)\n"),
            "{violated:?}"
        );
    }
    trivium(&["check", "msi", "--hash-compact=8"]).refuses(2, &["16 to 64 bits"]);
    trivium(&["check", "msi", "--random-walks", "0"]).refuses(2, &["it must be a whole number from 1"]);
    trivium(&["check", "msi", "--hashes", "4"]).refuses(2, &["--bitstate"]);
    trivium(&["check", "msi", "--hash-compact", "--checkpoint", "x"]).refuses(2, &["cannot be used with"]);
}

/// A search whose files have so much room, where a disk may be made.
#[cfg(target_os = "linux")]
fn on_a_disk_of(kib: u32, args: &[&str]) -> Option<Run> {
    let folder = crate::harness::folder();
    let (path, size) = (folder.path().to_str().unwrap(), format!("size={kib}k"));
    let mount = std::process::Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs", path]).output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        return None;
    }
    let all = ["--no-late-values", "--no-dead-copies", "--no-symmetry", "--no-liveness", "--disk", path];
    let run = trivium(&[args, &all[..]].concat());
    std::process::Command::new("umount").arg(path).status().unwrap();
    Some(run)
}

/// A disk that becomes full: what is known is told.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_a_search_on_it() {
    let Some(run) = on_a_disk_of(64, &["check", "stache"]) else { return };
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.out.contains("incomplete: the states cannot be kept on disk: there is no room"), "{run:?}");
    assert!(run.out.contains("states        "), "{run:?}");
}

/// A violation is told where the states beside it cannot be counted any more, and that they are not.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_beside_a_violation_is_told() {
    let args = ["check", "broken/eager-stale-upgrade", "--format", "json"];
    let Some(whole) = on_a_disk_of(8192, &args) else { return };
    let whole = whole.json(1);
    assert_eq!(whole["uncounted"], serde_json::Value::Null);
    let mut uncounted = 0;
    for kib in (960..=1240).step_by(20) {
        let Some(run) = on_a_disk_of(kib, &args).filter(|run| run.code == Some(1)) else { continue };
        let run = run.json(1);
        assert_eq!(run["counterexample"], whole["counterexample"]);
        match run["uncounted"].as_str() {
            Some(why) => uncounted += u32::from(why.contains("there is no room")),
            None => assert_eq!(run["states"], whole["states"], "{kib} KiB"),
        }
    }
    assert!(uncounted > 0, "no disk became full beside the violation");
}

/// What is known is told where a checkpoint cannot be written.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_takes_no_checkpoint() {
    let args = ["check", "msi", "--max-states", "200", "--checkpoint", "/dev/full", "--checkpoint-every", "0s"];
    let run = trivium(&[&args[..], &["--format", "json"]].concat()).json(3);
    assert_eq!((&run["verdict"], &run["states"]), (&serde_json::json!("incomplete"), &serde_json::json!(200)));
    assert!(run["checkpoint"]["error"].as_str().unwrap().contains("there is no room"), "{}", run["checkpoint"]);
    assert_eq!(run["checkpoint"]["states"], serde_json::Value::Null);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command(&["machine", "typhoon"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// In a system, or by a scenario, that is named; each as it stands: `broken.rs`.
#[test]
fn broken_protocols_are_caught_where_one_looks_for_it() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("broken/alternating-bit-unordered", &["--nodes", "2"], "ghost order"),
        (
            "broken/flash-fenced-told-late",
            &["--nodes", "3", "--scenario", "writer_elsewhere"],
            "scenario writer_elsewhere",
        ),
        ("broken/flash-listed-twice", &["--nodes", "3"], "fault"),
        ("broken/flash-pointer-unreserved", &["--scenario", "last_pointer"], "fault"),
        ("broken/flash-relaxed-forgotten-writeback", &["--nodes", "2"], "livelock"),
        ("broken/flash-writeback-ignored", &["--nodes", "2"], "last_write"),
        ("broken/msi-monitor-lost-wakeup", &["--scenario", "message"], "deadlock"),
        ("broken/pool-uncounted", &["--nodes", "2"], "fault"),
        ("broken/squeezed-lanes", &["--objects", "2"], "deadlock"),
        ("broken/swcc-get-without-copy", &["--nodes", "2"], "fault"),
        ("broken/swcc-late-answer", &["--nodes", "2", "--scenario", "answered_twice"], "last_write"),
        ("broken/swcc-lock-dropped-early", &["--nodes", "2", "--scenario", "home_hears_late"], "last_write"),
        ("broken/swcc-lock-refuses-invalidate", &["--nodes", "2", "--scenario", "two_writers"], "livelock"),
        ("broken/swcc-put-without-lock", &["--nodes", "2"], "last_write"),
        ("broken/swcc-store-leaves-readers", &["--nodes", "2"], "single_writer"),
        ("broken/tree-barrier-late-reset", &["--nodes", "4"], "barrier(arrive)"),
        ("broken/tso-cc-home-learns-nothing", &["--nodes", "2", "--objects", "2"], "tso"),
        ("broken/two-locks", &["--nodes", "2", "--scenario", "crossed"], "deadlock"),
        ("broken/uncached-sync-without-waiting", &["--scenario", "put_is_done"], "scenario put_is_done"),
    ];
    for &(name, more, property) in cases {
        let run = trivium(&[&["check", name][..], more].concat());
        assert_eq!(run.code, Some(1), "{name}");
        let line = run.out.lines().find_map(|line| line.strip_prefix("violated: ")).unwrap_or_default();
        // What the field calls it may stand behind it.
        assert_eq!(line.split(" (").next(), property.split(" (").next(), "{name}: {}", run.out);
    }
    let run = trivium(&["check", "stache", "--network", "unordered"]);
    assert_eq!(run.code, Some(1), "{}", run.out);
}

const TWO_NODES: [&str; 4] = ["--nodes", "2", "--objects", "2"];
const THREE_NODES: [&str; 4] = ["--nodes", "3", "--objects", "1"];

/// Each of these holds in this system with so many accesses and calls of each thread.
#[track_caller]
fn hold(system: [&str; 4], protocols: &[(&str, &str)]) {
    for (name, ops) in protocols {
        let run = trivium(&[&["check", name][..], &system, &["--ops", ops]].concat());
        assert_eq!(run.code, Some(0), "{name} {system:?}\n{}{}", run.out, run.err);
        assert!(run.out.contains("\nholds: safety, deadlock, starvation; "), "{}", run.out);
    }
}

/// Those that have few states whatever their threads do.
#[test]
fn small_protocols_hold_on_small_systems() {
    for name in [
        "msi",
        "msi-monitor",
        "stache",
        "stache-pages",
        "migratory",
        "german",
        "moesi",
        "eager",
        "pool",
        "deferred-update",
        "update",
        "write-update",
        "token-list",
        "token-lock",
        "token-ring",
        "tree-barrier",
    ] {
        for system in [TWO_NODES, THREE_NODES] {
            // It has millions of states there.
            if name == "moesi" && system == TWO_NODES && !slow::is_asked_for() {
                continue;
            }
            let run = trivium(&[&["check", name][..], &system].concat());
            assert_eq!(run.code, Some(0), "{name} {system:?}\n{}{}", run.out, run.err);
            assert!(run.out.contains("\nholds: safety, deadlock, starvation; "), "{}", run.out);
        }
    }
}

/// The others have more states than a test has time for: their calls are limited.
#[test]
fn large_protocols_hold_on_small_systems() {
    let few = [("flash-coherence", "1"), ("swcc", "1")];
    hold(TWO_NODES, &few);
    hold(THREE_NODES, &few);
    hold(TWO_NODES, &[("tso-cc", "3"), ("eager-exclusive", "3"), ("remote-write", "3"), ("uncached", "2")]);
    hold(THREE_NODES, &[("tso-cc", "2"), ("eager-exclusive", "2"), ("remote-write", "2"), ("uncached", "1")]);
}

#[test]
#[ignore = "half a minute"]
fn large_protocols_hold_for_longer() {
    hold(THREE_NODES, &[("tso-cc", "3"), ("eager-exclusive", "3"), ("remote-write", "3")]);
    for system in [TWO_NODES, THREE_NODES] {
        hold(system, &[("uncached", "none")]);
    }
}

#[test]
fn a_program_may_be_webassembly_made_elsewhere() {
    let folder = crate::harness::folder();
    let path = folder.path().join("empty.wasm");
    // (module (memory (export "memory") 1) (func (export "_start")))
    let module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x05\x03\x01\0\x01\x07\x13\x02\x06memory\x02\0\x06_start\0\0\x0a\x04\x01\x02\0\x0b";
    std::fs::write(&path, module).unwrap();
    let run = trivium(&["sim", path.to_str().unwrap(), "-p", "msi", "-m", "typhoon", "-n", "1"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(root().join("protocols/msi.tri").exists());
}

#[test]
fn more_host_threads_than_there_can_be_are_refused() {
    harness::trivium(&["check", "msi", "--jobs", "100000"]).refuses(2, &["there can be 1 to 256 host threads"]);
}
