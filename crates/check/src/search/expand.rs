//! Executes every event of some states. It only reads what the search has found so far, so that several host threads
//! can do it side by side, each for other states.

use super::arena::StateNumber;
use super::liveness::is_quiet;
use super::pack::{hash, pack, unpack};
use super::states::States;
use super::symmetry::Symmetry;
use super::table::SHARDS;
use super::table::shard_of;
use crate::deadlock::{stuck, waits_in_vain};
use crate::model::Model;
use crate::promise::{Violation, check_state};
use crate::step::{Action, Stepper};
use crate::trace::DEADLOCK;
use crate::world::World;
use std::ops::Range;

/// Marks a target that has no number yet: the rest is its place among the candidates of the harvest.
pub(crate) const CANDIDATE: u32 = 1 << 31;

/// Something that is violated.
pub(crate) struct Found {
    pub state: StateNumber,
    /// Whether it is violated by an event of the state, and not in the state itself.
    pub by_event: bool,
    pub violation: Violation,
}

/// What the expansion of some states has brought.
#[derive(Default)]
pub(crate) struct Harvest {
    /// States that were not known when the expansion began, one after the other; some may be the same.
    pub bytes: Vec<u8>,
    pub ends: Vec<u32>,
    pub hashes: Vec<u64>,
    pub parents: Vec<StateNumber>,
    pub quiet: Vec<bool>,
    /// Candidates of each shard.
    pub per_shard: [usize; SHARDS],
    /// Numbers or candidates to which the events lead, one list after the other, and where each list ends.
    pub targets: Vec<u32>,
    pub target_ends: Vec<u32>,
    pub transitions: u64,
    /// The first violation; nothing behind it has been collected.
    pub found: Option<Found>,
    /// A deadlock in one of the states, which is one event shorter than a violation that follows one.
    pub deadlock: Option<Found>,
}

impl Harvest {
    /// How many candidates there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The packed bytes of a candidate.
    pub fn candidate(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[start..self.ends[at] as usize]
    }
}

/// What one host thread needs.
pub(crate) struct Worker<'m> {
    pub stepper: Stepper<'m>,
    pub symmetry: Option<Symmetry<'m>>,
    keeps_targets: bool,
    present: World,
    next: World,
    bytes: Vec<u8>,
    actions: Vec<Action>,
}

impl<'m> Worker<'m> {
    pub fn new(model: &'m Model, symmetric: bool, keeps_targets: bool) -> Worker<'m> {
        Worker {
            stepper: Stepper::new(model),
            symmetry: symmetric.then(|| Symmetry::new(model)),
            keeps_targets,
            present: World::default(),
            next: World::default(),
            bytes: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// The packed bytes by which a state is known.
    pub fn pack(&mut self, world: &World, out: &mut Vec<u8>) {
        match &mut self.symmetry {
            Some(symmetry) => symmetry.pack(world, out),
            None => pack(self.stepper.model, world, out),
        }
    }

    /// Expands states. Where a violation is known already, only deadlocks are looked for.
    pub fn expand(&mut self, states: &States, range: Range<StateNumber>, only_deadlocks: bool) -> Harvest {
        let mut harvest = Harvest::default();
        for state in range {
            unpack(self.stepper.model, states.arena.get(state), &mut self.present);
            if harvest.found.is_none() && !only_deadlocks {
                self.expand_one(states, state, &mut harvest);
            }
            if (only_deadlocks || harvest.found.is_some()) && stuck(&mut self.stepper, &self.present) {
                harvest.deadlock = Some(deadlock(state));
            }
            if harvest.deadlock.is_some() {
                break;
            }
        }
        harvest
    }

    /// Executes every event of the present state.
    fn expand_one(&mut self, states: &States, state: StateNumber, harvest: &mut Harvest) {
        let mut actions = std::mem::take(&mut self.actions);
        self.stepper.actions(&self.present, &mut actions);
        let mut moved = false;
        for &action in &actions {
            self.next.copy_from(&self.present);
            harvest.transitions += 1;
            let result = self.stepper.perform(&mut self.next, action).and_then(|()| {
                if self.next == self.present {
                    return Ok(());
                }
                moved |= action.happens_by_itself();
                self.meet(states, state, harvest)
            });
            if let Err(violation) = result {
                harvest.found = Some(Found { state, by_event: true, violation });
                break;
            }
        }
        self.actions = actions;
        harvest.target_ends.push(harvest.targets.len() as u32);
        if harvest.found.is_none() && !moved && waits_in_vain(self.stepper.model, &self.present) {
            harvest.deadlock = Some(deadlock(state));
        }
    }

    /// The next state is known, or becomes a candidate.
    fn meet(&mut self, states: &States, parent: StateNumber, harvest: &mut Harvest) -> Result<(), Violation> {
        let model = self.stepper.model;
        match &mut self.symmetry {
            Some(symmetry) => symmetry.pack(&self.next, &mut self.bytes),
            None => pack(model, &self.next, &mut self.bytes),
        }
        let hash = hash(&self.bytes);
        let target = match states.find(hash, &self.bytes) {
            Some(number) => number,
            None => {
                check_state(model, &self.next)?;
                harvest.bytes.extend_from_slice(&self.bytes);
                harvest.ends.push(harvest.bytes.len() as u32);
                harvest.hashes.push(hash);
                harvest.parents.push(parent);
                harvest.quiet.push(self.keeps_targets && is_quiet(model, &self.next));
                harvest.per_shard[shard_of(hash)] += 1;
                CANDIDATE | (harvest.len() - 1) as u32
            }
        };
        if self.keeps_targets {
            harvest.targets.push(target);
        }
        Ok(())
    }
}

fn deadlock(state: StateNumber) -> Found {
    let sentence = "nothing more can happen, and somebody waits";
    Found { state, by_event: false, violation: Violation::new(DEADLOCK, sentence) }
}
