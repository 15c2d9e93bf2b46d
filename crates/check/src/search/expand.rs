//! Executes every event of some states. It only reads what the search has found so far, so that several host threads
//! can do it side by side, each for other states.

use super::arena::StateNumber;
use super::edges::Edge;
use super::known::Known;
use super::pack::{Groups, Packed, hash, pack, unpack, unpack_groups};
use super::symmetry::Symmetry;
use super::table::SHARDS;
use super::table::shard_of;
use crate::config::Config;
use crate::report::Exchanged;
use crate::report::deadlock::{stuck, waits};
use crate::step::Stepper;
use crate::system::action::Action;
use crate::system::model::Model;
use crate::system::progress::{Wishes, content, must_happen};
use crate::system::promise::DEADLOCK;
use crate::system::promise::{Violation, check_state};
use crate::system::world::World;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use trivium_engine::number::{fit, index};

/// Marks a target that has no number yet: the rest is its place among the candidates of the harvest.
pub(crate) const CANDIDATE: u32 = 1 << 31;

/// Bytes of candidates from which on a harvest is closed.
const MOST_BYTES: usize = 1 << 24;

/// A place or a length within a harvest, which is that of a portion of states.
fn number_of(number: usize) -> u32 {
    fit(number, "a place among what some states lead to")
}

/// Something that is violated.
pub(crate) struct Found {
    pub state: StateNumber,
    /// Whether it is violated by an event of the state, and not in the state itself.
    pub by_event: bool,
    pub violation: Violation,
}

/// What counts of harvests, in the order of their states: nothing behind the first violation.
pub(crate) fn up_to_violation(harvests: &[Harvest]) -> &[Harvest] {
    let cut = harvests.iter().position(|harvest| harvest.found.is_some() || harvest.deadlock.is_some());
    &harvests[..cut.map_or(harvests.len(), |at| at + 1)]
}

/// What the expansion of some states has brought.
#[derive(Default)]
pub(crate) struct Harvest {
    /// States that were not known when the expansion began, one after the other; some may be the same.
    pub bytes: Vec<u8>,
    pub ends: Vec<u32>,
    pub hashes: Vec<u64>,
    pub parents: Vec<StateNumber>,
    /// Who waits for nothing in each.
    pub content: Vec<Wishes>,
    /// The candidates shard by shard, and where those of each shard end.
    by_shard: Vec<u32>,
    shard_ends: [u32; SHARDS],
    /// Numbers or candidates to which lead the events that must happen, one list after the other, and where each list ends.
    pub targets: Vec<Edge>,
    pub target_ends: Vec<u32>,
    pub transitions: u64,
    /// The first violation; nothing behind it has been collected.
    pub found: Option<Found>,
    /// A deadlock in one of the states, which is one event shorter than a violation that follows one.
    pub deadlock: Option<Found>,
    /// Whether the exploration was stopped before all was expanded.
    pub is_stopped: bool,
}

impl Harvest {
    /// One with room for what as many states bring as a rule.
    pub fn with_room(states: usize) -> Harvest {
        let candidates = 2 * states;
        Harvest {
            bytes: Vec::with_capacity(32 * candidates),
            ends: Vec::with_capacity(candidates),
            hashes: Vec::with_capacity(candidates),
            parents: Vec::with_capacity(candidates),
            content: Vec::with_capacity(candidates),
            target_ends: Vec::with_capacity(states),
            ..Harvest::default()
        }
    }

    /// How many candidates there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The packed bytes of a candidate.
    pub fn candidate(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[start..self.ends[at] as usize]
    }

    /// The candidates of a shard, in order.
    pub fn of_shard(&self, shard: usize) -> &[u32] {
        let start = if shard == 0 { 0 } else { self.shard_ends[shard - 1] as usize };
        &self.by_shard[start..self.shard_ends[shard] as usize]
    }

    /// Adds a candidate; the target by which it goes until it has a number.
    fn add(&mut self, state: &Successor, parent: StateNumber, content: Wishes) -> u32 {
        self.bytes.extend_from_slice(&state.bytes);
        self.ends.push(number_of(self.bytes.len()));
        self.hashes.push(state.hash);
        self.parents.push(parent);
        self.content.push(content);
        CANDIDATE | number_of(self.len() - 1)
    }

    /// Adds a candidate that was found elsewhere. Its parent is known there.
    pub fn take(&mut self, state: &[u8], hash: u64, content: Wishes) {
        self.bytes.extend_from_slice(state);
        self.ends.push(number_of(self.bytes.len()));
        self.hashes.push(hash);
        self.parents.push(0);
        self.content.push(content);
    }

