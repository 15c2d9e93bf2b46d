//! The records of the first state, where roles say what they are initially (`docs/semantics.md`, section 1).

use crate::system::model::Model;
use crate::system::promise::{Violation, check_state};
use crate::system::world::World;
use std::ops::Range;
use trivium_engine::{Fault, Node, Object};
use trivium_protocol::source::Span;
use trivium_protocol::{RoleId, StateId};

/// What records are at first, where they are not all zero.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    /// Where in a state, and what stands there.
    records: Vec<(Range<usize>, Vec<u8>)>,
    /// What went wrong when the first of them was made.
    fault: Option<Fault>,
    /// Which ways the branches and loops went, for coverage.
    pub ways: Vec<(Span, bool)>,
    /// The states that were named.
    pub entered: Vec<(RoleId, StateId)>,
}

impl Begun {
    /// Makes the records of all instances.
    pub fn of(model: &Model) -> Begun {
        let mut begun = Begun::default();
        let begins = |&(_, role, _): &(Node, RoleId, Object)| model.engine.has_initially(role);
        for (node, role, object) in model.instances().filter(begins) {
            begun.make(model, node, role, object);
        }
        begun
    }

    fn make(&mut self, model: &Model, node: Node, role: RoleId, object: Object) {
        let Some(at) = model.layout.record(node, role, object.id) else { return };
        let ways = &mut self.ways;
        let mut way = |step, taken| {
            if !ways.contains(&(step, taken)) {
                ways.push((step, taken));
            }
        };
        match model.engine.first_record(role, object, node, model.home(object), &mut way) {
            Ok(record) => {
                let state = model.engine.state(role, &record);
                if state != StateId(0) && !self.entered.contains(&(role, state)) {
                    self.entered.push((role, state));
                }
                self.records.push((at, record));
            }
            Err(fault) => {
                self.fault.get_or_insert(fault);
            }
        }
    }

    /// Puts the records into a state in which all are zero.
    pub fn put(&self, world: &mut World) {
        for (at, record) in &self.records {
            world.fixed[at.clone()].copy_from_slice(record);
        }
    }
}

/// What is wrong in the first state.
///
/// # Errors
/// The fault in an `initially`, or what does not hold in a state.
pub(crate) fn check_first(model: &Model, first: &World) -> Result<(), Violation> {
    match &model.begun.fault {
        Some(fault) => Err(Violation::fault(fault.clone())),
        None => check_state(model, first),
    }
}
