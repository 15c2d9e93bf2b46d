//! What late values and dead copies leave out is seen by nobody: every verdict is the same without them, and what is left of
//! the states when it is forgotten afterwards are the states that a search finds which leaves it out at once.

use crate::answers::found;
use crate::blocks;
use crate::copying;
use crate::elsewhere;
use crate::made;
use crate::mutant::{self, config, slip};
use crate::shipped::written;
use crate::slow;
use crate::wrong_lists;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, explore, text, unseen};
use trivium_protocol::Protocol;

/// States after which an exploration is left.
const MOST: u64 = 20_000;

/// Whether one search has found a fault and the other that a promise is broken, as near as the fault: then what is found first depends on the order of
/// states, and both find that fault where nothing is promised.
fn are_as_near(protocol: &Arc<Protocol>, one: (&Report, &Config), other: (&Report, &Config)) -> bool {
    let (steps, steps_of_other) = (found(one.0).2, found(other.0).2);
    let is_fault = |report: &Report| report.property.as_deref() == Some("fault");
    if steps != steps_of_other || is_fault(one.0) == is_fault(other.0) {
        return false;
    }
    let bare = Arc::new(Protocol { promises: Vec::new(), ..Protocol::clone(protocol) });
    [one.1, other.1]
        .into_iter()
        .all(|config| explore(&bare, config).is_ok_and(|report| is_fault(&report) && found(&report).2 == steps))
}

/// Explores a system with and without what is left out, and otherwise in other ways: the report with all, and that with
/// nothing left out. `None`: it is too large.
fn agree(protocol: &Arc<Protocol>, system: &System) -> Result<Option<(Report, Report)>, TestCaseError> {
    let explored = |config: &Config| explore(protocol, config).map_err(|error| TestCaseError::reject(error.message));
    let searched = |late_values, dead_copies| Config {
        system: System { late_values, dead_copies, ..system.clone() },
        symmetry: false,
        max_states: Some(MOST),
        ..Config::default()
    };
    let reduced = searched(true, true);
    let reports = [&reduced, &searched(true, false), &searched(false, true), &searched(false, false)].map(explored);
    let [Ok(all), Ok(late), Ok(dead), Ok(none)] = reports else { return Ok(None) };
    // Where a limit ends a search, it may have seen what another has not.
    if [&all, &late, &dead, &none].iter().any(|report| report.states >= MOST) {
        return Ok(None);
    }
    for (other, config) in
        [(&late, searched(true, false)), (&dead, searched(false, true)), (&none, searched(false, false))]
    {
        if !are_as_near(protocol, (&all, &reduced), (other, &config)) {
            prop_assert_eq!(found(&all), found(other), "{}\nwith less left out: {}", text(&all), text(other));
        }
    }
    let by_force = Config { search: Search::Brute, ..reduced.clone() };
    let brute = explored(&by_force)?;
    if brute.verdict == Verdict::Incomplete {
        return Ok(None);
    }
    if !are_as_near(protocol, (&all, &reduced), (&brute, &by_force)) {
        prop_assert_eq!(found(&all), found(&brute), "{}\nby brute force: {}", text(&all), text(&brute));
    }
    let symmetric = explored(&Config { symmetry: true, ..reduced.clone() })?;
    prop_assert_eq!(all.verdict, symmetric.verdict, "{}\nby symmetry: {}", text(&all), text(&symmetric));
    if all.verdict == Verdict::Holds {
        prop_assert!(none.states <= brute.states, "brute force leaves out nothing");
        prop_assert!(all.states <= late.states && all.states <= dead.states);
        prop_assert!(late.states <= none.states && dead.states <= none.states);
        if system.threads_per_node == 1 {
            let counted = unseen(protocol, &reduced).map_err(|error| TestCaseError::fail(error.message))?;
            prop_assert_eq!(counted, Some((none.states, all.states)), "states with nothing left out, and with all");
        }
    }
    Ok(Some((all, none)))
}

fn system(nodes: u32, objects: u32, ops: Option<u32>) -> System {
    System { nodes, objects, ops, ..System::default() }
}