    /// Whether nothing more may be added: something came to an end in it, or it is large.
    pub fn is_closed(&self) -> bool {
        self.found.is_some() || self.deadlock.is_some() || self.is_stopped || self.bytes.len() >= MOST_BYTES
    }

    /// Sorts the candidates by shard, when all are there.
    pub fn sort(&mut self) {
        let mut next = [0; SHARDS];
        self.hashes.iter().for_each(|&hash| next[shard_of(hash)] += 1);
        let mut total = 0;
        for (count, end) in next.iter_mut().zip(&mut self.shard_ends) {
            (*count, total) = (total, total + *count);
            *end = total;
        }
        self.by_shard.resize(self.hashes.len(), 0);
        for (at, &hash) in self.hashes.iter().enumerate() {
            let place = &mut next[shard_of(hash)];
            self.by_shard[*place as usize] = number_of(at);
            *place += 1;
        }
    }
}

/// Candidates that a worker finds again by their hash.
const RECENT: usize = 1 << 14;

/// Where candidates of the present harvest are found again: a newer one takes the place of an older. What stands there may be
/// of an earlier harvest, so it is looked at.
struct Recent(Vec<u32>);

impl Recent {
    /// The candidate that is the same state, if it is found.
    #[inline]
    fn find(&mut self, harvest: &Harvest, state: &Successor) -> Option<u32> {
        let place = &mut self.0[index(state.hash >> 20) % RECENT];
        let at = *place as usize;
        if harvest.hashes.get(at) == Some(&state.hash) && harvest.candidate(at) == &*state.bytes {
            return Some(CANDIDATE | *place);
        }
        *place = number_of(harvest.len());
        None
    }
}

/// States that are expanded together, so that the processor waits but once for where their successors are kept.
const TOGETHER: StateNumber = 8;
/// Successors from which on no further state is expanded with them: all of them are in memory unpacked.
const MANY: usize = 1 << 10;

/// What one host thread needs. No cache line belongs to two of them.
#[repr(align(128))]
pub(crate) struct Worker<'m> {
    pub stepper: Stepper<'m>,
    pub symmetry: Option<Symmetry<'m>>,
    pub keeps_targets: bool,
    /// Where it is enough that each state is a candidate once.
    recent: Option<Recent>,
    cancel: Option<&'m AtomicBool>,
    present: World,
    /// How the present state is written, where states keep their names of nodes.
    groups: Groups,
    actions: Vec<Action>,
    sources: Vec<Expanded>,
    /// The successors of the sources: the first `successors` of a pool whose space is used again and again.
    pool: Vec<Successor>,
    successors: usize,
}

/// A state whose events have been executed.
struct Expanded {
    state: StateNumber,
    /// Where its successors end.
    end: usize,
    /// Events executed.
    transitions: u64,
    /// What the last event violates.
    violation: Option<Violation>,
    is_deadlock: bool,
}

/// A state to which an event leads that changes something.
#[derive(Default)]
struct Successor {
    world: World,
    bytes: Packed,
    hash: u64,
    /// Which event it was, from 0.
    event: u64,
    /// Whether it must happen.
    is_due: bool,
    /// How nodes were renamed.
    renaming: u64,
}

fn is_raised(cancel: Option<&AtomicBool>) -> bool {
    cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
}

/// The packed bytes by which a state is known, with symmetry or without.
pub(super) fn pack_by(model: &Model, symmetry: Option<&mut Symmetry>, world: &World, out: &mut Packed) {
    match symmetry {
        Some(symmetry) => symmetry.pack(world, out),
        None => pack(model, world, out),
    }
}

