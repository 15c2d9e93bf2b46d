//! What `check` proves of a protocol is kept in `sim`: random protocols that hold for so many nodes are run under random
//! programs on as many nodes of several machines, and neither a fault, nor two writers, nor a lost store, nor a deadlock
//! is seen there. Protocols that perform accesses for threads of other nodes are also run for real, with delays. `docs/checking.md`, section 2, says what programs do not do because `check` does not.

use crate::arrays;
use crate::blocks;
use crate::calls;
use crate::elsewhere;
use crate::made;
use crate::optional;
use crate::rooms;
use crate::slow;
use crate::waiting;
mod script;

use crate::mutant::{self, config, protocols, slip};
use proptest::prelude::*;
use script::Uses;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use trivium_check::{Config, System, Verdict, explore};
use trivium_guest::Program;
use trivium_protocol::{Promise, Protocol};
use trivium_sim::{Machine, Setup, run};

const MACHINES: [&str; 4] = ["simple-coma", "typhoon", "typhoon-1", "typhoon-0"];
/// States after which a protocol counts as too large.
const MOST: u64 = 20_000;
/// Programs for each protocol that holds.
const PROGRAMS: u64 = 6;

/// Whether a protocol holds in a system.
fn holds(protocol: &Arc<Protocol>, system: &System) -> bool {
    let config = Config { system: system.clone(), max_states: Some(MOST), ..Config::default() };
    explore(protocol, &config).is_ok_and(|report| report.verdict == Verdict::Holds)
}

/// A random program, and its text.
fn scripted(protocol: &Arc<Protocol>, uses: &Uses, seed: u64) -> (Program, String) {
    let text = script::program(protocol, uses, seed);
    let bytes = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (Program::load(&bytes, "script").unwrap_or_else(|error| panic!("{error}\n{text}")), text)
}

/// Runs a program for real, with delays; what is wrong, if anything is.
fn wrong_live(protocol: &Arc<Protocol>, uses: &Uses, seed: u64) -> Option<String> {
    let (program, text) = scripted(protocol, uses, seed);
    let setup = trivium_run::Setup {
        program: &program,
        protocols: vec![protocol.clone()],
        nodes: uses.nodes,
        block: 64,
        args: Vec::new(),
        limit: Some(Duration::from_secs(60)),
        cancel: Arc::default(),
        delays: Some(seed),
        poll_every: None,
        checks_unchecked: false,
        stall_limit: Some(Duration::from_secs(20)),
        is_pinned: false,
        warm_up: Duration::ZERO,
        trace: None,
    };
    match trivium_run::run(&setup) {
        Ok(result) if result.incomplete.is_some() => Some(format!("{:?}\n{text}", result.incomplete)),
        Ok(result) => {
            let loses = protocol.promises.contains(&Promise::LastWrite) && !result.exit_codes.is_empty();
            loses.then(|| format!("a store is lost: {:?}\n{text}", result.exit_codes))
        }
        Err(failed) => Some(format!("{}\n{text}", failed.0)),
    }
}

/// Runs a program; what is wrong, if anything is.
fn wrong(protocol: &Arc<Protocol>, uses: &Uses, machine: &str, seed: u64) -> Option<String> {
    let (program, text) = scripted(protocol, uses, seed);
    let machine = Machine::load(machine, &[]).unwrap_or_else(|error| panic!("{error}"));
    let setup = Setup {
        program: &program,
        protocols: vec![protocol.clone()],
        machine,
        nodes: uses.nodes,
        block: 64,
        args: Vec::new(),
        seed,
        max_cycles: Some(3_000_000),
        stall_limit: Some(trivium_sim::STALL_LIMIT),
        window: None,
        jobs: 1,
        blame: false,
        memory: None,
        cancel: None,
        progress: None,
    };
    match run(&setup) {
        Ok(result) if result.incomplete.is_some() => Some(format!("{:?}\n{text}", result.incomplete)),
        Ok(result) => {
            let loses = protocol.promises.contains(&Promise::LastWrite) && !result.exit_codes.is_empty();
            loses.then(|| format!("a store is lost: {:?}\n{text}", result.exit_codes))
        }
        Err(error) => Some(format!("{error}\n{text}")),
    }
}

