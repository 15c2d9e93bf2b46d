//! A search that was ended and goes on from where it was saved: as if nothing had ended it.

use crate::answers::answer;
use crate::shipped::protocol;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trivium_check::{Checkpoints, Config, Origin, Progress, Report, System, Verdict, WriteAll, explore, text};
use trivium_protocol::Protocol;

/// Where a search is saved.
struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    fn new(name: &str) -> Shelf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Shelf { folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("checkpoint")
    }

    /// Explores, saved here as often as said; goes on from what was saved if `resumes`.
    fn explore(&self, protocol: &Arc<Protocol>, config: &Config, resumes: bool) -> Result<Report, String> {
        let save = |write: WriteAll| {
            let mut bytes = Vec::new();
            write(&mut bytes).unwrap();
            std::fs::write(self.file(), bytes).map_err(|error| error.to_string())
        };
        let file = self.file();
        let config = Config {
            checkpoint: Some(Checkpoints { name: "it", every: None, save: &save }),
            resume: resumes.then_some(file.as_path()),
            ..config.clone()
        };
        explore(protocol, &config).map_err(|refused| refused.to_string())
    }

    /// Explores with an end after each `states` more states, and goes on each time with other host threads: the last report,
    /// and how often it was ended.
    fn in_parts(&self, protocol: &Arc<Protocol>, config: &Config, states: u64) -> (Report, u32) {
        let mut ends = 0;
        loop {
            let most = states * u64::from(ends + 1);
            let part = Config { max_states: Some(most), jobs: 1 + ends % 3, ..config.clone() };
            let report = self.explore(protocol, &part, ends > 0).unwrap();
            let over = !report.reason.as_ref().is_some_and(|why| why.contains("states is reached"));
            match report.checkpoint.as_ref().filter(|_| !over) {
                None => return (report, ends),
                Some(saved) => assert!(saved.states.is_some_and(|states| states <= most), "{saved:?}"),
            }
            ends += 1;
        }
    }
}

fn systems(nodes: u32) -> Vec<Config<'static>> {
    let system = System { nodes, ops: Some(2), ..System::default() };
    let of = |symmetry, liveness| Config { system: system.clone(), symmetry, liveness, ..Config::default() };
    vec![of(false, false), of(false, true), of(true, true)]
}

#[test]
fn a_search_in_parts_says_what_the_whole_one_says() {
    let shelf = Shelf::new("parts");
    let (mut ended, mut violated) = (0, 0);
    let files = ["msi", "stache", "german", "token-lock", "swcc", "pool", "broken/msi-forgotten-ack"];
    for file in
        files.into_iter().chain(["broken/stache-lost-upgrade", "broken/eager-stale-upgrade", "broken/two-locks"])
    {
        let protocol = protocol(&format!("{file}.tri"));
        for config in systems(3) {
            let whole = explore(&protocol, &Config { max_states: Some(20_000), ..config.clone() }).unwrap();
            if whole.reason.as_ref().is_some_and(|why| why.contains("states is reached")) {
                continue;
            }
            for parts in [3, 11] {
                let (mut report, ends) = shelf.in_parts(&protocol, &config, whole.states / parts + 2);
                if report.verdict == Verdict::Violated {
                    // What lies beside it is not counted where a part ends there.
                    assert!(report.states <= whole.states);
                    report.states = whole.states;
                }
                assert_eq!(answer(&report), answer(&whole), "{file} {config:?} in {ends} parts");
                ended += ends;
                violated += u32::from(report.verdict == Verdict::Violated);
            }
        }
    }
    assert!(ended > 100 && violated > 5, "ended {ended} times, {violated} violated");
}

/// Wherever the wish to stop comes, also when starvation is looked for.
#[test]
fn stopped_anywhere_it_goes_on() {
    let shelf = Shelf::new("stopped");
    let stache = protocol("stache.tri");
    let config = Config { system: System { late_values: false, ..System::default() }, ..Config::default() };
    let (whole, told) = (explore(&stache, &config).unwrap(), Cell::new(0));
    for every in [3, 7, 1000] {
        let mut parts = 0;
        let report = loop {
            let cancel = AtomicBool::new(false);
            told.set(0);
            let stop = |p: &Progress| {
                told.set(told.get() + 1);
                let last = every == 1000 && p.waiting == 0 && parts == 0;
                cancel.store(told.get() >= every || last, Ordering::Relaxed);
            };
            let part = Config { cancel: Some(&cancel), progress: Some(&stop), ..config.clone() };
            let report = shelf.explore(&stache, &part, parts > 0).unwrap();
            if report.verdict != Verdict::Incomplete {
                break report;
            }
            parts += 1;
            assert!(parts < 1000, "it does not come to an end");
        };
        assert!(parts > 0, "it was never stopped");
        assert_eq!(answer(&report), answer(&whole), "in {parts} parts");
    }
}

