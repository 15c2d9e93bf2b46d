//! What must happen from a state on, and which threads get through by it.

use crate::step::Stepper;
use crate::system::action::Action;
use crate::system::progress::{Wishes, content, everybody, must_happen};
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
        for (_, next) in moves(stepper, &world) {
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

/// What must happen and changes something.
pub(crate) fn moves(stepper: &mut Stepper, world: &World) -> Vec<(Action, World)> {
    let mut actions = Vec::new();
    stepper.actions(world, &mut actions);
    let mut moves = Vec::new();
    for action in actions {
        let mut next = world.clone();
        if must_happen(stepper.model, world, action) && stepper.perform(&mut next, action).is_ok() && next != *world {
            moves.push((action, next));
        }
    }
    moves
}
