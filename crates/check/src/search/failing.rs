//! What keeps states fails at every place in turn: what is known by then is told.

use super::disk::Disk;
use super::expand::Harvest;
use super::sweep::{Batch, Keep, Sweep, Weakness};
use crate::config::{Config, Method, System};
use crate::report::{Report, Verdict};
use crate::system::model::Model;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A disk that gives out after some uses, and on which nothing can be written then.
struct Failing {
    kept: Disk,
    uses: AtomicU32,
}

impl Failing {
    fn used(&self) -> io::Result<()> {
        let left = self.uses.load(Relaxed).checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        self.uses.store(left, Relaxed);
        Ok(())
    }
}

impl Keep for Failing {
    fn begin(&mut self, first: &[u8], hash: u64) -> io::Result<()> {
        self.used()?;
        self.kept.begin(first, hash)
    }

    fn batch(&mut self, most: u64) -> io::Result<Batch> {
        self.used()?;
        self.kept.batch(most)
    }

    fn knows(&self, state: &[u8]) -> bool {
        self.kept.knows(state)
    }

    fn join(&mut self, batch: &Batch, harvests: &[Harvest], most: u64) -> io::Result<bool> {
        self.used()?;
        self.kept.join(batch, harvests, most)
    }

    fn done(&mut self, batch: &Batch) {
        self.kept.done(batch);
    }

    fn next_level(&mut self, most: u64) -> io::Result<Option<u64>> {
        self.used()?;
        self.kept.next_level(most)
    }

    fn found(&self) -> (u64, u64) {
        self.kept.found()
    }

    fn memory(&self) -> u64 {
        self.kept.memory()
    }

    fn way(&mut self, name: u64) -> io::Result<Vec<u64>> {
        self.kept.way(name)
    }

    fn last(&self) -> Option<u64> {
        self.kept.last()
    }

    fn weakness(&self, depth: u32) -> Weakness {
        self.kept.weakness(depth)
    }
}

/// Explores with a disk that gives out after so many uses.
fn explored(model: &Model, uses: u32) -> Report {
    let folder = std::env::temp_dir();
    let config = Config { method: Method::Disk { folder: &folder }, liveness: false, ..Config::default() };
    let kept = Disk::new(&folder, None).unwrap();
    Sweep::new(model, &config, Failing { kept, uses: AtomicU32::new(uses) }).run()
}

#[test]
fn a_violation_that_was_found_is_told_wherever_the_disk_gives_out() {
    for file in ["broken/stache-lost-upgrade.tri", "broken/msi-forgotten-ack.tri"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(file);
        let protocol = Arc::new(trivium_lang::compile_file(&path, &[]).unwrap());
        let model = Model::new(&protocol, &System::default()).unwrap();
        let whole = explored(&model, u32::MAX);
        assert_eq!(whole.verdict, Verdict::Violated);
        let (mut without, mut uncounted) = (0, 0);
        for uses in 1.. {
            let report = explored(&model, uses);
            if report.transitions < whole.transitions {
                assert_eq!(report.verdict, Verdict::Incomplete, "{file}, {uses} uses");
                without += 1;
                continue;
            }
            assert_eq!(report.property, whole.property, "{file}, {uses} uses");
            assert_eq!(report.counterexample, whole.counterexample, "{file}, {uses} uses");
            match &report.uncounted {
                None => break,
                Some(why) => assert!(why.contains("there is no room"), "{why}"),
            }
            uncounted += 1;
        }
        assert!(without > 10 && uncounted > 0, "{file}: {without}, {uncounted}");
    }
}