impl<'m> Worker<'m> {
    /// As many as explore. `keeps_targets`: whether it is noted where events lead that must happen.
    pub fn crew(model: &'m Model, config: &'m Config, keeps_targets: bool) -> Vec<Worker<'m>> {
        // Handles of gathered memory are given in the order of exploration, by one host thread.
        let jobs = if model.keeps_payloads() { 1 } else { config.jobs.max(1) };
        (0..jobs).map(|_| Worker::new(model, Symmetry::of(model, config), keeps_targets, config.cancel)).collect()
    }

    /// One that knows what all have reached.
    pub fn joined(mut crew: Vec<Worker<'m>>) -> Worker<'m> {
        let mut first = crew.swap_remove(0);
        crew.iter().for_each(|other| first.stepper.reached.add(&other.stepper.reached));
        first
    }

    /// Which names do not tell states apart.
    pub fn exchanged(&self) -> Exchanged {
        self.symmetry.as_ref().map_or(Exchanged::default(), Symmetry::exchanged)
    }

    /// Whether the user wishes it to end.
    pub fn is_stopped(&self) -> bool {
        is_raised(self.cancel)
    }

    fn new(
        model: &'m Model,
        symmetry: Option<Symmetry<'m>>,
        keeps_targets: bool,
        cancel: Option<&'m AtomicBool>,
    ) -> Worker<'m> {
        let mut stepper = Stepper::late(model);
        stepper.remember();
        Worker {
            cancel,
            stepper,
            symmetry,
            keeps_targets,
            recent: None,
            present: World::default(),
            groups: Groups::default(),
            actions: Vec::new(),
            sources: Vec::new(),
            pool: Vec::new(),
            successors: 0,
        }
    }

    /// From now on a state to which several events lead is a candidate once, as a rule.
    pub fn merge_alike(&mut self) {
        self.recent = Some(Recent(vec![0; RECENT]));
    }

    /// The packed bytes by which a state is known.
    pub fn pack(&mut self, world: &World, out: &mut Packed) {
        pack_by(self.stepper.model, self.symmetry.as_mut(), world, out);
    }

    /// Which thread of a state is the given one of its form.
    pub fn thread_before_renaming(&mut self, world: &World, thread: usize) -> usize {
        let mut bytes = Packed::default();
        let Some(symmetry) = &mut self.symmetry else { return thread };
        symmetry.pack(world, &mut bytes);
        let image = symmetry.image(symmetry.renaming());
        image.iter().position(|name| usize::from(*name) == thread).unwrap_or(thread)
    }

    /// Expands states, and adds what they bring. Where a violation is known already, only deadlocks are looked for.
    pub fn expand(
        &mut self,
        states: &impl Known,
        range: Range<StateNumber>,
        only_deadlocks: bool,
        harvest: &mut Harvest,
    ) {
        if only_deadlocks {
            harvest.deadlock = self.deadlock_in(states, range);
            return;
        }
        let mut from = range.start;
        while from < range.end {
            from = self.step(states, from..range.end.min(from + TOGETHER));
            states.touch(self.pool[..self.successors].iter().map(|successor| successor.hash));
            self.meet(states, harvest);
            if self.is_stopped() {
                harvest.is_stopped = true;
                break;
            }
            if let Some(found) = &harvest.found {
                harvest.deadlock = self.deadlock_in(states, found.state..range.end);
            }
            if harvest.found.is_some() || harvest.deadlock.is_some() {
                break;
            }
        }
    }

    /// The first deadlock among some states.
    fn deadlock_in(&mut self, states: &impl Known, mut range: Range<StateNumber>) -> Option<Found> {
        let cancel = self.cancel;
        let first = range.by_ref().take_while(|_| !is_raised(cancel)).find(|&state| {
            unpack(self.stepper.model, states.state(state), &mut self.present);
            stuck(&mut self.stepper, &self.present)
        });
        first.map(deadlock)
    }

    /// Executes every event of some states, up to the first that violates something. The state with which to go on, which is
    /// not behind all of them where they have many successors.
    fn step(&mut self, states: &impl Known, range: Range<StateNumber>) -> StateNumber {
        self.sources.clear();
        self.successors = 0;
        for state in range.clone() {
            unpack_groups(self.stepper.model, states.state(state), &mut self.present, &mut self.groups);
            self.step_one(state);
            let is_violated = self.sources.last().is_some_and(|source| source.violation.is_some());
            if is_violated || self.successors >= MANY {
                return state + 1;
            }
        }
        range.end
    }

    /// Executes every event of the present state.
    fn step_one(&mut self, state: StateNumber) {
        let mut source = Expanded { state, end: 0, transitions: 0, violation: None, is_deadlock: false };
        let mut moved = false;
        if let Some(symmetry) = &mut self.symmetry {
            symmetry.set_out(&self.present);
        }
        self.stepper.actions(&self.present, &mut self.actions);
        'events: for &action in &self.actions {
            // Of many nodes a state has many events, and each takes long. What was left out makes no deadlock.
            if is_raised(self.cancel) {
                moved = true;
                break;
            }
            self.stepper.restart_ways();
            loop {
                if self.pool.len() == self.successors {
                    self.pool.push(Successor::default());
                }
                let next = &mut self.pool[self.successors];
                next.world.copy_from(&self.present);
                next.event = source.transitions;
                source.transitions += 1;
                if let Err(violation) = self.stepper.perform_in_way(&mut next.world, action) {
                    source.violation = Some(violation);
                    break 'events;
                }
                if next.world.differs(&self.present) {
                    next.is_due = must_happen(self.stepper.model, &self.present, action);
                    moved |= next.is_due;
                    match &mut self.symmetry {
                        Some(symmetry) => {
                            symmetry.pack_from(Some(&self.present), &next.world, &mut next.bytes);
                            next.renaming = if self.keeps_targets { symmetry.renaming() } else { 0 };
                        }
                        None => self.groups.pack(self.stepper.model, &self.present, &next.world, &mut next.bytes),
                    }
                    next.hash = hash(&next.bytes);
                    self.successors += 1;
                }
                if !self.stepper.next_way() {
                    break;
                }
            }
        }
        source.is_deadlock =
            source.violation.is_none() && !moved && waits(self.stepper.model, &self.present, &self.actions);
        source.end = self.successors;
        self.sources.push(source);
    }

    /// The successors are known, or become candidates; up to the first violation.
    fn meet(&mut self, states: &impl Known, harvest: &mut Harvest) {
        let model = self.stepper.model;
        let mut from = 0;
        for source in self.sources.drain(..) {
            let mut end = source.transitions;
            let mut violation = source.violation;
            for successor in &self.pool[from..source.end] {
                let known = states.find(successor.hash, &successor.bytes);
                let found = known.or_else(|| self.recent.as_mut().and_then(|recent| recent.find(harvest, successor)));
                let target = match found {
                    Some(target) => target,
                    None => {
                        let content = match &mut self.symmetry {
                            _ if !self.keeps_targets => 0,
                            Some(symmetry) => symmetry.renamed(content(model, &successor.world), successor.renaming),
                            None => content(model, &successor.world),
                        };
                        let target = harvest.add(successor, source.state, content);
                        if let Err(earlier) = check_state(model, &successor.world) {
                            (violation, end) = (Some(earlier), successor.event + 1);
                            break;
                        }
                        target
                    }
                };
                if self.keeps_targets && successor.is_due {
                    harvest.targets.push(Edge { target, renaming: successor.renaming });
                }
            }
            from = source.end;
            harvest.transitions += end;
            harvest.target_ends.push(number_of(harvest.targets.len()));
            if let Some(violation) = violation {
                harvest.found = Some(Found { state: source.state, by_event: true, violation });
                return;
            }
            if source.is_deadlock {
                harvest.deadlock = Some(deadlock(source.state));
                return;
            }
        }
    }
}

