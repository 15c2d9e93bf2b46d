//! What goes wrong in a program on a network of workstations (the machine `now`, Split-C's library with copies and without), as the study's section 8 lists it:
//! each fault whose mechanism is there is told. docs/split-c.md says which are not.

use crate::harness::{self, Run, root, trivium};
use crate::slow;
use std::path::Path;

const LIBRARIES: [&str; 2] = ["uncached", "swcc"];

fn on_now(program: &str, protocol: &str, more: &[&str]) -> Run {
    trivium(&[&["sim", program, "-p", protocol, "-m", "now", "-n", "2", "--block", "8"], more].concat())
}

/// A program of its own.
fn written(folder: &Path, text: &str) -> String {
    let path = folder.join("program.sc");
    std::fs::write(&path, format!("#include <stdio.h>\n{text}")).unwrap();
    path.display().to_string()
}

#[test]
fn pointers_that_lead_nowhere_are_told_before_anything_is_sent() {
    for (name, what) in [
        ("null", "a null global pointer is used"),
        ("processor", "toglobal names processor 2, which does not exist"),
        ("processor-negative", "toglobal names processor -"),
        ("wild", "points to no processor's memory"),
        ("beyond", "is out of bounds"),
        ("bulk-negative", "a negative length"),
    ] {
        for protocol in slow::all_or(&LIBRARIES[..], &LIBRARIES[..1]) {
            let file = format!("crates/trivium/tests/bad/split-c/{name}.sc");
            let run = on_now(&file, protocol, &[]);
            assert!(run.code == Some(1) && run.err.contains(what) && run.err.contains(&file), "{protocol}: {run:?}");
        }
    }
}

#[test]
fn an_access_across_blocks_is_one_of_each_and_none_of_no_bytes() {
    let folder = crate::harness::folder();
    let program = written(
        folder.path(),
        "static int words[8];
        int splitc_main(void) {
            int here[2] = {0, 0}, at = (uintptr_t)words % 8 ? 0 : 1;
            if (MYPROC == 0) for (int i = 0; i < 8; i++) words[i] = i + 1;
            barrier();
            trivium_begin();
            if (MYPROC == 1) {
                bulk_read(here, toglobal(0, words), 0);
                bulk_read(here, toglobal(0, words + at), sizeof here);
                if (here[0] != at + 1 || here[1] != at + 2) trivium_fail(\"another value\");
            }
            trivium_end();
            return 0;
        }",
    );
    for protocol in LIBRARIES {
        let result = on_now(&program, protocol, &["--format", "json"]).json(0);
        let counted = result["accesses"][1]["accesses"].as_array().unwrap();
        let gets: u64 =
            counted.iter().filter(|one| one["kind"] == "get").map(|one| one["misses"].as_u64().unwrap()).sum();
        assert_eq!(gets, 2, "{protocol}: {counted:?}");
    }
}

#[test]
fn a_local_pointer_to_what_another_processor_has_is_told() {
    let folder = crate::harness::folder();
    let program = written(
        folder.path(),
        "static int total;
        int splitc_main(void) {
            if (MYPROC == 1) *toglobal(0, &total) = 7;
            barrier();
            if (MYPROC == 0) printf(\"%d\\n\", total);
            return 0;
        }",
    );
    let run = on_now(&program, "swcc", &[]);
    assert!(run.code == Some(1) && run.err.contains("program.sc:6") && run.err.contains("shared address"), "{run:?}");
}

#[test]
fn an_answer_that_nobody_waits_for_is_an_error() {
    let folder = crate::harness::folder();
    let text = std::fs::read_to_string(root().join("protocols/swcc.tri")).unwrap();
    let once = "on Inv           { send InvAck to home; lose() }";
    assert!(text.contains(once), "the handler that is to answer twice is another one now");
    let twice = text.replace(once, "on Inv           { send InvAck to home; send InvAck to home; lose() }");
    let protocol = folder.path().join("swcc.tri");
    std::fs::write(&protocol, twice).unwrap();
    let run = trivium(&[
        "sim",
        "programs/split-c/em3d.sc",
        "-p",
        &protocol.display().to_string(),
        "-m",
        "now",
        "-n",
        "4",
        "--block",
        "256",
    ]);
    assert!(run.code == Some(1) && run.err.contains("InvAck") && run.err.contains("declared impossible"), "{run:?}");
}

#[test]
fn requests_that_are_refused_for_ever_are_a_livelock() {
    let folder = "crates/trivium/tests/bad/split-c";
    let run = on_now(&format!("{folder}/refused-for-ever.sc"), &format!("{folder}/refuses.tri"), &[]);
    assert!(run.code == Some(1) && run.err.contains("no progress: for 10000000 cycles handlers ran"), "{run:?}");
}

#[test]
fn a_barrier_with_gets_under_way_is_told() {
    let folder = crate::harness::folder();
    let program = written(
        folder.path(),
        "static long box;
        int splitc_main(void) {
            long got;
            got := *toglobal(1 - MYPROC, &box);
            barrier();
            sync();
            return (int)got;
        }",
    );
    for protocol in LIBRARIES {
        let run = on_now(&program, protocol, &[]);
        assert!(
            run.code == Some(0) && run.err.contains("program.sc:6: a barrier while gets or puts are under way"),
            "{run:?}"
        );
    }
}

#[test]
fn blocks_of_other_sizes_are_refused() {
    for bytes in ["4", "12", "0", "131072"] {
        let run = trivium(&["sim", "programs/split-c/ring.sc", "-p", "swcc", "-m", "now", "--block", bytes]);
        assert!(run.code == Some(2) && run.err.contains("a power of two"), "{run:?}");
    }
}

/// A protocol of the repository with some of its text changed.
fn changed(folder: &Path, protocol: &str, changes: &[(&str, &str)]) -> String {
    let text = std::fs::read_to_string(harness::root().join(format!("protocols/{protocol}.tri"))).unwrap();
    let text = changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{protocol} has no {from}");
        text.replace(from, to)
    });
    let file = folder.join(format!("{protocol}-changed.tri"));
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_string()
}

