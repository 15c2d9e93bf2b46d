//! `trivium run --record` and `--replay`: a run of real threads, which no seed repeats, happens exactly as it happened before.

use crate::harness::{Run, trivium};
use std::path::Path;

/// Runs a program on threads.
fn live(program: &str, protocols: &[&str], nodes: u32, more: &[&str]) -> Run {
    let (path, nodes) = (format!("programs/{program}"), nodes.to_string());
    let mut args = vec!["run", &path, "--nodes", &nodes, "--format", "json"];
    protocols.iter().for_each(|protocol| args.extend(["-p", protocol]));
    args.extend(more);
    trivium(&args)
}

/// What a run says, but for the time that it took on the host, and for the seed of delays and the limit of time: a replay is told neither, since
/// the recording has what came of them.
fn said(run: &Run) -> (Option<i32>, String, String) {
    let differs =
        |line: &&str| ["\"host_seconds\"", "\"delays\"", "\"max_seconds\""].iter().any(|key| line.contains(key));
    let out: Vec<&str> = run.out.lines().filter(|line| !differs(line)).collect();
    (run.code, out.join("\n"), run.err.clone())
}

/// Records a run, and replays it several times: always the same, down to the times in the result.
fn replayed(file: &Path, program: &str, protocols: &[&str], nodes: u32, (record, both): (&[&str], &[&str])) -> Run {
    let file = file.to_str().unwrap();
    let recorded = live(program, protocols, nodes, &[&["--record", file], record, both].concat());
    for _ in 0..3 {
        let again = live(program, protocols, nodes, &[&["--replay", file], both].concat());
        assert_eq!(said(&again), said(&recorded), "{program} under {protocols:?}");
    }
    recorded
}

#[test]
fn a_replay_gives_the_same_result() {
    let folder = crate::harness::folder();
    let file = folder.path().join("run.rec");
    for (program, protocols, nodes, record, args) in [
        ("em3d.c", &["stache"][..], 4, &[][..], &["--", "-n", "60", "-i", "2"][..]),
        ("lockbench.c", &["stache"], 4, &[], &[]),
        ("lockbench.c", &["stache"], 4, &["--delays", "3"], &[]),
        ("lockbench-token.c", &["stache", "token-lock"], 3, &[], &[]),
        ("litmus.c", &["swcc"], 4, &["--delays", "4"], &["--block", "32", "--", "-n", "50"]),
        ("em3d-update.c", &["stache", "deferred-update"], 4, &[], &["--", "-n", "60"]),
        ("em3d.c", &["stache"], 4, &["--delays", "2"], &["--", "-n", "600", "-i", "1", "-z", "1", "-f", "2"]),
        ("hello.c", &["stache"], 1, &[], &[]),
        ("copy.c", &["flash-prefetch"], 3, &["--delays", "2"], &["--", "-n", "160"]),
        ("copy.c", &["stache-prefetch"], 3, &["--delays", "3"], &["--", "-n", "160"]),
    ] {
        let run = replayed(&file, program, protocols, nodes, (record, args));
        assert!(run.json(0)["instructions"].as_u64() > Some(0), "{run:?}");
    }
}

/// Timers, sleep, the clock, pages of first touch and barriers are all told to a replay.
#[test]
fn what_comes_from_the_host_comes_again() {
    let folder = crate::harness::folder();
    let [program, file] = ["late.c", "run.rec"].map(|name| folder.path().join(name));
    let text = r#"
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "trivium.h"
#include "trivium/alternating-bit.h"
int main(void) {
    int self = trivium_node();
    volatile int *first = trivium_alloc_first_touch(8 * 4096);
    for (int page = 0; page < 8; page++) {
        int mine = __atomic_exchange_n(&first[page * 1024], self + 1, __ATOMIC_SEQ_CST);
        printf("node %d found %d on page %d at %lld\n", self, mine, page, (long long)trivium_cycles());
        usleep(100 * (self + page));
    }
    trivium_barrier();
    /* Who does not answer within 2 us is sent the item again. */
    for (int item = 1; item <= 20; item++) {
        if (self == 0) {
            while (!alternating_bit_put(0, item)) usleep(10);
        } else {
            int got;
            while ((got = alternating_bit_get(0)) < 0) usleep(30);
            if (got != item) trivium_fail("another item");
        }
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("node %d at %ld\n", self, now.tv_nsec);
    return 0;
}
"#;
    std::fs::write(&program, text).unwrap();
    let (path, file) = (program.to_str().unwrap(), file.to_str().unwrap());
    let run = |more: &[&str]| {
        let args = ["run", path, "-p", "stache", "-p", "alternating-bit", "--nodes", "4", "--format", "json"];
        trivium(&[&args[..], more].concat())
    };
    let recorded = run(&["--record", file, "--delays", "1"]);
    let result = recorded.json(0);
    assert_eq!(result["output"].as_str().unwrap().matches("on page").count(), 32);
    let sent = result["messages"]["alternating-bit.Item"].as_u64().unwrap();
    assert!(sent > 60, "no timer has ended, and only {sent} items were sent");
    for _ in 0..3 {
        assert_eq!(said(&run(&["--replay", file])), said(&recorded));
    }
}

#[test]
fn a_recorded_failure_fails_again() {
    let folder = crate::harness::folder();
    let file = folder.path().join("run.rec");
    // Messages that overtake each other: this protocol needs their order.
    let broken = "protocols/broken/stache-unordered.tri";
    let run = replayed(&file, "lockbench.c", &[broken], 5, (&["--delays", "1"], &[]));
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("this was declared impossible"), "{run:?}");
    for (program, what) in [("divide.c", "divided by zero"), ("deadlock.c", "deadlock: nothing can happen any more")] {
        let run = replayed(&file, &format!("bad/{program}"), &["stache"], 3, (&[], &[]));
        assert!(run.code == Some(1) && run.err.contains(what), "{run:?}");
    }
    let run = replayed(&file, "bad/endless.c", &["stache"], 3, (&["--max-seconds", "1"], &[]));
    assert!(run.code == Some(3) && run.err.contains("1 seconds have passed"), "{run:?}");
}

