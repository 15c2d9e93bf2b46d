//! Protocols that are broken on purpose: which of them a program can be betrayed by, and whether it is.

use super::sample::{Answer, Sample, Site};
use super::{Seen, same};
use crate::random::Random;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where a run is not over after so long, it never is: others take a second.
const SECONDS: &str = "10";
/// So often a file is tried at most.
const TRIES: u32 = 60;

/// How a program may come to the mistake of a file.
enum Way {
    /// This program of the repository, under the file alone.
    Program(&'static str),
    /// A text in which PROTOCOL and PREFIX stand for the file's names, under the file alone, or behind another.
    Text(&'static str, &'static [&'static str], &'static [&'static str]),
    /// A program of the repository that calls this protocol: it calls the file in its place.
    InPlaceOf(&'static str, &'static str, &'static [&'static str]),
    /// It cannot, and why.
    Cannot(&'static str),
}

use Way::{Cannot, InPlaceOf, Program, Text};

const TRACKERS: &str = "it needs more requests at once than a home has trackers";
const EVICTS: &str = "it needs a copy that leaves by itself, and in a real run none does";
const ROOM: &str = "it needs a full queue, and with so few nodes it never is";
const POINTERS: &str = "it needs a pool of directory pointers that is used up, and with so few nodes it never is";
const LATE: &str =
    "it needs a program that looks before an invalidation comes, and the one that waits for the copy is told later";
const ONCE: &str = "it needs a network that delivers a message twice, and in a real run none does";
const JOBS_USED: &str = "it needs all jobs of two nodes in use, which none of these programs has";
const INVARIANT: &str = "it breaks an invariant, and no real run looks at one";
const PENDING: &str =
    "it needs an owner whose answer comes to the home long after it has come to the node that has asked";
const HINTS: &str = "it needs a hint that comes before the lock, from another node";
const PATIENCE: &str = "it needs a token that comes and is used at the moment at which it is given up";
const AGAIN: &str = "it needs a node that takes the lock again before its engine hears that it has unlocked it";
const THREADS: &str = "it needs two threads of a node, and in a real run a node has one";
const COUNTED: &str = include_str!("../../stress/counted.c");
const WORDS: &str = include_str!("../../stress/words.c");
const CHAIN: &str = include_str!("../../stress/chain.c");
const POOL: &str = include_str!("../../stress/pool.c");
const ITEMS: &str = include_str!("../../stress/items.c");
const JOBS: &str = include_str!("../../stress/jobs.c");
const BARRIERS: &str = include_str!("../../stress/barriers.c");
const LOCKS: &str = include_str!("../../stress/locks.c");
const ORDERS: &str = include_str!("../../stress/orders.c");
const BANK: &str = include_str!("../../stress/bank.c");
const POSTED: &str = include_str!("../../stress/posted.c");
const FORKS: &str = include_str!("../../stress/forks.c");
const FLAGS: &str = include_str!("../../stress/flags.c");
const PETERSON: &str = include_str!("../../stress/peterson.c");
const COLUMNS: &str = include_str!("../../stress/columns.c");
const PUTS: &str = include_str!("../../stress/puts.c");

/// File, least number of nodes, and how a program comes to its mistake.
const FILES: [(&str, usize, Way); 103] = [
    ("alternating-bit-unordered", 2, Text(ITEMS, &[], &[])),
    ("bank-queue-one-lane", 3, Text(BANK, &[], &["stache"])),
    ("call-assembly-mixed", 2, Cannot(THREADS)),
    ("channel-taken", 3, InPlaceOf("moldyn-channels.c", "channel", &["stache"])),
    ("channel-unordered", 2, InPlaceOf("allgather.c", "channel", &["stache"])),
    ("column-free-early", 2, Text(COLUMNS, &[], &["stache"])),
    ("column-unordered", 2, InPlaceOf("appbt-columns.c", "column", &["stache"])),
    ("eager-exclusive-lent-early", 3, Text(CHAIN, &["-DFENCE=eager_exclusive_lent_early_fence()"], &[])),
    ("eager-stale-upgrade", 4, Program("falsesharing.c")),
    ("early-reply", 3, Program("litmus.c")),
    ("fbcopy-both-ask", 2, Cannot(JOBS_USED)),
    ("fbcopy-calls-mixed", 2, Cannot(THREADS)),
    ("fbcopy-change-unseen", 2, Cannot(INVARIANT)),
    ("fbcopy-flag-in-memory", 2, Text(COUNTED, &[], &[])),
    ("fbcopy-hint-taken-seriously", 3, Cannot(EVICTS)),
    ("fbcopy-last-line-left", 3, Text(WORDS, &[], &[])),
    ("fbcopy-late-refusal", 3, Cannot(EVICTS)),
    ("fbcopy-memory-sent", 3, Cannot(EVICTS)),
    ("fbcopy-owner-has-none", 3, Cannot(EVICTS)),
    ("fbcopy-owner-kept", 3, InPlaceOf("fbcopy.c", "fbcopy", &[])),
    ("fbcopy-pending-destination", 3, Cannot(PENDING)),
    ("fbcopy-pending-source", 3, Cannot(PENDING)),
    ("fbcopy-refused-landing-counted", 3, Cannot(EVICTS)),
    ("fbcopy-sent-before-collected", 3, Text(WORDS, &[], &[])),
    ("fbcopy-sharers-left", 3, Cannot(ROOM)),
    ("fbcopy-sharers-untold", 3, Cannot(LATE)),
    ("flash-barrier-early-lost", 2, Text(BARRIERS, &[], &["stache"])),
    ("flash-barrier-let-go-twice", 3, Text(BARRIERS, &["-DMASTER=1"], &["stache"])),
    ("flash-barrier-line-kept", 2, InPlaceOf("barrierbench-flash.c", "flash-barrier", &["stache"])),
    ("flash-barrier-new-sense", 2, InPlaceOf("barrierbench-flash.c", "flash-barrier", &["stache"])),
    ("flash-barrier-reset-late", 4, Text(BARRIERS, &[], &["stache"])),
    ("flash-early-forgotten", 3, Cannot(EVICTS)),
    ("flash-fenced-at-ownership", 3, Text(CHAIN, &["-DFENCE=flash_fenced_at_ownership_fence()"], &[])),
    ("flash-fenced-told-late", 3, Text(CHAIN, &["-DFENCE=flash_fenced_told_late_fence()"], &[])),
    ("flash-listed-twice", 3, Cannot(EVICTS)),
    ("flash-lock-hint-of-any-turn", 3, Cannot(HINTS)),
    ("flash-lock-leaving-missed", 2, Cannot(EVICTS)),
    ("flash-lock-timeout-blind", 2, Cannot(PATIENCE)),
    ("flash-lock-token-kept", 3, Cannot(AGAIN)),
    ("flash-lock-unfair", 3, Cannot(INVARIANT)),
    ("flash-lock-unlock-unseen", 2, Cannot(THREADS)),
    ("flash-lock-writeback-lost", 2, Cannot(EVICTS)),
    ("flash-pending-served", 3, Program("lockbench.c")),
    ("flash-pointer-unreserved", 3, Cannot(POINTERS)),
    ("flash-portion-forgotten", 3, Cannot(ROOM)),
    ("flash-prefetch-dropped", 2, Program("copy.c")),
    ("flash-relaxed-forgotten-writeback", 3, Cannot(EVICTS)),
    ("flash-shared-lent", 3, Program("lockbench.c")),
    ("flash-upgrade-believed", 3, Program("lockbench.c")),
    ("flash-writeback-forgotten", 3, Cannot(EVICTS)),
    ("flash-writeback-ignored", 2, Cannot(EVICTS)),
    ("mapped-coming-unmapped", 2, InPlaceOf("paging.c", "mapped", &[])),
    ("mapped-contents-lost", 2, InPlaceOf("paging.c", "mapped", &[])),
    ("mapped-frame-early", 2, InPlaceOf("paging.c", "mapped", &[])),
    ("mapped-frame-kept", 2, InPlaceOf("paging.c", "mapped", &[])),
    ("mm-ack-on-requests", 2, Text(FORKS, &[], &["stache"])),
    ("mm-few-buffers", 2, Text(FORKS, &[], &["stache"])),
    ("mm-newest-first", 3, Text(FORKS, &[], &["stache"])),
    ("mm-out-of-turn", 2, Text(FORKS, &[], &["stache"])),
    ("mm-retry-throttled", 3, Text(FORKS, &[], &["stache"])),
    ("moesi-stale-writeback", 3, Cannot(EVICTS)),
    ("moesi-store-lost", 2, Cannot(EVICTS)),
    ("mshr-entry-lost", 2, Cannot(EVICTS)),
    ("mshr-one-lane", 3, Cannot(TRACKERS)),
    ("msi-forgotten-ack", 2, Program("litmus.c")),
    ("msi-monitor-lost-wakeup", 2, Text(FLAGS, &[], &[])),
    ("pair-credits-to-itself", 2, Text(JOBS, &[], &[])),
    ("peterson-turn-first", 2, Text(PETERSON, &[], &[])),
    ("pool-uncounted", 3, Text(POOL, &[], &["stache"])),
    ("posted-writes-overtaken", 2, Text(POSTED, &[], &["stache"])),
    ("release-probe-copy-kept", 3, Program("litmus.c")),
    ("release-probe-release-waits", 3, Cannot(EVICTS)),
    ("remote-records-one-half", 2, InPlaceOf("dsmc-write.c", "remote-records", &["stache"])),
    ("remote-records-torn", 3, InPlaceOf("dsmc-write.c", "remote-records", &["stache"])),
    ("replies-apart", 3, Program("lockbench.c")),
    ("retry-credits-forgotten", 3, Cannot(TRACKERS)),
    ("retry-credits-given-twice", 3, Cannot(TRACKERS)),
    ("squeezed-lanes", 3, Program("litmus.c")),
    ("stache-counted-forgotten", 2, Cannot(INVARIANT)),
    ("stache-counted-lent", 3, Cannot(INVARIANT)),
    ("stache-lost-upgrade", 3, Program("lockbench.c")),
    ("stache-pages-forgotten", 3, Cannot(EVICTS)),
    ("stache-prefetch-forgotten", 2, Program("copy.c")),
    ("stache-unordered", 3, Program("lockbench.c")),
    ("swcc-get-without-copy", 3, InPlaceOf("splitphase.c", "swcc", &[])),
    ("swcc-late-answer", 3, InPlaceOf("splitphase.c", "swcc", &[])),
    ("swcc-lock-dropped-early", 3, Program("lockbench.c")),
    ("swcc-lock-refuses-invalidate", 3, Program("lockbench.c")),
    ("swcc-put-without-lock", 3, InPlaceOf("splitphase.c", "swcc", &[])),
    ("swcc-store-leaves-readers", 3, InPlaceOf("splitphase.c", "swcc", &[])),
    ("token-list-forgotten", 3, InPlaceOf("lockbench-token.c", "token-lock", &["stache"])),
    ("token-list-kept", 3, InPlaceOf("lockbench-token.c", "token-lock", &["stache"])),
    ("token-list-noted-late", 3, InPlaceOf("lockbench-token.c", "token-lock", &["stache"])),
    ("token-lock-newcomer-first", 4, InPlaceOf("lockbench-token.c", "token-lock", &["stache"])),
    ("token-ring-everywhere", 2, InPlaceOf("lockbench-token.c", "token-lock", &["stache"])),
    ("tree-barrier-late-reset", 4, InPlaceOf("barrierbench-tree.c", "tree-barrier", &["stache"])),
    ("tso-cc-home-learns-nothing", 2, Text(CHAIN, &["-DFENCE="], &[])),
    ("two-locks", 2, Text(LOCKS, &[], &["stache"])),
    ("uncached-answered-early", 2, Program("fetchadd.c")),
    ("uncached-duplicated", 2, Cannot(ONCE)),
    ("uncached-sync-without-waiting", 2, Text(PUTS, &[], &[])),
    ("uncached-update-torn", 3, Program("fetchadd.c")),
    ("write-update-no-turn", 2, Text(ORDERS, &[], &[])),
];

/// The sample of a try, or why there is none.
fn sample(place: &Site, (name, least, way): &(&str, usize, Way), random: &mut Random) -> Result<Sample, String> {
    let file = format!("protocols/broken/{name}.tri");
    let prefix = name.replace('-', "_");
    let written = |text: String| -> Result<PathBuf, String> {
        let path = place.file(&format!("{name}.c"));
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    };
    let mut options = vec!["--max-seconds".to_string(), SECONDS.to_string()];
    let (program, before): (_, &[&str]) = match way {
        Cannot(why) => return Err((*why).to_string()),
        Program(program) => (Path::new("programs").join(program), &[]),
        Text(text, flags, before) => {
            flags.iter().for_each(|flags| options.extend(["--cc".to_string(), flags.to_string()]));
            (written(text.replace("PROTOCOL", name).replace("PREFIX", &prefix))?, before)
        }
        InPlaceOf(program, other, before) => {
            let text = place.text(&format!("programs/{program}"))?;
            let text = text.replace(&format!("trivium/{other}.h"), &format!("trivium/{name}.h"));
            let text = text.replace(&format!("{}_", other.replace('-', "_")), &format!("{prefix}_"));
            // The program that it includes lies beside it.
            let base = program.split_once('-').map_or(String::new(), |(base, _)| format!("{base}.c"));
            let there = place.root().join("programs").join(&base);
            let text = text.replace(&format!("#include \"{base}\""), &format!("#include \"{}\"", there.display()));
            (written(text)?, before)
        }
    };
    let mut protocols: Vec<String> = before.iter().map(|name| name.to_string()).collect();
    protocols.push(file);
    Ok(Sample {
        program,
        protocols,
        options,
        nodes: least + random.below(6 - least.min(&5)),
        args: Vec::new(),
        delays: Some(random.below(1 << 30) as u64),
        answer: Answer::Says(""),
    })
}

/// Tries each file, and says which are caught; keeps a recording of each failure.
///
/// # Errors
/// Something cannot be started or written.
pub fn try_all(place: &Site, seed: u64, keep: &Path, time: Duration) -> Result<(), String> {
    let (mut caught, mut possible) = (0, 0);
    let share = time / u32::try_from(FILES.len()).unwrap_or(1);
    for (number, file) in (0..).zip(&FILES) {
        if let Cannot(why) = file.2 {
            println!("broken/{}: cannot be caught: {why}", file.0);
            continue;
        }
        possible += 1;
        let begun = Instant::now();
        let mut tries = 0;
        let found = loop {
            let sample = sample(place, file, &mut Random::of_case(seed, (number << 32) + u64::from(tries)))?;
            let recording = keep.join(format!("broken-{}.rec", file.0));
            let seen = place.record(&sample, &recording)?;
            tries += 1;
            if seen.code == Some(2) {
                return Err(format!("broken/{}: {}\n  trivium {}", file.0, seen.error, place.shown(&sample)));
            }
            if seen.code != Some(0) {
                break Some((sample, recording, seen));
            }
            let _ = std::fs::remove_file(&recording);
            if tries >= TRIES || begun.elapsed() > share {
                break None;
            }
        };
        match found {
            None => println!("broken/{}: not caught in {tries} runs: its race is rare", file.0),
            Some((sample, recording, seen)) => {
                caught += 1;
                tell(place, file.0, tries, &sample, (&recording, &seen))?;
            }
        }
    }
    println!("broken: {caught} of {possible} files caught that a program can come to, of {} in all", FILES.len());
    Ok(())
}

fn tell(
    place: &Site,
    name: &str,
    tries: u32,
    sample: &Sample,
    (recording, seen): (&Path, &Seen),
) -> Result<(), String> {
    let again = place.replay(sample, recording)?;
    let replayed = if same(&again, seen) { "replayed" } else { "its replay does something else" };
    let why = seen.why();
    let program = sample.program.file_name().unwrap_or_default().display();
    println!("broken/{name}: caught in run {tries} ({program}, {} nodes; {replayed}): {why}", sample.nodes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_broken_file_is_known() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/broken");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string())
            .collect();
        there.sort();
        assert_eq!(there, FILES.iter().map(|file| file.0.to_string()).collect::<Vec<_>>());
    }
}