proptest! {
    #![proptest_config(config(slow::all_or(150, 60)))]

    #[test]
    fn random_protocols_are_the_same_with_all_kept(seed: u64, nodes in 2u32..4, threads in 1u32..3) {
        let text = blocks::protocol(seed);
        let protocol = written(&text);
        let system = System { threads_per_node: threads, ..system(nodes, 1, Some([3, 2, 1, 1][(threads * nodes) as usize / 2 - 1])) };
        agree(&protocol, &system).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    }

    #[test]
    fn protocols_that_perform_elsewhere_are_the_same_with_all_kept(seed: u64, nodes in 2u32..4, threads in 1u32..3) {
        let text = elsewhere::protocol(seed);
        let protocol = written(&text);
        let system = System { threads_per_node: threads, ..system(nodes, 1, Some([3, 2, 1, 1][(threads * nodes) as usize / 2 - 1])) };
        agree(&protocol, &system).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    }

    /// Copies of this one are forgotten on a guess, which many of its mutants make wrong.
    #[test]
    fn wrong_guesses_are_given_up(slips in prop::collection::vec(slip(), 1..6)) {
        let all = mutant::protocols();
        let (path, source) = all.iter().find(|(path, _)| path.ends_with("deferred-update.tri")).expect("it is shipped");
        if let Some((protocol, text)) = mutant::mutant(path, source, &slips) {
            match agree(&protocol, &system(2, 1, None)) {
                Err(TestCaseError::Reject(_)) | Ok(_) => {}
                Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
            }
        }
    }

    #[test]
    fn protocols_with_mistakes_are_the_same_with_all_kept(
        which in any::<prop::sample::Index>(),
        slips in prop::collection::vec(slip(), 1..8),
        nodes in 1u32..3,
    ) {
        let all = mutant::protocols();
        let (path, source) = which.get(&all);
        if let Some((protocol, text)) = mutant::mutant(path, source, &slips) {
            match agree(&protocol, &system(nodes, 1, None)) {
                Err(TestCaseError::Reject(_)) | Ok(_) => {}
                Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
            }
        }
    }
}

/// Lists of dead copies that a mistake in the analysis would make: each is noticed in several of so many protocols.
#[test]
fn wrong_lists_of_dead_copies_are_noticed() {
    let looking = [
        ("on look when memory[0] == 1 { assert false; return }\n    on look { return }", ""),
        ("on look { if memory[0] == 1 { assert false }; return }", ""),
        ("on look { return }", "invariant gone of block: all n: not (cache at n is Gone) or contents at n != 1"),
    ];
    let named = looking.map(|(look, claim)| written(&LOOKS_AT_WORDS.replace("LOOK", look).replace("CLAIM", claim)));
    let mut told = Vec::new();
    for (name, mistake) in wrong_lists::OF_COPIES {
        let random = (0..100).map(|number| written(&blocks::protocol(number * 7919)));
        let notices = |protocol: &Arc<Protocol>| {
            let wrong = wrong_lists::mistaken(protocol, mistake);
            wrong.is_some_and(|wrong| matches!(agree(&wrong, &system(2, 1, Some(4))), Err(TestCaseError::Fail(_))))
        };
        told.push((name, random.chain(named.iter().cloned()).filter(notices).count()));
    }
    println!("noticed: {told:?}");
    assert!(told.iter().all(|&(_, noticed)| noticed > 0), "{told:?}");
}

/// A copy is given up in place; what is looked at later is the word of memory that it was.
const LOOKS_AT_WORDS: &str = "protocol looks
lane main fifo buffered
message Ping on main
message Data on main with block
op drop(b: block)
op look(b: block)
role cache of block {
  otherwise impossible
  state Away {
    on read, write { send Ping to home; await Data { install; goto Have; resume } }
    on drop, look { return }
  }
  state Have: write { on drop { goto Gone; return } on look { return } }
  state Gone: keeps {
    LOOK
    on drop { return }
    on read, write { send Ping to home; await Data { install; goto Have; resume } }
  }
}
role home of block { state Here { on Ping { send Data to sender } on read, write { complete } on drop, look { return } } }
CLAIM
";

/// The properties above would say nothing if most of these protocols were too large, or all the same.
#[test]
fn many_random_protocols_are_explored() {
    let mut found = BTreeMap::new();
    let mut note = |what: &str| *found.entry(what.to_string()).or_insert(0) += 1;
    for seed in 0..80 {
        let protocol = written(&blocks::protocol(seed * 7919));
        match agree(&protocol, &system(2, 1, Some(3))).unwrap_or_else(|error| panic!("{error}")) {
            None => note("too large"),
            Some((all, none)) => {
                note(&all.verdict.to_string());
                note(&all.property.unwrap_or_default());
                if all.states < none.states {
                    note("fewer states");
                }
            }
        }
    }
    let enough = |what: &str| found.get(what).is_some_and(|&count| count > 8);
    println!("{found:?}");
    assert!(["holds", "violated", "fewer states", "last_write"].into_iter().all(enough), "{found:?}");
}

/// What becomes of protocols in systems, with everything kept and with nothing: how many there are of each verdict and property.
fn explored(all: impl Iterator<Item = (String, System)>) -> BTreeMap<String, i32> {
    let mut found = BTreeMap::new();
    let mut note = |what: &str| *found.entry(what.to_string()).or_insert(0) += 1;
    for (text, system) in all {
        let Some((all, _)) = agree(&written(&text), &system).unwrap_or_else(|error| panic!("{error}\n{text}")) else {
            note("too large");
            continue;
        };
        note(&all.verdict.to_string());
        note(&all.property.unwrap_or_default());
    }
    println!("{found:#?}");
    found
}

