//! Handlers run for ever, and nobody goes on: that is told, in a simulation and in a run, with who waits for what.

mod harness;

use harness::trivium;

/// A home that refuses whoever asks, so that all ask again for ever.
const REFUSES: &str = "protocol refuses
lane main fifo buffered
message Get, Nack on main
role far of block {
  otherwise impossible
  state Away {
    on read { send Get to home; goto Asking }
    on write { send Get to home; goto Asking }
  }
  state Asking {
    on Nack { goto Pausing }
    on read impossible
    on write impossible
  }
  state Pausing {
    on after 50 { send Get to home; goto Asking }
    on read impossible
    on write impossible
  }
}
role home of block { state Here: write { on Get { send Nack to sender } } }
";

fn protocol(folder: &tempfile::TempDir) -> String {
    let file = folder.path().join("refuses.tri");
    std::fs::write(&file, REFUSES).unwrap();
    file.to_str().unwrap().to_string()
}

#[test]
fn a_simulation_without_progress_says_who_waits() {
    let folder = tempfile::tempdir().unwrap();
    let file = protocol(&folder);
    let run = |more: &[&str]| {
        let args = ["sim", "programs/em3d.c", "-p", &file, "-m", "typhoon", "-n", "3", "--stall-limit", "200000"];
        trivium(&[&args, more].concat())
    };
    let plain = run(&[]);
    plain.refuses(
        1,
        &[
            "no progress: for 200000 cycles handlers ran",
            "waits for access to block 330, a load of",
            "far at node 1: Asking; home at node 2: Here",
            "em3d.c:158",
        ],
    );
    for more in [&["--window", "0"][..], &["--window", "7"], &["--jobs", "2"], &["--jobs", "3"]] {
        assert_eq!(run(more).err, plain.err, "{more:?}");
    }
    // What ends a run earlier is told first.
    run(&["--max-cycles", "300000", "--format", "json"]).json(3);
    // Without a limit, it is a matter of --max-cycles.
    let args = ["sim", "programs/em3d.c", "-p", &file, "-m", "typhoon", "-n", "3", "--stall-limit", "0"];
    trivium(&[&args[..], &["--max-cycles", "1000000", "--format", "json"]].concat()).json(3);
}

#[test]
fn a_run_without_progress_says_who_waits() {
    let folder = tempfile::tempdir().unwrap();
    let (file, recording) = (protocol(&folder), folder.path().join("run.rec"));
    let run = |more: &[&str]| {
        let args = ["run", "programs/em3d.c", "-p", &file, "-n", "3", "--stall-limit", "1"];
        trivium(&[&args, more].concat())
    };
    let recorded = run(&["--record", recording.to_str().unwrap()]);
    recorded.refuses(1, &["no progress: for 1 s handlers ran", "node 1: waits for access to block", "far: "]);
    assert_eq!(run(&["--replay", recording.to_str().unwrap()]).err, recorded.err);
}

#[test]
fn a_limit_that_is_too_short_is_refused() {
    for limit in ["1", "99999", "-5", "many"] {
        let args = ["sim", "programs/em3d.c", "-p", "stache", "-m", "typhoon", "--stall-limit", limit];
        trivium(&args).refuses(2, &["from 100000"]);
    }
}
