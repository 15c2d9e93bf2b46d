//! The events that lead from the first state to one that was found.
//!
//! Under symmetry the states that are kept have nodes renamed. The path is executed with the names of its first state:
//! in each step, some event leads to a state that is the next one but for names.

use super::arena::StateNumber;
use super::expand::{Worker, pack_by};
use super::liveness::{cycle, kind_of_trap};
use super::pack::{Packed, hash};
use super::states::States;
use super::store::way_to;
use crate::report::deadlock::wish_text;
use crate::report::late::LateTrace;
use crate::report::trace::{Trace, last_state};
use crate::step::Stepper;
use crate::system::model::Model;
use crate::system::promise::Violation;
use crate::system::promise::{LEADS_TO, STARVATION};
use crate::system::world::World;

/// A sequence of events, and the state at its end.
pub(crate) struct Path {
    trace: LateTrace,
    end: World,
}

/// The events that lead to a state.
pub(crate) fn to_state(worker: &mut Worker, states: &States, state: StateNumber) -> Path {
    let way = way_to(state, |state| states.arena.parent(state));
    along(worker, &way[1..], |number, bytes| bytes == states.arena.get(*number))
}

/// The events that lead along some states, from the one after the first on.
pub(crate) fn through(worker: &mut Worker, states: &[Vec<u8>]) -> Path {
    along(worker, states, |state, bytes| bytes == state)
}

/// The events that lead along states that have these hashes.
pub(crate) fn by_hashes(worker: &mut Worker, hashes: &[u64]) -> Path {
    along(worker, hashes, |wanted, bytes| hash(bytes) == *wanted)
}

/// The events that lead along some states, of which the first comes after the first state of all: which they are is told by
/// their packed bytes.
fn along<S>(worker: &mut Worker, states: &[S], is_it: impl Fn(&S, &[u8]) -> bool) -> Path {
    let mut path = Path { trace: LateTrace::default(), end: worker.stepper.model.first() };
    let (mut actions, mut bytes) = (Vec::new(), Packed::default());
    for state in states {
        worker.stepper.actions(&path.end, &mut actions);
        let next = actions.iter().find_map(|&action| {
            let leads_there = |stepper: &mut Stepper, next: &World, result: Result<(), Violation>| {
                result.is_ok() && {
                    pack_by(stepper.model, worker.symmetry.as_mut(), next, &mut bytes);
                    is_it(state, &bytes)
                }
            };
            path.trace.add_way(&mut worker.stepper, &path.end, action, leads_there)
        });
        path.end = next.expect("a state was reached by an event of its parent");
    }
    path
}

impl Path {
    /// Adds the event that violates a property.
    pub fn add_violation(&mut self, stepper: &mut Stepper, property: &str) {
        let mut actions = Vec::new();
        stepper.actions(&self.end, &mut actions);
        let violates = |_: &mut Stepper, _: &World, result: Result<(), Violation>| {
            result.is_err_and(|violation| violation.property == property)
        };
        actions.into_iter().find_map(|action| self.trace.add_way(stepper, &self.end, action, violates));
    }

    /// The events, with every store chosen when it begins.
    pub fn settle(self, stepper: &mut Stepper) -> Trace {
        self.trace.settle(stepper)
    }

    /// The same, and what repeats itself from the last state on, where a thread of the state that was kept does not get
    /// through.
    pub fn settle_in_trap(self, worker: &mut Worker, thread: usize) -> (Trace, Violation) {
        let thread = worker.thread_before_renaming(&self.end, thread);
        let mut trace = self.settle(&mut worker.stepper);
        let violation = add_trap(&mut worker.stepper, &mut trace, thread);
        (trace, violation)
    }
}

/// Adds what repeats itself from the end of a trace on, where a thread does not get through or a demand is never fulfilled, and
/// says so.
pub(crate) fn add_trap(stepper: &mut Stepper, trace: &mut Trace, wish: usize) -> Violation {
    let trap = trace.len();
    let end = &mut last_state(stepper, trace);
    let (property, never) = told(stepper, end, wish);
    let cycle = cycle(stepper, end);
    for (action, told) in &cycle.events {
        // It was executed before, from the same state.
        let _ = trace.perform(stepper, end, *action, told);
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
            let (property, what) = demand_text(model, demand);
            (property, format!("{what} never comes"))
        }
    }
}

/// The property that a demand belongs to, and what it asks for.
pub(crate) fn demand_text(model: &Model, demand: usize) -> (String, String) {
    let demand = model.demands[demand];
    let name = &model.protocol().leads_to[demand.leads_to].name;
    let node = demand.node.map_or(String::new(), |node| format!(" at node {node}"));
    let object = model.object_name(demand.object);
    (format!("{LEADS_TO}{name}"), format!("what `{name}` demands of {object}{node}"))
}