/// Checks a protocol, and runs programs under it if it holds. Gives whether it did.
fn kept(protocol: &Arc<Protocol>, system: &System, seed: u64) -> Result<bool, String> {
    if !script::can_use(protocol, false) || !holds(protocol, system) {
        return Ok(false);
    }
    runs(protocol, system, seed).map(|()| true)
}

/// What programs may do under a protocol that holds in a system.
fn uses(system: &System) -> Uses {
    Uses { nodes: system.nodes, objects: system.objects, ops: system.ops.unwrap_or(12), passes_on: false }
}

/// The same as [`runs`], for real.
fn runs_live(protocol: &Arc<Protocol>, system: &System, seed: u64) -> Result<(), String> {
    match wrong_live(protocol, &uses(system), seed) {
        None => Ok(()),
        Some(wrong) => Err(format!("{} holds, but on run: {wrong}", protocol.name)),
    }
}

/// Runs programs under a protocol that holds.
fn runs(protocol: &Arc<Protocol>, system: &System, seed: u64) -> Result<(), String> {
    for round in 0..PROGRAMS {
        let machine = MACHINES[((seed + round) % 4) as usize];
        if let Some(wrong) = wrong(protocol, &uses(system), machine, seed ^ (round << 32)) {
            return Err(format!("{} holds, but on {machine}: {wrong}", protocol.name));
        }
    }
    Ok(())
}

fn system(nodes: u32, objects: u32, ops: Option<u32>) -> System {
    System { nodes, objects, ops, ..System::default() }
}

/// A protocol as it is, without the sizes for `check`, if they are the same.
fn compiled(path: &Path, text: &str) -> Option<Arc<Protocol>> {
    let protocol = mutant::compiled(path, text, &[]).ok()?;
    protocol.sizes_to_check().is_empty().then(|| Arc::new(protocol))
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn what_is_proved_of_a_protocol_with_mistakes_is_kept(
        which in any::<prop::sample::Index>(),
        slips in prop::collection::vec(slip(), 1..4),
        seed: u64,
        nodes in 2u32..4,
    ) {
        let all = protocols();
        let (path, source) = which.get(&all);
        if let Some((_, text)) = mutant::mutant(path, source, &slips)
            && let Some(protocol) = compiled(path, &text)
        {
            kept(&protocol, &system(nodes, 1, None), seed).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        }
    }

}

proptest! {
    #![proptest_config(config(30))]

    #[test]
    fn what_is_proved_of_roles_that_call_each_other_is_kept(number: u64, seed: u64, nodes in 1u32..3, objects in 1u32..3) {
        calls_are_kept(number, seed, nodes, objects)?;
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    #[ignore = "seven seconds"]
    fn what_is_proved_of_many_roles_that_call_each_other_is_kept(number: u64, seed: u64, nodes in 1u32..3, objects in 1u32..3) {
        calls_are_kept(number, seed, nodes, objects)?;
    }
}

fn calls_are_kept(number: u64, seed: u64, nodes: u32, objects: u32) -> Result<(), TestCaseError> {
    let text = calls::protocol(number);
    let protocol = trivium_lang::compile("calls.tri", &text, &Default::default());
    let protocol = Arc::new(protocol.unwrap_or_else(|error| panic!("{error}\n{text}")));
    let kept = kept(&protocol, &system(nodes, objects, Some(2)), seed);
    kept.map(|_| ()).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))
}

/// Who is let go, completed or answered is the same on all backends: protocols that answer threads where they should not.
#[test]
fn what_is_proved_where_threads_are_answered_strangely_is_kept() {
    let held = answered_strangely(0..slow::all_or(3000, 700));
    println!("{held:?} hold");
    assert!(held[0] > slow::all_or(6, 1) && held[1] >= slow::all_or(1, 0), "{held:?} hold");
}

#[test]
#[ignore = "minutes"]
fn what_is_proved_of_many_that_answer_threads_strangely_is_kept() {
    answered_strangely(1000..4000);
}