#[test]
fn memory_ends_a_search_that_is_saved_with_all_that_it_has() {
    let shelf = Shelf::new("memory");
    let stache = protocol("stache.tri");
    let whole = explore(&stache, &Config::default()).unwrap();
    let memory = (whole.states as f64 * whole.bytes_per_state * 0.6) as u64;
    let report = shelf.explore(&stache, &Config { memory: Some(memory), ..Config::default() }, false).unwrap();
    assert!(report.verdict == Verdict::Incomplete && report.states < whole.states);
    let report = shelf.explore(&stache, &Config::default(), true).unwrap();
    assert_eq!(answer(&report), answer(&whole));
    assert!(report.checkpoint.is_none(), "nothing has ended it");
}

#[test]
fn it_is_saved_in_between_and_a_failure_is_told() {
    let msi = protocol("msi.tri");
    let whole = explore(&msi, &Config::default()).unwrap();
    // What is saved now and then is enough to go on from, whatever becomes of the process.
    let all = RefCell::new(Vec::new());
    let keep = |write: WriteAll| {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        all.borrow_mut().push(bytes);
        Ok(())
    };
    let always = Some(Duration::ZERO);
    let config =
        Config { checkpoint: Some(Checkpoints { name: "it", every: always, save: &keep }), ..Config::default() };
    assert_eq!(answer(&explore(&msi, &config).unwrap()), answer(&whole));
    let all = all.into_inner();
    assert!(all.len() > 10, "saved {} times", all.len());
    let shelf = Shelf::new("between");
    for bytes in all.iter().step_by(7) {
        std::fs::write(shelf.file(), bytes).unwrap();
        assert_eq!(answer(&shelf.explore(&msi, &Config::default(), true).unwrap()), answer(&whole));
    }
    // A disk that becomes full: the search goes on, and what is known is told.
    let room = Cell::new(3);
    let full = |write: WriteAll| {
        room.set(room.get() - 1);
        let mut bytes = Full { room: if room.get() > 0 { 1 << 30 } else { 2000 } };
        write(&mut bytes).map_err(|error| error.to_string())
    };
    let limits = Config { max_states: Some(whole.states / 2), ..Config::default() };
    let checkpoint = Some(Checkpoints { name: "it", every: always, save: &full });
    let report = explore(&msi, &Config { checkpoint, ..limits.clone() }).unwrap();
    assert_eq!((report.verdict, report.states), (Verdict::Incomplete, whole.states / 2));
    let saved = report.checkpoint.clone().unwrap();
    assert!(saved.states.is_some_and(|states| states < whole.states / 2), "{saved:?}");
    assert!(saved.error.as_ref().unwrap().contains("no room"), "{saved:?}");
    assert!(text(&report).contains("checkpoint    not saved: no room"), "{}", text(&report));
}

/// A writer that takes so many bytes and no more.
struct Full {
    room: usize,
}

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.room = self.room.checked_sub(bytes.len()).ok_or_else(|| std::io::Error::other("no room"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_checkpoint_of_anything_else_is_refused_by_name() {
    let shelf = Shelf::new("refused");
    let msi = protocol("msi.tri");
    let origin = Origin { version: "7", hash: "cafe" };
    let config = Config { max_states: Some(100), origin, ..Config::default() };
    shelf.explore(&msi, &config, false).unwrap();
    shelf.explore(&msi, &config, true).unwrap();
    let refused = |protocol: &Arc<Protocol>, config: &Config, words: &str| {
        let why = shelf.explore(protocol, config, true).unwrap_err();
        assert!(why.contains(words) && why.contains("help: "), "{why}");
    };
    let system = |system: System| Config { system, ..config.clone() };
    let usual = System::default();
    refused(&protocol("german.tri"), &config, "is of protocol msi, and this is german");
    let version = Config { origin: Origin { version: "8", ..origin }, ..config.clone() };
    refused(&msi, &version, "was made by version 7, and this is 8");
    let hash = Config { origin: Origin { hash: "d00d", ..origin }, ..config.clone() };
    refused(&msi, &hash, "the text or the parameters of protocol msi have changed");
    refused(&msi, &system(System { nodes: 4, ..usual.clone() }), "made with `--nodes 3`, and this is with `--nodes 4`");
    refused(
        &msi,
        &system(System { ops: Some(2), ..usual.clone() }),
        "made without `--ops`, and this is with `--ops 2`",
    );
    let late = System { late_values: false, ..usual.clone() };
    refused(&msi, &system(late), "made without `--no-late-values`, and this is with `--no-late-values`");
    refused(&msi, &Config { symmetry: false, ..config.clone() }, "and this is with `--no-symmetry`");
    refused(&msi, &Config { liveness: false, ..config.clone() }, "and this is with `--no-liveness`");
    let whole = std::fs::read(shelf.file()).unwrap();
    for cut in (0..whole.len()).step_by(whole.len() / 40) {
        std::fs::write(shelf.file(), &whole[..cut]).unwrap();
        refused(&msi, &config, if cut < 22 { "is no checkpoint" } else { "is not whole" });
    }
    for at in (0..whole.len()).step_by(whole.len() / 97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x41;
        std::fs::write(shelf.file(), &damaged).unwrap();
        refused(&msi, &config, "checkpoint");
    }
    std::fs::write(shelf.file(), [&whole[..], b"more"].concat()).unwrap();
    refused(&msi, &config, "is damaged");
    std::fs::remove_file(shelf.file()).unwrap();
    refused(&msi, &config, "cannot be read");
}
