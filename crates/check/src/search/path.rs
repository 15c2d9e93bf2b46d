//! The events that lead from the first state to one that was found.
//!
//! Under symmetry the states that are kept have nodes renamed. The path is executed with the names of its first state:
//! in each step, some event leads to a state that is the next one but for names.

use super::arena::StateNumber;
use super::expand::Worker;
use super::liveness::{cycle, kind_of_trap};
use super::states::States;
use crate::deadlock::wish_text;
use crate::promise::{Violation, check_state};
use crate::step::{Action, Stepper};
use crate::trace::{LEADS_TO, STARVATION, Trace};
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

    /// Adds what repeats itself from the last state on, where a thread of the state that was kept does not get through.
    pub fn add_trap(&mut self, worker: &mut Worker, thread: usize) -> Violation {
        let thread = worker.thread_before_renaming(&self.end, thread);
        add_trap(&mut worker.stepper, &mut self.trace, &mut self.end, thread)
    }
}

/// Adds what repeats itself from the end of a trace on, where a thread does not get through or a demand is never fulfilled, and
/// says so.
pub(crate) fn add_trap(stepper: &mut Stepper, trace: &mut Trace, end: &mut World, wish: usize) -> Violation {
    let trap = trace.len();
    let (property, never) = told(stepper, end, wish);
    let cycle = cycle(stepper, end);
    for &action in &cycle.events {
        trace.push(stepper, end, action);
        // It was executed before, from the same state.
        let _ = stepper.perform(end, action);
    }
    let first = trap + cycle.before + 1;
    let repeats = match trace.len() {
        last if last < first => String::new(),
        last if last == first => format!("; event {first} repeats itself"),
        last => format!("; events {first} to {last} repeat themselves"),
    };
    Violation::new(property, format!("after event {trap} {never}, by what must happen alone{repeats}"))
}

/// The property that is violated, and what never happens.
fn told(stepper: &mut Stepper, end: &World, wish: usize) -> (String, String) {
    let model = stepper.model;
    match wish.checked_sub(model.client.threads.len()) {
        None => {
            let property = kind_of_trap(stepper, end, wish);
            let others = if property == STARVATION { "others may get through, but " } else { "" };
            (property.into(), format!("{others}{} is never done", wish_text(model, end, wish)))
        }
        Some(demand) => {
            let demand = model.demands[demand];
            let name = &model.protocol().leads_to[demand.leads_to].name;
            let node = demand.node.map_or(String::new(), |node| format!(" at node {node}"));
            let object = model.object_name(demand.object);
            (format!("{LEADS_TO}{name}"), format!("what `{name}` demands of {object}{node} never comes"))
        }
    }
}