/// The same of protocols whose homes perform accesses beside a cache: most hold, and those that leave a line as it is do not.
#[test]
fn protocols_that_perform_beside_caches_are_the_same_with_all_kept() {
    let seeds = 0..slow::all_or(400, 60);
    let found = explored(seeds.map(|seed| (elsewhere::beside_caches(seed * 7919), system(2, 1, Some(2)))));
    let enough = |what: &str, least: i32| found.get(what).is_some_and(|&count| count >= least);
    assert!(enough("holds", 20) && enough("last_write", 2) && enough("fault", 2), "{found:?}");
}

/// The same of protocols whose calls copy blocks: some hold, and a copy that is said to be done too early breaks `last_write`.
#[test]
fn protocols_that_copy_are_the_same_with_all_kept() {
    let seeds = 0..slow::all_or(300, 40);
    let found = explored(seeds.map(|seed| {
        let (objects, ops) = if seed % 4 == 0 { (3, 1) } else { (2, 2) };
        (copying::protocol(seed * 7919), system(2, objects, Some(ops)))
    }));
    let enough = |what: &str, least: i32| found.get(what).is_some_and(|&count| count >= least);
    assert!(enough("holds", 12) && enough("last_write", 4), "{found:?}");
}

/// The same of protocols whose handlers make objects: some hold, and mistakes are faults, or leave a record elsewhere.
#[test]
fn protocols_that_make_objects_are_the_same_with_all_kept() {
    let seeds = 0..slow::all_or(600, 120);
    let found = explored(seeds.map(|seed| {
        let (nodes, ops) = if seed % 4 == 0 { (3, 1) } else { (2, 2) };
        (made::protocol(seed * 7919), system(nodes, 1, Some(ops)))
    }));
    let enough = |what: &str, least: i32| found.get(what).is_some_and(|&count| count >= least);
    assert!(enough("holds", 40) && enough("fault", 10), "{found:?}");
    assert!(enough("invariant free_thing_is_as_at_first", 1), "{found:?}");
}

/// The same of protocols whose homes perform accesses for others: most hold, and mistakes are of several sorts.
#[test]
fn many_protocols_that_perform_elsewhere_are_explored() {
    let mut found = BTreeMap::new();
    let mut note = |what: &str| *found.entry(what.to_string()).or_insert(0) += 1;
    for seed in 0..120 {
        let text = elsewhere::protocol(seed * 7919);
        match agree(&written(&text), &system(2, 1, Some(3))).unwrap_or_else(|error| panic!("{error}\n{text}")) {
            None => note("too large"),
            Some((all, _)) => {
                note(&all.verdict.to_string());
                note(&all.property.unwrap_or_default());
                note(all.reason.unwrap_or_default().split(": ").last().unwrap_or_default());
            }
        }
    }
    println!("{found:#?}");
    let enough = |what: &str, least: i32| found.get(what).is_some_and(|&count| count >= least);
    assert!(enough("holds", 40) && enough("violated", 20), "{found:?}");
    assert!(enough("fault", 10) && enough("last_write", 2), "{found:?}");
}

/// How many of each sort must have been explored to their end, and compared.
const THOUSAND: u32 = 1000;

#[test]
#[ignore = "minutes: a thousand random protocols"]
fn a_thousand_random_protocols_are_the_same_with_all_kept() {
    let (mut compared, mut fewer, mut violated) = (0, 0, 0);
    for seed in 0.. {
        let text = blocks::protocol(seed * 104_729);
        let system = system(2 + u32::from(seed % 5 == 0), 1, Some(3 - u32::from(seed % 5 == 0)));
        let both = agree(&written(&text), &system).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let Some((all, none)) = both else { continue };
        compared += 1;
        fewer += u32::from(all.states < none.states);
        violated += u32::from(all.verdict == Verdict::Violated);
        if compared == THOUSAND {
            println!("{compared} of {} protocols: {violated} violated, {fewer} with fewer states", seed + 1);
            assert!(fewer > THOUSAND / 4 && violated > THOUSAND / 10 && violated < THOUSAND * 9 / 10);
            return;
        }
    }
}

