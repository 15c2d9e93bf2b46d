//! The search by several ranks: what one process finds, whatever their number. Here they are threads; over MPI see
//! `crates/trivium/tests/mpi/search.rs`.

use crate::answers;
use crate::every::files;
use crate::shipped::protocol;
use crate::slow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trivium_check::group::{Group, Member, contract, in_process};
use trivium_check::{Config, Method, Report, Search, System, Verdict, explore};
use trivium_diagnostic::Diagnostic;
use trivium_protocol::Protocol;

/// All that must not depend on the number of ranks.
fn answer(report: &Report) -> String {
    answers::answer(&Report { ranks: None, ..report.clone() })
}

/// What each rank of a group says.
fn each<R: Send>(ranks: usize, work: impl Fn(&dyn Group) -> R + Sync) -> Vec<R> {
    let work = |member: Member| work(&member);
    std::thread::scope(|scope| {
        let threads: Vec<_> = in_process(ranks).into_iter().map(|member| scope.spawn(move || work(member))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A search on one process, without what a thread cannot be given.
#[derive(Clone, Default)]
struct Asked {
    system: System,
    symmetry: bool,
    liveness: bool,
    jobs: u32,
    max_states: Option<u64>,
    max_depth: Option<u32>,
    memory: Option<u64>,
}

impl Asked {
    fn config<'a>(&self, group: Option<&'a dyn Group>) -> Config<'a> {
        Config {
            system: self.system.clone(),
            symmetry: self.symmetry,
            liveness: self.liveness,
            jobs: self.jobs,
            max_states: self.max_states,
            max_depth: self.max_depth,
            memory: self.memory,
            group,
            ..Config::default()
        }
    }

    fn together(&self, protocol: &Arc<Protocol>, ranks: usize) -> Result<Report, Diagnostic> {
        let mut reports = each(ranks, |group| explore(protocol, &self.config(Some(group))));
        let first = reports.swap_remove(0)?;
        let same = |report: &Result<Report, Diagnostic>| report.as_ref().is_ok_and(|r| answer(r) == answer(&first));
        assert!(reports.iter().all(same), "all ranks say the same");
        Ok(first)
    }
}

#[test]
fn threads_of_a_process_keep_the_contract_of_a_group() {
    for size in [1, 2, 3, 5] {
        each(size, |group| contract(group, 1 << 20));
    }
}

#[test]
fn any_number_of_ranks_finds_what_one_process_finds() {
    let (mut held, mut violated, mut incomplete) = (0, 0, 0);
    for file in slow::one_in(4, files()) {
        let protocol = protocol(&file);
        for (symmetry, liveness, groups) in
            [(false, true, &[(2, 1), (4, 2)][..]), (true, true, &[(3, 1), (4, 1)]), (true, false, &[(2, 2)])]
        {
            let system = System { ops: Some(2), ..System::default() };
            let asked = Asked {
                system,
                symmetry,
                liveness,
                jobs: 1,
                max_states: Some(slow::all_or(15_000, 2_500)),
                ..Asked::default()
            };
            let alone = explore(&protocol, &asked.config(None)).unwrap();
            for &(ranks, jobs) in groups {
                match (Asked { jobs, ..asked.clone() }).together(&protocol, ranks) {
                    Ok(report) => {
                        assert_eq!(answer(&report), answer(&alone), "{file}: {ranks} ranks, {symmetry} {liveness}")
                    }
                    Err(refused) => assert!(refused.message.contains("what its messages carry"), "{file}: {refused}"),
                }
            }
            held += u32::from(alone.verdict == Verdict::Holds);
            violated += u32::from(alone.verdict == Verdict::Violated);
            incomplete += u32::from(alone.verdict == Verdict::Incomplete);
        }
    }
    assert!(
        held > slow::all_or(20, 2) && violated > slow::all_or(20, 4) && incomplete > slow::all_or(10, 1),
        "{held} {violated} {incomplete}"
    );
}

/// Without the reductions, so that there are many states.
fn many(nodes: u32) -> System {
    System { nodes, late_values: false, dead_copies: false, ..System::default() }
}

#[test]
fn limits_end_it_where_they_end_one_process() {
    let stache = protocol("stache.tri");
    let asked = Asked { system: many(3), liveness: true, jobs: 1, ..Asked::default() };
    for limit in [1, 2, 77, 500, 4_000] {
        for (max_states, max_depth) in [(Some(limit), None), (None, Some(limit.min(9) as u32))] {
            let asked = Asked { max_states, max_depth, ..asked.clone() };
            let alone = explore(&stache, &asked.config(None)).unwrap();
            assert_eq!(alone.verdict, Verdict::Incomplete);
            assert_eq!(answer(&asked.together(&stache, 3).unwrap()), answer(&alone), "{limit}");
        }
    }
}

#[test]
fn where_memory_ends_on_one_rank_it_ends_on_all() {
    let stache = protocol("stache.tri");
    let asked = Asked { system: many(3), liveness: true, jobs: 1, ..Asked::default() };
    let whole = asked.together(&stache, 2).unwrap();
    let each = (whole.bytes_per_state * whole.states as f64 / 2.0) as u64;
    let reason = |memory: u64| {
        let report = (Asked { memory: Some(memory), ..asked.clone() }).together(&stache, 2).unwrap();
        assert_eq!(report.verdict, Verdict::Incomplete);
        (report.states, report.reason.unwrap())
    };
    // First what is kept to find starvation goes, then the search ends.
    let (states, why) = reason(each * 5 / 6);
    assert_eq!(states, whole.states);
    assert!(why.starts_with("safety and deadlock hold; starvation was not looked for: the limit of"), "{why}");
    let (states, why) = reason(each / 8);
    assert!(states < whole.states, "{states}");
    assert!(why.contains("bytes of memory is reached on rank"), "{why}");
}

#[test]
fn who_is_stopped_stops_all() {
    let stache = protocol("stache.tri");
    let reports = each(3, |group| {
        let cancel = AtomicBool::new(group.rank() == 1);
        let config = Config { cancel: Some(&cancel), group: Some(group), system: many(4), ..Config::default() };
        explore(&stache, &config).unwrap()
    });
    for report in reports {
        assert_eq!(
            (report.verdict, report.reason.as_deref()),
            (Verdict::Incomplete, Some("the exploration was stopped"))
        );
    }
}

#[test]
fn what_ranks_cannot_do_together_is_refused_by_name() {
    let msi = protocol("msi.tri");
    let folder = Path::new("states");
    let of = |method| Config { method, ..Config::default() };
    let refused = [
        (of(Method::Compact { bits: 64 }), "--hash-compact"),
        (of(Method::Bits { bytes: 1 << 20, hashes: 3 }), "--bitstate"),
        (of(Method::Walks { count: 1, depth: 9 }), "--random-walks"),
        (of(Method::Disk { folder }), "--disk"),
        (Config { resume: Some(folder), ..Config::default() }, "--resume"),
        (Config { search: Search::Brute, ..Config::default() }, "--brute"),
    ];
    for (config, name) in &refused {
        let members = in_process(2);
        let error = explore(&msi, &Config { group: Some(&members[0]), ..config.clone() }).unwrap_err();
        assert_eq!(error.message, format!("several ranks cannot search together with {name}"));
    }
    // A group of one is no group.
    let members = in_process(1);
    let config = Config { group: Some(&members[0]), method: Method::Compact { bits: 64 }, ..Config::default() };
    assert_eq!(explore(&msi, &config).unwrap().ranks, None);
    let members = in_process(2);
    let config = Config { group: Some(&members[0]), ..Config::default() };
    let error = explore(&protocol("remote-write.tri"), &config).unwrap_err();
    assert!(error.message.contains("`remote-write` together: what its messages carry"), "{error}");
}

/// Nothing is dealt where one rank keeps all: most states of three ranks are kept by another than found them.
#[test]
fn states_are_dealt_evenly() {
    let stache = protocol("stache.tri");
    let asked = Asked { system: many(3), liveness: true, jobs: 1, ..Asked::default() };
    let [two, four] = [2, 4].map(|ranks| asked.together(&stache, ranks).unwrap());
    let [two_sent, four_sent] = [two, four].map(|report| {
        let ranks = report.ranks.unwrap();
        assert!(ranks.exchanges > 5 * u64::from(report.depth), "{ranks:?}");
        ranks.bytes as f64 / report.states as f64
    });
    // Of n ranks, (n - 1) / n of what is found goes to another.
    assert!(two_sent > 20.0 && (1.3..1.9).contains(&(four_sent / two_sent)), "{two_sent} {four_sent}");
}