/// Two processors that read each other's word.
const EACH_OTHER: &str = "static long box;
int splitc_main(void) {
    long sum = 0;
    for (int i = 0; i < 50; i++) sum += *toglobal(1 - MYPROC, &box);
    barrier();
    if (MYPROC == 0) printf(\"sum %ld\\n\", sum);
    return 0;
}";

/// Handlers answer, so a network whose buffers are full of requests is a deadlock: the lane rule refuses it, `check` and `sim` show it where the rule is
/// waived, and a lane for answers, or a buffer without a bound, mends it.
#[test]
fn finite_buffers_are_a_deadlock_and_a_lane_for_answers_mends_it() {
    let folder = crate::harness::folder();
    let program = written(folder.path(), EACH_OTHER);
    let finite = ("lane main unordered buffered", "lane main fifo holds 1");
    let waived = ("protocol uncached\n", "protocol uncached\nwaive lane_rule \"finite buffers\"\n");
    let two = ["--objects", "2", "--ops", "1"];

    let refused = changed(folder.path(), "uncached", &[finite]);
    trivium(&["check", &refused]).refuses(2, &["may not send `Value` on lane `main`, which ranks no higher"]);

    let deadlocks = changed(folder.path(), "uncached", &[finite, waived]);
    let found = trivium(&[&["check", &deadlocks][..], &two].concat());
    assert!(found.code == Some(1) && found.out.contains("violated: deadlock"), "{found:?}");
    assert!(found.out.contains("room for 1 on lane main at node 0"), "{found:?}");
    let run = on_now(&program, &deadlocks, &[]);
    let what = ["deadlock: nothing can happen any more", "lane uncached.main has no room", "program.sc:5"];
    assert!(run.code == Some(1) && what.iter().all(|what| run.err.contains(what)), "{run:?}");

    // Answers on a lane of their own, which ranks higher, and whose handlers send nothing.
    let answers = ["Value(w: word, t: thread)", "Written(t: thread)", "Got(to: 0..reach)", "Done"];
    let text = std::fs::read_to_string(harness::root().join("protocols/uncached.tri")).unwrap();
    let lines = text.lines().map(|line| {
        let is_answer = answers.iter().any(|answer| line.starts_with(&format!("message {answer} ")));
        let line = if is_answer { line.replace("on main", "on answers") } else { line.to_string() };
        line.replace(finite.0, "lane main fifo holds 1\nlane answers fifo holds 1") + "\n"
    });
    let file = folder.path().join("mended.tri");
    std::fs::write(&file, lines.collect::<String>()).unwrap();
    let mended = file.to_str().unwrap();
    let holds = trivium(&[&["check", mended][..], &two].concat());
    assert!(holds.code == Some(0) && holds.out.contains("holds: safety, deadlock, starvation"), "{holds:?}");
    for protocol in [mended, "uncached"] {
        let run = on_now(&program, protocol, &[]);
        assert!(run.code == Some(0) && run.out.contains("sum 0"), "{protocol}: {run:?}");
    }
}

/// The library relies on a network that loses nothing: the deadlock detector finds what one lost message does.
#[test]
fn a_lost_message_is_found() {
    let folder = crate::harness::folder();
    for protocol in LIBRARIES {
        let lossy = changed(folder.path(), protocol, &[("lane main unordered buffered", "lane main unordered lossy")]);
        let found = trivium(&["check", &lossy]);
        let what = ["violated: deadlock", "is lost", "waits for  its read of block 0"];
        assert!(found.code == Some(1) && what.iter().all(|what| found.out.contains(what)), "{protocol}: {found:?}");
    }
}

/// A directory whose memory ends: 16 entries of its own blocks and those that it reads are too many for 15, and not for 64.
#[test]
fn a_directory_that_is_full_is_told() {
    let folder = crate::harness::folder();
    let program = written(
        folder.path(),
        "static long boxes[2048];
        int splitc_main(void) {
            long sum = 0;
            for (int i = 0; i < 16; i++) sum += *toglobal(1 - MYPROC, &boxes[i * 64]);
            barrier();
            return (int)sum;
        }",
    );
    let with = |entries: &str| {
        let set = format!("machine.access_control.software.entries={entries}");
        on_now(&program, "swcc", &["--set", &set])
    };
    let full = with("15");
    assert!(full.code == Some(1) && full.err.contains("is full: it has 15 entries, and none for block"), "{full:?}");
    assert_eq!(with("64").code, Some(0));
    assert!(with("0").err.contains("`access_control.software.entries` is 0, which is not from 1"));
}

/// The place of a get before `sync` has what was there; a build for finding mistakes says so, and changes nothing after `sync`.
#[test]
fn the_place_of_a_get_is_poisoned_until_it_ends() {
    let folder = crate::harness::folder();
    let program = written(
        folder.path(),
        "static long box = 7;
        int splitc_main(void) {
            long got = 3, early, pair[2] = {1, 2};
            got := *toglobal(1 - MYPROC, &box);
            bulk_get(pair, toglobal(1 - MYPROC, &box), sizeof(long));
            early = *(volatile long *)&got;
            long second = *(volatile long *)pair, beside = pair[1];
            sync();
            barrier();
            if (MYPROC == 0) printf(\"%lx %lx %ld, then %ld %ld\\n\", early, second, beside, got, pair[0]);
            return 0;
        }",
    );
    for protocol in LIBRARIES {
        let plain = on_now(&program, protocol, &[]);
        assert!(plain.code == Some(0) && plain.out.contains("3 1 2, then 7 7"), "{protocol}: {plain:?}");
        let poisoned = on_now(&program, protocol, &["--cc=-DSPLITC_POISON"]);
        // `long` has 32 bits.
        let what = "a5a5a5a5 a5a5a5a5 2, then 7 7";
        assert!(poisoned.code == Some(0) && poisoned.out.contains(what), "{protocol}: {poisoned:?}");
    }
}