#[test]
#[ignore = "minutes: a thousand protocols with mistakes"]
fn a_thousand_protocols_with_mistakes_are_the_same_with_all_kept() {
    let mut runner = TestRunner::deterministic();
    let all = mutant::protocols();
    let drawn = (any::<prop::sample::Index>(), prop::collection::vec(slip(), 1..8), 1u32..3);
    let (mut tried, mut compared, mut fewer, mut violated) = (0, 0, 0, 0);
    while compared < THOUSAND {
        tried += 1;
        let (which, slips, nodes) = drawn.new_tree(&mut runner).unwrap().current();
        let (path, source) = which.get(&all);
        let Some((protocol, text)) = mutant::mutant(path, source, &slips) else { continue };
        match agree(&protocol, &system(nodes, 1, None)) {
            Err(TestCaseError::Reject(_)) | Ok(None) => {}
            Ok(Some((all, none))) => {
                compared += 1;
                fewer += u32::from(all.states < none.states);
                violated += u32::from(all.verdict == Verdict::Violated);
            }
            Err(error) => panic!("{error}\n{text}"),
        }
    }
    println!("{compared} of {tried} mutants: {violated} violated, {fewer} with fewer states");
    assert!(fewer > THOUSAND / 20 && violated > THOUSAND / 20, "{fewer} with fewer states, {violated} violated");
}

/// All protocols of the repository, in small systems.
#[test]
fn shipped_protocols_are_the_same_with_all_kept() {
    let (mut complete, mut fewer) = (0, 0);
    for (number, (path, text)) in slow::one_in(6, mutant::protocols()).enumerate() {
        let protocol = mutant::small(&path, &text).unwrap_or_else(|| panic!("{}", path.display()));
        for ops in slow::in_turn(2, number, [None, Some(2)]) {
            let explored = agree(&protocol, &system(2, 1, ops));
            let explored = explored.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            complete += usize::from(explored.is_some());
            fewer += usize::from(explored.is_some_and(|(all, none)| all.states < none.states));
        }
    }
    assert!(
        complete > slow::all_or(30, 3) && fewer > slow::all_or(20, 1),
        "{complete} were explored, {fewer} with fewer states"
    );
}

/// Two stores wait. The handler that performs the first looks at memory, and lets the second go only if it finds 1 there: so
/// in how many ways the event can go depends on how the first choice goes.
const SEEN_AT_ONCE: &str = "
protocol seen-at-once
op poke(b: block)
lane main fifo buffered
message Tick, Tock on main
assume write when not (home is Open)
role home of block {
  otherwise impossible
  state Shut {
    on read { complete }
    on write {
      send Tick to me
      await Tick {
        complete
        if memory[0] == 1 { memory[0] = 0; send Tock to me; goto Open; resume } else { goto Shut; resume }
      }
    }
    on poke { memory[0] = 0; return }
  }
  state Open: write { on poke { return } on Tock { assert memory[0] == 0; goto Shut } }
}
";

#[test]
fn what_a_store_turns_out_to_be_may_decide_what_follows_in_the_event() {
    let system = System { threads_per_node: 2, ..system(1, 1, None) };
    let (all, none) = agree(&written(SEEN_AT_ONCE), &system).unwrap_or_else(|error| panic!("{error}")).unwrap();
    let told = |report: &Report| (report.verdict, report.property.clone(), report.counterexample.len());
    assert_eq!(told(&none), (Verdict::Violated, Some("fault".into()), 4));
    assert_eq!(told(&all), told(&none), "{}", text(&all));
}

/// A guess that nobody looks at is kept. Where a role makes copies readable that were forgotten, it is given up, and the verdict is that
/// with all copies kept.
#[test]
fn a_guess_is_held_to_what_happens() {
    let shipped = mutant::protocols();
    let (path, text) = shipped.iter().find(|(path, _)| path.ends_with("deferred-update.tri")).expect("it is shipped");
    let changed = |from: &str, to: &str| {
        let text = text.replacen(from, to, 1);
        let protocol = mutant::small(path, &text).unwrap_or_else(|| panic!("{text}"));
        agree(&protocol, &system(2, 1, None)).unwrap_or_else(|error| panic!("{error}")).expect("it is small")
    };
    let (all, none) = changed("", "");
    assert!(all.verdict == Verdict::Holds && 2 * all.states < none.states, "{} of {}", all.states, none.states);
    // Nothing is guessed where words are also moved by address, even if only in what another role is asked to do.
    let listed = "action list(b: block) { ";
    assert!(text.contains(listed));
    let (all, none) = changed(listed, &format!("{listed}copy 0 to 8, 8; "));
    assert_eq!((all.verdict, all.states), (none.verdict, none.states), "{}", self::text(&all));
    let looked = "await Data { install; goto Away; complete }";
    assert!(text.contains(looked));
    // Who looks only once is granted the copy all the same.
    let granted = looked.replace("install;", "install; pattern.list(object);");
    let (all, none) = changed(looked, &granted);
    assert_eq!((all.verdict, all.states), (none.verdict, none.states), "{}", self::text(&all));
    // And where it may be stored to meanwhile, what is read is too old.
    assert_eq!(all.property, none.property);
}
