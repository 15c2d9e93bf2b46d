//! The search on disk: exactly what the search in memory finds, in a bounded memory, and an end where the disk is full.

use crate::answers::answer;
use crate::shipped::protocol;
use std::path::{Path, PathBuf};
use trivium_check::{Config, Method, System, Verdict, explore};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn on_disk_the_same_is_found_as_in_memory() {
    let folder = folder("found");
    let (mut held, mut violated) = (0, 0);
    let files =
        ["msi", "stache", "german", "token-lock", "pool", "swcc", "broken/msi-forgotten-ack", "broken/early-reply"];
    for file in
        files.into_iter().chain(["broken/stache-lost-upgrade", "broken/eager-stale-upgrade", "broken/two-locks"])
    {
        let protocol = protocol(&format!("{file}.tri"));
        for symmetry in [false, true] {
            let system = System { ops: Some(2), late_values: file != "stache", ..System::default() };
            let config = Config { system, symmetry, liveness: false, max_states: Some(30_000), ..Config::default() };
            let exact = explore(&protocol, &config).unwrap();
            if exact.verdict == Verdict::Incomplete {
                continue;
            }
            // With so little memory there are many runs.
            for (memory, jobs) in [(None, 1), (Some(300_000), 2)] {
                let disk = Config { method: Method::Disk { folder: &folder }, memory, jobs, ..config.clone() };
                let report = explore(&protocol, &disk).unwrap();
                assert_eq!(answer(&report), answer(&exact), "{file} {memory:?}");
                assert_eq!(report.method, Some("on disk"));
            }
            held += u32::from(exact.verdict == Verdict::Holds);
            violated += u32::from(exact.verdict == Verdict::Violated);
        }
    }
    assert!(held > 8 && violated > 5, "{held} held, {violated} were violated");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing is left in the folder");
}

#[test]
fn memory_is_bounded_and_what_is_not_looked_for_is_said() {
    let folder = folder("bounded");
    let stache = protocol("stache.tri");
    let system = System { late_values: false, dead_copies: false, values: 4, ..System::default() };
    let config = Config { system, symmetry: false, memory: Some(1 << 18), ..Config::default() };
    let disk = Config { method: Method::Disk { folder: &folder }, ..config.clone() };
    let report = explore(&stache, &disk).unwrap();
    let whole = explore(&stache, &Config { memory: None, liveness: false, ..config }).unwrap();
    assert!(whole.bytes_per_state * whole.states as f64 > (1 << 20) as f64, "it would not have fitted");
    assert_eq!((report.states, report.transitions, report.depth), (whole.states, whole.transitions, whole.depth));
    assert_eq!(report.verdict, Verdict::Incomplete);
    let reason = report.reason.unwrap();
    assert!(reason.contains("safety and deadlock hold; starvation was not looked for"), "{reason}");
    let holds = explore(&stache, &Config { liveness: false, ..disk.clone() }).unwrap();
    assert_eq!((holds.verdict, holds.checked.as_slice()), (Verdict::Holds, &["safety", "deadlock"][..]));
    let limit = explore(&stache, &Config { max_states: Some(500), ..disk }).unwrap();
    assert_eq!((limit.verdict, limit.states), (Verdict::Incomplete, 500));
}

/// A folder that is none ends with what is known.
#[test]
fn where_nothing_can_be_kept_it_ends() {
    let folder = folder("not-a-folder");
    std::fs::write(&folder, "a file").unwrap();
    let config = Config { method: Method::Disk { folder: &folder }, ..Config::default() };
    let refused = explore(&protocol("msi.tri"), &config).unwrap_err();
    assert!(refused.to_string().contains("cannot be written"), "{refused}");
}