/// How many of these protocols hold, for one thread a node and for two; each of those is run.
fn answered_strangely(numbers: std::ops::Range<u64>) -> [u32; 2] {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
    let (all, mut held) = (protocols(), [0; 2]);
    for number in numbers {
        let seed: [u8; 32] = std::array::from_fn(|at| (number >> (8 * (at % 8))) as u8);
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
        let slips = prop::collection::vec(mutant::answering(), 1..2).new_tree(&mut runner).unwrap().current();
        // Each protocol with one thread and with two in turn, however many protocols there are.
        let (round, at) = (number as usize / all.len(), number as usize % all.len());
        let (path, source) = &all[at];
        let Some((_, text)) = mutant::mutant(path, source, &slips) else { continue };
        let Some(protocol) = compiled(path, &text) else { continue };
        let two = (round + at) % 2 == 1;
        let explored = if two { System { threads_per_node: 2, ..system(2, 1, Some(2)) } } else { system(2, 1, None) };
        if kept(&protocol, &explored, number).unwrap_or_else(|error| panic!("{error}\n{text}")) {
            held[usize::from(two)] += 1;
            runs_live(&protocol, &explored, number).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }
    held
}

/// A thread whose event is held or deferred is not completed, nor let go.
#[test]
fn threads_whose_events_are_held_or_deferred_are_left_alone() {
    for file in [
        "complete-does-nothing-to-a-held-access",
        "complete-does-nothing-to-a-deferred-access",
        "resume-does-nothing-to-a-deferred-access",
        "resume-of-whoever-waits",
    ] {
        left_alone(&checked_file(file), 2, file);
    }
}

/// A protocol holds for so many nodes, and nothing goes wrong under it with four, in `sim` and for real.
#[track_caller]
fn left_alone(protocol: &Arc<Protocol>, nodes: u32, name: &str) {
    assert!(holds(protocol, &system(nodes, 1, None)), "{name}");
    let uses = Uses { nodes: 4, objects: 1, ops: 30, passes_on: true };
    for seed in 0..8 {
        let machine = MACHINES[(seed % 4) as usize];
        assert_eq!(wrong(protocol, &uses, machine, seed), None, "{name} on {machine}");
        assert_eq!(wrong_live(protocol, &uses, seed), None, "{name} live");
    }
}

/// The same by one word more in a shipped protocol: a home answers another node's request, and wakes its own threads besides.
#[test]
fn a_resume_more_in_a_shipped_protocol_wakes_no_thread_whose_access_is_deferred() {
    let all = protocols();
    for (name, end, with_one_more) in [
        ("msi", "lend(sender) } otherwise defer }", "lend(sender); resume } otherwise defer }"),
        ("stache", "goto Lent }   // home memory need not be written\n    }", "goto Lent }\n    ; resume }"),
    ] {
        let (path, source) = all.iter().find(|(path, _)| path.file_stem().is_some_and(|stem| stem == name)).unwrap();
        assert_eq!(source.matches(end).count(), 1, "{name}");
        let text = source.replace(end, with_one_more);
        let protocol = Arc::new(mutant::compiled(path, &text, &[]).unwrap_or_else(|error| panic!("{error}")));
        left_alone(&protocol, 3, name);
    }
}

/// A call that was deferred does not return before it is replayed.
#[test]
fn a_call_does_not_return_while_it_is_deferred() {
    let protocol = checked_file("return-to-a-deferred-call");
    let uses = Uses { nodes: 2, objects: 1, ops: 12, passes_on: false };
    let live: Vec<String> = (0..8).filter_map(|seed| wrong_live(&protocol, &uses, seed)).collect();
    let seen: Vec<String> = (0..8).filter_map(|seed| wrong(&protocol, &uses, "typhoon", seed)).collect();
    let words = "a call returns to thread 0, and is deferred";
    for errors in [live, seen] {
        assert!(errors.iter().any(|error| error.contains(words)), "{errors:?}");
    }
}

/// What is proved of a random protocol that performs accesses elsewhere is kept in `sim` and in `run`.
/// Gives whether it holds, and how many programs went wrong in `sim` if it does not.
fn elsewhere_is_kept(text: &str, number: u64, nodes: u32) -> Result<(bool, u32), String> {
    is_kept(text, number, &system(nodes, 1, Some(if nodes == 2 { 3 } else { 2 })))
}

/// The same of a random protocol in a system.
fn is_kept(text: &str, number: u64, system: &System) -> Result<(bool, u32), String> {
    let nodes = system.nodes;
    let protocol = trivium_lang::compile("elsewhere.tri", text, &Default::default());
    let protocol = Arc::new(protocol.unwrap_or_else(|error| panic!("{error}\n{text}")));
    let holds = holds(&protocol, system);
    let uses = Uses { nodes, objects: 1, ops: 12, passes_on: true };
    let mut went_wrong = 0;
    for round in 0..PROGRAMS {
        let (machine, seed) = (MACHINES[((number + round) % 4) as usize], number ^ (round << 32));
        // What does not hold may wait for ever, which takes long to see in a run.
        let live = || holds.then(|| wrong_live(&protocol, &uses, seed)).flatten();
        let seen = wrong(&protocol, &uses, machine, seed).map(|wrong| (machine, wrong));
        let Some((backend, wrong)) = seen.or_else(|| live().map(|wrong| ("run", wrong))) else { continue };
        went_wrong += 1;
        if holds {
            return Err(format!("it holds, but on {backend}: {wrong}\n{text}"));
        }
    }
    Ok((holds, went_wrong))
}

#[test]
fn what_is_proved_of_accesses_performed_elsewhere_is_kept() {
    let (mut held, mut caught, mut missed) = (0, 0, 0);
    for number in 0..slow::all_or(60_u64, 15) {
        let number = number * 104_729;
        let kept = elsewhere_is_kept(&elsewhere::protocol(number), number, 2 + (number % 3 == 0) as u32);
        let (holds, went_wrong) = kept.unwrap_or_else(|error| panic!("{error}"));
        match (holds, went_wrong) {
            (true, _) => held += 1,
            (false, 0) => missed += 1,
            (false, _) => caught += 1,
        }
    }
    println!("{held} hold, {caught} of {} others are caught while they run", caught + missed);
    assert!(
        held > slow::all_or(20, 4) && caught > slow::all_or(5, 1),
        "{held} hold, {caught} are caught, {missed} are not"
    );
}

#[test]
fn what_is_proved_of_objects_that_are_made_is_kept() {
    let (mut held, mut caught) = (0, 0);
    for number in (0..slow::all_or(300, 16)).map(|number| number * 7919) {
        // However many calls there are: what goes wrong with an object may need one more.
        let kept = is_kept(&made::protocol(number), number, &system(2 + u32::from(number % 3 == 0), 1, None));
        let (holds, went_wrong) = kept.unwrap_or_else(|error| panic!("{error}"));
        (held, caught) = (held + u32::from(holds), caught + u32::from(!holds && went_wrong > 0));
    }
    println!("{held} hold, {caught} others are caught while they run");
    assert!(held > slow::all_or(100, 4) && caught > slow::all_or(10, 0), "{held} hold, {caught} are caught");
}

#[test]
fn what_is_proved_of_accesses_performed_beside_caches_is_kept() {
    let mut held = 0;
    for number in (0..slow::all_or(300, 12)).map(|number| number * 7919) {
        let kept = elsewhere_is_kept(&elsewhere::beside_caches(number), number, 2);
        held += u32::from(kept.unwrap_or_else(|error| panic!("{error}")).0);
    }
    assert!(held > slow::all_or(150, 4), "{held} hold");
}

#[test]
#[ignore = "minutes"]
fn what_is_proved_of_many_accesses_performed_elsewhere_is_kept() {
    for number in 0..600_u64 {
        let (number, nodes) = (number * 7919 + 1, 2 + (number % 2) as u32);
        elsewhere_is_kept(&elsewhere::protocol(number), number, nodes).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// How many of random protocols hold; programs are run under each of those, in `sim` and for real.
fn written_are_kept(protocol: fn(u64) -> String, numbers: std::ops::Range<u64>, system: impl Fn(u64) -> System) -> u32 {
    let mut held = 0;
    for number in numbers {
        let text = protocol(number * 7919);
        // The lane rule refuses some.
        let Ok(protocol) = trivium_lang::compile("random.tri", &text, &Default::default()) else { continue };
        let (protocol, system) = (Arc::new(protocol), system(number));
        if script::can_use(&protocol, true) && holds(&protocol, &system) {
            let ran = runs(&protocol, &system, number).and_then(|()| runs_live(&protocol, &system, number));
            ran.unwrap_or_else(|error| panic!("{error}\n{text}"));
            held += 1;
        }
    }
    held
}

#[test]
fn what_is_proved_of_arrays_and_lists_is_kept() {
    let held = written_are_kept(arrays::protocol, 0..slow::all_or(1200, 60), |number| {
        if number % 3 == 0 { system(3, 1, Some(1)) } else { system(2, 1, Some(2)) }
    });
    println!("{held} hold");
    assert!(held > slow::all_or(100, 5), "{held} hold");
}

#[test]
fn what_is_proved_of_values_that_may_be_none_is_kept() {
    let held = written_are_kept(optional::protocol, 0..slow::all_or(1200, 60), |number| {
        system(2 + (number % 2) as u32, 1, Some(1))
    });
    println!("{held} hold");
    assert!(held > slow::all_or(100, 5), "{held} hold");
}

/// Copies are read, overwritten, given up and kept without access.
#[test]
fn what_is_proved_of_contents_is_kept() {
    let held = written_are_kept(blocks::protocol, 0..slow::all_or(4000, 120), |number| {
        system(2 + (number % 2) as u32, 1, None)
    });
    println!("{held} hold");
    assert!(held > slow::all_or(40, 3), "{held} hold");
}

#[test]
fn what_is_proved_of_messages_that_wait_is_kept() {
    let held = written_are_kept(waiting::protocol, 0..slow::all_or(3000, 200), |number| {
        system(2 + (number % 2) as u32, 1, Some(1))
    });
    println!("{held} hold");
    assert!(held > slow::all_or(30, 2), "{held} hold");
}

/// Protocols that fill their lanes: no message is sent on one that is full. Whether they hold does not matter here: lanes may
/// block each other, which is another error.
#[test]
fn no_message_is_sent_on_a_lane_that_is_full() {
    let mut ended = 0;
    for number in 0..40_u64 {
        let text = rooms::protocol(number * 7919);
        let protocol = trivium_lang::compile("rooms.tri", &text, &Default::default());
        let protocol = Arc::new(protocol.unwrap_or_else(|error| panic!("{error}\n{text}")));
        let uses = Uses { nodes: 1 + (number % 2) as u32, objects: 1, ops: 12, passes_on: false };
        let wrong = wrong(&protocol, &uses, MACHINES[(number % 4) as usize], number);
        ended += u32::from(wrong.is_none());
        assert!(!wrong.as_ref().is_some_and(|wrong| wrong.contains("which is full")), "{wrong:?}\n{text}");
    }
    assert!(ended > 10, "{ended} came to an end");
}

/// The same of lanes that share an outgoing queue, over machines of which two have few credits: what waits for one takes no place.
#[test]
fn no_message_is_sent_into_a_shared_queue_that_is_full() {
    let mut ended = 0;
    for number in 0..40_u64 {
        let compiled = (1..100).find_map(|places| {
            let text = rooms::sharing(number * 7919, places);
            let protocol = Arc::new(trivium_lang::compile("rooms.tri", &text, &Default::default()).ok()?);
            trivium_engine::Engine::load(Arc::clone(&protocol), 2).is_ok().then_some((text, protocol))
        });
        let Some((text, protocol)) = compiled else { panic!("{}", rooms::sharing(number * 7919, 100)) };
        let uses = Uses { nodes: 1 + (number % 2) as u32, objects: 1, ops: 12, passes_on: false };
        let wrong = wrong(&protocol, &uses, MACHINES[(number % 4) as usize], number);
        ended += u32::from(wrong.is_none());
        assert!(!wrong.as_ref().is_some_and(|wrong| wrong.contains("which is full")), "{wrong:?}\n{text}");
    }
    assert!(ended > 10, "{ended} came to an end");
}

/// The shipped protocols: the properties above would say nothing if programs could use none of them.
#[test]
fn what_is_proved_of_shipped_protocols_is_kept() {
    shipped_are_kept(1, 6);
}

/// The same, two blocks at once.
#[test]
fn what_is_proved_of_shipped_protocols_with_two_blocks_is_kept() {
    shipped_are_kept(2, 4);
}

#[track_caller]
fn shipped_are_kept(objects: u32, least: usize) {
    let mut held = Vec::new();
    for (path, text) in protocols() {
        if let Some(protocol) = compiled(&path, &text)
            && kept(&protocol, &system(2, objects, None), 7).unwrap_or_else(|error| panic!("{error}"))
        {
            held.push(protocol.name.to_string());
        }
    }
    println!("{held:?} hold");
    assert!(held.len() >= least, "{held:?}");
}

/// A mistake that only a program shows would be seen: a protocol that is not proved, and loses a store.
#[test]
fn a_lost_store_and_a_fault_are_seen() {
    let text = "protocol loses\nlane main fifo buffered\nmessage Get on main\nmessage Give on main with block\n\
        role cache of block {\n  state Away {\n    on read, write { send Get to home; await Give { install; goto Here; resume } }\n    on Give impossible\n  }\n  state Here: write { on Give impossible }\n}\n\
        role home of block {\n  state Idle: write { on Get { send Give to sender } }\n}\n";
    let careless = |promises: &str| {
        let text = text.replace("lane main", &format!("promises {promises}\nlane main"));
        Arc::new(trivium_lang::compile("loses.tri", &text, &Default::default()).unwrap_or_else(|e| panic!("{e}")))
    };
    let seen = |protocol: &Arc<Protocol>| {
        let uses = Uses { nodes: 2, objects: 1, ops: 12, passes_on: false };
        (0..20).filter_map(|seed| wrong(protocol, &uses, "typhoon", seed)).collect::<Vec<_>>().join("\n")
    };
    assert!(seen(&careless("last_write")).contains("a store is lost"));
    assert!(seen(&careless("single_writer")).contains("may write block"));
    assert!(!holds(&careless("last_write"), &system(2, 1, None)));
}

/// A protocol of the checker's file tests.
fn checked_file(name: &str) -> Arc<Protocol> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/files");
    let text = std::fs::read_to_string(root.join(format!("{name}.test"))).unwrap();
    Arc::new(trivium_lang::compile(name, &text, &Default::default()).unwrap_or_else(|error| panic!("{error}")))
}

/// A handler that passes through a state with write access gives nobody that access.
#[test]
fn a_tag_that_is_changed_twice_is_seen_as_the_handler_leaves_it() {
    let protocol = checked_file("access-changed-twice-in-a-handler");
    for seed in 0..8 {
        assert!(kept(&protocol, &system(2, 1, None), seed).unwrap_or_else(|error| panic!("{error}")));
    }
}

#[test]
fn an_access_that_nobody_answers_is_the_same_fault() {
    let protocol = checked_file("access-nobody-answers-at-home");
    let words = "node 0: block 0: read: nothing answers this event";
    let report = explore(&protocol, &system(2, 1, None).into()).unwrap();
    assert!(report.reason.as_ref().is_some_and(|reason| reason.contains(words)), "{:?}", report.reason);
    let uses = Uses { nodes: 2, objects: 1, ops: 12, passes_on: false };
    let seen: Vec<String> = (0..20).filter_map(|seed| wrong(&protocol, &uses, "typhoon", seed)).collect();
    assert!(seen.iter().any(|error| error.contains(words)), "{seen:?}");
}

/// What is asked for takes no place that is kept; deferred events and timers are dispatched only when there is room.
#[test]
fn room_is_asked_for_in_the_simulator_too() {
    let files = ["room-takes-no-kept-place", "room-in-rounds-of-a-loop", "room-of-a-replay", "room-of-a-timer"];
    for (file, (nodes, ops)) in files.into_iter().zip([(1, 12), (1, 12), (2, 4), (2, 12)]) {
        let protocol = checked_file(file);
        let uses = Uses { nodes, objects: 1, ops, passes_on: false };
        for seed in 0..16 {
            let machine = MACHINES[(seed % 4) as usize];
            assert_eq!(wrong(&protocol, &uses, machine, seed), None, "{file} on {machine}");
        }
    }
}
