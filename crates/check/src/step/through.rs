//! What must happen from a state on, and which threads get through by it.

use crate::step::Stepper;
use crate::system::action::Action;
use crate::system::progress::{Wishes, content, everybody, must_happen};
use crate::system::told::Told;
use crate::system::world::World;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// The threads that get through from a state by what must happen: goes on from there until all do, or nothing is left.
pub(crate) fn get_through(stepper: &mut Stepper, start: &World) -> Wishes {
    let all = everybody(stepper.model);
    let mut through = 0;
    let mut seen = FxHashSet::default();
    let mut waiting = VecDeque::from([start.clone()]);
    let mut bytes = Vec::new();
    while let Some(world) = waiting.pop_front() {
        through |= content(stepper.model, &world);
        if through == all {
            break;
        }
        for Move { next, .. } in moves(stepper, &world) {
            stepper.model.codec.encode(&next, &mut bytes);
            if seen.insert(bytes.clone()) {
                waiting.push_back(next);
            }
        }
    }
    through
}

/// Whether nothing that must happen changes a state.
pub(crate) fn ends(stepper: &mut Stepper, world: &World) -> bool {
    moves(stepper, world).is_empty()
}

/// An event that must happen and changes something.
pub(crate) struct Move {
    pub action: Action,
    /// What its handlers are told of outgoing queues.
    pub told: Vec<Told>,
    pub next: World,
}

/// What must happen and changes something, in each way in which it can go.
pub(crate) fn moves(stepper: &mut Stepper, world: &World) -> Vec<Move> {
    let mut actions = Vec::new();
    stepper.actions(world, &mut actions);
    let mut moves = Vec::new();
    for action in actions {
        if must_happen(stepper.model, world, action) {
            stepper.any_way(world, action, |stepper, next, result| {
                if result.is_ok() && next != *world {
                    moves.push(Move { action, told: stepper.told().to_vec(), next });
                }
                false
            });
        }
    }
    moves
}
