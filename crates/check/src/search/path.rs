//! The events that lead from the first state to one that was found.
//!
//! Under symmetry the states that are kept have nodes renamed. The path is executed with the names of its first state:
//! in each step, some event leads to a state that is the next one but for names.

use super::arena::StateNumber;
use super::expand::Worker;
use super::liveness::cycle;
use super::states::States;
use crate::promise::check_state;
use crate::step::{Action, Stepper};
use crate::trace::Trace;
use crate::world::World;

/// A sequence of events, and the state at its end.
pub(crate) struct Path {
    pub trace: Trace,
    end: World,
}

/// The events that lead to a state.
pub(crate) fn to_state(worker: &mut Worker, states: &States, state: StateNumber) -> Path {
    let mut numbers = vec![state];
    while let Some(&state) = numbers.last().filter(|&&state| state != 0) {
        numbers.push(states.arena.parent(state));
    }
    let mut path = Path { trace: Trace::default(), end: worker.stepper.model.first() };
    let (mut actions, mut bytes) = (Vec::new(), Vec::new());
    for &number in numbers.iter().rev().skip(1) {
        worker.stepper.actions(&path.end, &mut actions);
        let step = actions.iter().find_map(|&action| {
            let mut next = path.end.clone();
            worker.stepper.perform(&mut next, action).ok()?;
            worker.pack(&next, &mut bytes);
            (bytes == states.arena.get(number)).then_some((action, next))
        });
        let (action, next) = step.expect("a state was reached by an event of its parent");
        path.trace.push(&worker.stepper, &path.end, action);
        path.end = next;
    }
    path
}

impl Path {
    /// Adds the event that violates a property.
    pub fn add_violation(&mut self, stepper: &mut Stepper, property: &str) {
        let mut actions = Vec::new();
        stepper.actions(&self.end, &mut actions);
        let violates = |action: &Action| {
            let mut next = self.end.clone();
            let result = stepper.perform(&mut next, *action).and_then(|()| check_state(stepper.model, &next));
            result.is_err_and(|violation| violation.property == property)
        };
        if let Some(action) = actions.into_iter().find(violates) {
            self.trace.push(stepper, &self.end, action);
        }
    }

    /// Adds what repeats itself from the last state on, and says so.
    pub fn add_cycle(&mut self, stepper: &mut Stepper) -> String {
        let trap = self.trace.len();
        let cycle = cycle(stepper, &self.end);
        for &action in &cycle.events {
            self.trace.push(stepper, &self.end, action);
            // It was executed before, from the same state.
            let _ = stepper.perform(&mut self.end, action);
        }
        let sentence = format!("after event {trap} no state can be reached in which nobody waits in vain");
        let first = trap + cycle.before + 1;
        match self.trace.len() {
            last if last < first => sentence,
            last if last == first => format!("{sentence}; event {first} repeats itself"),
            last => format!("{sentence}; events {first} to {last} repeat themselves"),
        }
    }
}
