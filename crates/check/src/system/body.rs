//! Bodies of a scenario's threads (`docs/semantics.md`, section 6): where a thread stands, and how it goes on from there.
//!
//! A thread stands at a look, which it is about to begin or within, or at its end. All other steps are done with the look before them.

use crate::system::model::Model;
use crate::system::promise::{Violation, registers};
use crate::system::world::World;
use trivium_engine::number::fit;
use trivium_protocol::source::Span;
use trivium_protocol::{BodyStep, Expr, Scenario};

/// An access or a call of a body: the number of an intent, and the variable for its result.
pub type PlacedLook = (u16, Option<u16>);

/// The threads of a scenario.
pub struct Script {
    /// What they do.
    pub scenario: Scenario,
    /// For each thread and place of its body, the look that is there, if one is.
    pub places: Vec<Vec<Option<PlacedLook>>>,
    /// The threads that can come to a place twice.
    pub loops: Vec<bool>,
}

impl Script {
    /// What a thread does next that is at a place, and the variable for the result; nothing at its end.
    pub fn look(&self, thread: usize, at: u16) -> Option<(usize, Option<u16>)> {
        let (intent, register) = (*self.places[thread].get(usize::from(at))?)?;
        Some((usize::from(intent), register))
    }

    /// Whether a thread is at its end.
    pub fn is_at_end(&self, thread: usize, at: u16) -> bool {
        usize::from(at) == self.places[thread].len()
    }

    /// The statement of a place.
    pub(crate) fn statement(&self, thread: usize, at: u16) -> Option<Span> {
        Some(self.scenario.threads[thread].body.places.get(usize::from(at))?.span)
    }
}

/// All threads of a scenario are where they begin.
///
/// # Errors
/// A value that cannot be worked out.
pub(crate) fn begin(model: &Model, world: &mut World) -> Result<(), Violation> {
    let threads = model.client.script.as_ref().map_or(0, |script| script.places.len());
    (0..threads).try_for_each(|thread| go_on(model, world, thread, 0))
}

/// In a scenario: a look is done, and its result goes to its variable.
///
/// # Errors
/// As [`begin`].
pub(crate) fn done(model: &Model, world: &mut World, thread: usize, result: Option<i64>) -> Result<(), Violation> {
    let Some(script) = &model.client.script else { return Ok(()) };
    let at = world.count(&model.layout, thread);
    if let (Some((_, Some(register))), Some(value)) = (script.look(thread, at), result) {
        world.set_number(model.layout.register(register), value.cast_unsigned());
    }
    go_on(model, world, thread, usize::from(at) + 1)
}

/// A thread goes on from a place to the next look, or to its end.
fn go_on(model: &Model, world: &mut World, thread: usize, mut at: usize) -> Result<(), Violation> {
    let Some(script) = &model.client.script else { return Ok(()) };
    let body = &script.scenario.threads[thread].body;
    while let Some(place) = body.places.get(at) {
        if let BodyStep::Look(_) = place.step {
            break;
        }
        let value_of = |expr: &Expr| {
            let value = model.engine.evaluate_registers(expr, &registers(model, world));
            // It is the scenario's mistake, and no fault of the protocol.
            value.map_err(|fault| Violation::of_scenario(&script.scenario, expr.span, fault.message))
        };
        let (next, set) = passed(&place.step, at, value_of)?;
        if let Some((register, value)) = set {
            world.set_number(model.layout.register(register), value.cast_unsigned());
        }
        at = next;
    }
    for register in &body.forgets[at] {
        world.set_number(model.layout.register(*register), 0);
    }
    world.set_count(&model.layout, thread, fit(at, "the number of a place: there are at most 65,535"));
    Ok(())
}

/// A step that nobody else sees is done: where its body goes on, and the variable that it sets, with its value.
///
/// # Errors
/// Those of a value that cannot be worked out.
pub(crate) fn passed<E>(
    step: &BodyStep,
    at: usize,
    value_of: impl FnOnce(&Expr) -> Result<i64, E>,
) -> Result<(usize, Option<(u16, i64)>), E> {
    Ok(match step {
        BodyStep::Set(variable, value) => (at + 1, Some((*variable, value_of(value)?))),
        BodyStep::Unless(condition, other) => (if value_of(condition)? == 0 { *other } else { at + 1 }, None),
        BodyStep::Goto(other) => (*other, None),
        BodyStep::Fence | BodyStep::Assert(_) | BodyStep::Look(_) | BodyStep::Act(_) | BodyStep::Return(_) => {
            (at + 1, None)
        }
    })
}
