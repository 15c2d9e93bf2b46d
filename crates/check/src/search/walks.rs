//! Random walks: each begins in the first state and goes on by one event after the other, drawn among those that change
//! something. They see what they see; where they find no violation, nothing is known of the rest.

use super::crew::side_by_side;
use super::expand::Worker;
use super::pack::Packed;
use super::signatures::signature;
use crate::config::{Config, Progress};
use crate::coverage::Seen;
use crate::report::Report;
use crate::report::conclude::{Conclusion, Tally, conclude};
use crate::report::deadlock::stuck;
use crate::report::late::LateTrace;
use crate::report::trace::Trace;
use crate::system::action::Action;
use crate::system::begin::check_first;
use crate::system::model::Model;
use crate::system::promise::DEADLOCK;
use crate::system::promise::{Violation, check_state};
use crate::system::world::World;
use rustc_hash::FxHashSet;
use std::time::Instant;
use trivium_engine::number::index;

/// Walks between two looks at limits.
const ROUND: u64 = 64;
/// Bytes of the name of a state, with its share of the table.
const NAME: u64 = 16;

/// An event of a walk: which, and in which of its ways.
type Choice = (Action, u32);

/// Numbers as if drawn at random: SplitMix64.
struct Lots(u64);

impl Lots {
    fn of(seed: u64, walk: u64) -> Lots {
        let [lots, _] = signature(&walk.to_le_bytes(), seed);
        Lots(lots)
    }

    /// A number below another one.
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        index((word ^ word >> 31) % (count as u64).max(1))
    }
}

/// What a walk came to.
#[derive(Default)]
struct Walked {
    choices: Vec<Choice>,
    names: Vec<u64>,
    violation: Option<Violation>,
}

/// Walks, as many and as long as said.
pub(super) fn explore(model: &Model, config: &Config, count: u64, depth: u32) -> Report {
    let begun = Instant::now();
    let mut workers = Worker::crew(model, config, false);
    let mut names = FxHashSet::default();
    let (mut transitions, mut deepest, mut walks) = (0, 0, 0);
    let mut found = None;
    let mut limit = None;
    if let Err(violation) = check_first(model, &model.first()) {
        found = Some((Vec::new(), violation));
    }
    while walks < count && found.is_none() && limit.is_none() {
        let to = count.min(walks + ROUND);
        for walked in round(&mut workers, config, walks..to, depth) {
            transitions += walked.choices.len() as u64;
            deepest = deepest.max(walked.choices.len());
            names.extend(walked.names);
            if found.is_none() {
                found = walked.violation.map(|violation| (walked.choices, violation));
            }
        }
        walks = to;
        let memory = names.capacity() as u64 * NAME;
        limit = why_stop(config, memory);
        if let Some(report) = config.progress {
            let states = names.len() as u64;
            let seconds = begun.elapsed().as_secs_f64();
            report(&Progress { states, transitions, depth, waiting: 0, memory, seconds, whole: None });
        }
    }
    let mut worker = Worker::joined(workers);
    let tally = Tally {
        states: (names.len() as u64).max(1),
        transitions,
        depth: u32::try_from(deepest).unwrap_or(depth),
        seconds: begun.elapsed().as_secs_f64(),
        memory: names.capacity() as u64 * NAME,
        packed: 0,
        symmetry: worker.exchanged(),
        liveness: false,
        method: Some("random walks"),
        ..Tally::default()
    };
    let seen = Seen::of(model, &worker.stepper.reached);
    let conclusion = match found {
        Some((choices, violation)) => {
            let trace = again(&mut worker, &choices);
            Conclusion::Violated { violation, trace }
        }
        None => {
            let looked = if config.liveness { super::NOT_LOOKED } else { "" };
            let end = limit.map_or(String::new(), |limit| format!("{limit}; "));
            let limit = format!(
                "{end}{walks} random walks of at most {depth} events found no violation; what they did not see may hold one{looked}"
            );
            Conclusion::Incomplete { limit, trace: Trace::default() }
        }
    };
    conclude(&mut worker.stepper, tally, seen, conclusion)
}

fn why_stop(config: &Config, memory: u64) -> Option<String> {
    if config.is_stopped() { Some(super::STOPPED.into()) } else { config.out_of_memory(memory) }
}

/// Some walks side by side, in their order.
fn round(workers: &mut [Worker], config: &Config, walks: std::ops::Range<u64>, depth: u32) -> Vec<Walked> {
    let jobs = workers.len() as u64;
    let seed = config.seed;
    let parts = side_by_side(workers.iter_mut().collect(), |part, worker| {
        let mine = walks.clone().skip(part).step_by(index(jobs));
        mine.map(|number| (number, walk(worker, seed, number, depth))).collect::<Vec<_>>()
    });
    let mut all: Vec<(u64, Walked)> = parts.into_iter().flatten().collect();
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, walked)| walked).collect()
}

fn walk(worker: &mut Worker, seed: u64, number: u64, depth: u32) -> Walked {
    let mut lots = Lots::of(seed, number);
    let mut walked = Walked::default();
    let mut world = worker.stepper.model.first();
    let mut bytes = Packed::default();
    loop {
        worker.pack(&world, &mut bytes);
        let [name, _] = signature(&bytes, seed);
        walked.names.push(name);
        if stuck(&mut worker.stepper, &world) {
            walked.violation = Some(Violation::new(DEADLOCK, "nothing more can happen, and somebody waits"));
        }
        if walked.violation.is_some() || worker.is_stopped() || walked.choices.len() >= depth as usize {
            return walked;
        }
        let Some((choice, next)) = event(worker, &world, &mut lots) else { return walked };
        walked.choices.push(choice);
        match next {
            Ok(next) => world = next,
            Err(violation) => {
                walked.violation = Some(violation);
                return walked;
            }
        }
    }
}

/// An event that changes something, or violates something, drawn among all.
fn event(worker: &mut Worker, world: &World, lots: &mut Lots) -> Option<(Choice, Result<World, Violation>)> {
    let stepper = &mut worker.stepper;
    let mut actions = Vec::new();
    stepper.actions(world, &mut actions);
    while !actions.is_empty() {
        let action = actions.swap_remove(lots.below(actions.len()));
        let mut ways = Vec::new();
        stepper.restart_ways();
        for way in 0.. {
            let mut next = world.clone();
            let result = stepper.perform_in_way(&mut next, action);
            let result = result.and_then(|()| check_state(stepper.model, &next));
            if result.is_err() || next != *world {
                ways.push(((action, way), result.map(|()| next)));
            }
            if !stepper.next_way() {
                break;
            }
        }
        if !ways.is_empty() {
            return Some(ways.swap_remove(lots.below(ways.len())));
        }
    }
    None
}

/// The events of a walk as a trace.
fn again(worker: &mut Worker, choices: &[Choice]) -> Trace {
    let stepper = &mut worker.stepper;
    let mut trace = LateTrace::default();
    let mut world = stepper.model.first();
    for &(action, wanted) in choices {
        let mut way = 0;
        let next = trace.add_way(stepper, &world, action, |_, _, _| {
            way += 1;
            way == wanted + 1
        });
        match next {
            Some(next) => world = next,
            None => break,
        }
    }
    trace.settle(stepper)
}
