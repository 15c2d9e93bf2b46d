//! `mpirun -n N trivium check`: what one process says, whatever the number of ranks. Needs the feature `mpi` (`make mpi`).

use crate::harness::ranks::{job, mpirun};
use crate::refused;
use crate::slow;
use crate::{of_job, ranks_of};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const TRIVIUM: &str = env!("CARGO_BIN_EXE_trivium");
fn output(mut command: Command) -> Output {
    command.output().expect("mpirun can be started: `make mpi` installs it")
}

/// What is said besides time, memory, and what happens beside a violation.
fn said(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut said: Value = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)));
    let keys = said.as_object_mut().unwrap();
    for key in ["host_seconds", "seconds", "bytes_per_state", "packed_bytes", "ranks"] {
        keys.remove(key);
    }
    if keys["verdict"] != "holds" {
        ["coverage", "clauses", "branches"].iter().for_each(|key| _ = keys.remove(*key));
    }
    said
}

fn checked(protocols: &[&str], options: &[&str], ranks: &[u32]) {
    for protocol in protocols {
        let arguments = [&["check", protocol, "--format", "json"], options].concat();
        let alone = Command::new(TRIVIUM).args(&arguments).output().unwrap();
        for &ranks in ranks {
            let together = output(mpirun(ranks, &arguments));
            assert_eq!(said(&together), said(&alone), "{protocol}: {ranks} ranks");
            assert_eq!(together.status.code(), alone.status.code(), "{protocol}: {ranks} ranks");
        }
    }
}

#[test]
fn protocols_hold_whatever_the_number_of_ranks() {
    checked(&["msi", "german", "token-lock"], &[], slow::all_or(&[1, 2, 3, 4], &[1, 3]));
    let shipped = ["stache", "eager", "migratory", "update", "tree-barrier", "tso-cc", "alternating-bit"];
    checked(&shipped, &["--ops", "2", "--max-states", "20000", "--jobs", "2"], &[2]);
}

#[test]
fn what_is_broken_is_violated_whatever_the_number_of_ranks() {
    checked(&["broken/stache-lost-upgrade", "broken/two-locks"], &[], slow::all_or(&[1, 2, 3, 4], &[2, 4]));
    let broken =
        ["broken/msi-forgotten-ack", "broken/early-reply", "broken/token-lock-newcomer-first", "broken/squeezed-lanes"];
    checked(&broken, &["--max-states", "20000"], &[3]);
}

#[test]
fn bad_input_is_told_once() {
    let mut two = mpirun(1, &["check", "msi"]);
    two.args([":", "-n", "1", TRIVIUM, "check", "stache"]);
    refused(vec![
        (mpirun(3, &["check", "nowhere"]), "there is no protocol `nowhere`"),
        (mpirun(3, &["check", "msi", "--no-such-option"]), "unexpected argument"),
        (mpirun(2, &["check", "msi", "--hash-compact"]), "several ranks cannot search together with --hash-compact"),
        (mpirun(2, &["check", "msi", "--checkpoint", "/nowhere/at/all"]), "--> /nowhere/at/all"),
        (mpirun(2, &["check", "remote-write"]), "what its messages carry"),
        (mpirun(2, &["protocols"]), "2 ranks were started, but only `trivium check` and `trivium run` are"),
        (two, "the ranks do not agree on the command line"),
    ]);
}

#[test]
fn the_launcher_of_another_mpi_is_noticed() {
    let mut alone = Command::new(TRIVIUM);
    alone.args(["check", "msi"]).env("PMI_SIZE", "2").env("PMI_RANK", "0");
    // This MPI does not hear of PMI, so that each process believes it is alone.
    let output = alone.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) {
        assert!(error.contains("has started 2 of this `trivium`, but to the MPI that it was built with"), "{error}");
    } else {
        assert!(!output.status.success(), "an MPI that asks its launcher finds none: {error}");
    }
}

#[test]
fn only_the_first_rank_opens_files() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [here, elsewhere] = ["files-are-here", "no-files-are-here"].map(|name| root.join(name));
    [&here, &elsewhere].into_iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    std::fs::write(here.join("mine.tri"), include_str!("../../../../protocols/msi.tri")).unwrap();
    let check = [TRIVIUM, "check", "mine.tri", "--out", "result"];
    let mut command = job();
    command.args(["-n", "1", "-wdir", here.to_str().unwrap()]).args(check);
    command.args([":", "-n", "2", "-wdir", elsewhere.to_str().unwrap()]).args(check);
    let output = output(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read_to_string(here.join("result")).unwrap().contains("holds: safety"));
    assert_eq!(std::fs::read_dir(elsewhere).unwrap().count(), 0);
}

fn long() -> Child {
    // Far more states than are found meanwhile.
    mpirun(3, &["check", "stache", "--nodes", "6", "--no-symmetry", "--no-dead-copies", "--memory", "1G"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn who_kills_a_rank_ends_the_job() {
    let child = long();
    std::thread::sleep(Duration::from_secs(3));
    let ranks = ranks_of(&child);
    assert_eq!(ranks.len(), 3, "{ranks:?}");
    let begun = Instant::now();
    assert!(Command::new("kill").args(["-KILL", &ranks[1]]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && of_job(&printed).is_empty(), "{printed}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn who_stops_a_rank_ends_the_search_with_what_is_known() {
    let child = long();
    std::thread::sleep(Duration::from_secs(3));
    let ranks = ranks_of(&child);
    assert!(Command::new("kill").args(["-TERM", &ranks[2]]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("incomplete: the exploration was stopped"), "{out}");
    assert_eq!(output.status.code(), Some(3));
}