#[test]
fn what_is_not_what_was_recorded_is_refused() {
    let folder = crate::harness::folder();
    let file = folder.path().join("run.rec");
    let path = file.to_str().unwrap();
    let record = ["run", "programs/pingpong.c", "-p", "stache", "--nodes", "2", "--record", path, "--", "-n", "20"];
    assert_eq!(trivium(&record).code, Some(0));
    let replay = |program: &str, more: &[&str], args: &[&str]| {
        trivium(&[&["run", program, "--replay", path], more, &["--"], args].concat())
    };
    let (ping, stache, twenty) = ("programs/pingpong.c", &["-p", "stache"][..], &["-n", "20"][..]);
    assert_eq!(replay(ping, stache, twenty).code, Some(0));
    for (program, more, args, what) in [
        ("programs/hello.c", stache, twenty, "the program is not what it was"),
        (
            ping,
            &["-p", "msi"][..],
            twenty,
            "it was of the default protocol stache, and this run is of the default protocol msi",
        ),
        (ping, &["-p", "stache", "-p", "token-lock"], twenty, "the number of protocols: `1` then, `2` now"),
        (ping, stache, &["-n", "21"][..], "the arguments: `-n 20` then, `-n 21` now"),
        (ping, &["-p", "stache", "--nodes", "3"], twenty, "the number of nodes: `2` then, `3` now"),
        (ping, &["-p", "stache", "--block", "32"], twenty, "the bytes of a block: `64` then, `32` now"),
    ] {
        replay(program, more, args).refuses(2, &["the recording is of another run: ", what]);
    }
    let whole = std::fs::read(&file).unwrap();
    for (bytes, what) in [
        (whole[..whole.len() - 1].to_vec(), "it is damaged"),
        (whole[..3].to_vec(), "it is no recording of a run"),
        ([&whole[..60], b"x", &whole[61..]].concat(), "it is damaged"),
        (b"{}".to_vec(), "it is no recording of a run"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        replay(ping, stache, twenty).refuses(2, &["the recording cannot be replayed: ", what]);
    }
    let both = ["run", ping, "-p", "stache", "--record", path, "--replay", path];
    trivium(&both).refuses(2, &["cannot be used with"]);
    trivium(&["run", ping, "-p", "stache", "--replay", "/nowhere"]).refuses(2, &["there is no such file"]);
    trivium(&["run", ping, "-p", "stache", "--record", "/nowhere/x"]).refuses(2, &["/nowhere/x"]);
}

/// What a program reads is named where it has changed.
#[test]
fn a_replay_reads_what_was_read() {
    let folder = crate::harness::folder();
    let [program, file, data] = ["read.c", "run.rec", "data"].map(|name| folder.path().join(name));
    std::fs::create_dir(&data).unwrap();
    let text = "#include <stdio.h>\nint main(void) {\n  FILE *f = fopen(\"n.txt\", \"r\");\n  int n = 0;\n  fscanf(f, \"%d\", &n);\n  \
        printf(\"%d\\n\", n);\n  return 0;\n}\n";
    std::fs::write(&program, text).unwrap();
    let run = |option: &str| {
        let [program, file, data] = [&program, &file, &data].map(|path| path.to_str().unwrap());
        trivium(&["run", program, "-p", "stache", "--dir", data, option, file])
    };
    std::fs::write(data.join("n.txt"), "12\n").unwrap();
    assert_eq!(run("--record").code, Some(0));
    assert_eq!(run("--replay").code, Some(0));
    std::fs::write(data.join("n.txt"), "13\n").unwrap();
    run("--replay").refuses(2, &["the program has read `file n.txt`, which was another then"]);
}