/// A state in which nothing more can happen.
pub(super) fn deadlock(state: StateNumber) -> Found {
    let sentence = "nothing more can happen, and somebody waits";
    Found { state, by_event: false, violation: Violation::new(DEADLOCK, sentence) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::System;
    use std::path::Path;
    use std::sync::Arc;

    /// Knows the first state alone.
    struct First(Packed);

    impl Known for First {
        fn state(&self, _: StateNumber) -> &[u8] {
            &self.0
        }

        fn find(&self, _: u64, _: &[u8]) -> Option<StateNumber> {
            None
        }

        fn touch(&self, _: impl Iterator<Item = u64>) {}
    }

    #[test]
    fn a_wish_to_stop_is_heard_between_the_events_of_a_state() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/msi.tri");
        let protocol = Arc::new(trivium_lang::compile_file(&path, &[]).unwrap());
        let model = Model::new(&protocol, &System { nodes: 200, ..System::default() }).unwrap();
        let expanded = |cancel: &AtomicBool| {
            let config = Config { cancel: Some(cancel), ..Config::default() };
            let mut worker = Worker::crew(&model, &config, false).remove(0);
            let mut first = First(Packed::default());
            worker.pack(&model.first(), &mut first.0);
            let mut harvest = Harvest::default();
            worker.expand(&first, 0..1, false, &mut harvest);
            (harvest.transitions, harvest.is_stopped, harvest.deadlock.is_some())
        };
        assert_eq!(expanded(&AtomicBool::new(true)), (0, true, false));
        let (transitions, is_stopped, is_deadlock) = expanded(&AtomicBool::new(false));
        assert!(transitions > 200 && !is_stopped && !is_deadlock, "{transitions}");
    }
}
