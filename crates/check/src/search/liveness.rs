//! When a state is quiet, and what repeats itself in a trap, from which none can be reached.

use crate::model::Model;
use crate::promise::may_wait_for_ever;
use crate::step::{Action, Stepper};
use crate::world::{Phase, World};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Whether nobody waits in vain: every thread is idle and nothing is on its way, or those that are not idle wait for
/// what another thread may keep from them, a lock or a barrier.
pub(crate) fn is_quiet(model: &Model, world: &World) -> bool {
    let mut idle = true;
    for thread in 0..model.client.threads.len() {
        let (phase, intent) = world.thread(&model.layout, thread);
        if phase != Phase::Idle {
            idle = false;
            if !may_wait_for_ever(model, world, thread, &model.client.intents[intent]) {
                return false;
            }
        }
    }
    !idle || world.flights.is_empty() && world.queues.iter().all(Vec::is_empty)
}

/// Whether a quiet state can be reached from a state: goes on from there until one is found, or nothing is left.
pub(crate) fn reaches_quiet(stepper: &mut Stepper, start: &World) -> bool {
    let mut seen = FxHashSet::default();
    let mut waiting = VecDeque::from([start.clone()]);
    let (mut actions, mut bytes) = (Vec::new(), Vec::new());
    while let Some(world) = waiting.pop_front() {
        if is_quiet(stepper.model, &world) {
            return true;
        }
        stepper.actions(&world, &mut actions);
        for &action in &actions {
            let mut next = world.clone();
            if stepper.perform(&mut next, action).is_ok() {
                stepper.model.codec.encode(&next, &mut bytes);
                if seen.insert(bytes.clone()) {
                    waiting.push_back(next);
                }
            }
        }
    }
    false
}

/// Events from a state on.
pub(crate) struct Cycle {
    /// The way to the cycle, then the cycle once.
    pub events: Vec<Action>,
    /// How many of them are on the way.
    pub before: usize,
}

/// A cycle that can be reached from a state, short where there is a choice, and made of what happens without anybody's wish where
/// there is such. A state in which everything ends has none.
pub(crate) fn cycle(stepper: &mut Stepper, start: &World) -> Cycle {
    let on_cycle = walk(stepper, start);
    let way = way(stepper, start, &on_cycle, false).unwrap_or_default();
    let before = way.len();
    let round = self::way(stepper, &on_cycle, &on_cycle, true).unwrap_or_default();
    Cycle { events: [way, round].concat(), before }
}

/// Goes on until a state comes again, or nothing more happens.
fn walk(stepper: &mut Stepper, start: &World) -> World {
    let mut seen = FxHashSet::default();
    let mut world = start.clone();
    let mut bytes = Vec::new();
    loop {
        stepper.model.codec.encode(&world, &mut bytes);
        if !seen.insert(bytes.clone()) {
            return world;
        }
        match moves(stepper, &world).into_iter().next() {
            Some((_, next)) => world = next,
            None => return world,
        }
    }
}

/// What can happen: by itself if anything does.
fn moves(stepper: &mut Stepper, world: &World) -> Vec<(Action, World)> {
    let mut actions = Vec::new();
    stepper.actions(world, &mut actions);
    let mut of = |by_itself: bool| {
        let mut moves = Vec::new();
        for &action in actions.iter().filter(|action| action.happens_by_itself() == by_itself) {
            let mut next = world.clone();
            if stepper.perform(&mut next, action).is_ok() && next != *world {
                moves.push((action, next));
            }
        }
        moves
    };
    let moves = of(true);
    if moves.is_empty() { of(false) } else { moves }
}

/// The shortest way from a state to another; `round`: at least one event.
fn way(stepper: &mut Stepper, from: &World, to: &World, round: bool) -> Option<Vec<Action>> {
    if !round && from == to {
        return Some(Vec::new());
    }
    let encode = |stepper: &Stepper, world: &World| {
        let mut bytes = Vec::new();
        stepper.model.codec.encode(world, &mut bytes);
        bytes
    };
    let (first, last) = (encode(stepper, from), encode(stepper, to));
    let mut reached: FxHashMap<Vec<u8>, (Vec<u8>, Action)> = FxHashMap::default();
    let mut waiting = VecDeque::from([(first.clone(), from.clone())]);
    while let Some((name, world)) = waiting.pop_front() {
        for (action, next) in moves(stepper, &world) {
            let next_name = encode(stepper, &next);
            if reached.contains_key(&next_name) || (next_name == first && next_name != last) {
                continue;
            }
            reached.insert(next_name.clone(), (name.clone(), action));
            if next_name == last {
                return Some(back(&reached, &first, last));
            }
            waiting.push_back((next_name, next));
        }
    }
    None
}

fn back(reached: &FxHashMap<Vec<u8>, (Vec<u8>, Action)>, first: &[u8], last: Vec<u8>) -> Vec<Action> {
    let mut events = Vec::new();
    let mut name = last;
    loop {
        let (before, action) = &reached[&name];
        events.push(*action);
        if before == first {
            events.reverse();
            return events;
        }
        name = before.clone();
    }
}
