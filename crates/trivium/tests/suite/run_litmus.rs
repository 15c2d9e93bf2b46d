//! Litmus tests on real threads: no outcome that sequential consistency forbids, and each that it allows. Without the second, the first
//! would say nothing: threads that run one after the other show nothing forbidden either.

use crate::harness::live::SEQUENTIAL;
use crate::harness::trivium;

/// Rounds between two barriers.
const BATCH: u64 = 250;

/// Message passing and store buffering under a protocol, so many rounds each; also under delays from a seed, which make the rare ones frequent.
fn rounds(protocol: &str, rounds: u64, delays: Option<u64>) -> [[u64; 4]; 2] {
    let flags = format!("-DBATCHES={} -DDELAY={}", rounds / BATCH, if delays.is_some() { 3000 } else { 300 });
    let seed = delays.map(|seed| format!("--delays={seed}"));
    let program = "crates/trivium/tests/litmus/rounds.c";
    let mut args = vec!["run", program, "--cc", &flags, "-p", protocol, "--nodes", "2", "--format", "json"];
    args.extend(seed.as_deref());
    let result = trivium(&args).json(0);
    let mut lines = result["output"].as_str().unwrap().lines();
    ["mp", "sb"].map(|test| {
        let mut words = lines.next().unwrap().split(' ');
        assert_eq!(words.next(), Some(test));
        let counts: Vec<u64> = words.map(|word| word.parse().unwrap()).collect();
        assert_eq!(counts.iter().sum::<u64>(), rounds / BATCH * BATCH);
        counts.try_into().unwrap()
    })
}

/// Of message passing, who sees the flag sees the data. Of store buffering, one of the two sees the other's store.
#[track_caller]
fn only_what_is_allowed(protocol: &str, [mp, sb]: [[u64; 4]; 2]) {
    assert_eq!((mp[2], sb[0]), (0, 0), "{protocol}: forbidden outcomes: mp {mp:?}, sb {sb:?}");
}

#[track_caller]
fn all_that_is_allowed(protocol: &str, [mp, sb]: [[u64; 4]; 2]) {
    only_what_is_allowed(protocol, [mp, sb]);
    assert!(are_all_seen([mp, sb]), "{protocol}: mp {mp:?}, sb {sb:?}");
}

fn are_all_seen([mp, sb]: [[u64; 4]; 2]) -> bool {
    [mp[0], mp[1], mp[3], sb[1], sb[2], sb[3]].iter().all(|&count| count > 0)
}

/// Rounds under one seed after another until all that is allowed has occurred, which is soon.
#[track_caller]
fn all_occur_soon(protocol: &str) {
    let mut all = [[0; 4]; 2];
    for seed in 1..=10 {
        let more = rounds(protocol, 1_000, Some(seed));
        only_what_is_allowed(protocol, more);
        for (sum, count) in all.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
            *sum += count;
        }
        if are_all_seen(all) {
            return;
        }
    }
    all_that_is_allowed(protocol, all);
}

#[test]
fn under_stache_what_is_allowed_occurs_and_nothing_else() {
    all_occur_soon("stache");
}

#[test]
fn under_msi_what_is_allowed_occurs_and_nothing_else() {
    all_occur_soon("msi");
}

#[test]
fn under_swcc_what_is_allowed_occurs_and_nothing_else() {
    all_occur_soon("swcc");
}

#[test]
#[ignore = "minutes"]
fn what_is_allowed_occurs_in_5000_rounds_and_nothing_else() {
    for protocol in ["stache", "msi", "swcc"] {
        all_that_is_allowed(protocol, rounds(protocol, 5_000, Some(1)));
    }
}

/// A protocol under which a location is coherent and no more shows what is forbidden, or the tests would see nothing.
#[test]
fn what_is_forbidden_is_seen_where_it_occurs() {
    let forbidden = (1..100).any(|seed| {
        let [mp, sb] = rounds("write-update", 1_000, Some(seed));
        mp[2] + sb[0] > 0
    });
    assert!(forbidden);
}

#[test]
#[ignore = "minutes"]
fn a_million_rounds() {
    let all = [rounds("stache", 500_000, Some(2)), rounds("stache", 500_000, None)];
    println!("stache, with and without delays: {all:?}");
    let sum = |test: usize| std::array::from_fn(|outcome| all[0][test][outcome] + all[1][test][outcome]);
    all_that_is_allowed("stache", [sum(0), sum(1)]);
    for protocol in SEQUENTIAL {
        let counts = rounds(protocol, 50_000, Some(3));
        println!("{protocol}: {counts:?}");
        all_that_is_allowed(protocol, counts);
        // The other tests of `litmus.c`, which need four nodes.
        let program = ["run", "programs/litmus.c", "-p", protocol, "--nodes", "4", "--delays", "4", "--format", "json"];
        let result = trivium(&[&program[..], &["--", "-n", "2000"]].concat()).json(0);
        assert_eq!(result["output"].as_str().unwrap().matches(", ok").count(), 5, "{protocol}: {result}");
    }
}
