//! Who is to blame for misses: kinds counted by hand, places, and that asking changes nothing else.

use crate::bench::{Run, machine};
use trivium_sim::{Blamed, Kinds, SimResult};

fn of(name: &str) -> Run {
    Run::of(&format!("../crates/sim/tests/blame/{name}"), &[]).nodes(2).block(64).blamed()
}

/// The blame of a run, which adds up to what the run counts.
fn blame(result: &SimResult) -> Blamed {
    let blamed = result.blame.clone().expect("it was asked for");
    let sum = |kinds: &Kinds| kinds.cold + kinds.capacity + kinds.true_sharing + kinds.false_sharing;
    let misses = &result.misses;
    assert_eq!(sum(&blamed.kinds), misses.read + misses.write + misses.upgrade, "{result:?}");
    assert_eq!(blamed.allocations.iter().map(|of| sum(&of.kinds)).sum::<u64>(), sum(&blamed.kinds));
    assert_eq!(blamed.lines.iter().map(|of| sum(&of.kinds)).sum::<u64>(), sum(&blamed.kinds));
    assert_eq!(blamed.allocations.iter().map(|of| of.misses.read).sum::<u64>(), misses.read);
    assert_eq!(blamed.allocations.iter().map(|of| of.misses.write).sum::<u64>(), misses.write);
    assert_eq!(blamed.allocations.iter().map(|of| of.misses.upgrade).sum::<u64>(), misses.upgrade);
    let messages: u64 = blamed.allocations.iter().map(|of| of.messages).sum();
    assert_eq!(messages + blamed.other_messages, result.messages.values().sum::<u64>());
    let stalled: u64 = result.per_node.iter().map(|n| n.read_stall + n.write_stall + n.sync_stall).sum();
    assert!(blamed.allocations.iter().map(|of| of.stall).sum::<u64>() <= stalled);
    blamed
}

fn kinds(cold: u64, capacity: u64, true_sharing: u64, false_sharing: u64) -> Kinds {
    Kinds { cold, capacity, true_sharing, false_sharing }
}

/// Node 1 loads from four blocks, each once: 4 cold misses. Nobody stores.
#[test]
fn only_cold() {
    assert_eq!(blame(&of("cold").right()).kinds, kinds(4, 0, 0, 0));
}

/// Node 1 in round 0: cold. In rounds 1 to 3 its copy was taken by the store of node 0, and it loads that very word: 3
/// true. Node 0, the home, may write at first, so its store of round 0 is no miss; those of rounds 1 to 3 are upgrades, since
/// node 1 has got a copy, of a word that node 1 has loaded since: 3 true.
#[test]
fn only_true_sharing() {
    assert_eq!(blame(&of("true").right()).kinds, kinds(1, 0, 6, 0));
}

/// The same misses as before; but the word that node 1 loads is never stored to, and the word that node 0 stores to is never
/// loaded: 1 cold, 3 false on node 1, 3 false on node 0.
#[test]
fn only_false_sharing() {
    let blamed = blame(&of("false").right());
    assert_eq!(blamed.kinds, kinds(1, 0, 0, 6));
    let [words] = &blamed.allocations[..] else { panic!("{blamed:?}") };
    assert_eq!((words.name.as_str(), words.misses.read, words.misses.upgrade), ("words", 4, 3));
    let [share] = &words.falsely_shared[..] else { panic!("{words:?}") };
    assert_eq!((share.from, share.misses), (0, 6));
    let parts: Vec<_> = share.parts.iter().map(|p| (p.from, p.to, p.read_by.clone(), p.written_by.clone())).collect();
    assert_eq!(parts, [(0, 4, vec![], vec![0]), (4, 8, vec![1], vec![])]);
}

/// Node 1 loads word 1 in round 0 (cold), word 0 in rounds 1 and 3, which node 0 has stored to since the last miss that
/// was needed (2 true), and word 1 in round 2, which nobody stores to (1 false). Before the upgrade of round 1 node 1 has
/// loaded word 1 only (false), before that of round 2 word 0 (true), before that of round 3 word 1 again (false).
#[test]
fn mixed() {
    // `round % 2 == 0` is the word: 1 in even rounds, 0 in odd ones.
    assert_eq!(blame(&of("mixed").right()).kinds, kinds(1, 0, 3, 3));
}

/// One frame: the second page drives the first out, which comes back for want of room: 2 cold, 1 of capacity.
#[test]
fn capacity() {
    let run = of("pages").under(&["stache-pages"]).on(machine("typhoon", &[("memory.frames", "1")]));
    assert_eq!(blame(&run.right()).kinds, kinds(2, 1, 0, 0));
}

#[test]
fn a_miss_has_an_allocation_a_function_and_a_line() {
    let blamed = blame(&of("true").right());
    let places: Vec<_> = blamed
        .lines
        .iter()
        .map(|of| (of.function.as_str(), of.line.unwrap_or(0), of.allocation.as_str(), of.kinds))
        .collect();
    let of_node = |line, kinds| ("main", line, "words", kinds);
    assert!(places.contains(&of_node(8, kinds(0, 0, 3, 0))), "{places:?}");
    assert!(places.contains(&of_node(10, kinds(1, 0, 3, 0))), "{places:?}");
    assert!(blamed.lines.iter().all(|of| of.file.as_ref().is_some_and(|file| file.ends_with("blame/true.c"))));
    assert!(blamed.lines.iter().all(|of| of.stall > 0 && of.messages > 0), "{blamed:?}");
}

/// Whatever is asked, and however it is simulated, a run is the same, and so is its blame.
#[test]
fn asking_changes_nothing_else() {
    for run in [
        Run::of("em3d", &["-n", "60", "-i", "2"]).nodes(4),
        Run::of("bodies", &[]).nodes(3),
        Run::of("lockbench", &[]).nodes(4),
        Run::of("em3d", &["-n", "30", "-i", "2"]).nodes(3).under(&["flash-coherence"]),
        Run::of("em3d", &["-n", "30", "-i", "2"]).nodes(3).under(&["swcc"]),
    ] {
        let plain = SimResult { host_seconds: 0.0, ..run.right() };
        let asked = SimResult { host_seconds: 0.0, ..run.clone().blamed().right() };
        blame(&asked);
        assert_eq!(SimResult { blame: None, ..asked.clone() }, plain);
        let by_reference = Run { program: run.program.clone().by_reference(), ..run.clone() }.blamed();
        for other in
            [by_reference, run.clone().blamed().window(0), run.clone().blamed().window(7), run.blamed().jobs(2)]
        {
            assert_eq!(other.right().blame, asked.blame);
        }
    }
}
