//! `trivium run` under stress: random combinations of program, protocols, nodes and blocks, with delays at random; every answer is looked at,
//! and every run recorded, so that a wrong one can be replayed. And each file of `protocols/broken` is tried on a program that it may
//! betray. `make stress MINUTES=10`. SEED and CASE choose the combination and the decisions about delays; the order of real threads
//! they do not choose, so that a failure may take several tries to come again. Its recording always does.

mod broken;
mod sample;

use crate::random::Random;
use sample::{Sample, Seen, Site};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What part of the time goes to protocols that are broken.
const BROKEN: f64 = 0.3;

pub struct StressOptions {
    pub minutes: f64,
    pub seed: u64,
    pub case: Option<u64>,
    pub keep: PathBuf,
    pub trivium: PathBuf,
}

/// Runs cases until the time is over; gives the number of findings.
///
/// # Errors
/// Something cannot be started or written.
pub fn stress(options: &StressOptions) -> Result<u64, String> {
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let keep = if options.keep.is_absolute() { options.keep.clone() } else { root.join(&options.keep) };
    std::fs::create_dir_all(&keep).map_err(|error| format!("{}: {error}", keep.display()))?;
    let place = Site::new(&root, &options.trivium)?;
    let all = Duration::from_secs_f64(options.minutes * 60.0);
    let begun = Instant::now();
    if options.case.is_none() {
        broken::try_all(&place, options.seed, &keep, all.mul_f64(BROKEN))?;
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let (mut number, mut findings) = (options.case.unwrap_or(0), 0);
    loop {
        let sample = Sample::of(&mut Random::of_case(options.seed, number));
        let folder = keep.join(format!("{}-{number}", options.seed));
        if let Some(what) = run(&place, &sample, &folder)? {
            findings += 1;
            println!("FINDING in case {number}: {what}\n  trivium {}", place.shown(&sample));
            println!("  {}; again: make stress SEED={} CASE={number}", folder.display(), options.seed);
        } else if options.case.is_some() {
            println!("case {number}: right\n  trivium {}", place.shown(&sample));
        }
        *counts.entry(sample.protocols.join(" + ")).or_default() += 1;
        number += 1;
        if options.case.is_some() || begun.elapsed() >= all {
            break;
        }
    }
    let told: Vec<String> = counts.iter().map(|(protocols, count)| format!("{protocols} {count}")).collect();
    println!(
        "stress: seed {}: {} runs, {findings} findings ({})",
        options.seed,
        counts.values().sum::<u64>(),
        told.join(", ")
    );
    Ok(findings)
}

/// Runs one case; tells what is wrong with it, and then leaves all that is needed to see it again.
fn run(place: &Site, sample: &Sample, folder: &Path) -> Result<Option<String>, String> {
    let recording = place.file("run.rec");
    let seen = place.record(sample, &recording)?;
    let Some(what) = place.wrong(sample, &seen)? else { return Ok(None) };
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(told)?;
    let kept = folder.join("run.rec");
    std::fs::copy(&recording, &kept).map_err(told)?;
    let again = place.replay(sample, &kept)?;
    let replayed = if same(&again, &seen) { "its replay does the same" } else { "its replay does something else" };
    let text = format!("{what}; {replayed}\ntrivium {}\n\n{}\n{}", place.shown(sample), seen.output, seen.error);
    std::fs::write(folder.join("finding.txt"), text).map_err(told)?;
    Ok(Some(format!("{what}; {replayed}")))
}

/// Whether two runs ended in the same way, and said the same.
fn same(one: &Seen, other: &Seen) -> bool {
    (one.code, &one.output, &one.error) == (other.code, &other.output, &other.error)
}
