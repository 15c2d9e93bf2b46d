//! How something grew until it left its bound: the story behind a full defer space, a full list or a number out of
//! range.

use super::source::{Source, lines};
use crate::system::model::Model;
use crate::system::world::World;
use serde::Serialize;
use trivium_engine::number::fit;
use trivium_engine::{Fault, FaultKind, Node, Object, Value};
use trivium_protocol::source::Span;
use trivium_protocol::{Handler, NODE, Owner, Place, RoleId, Step, StepKind, Type, VarId};

/// Something that has a declared bound and left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Growth {
    /// What: `n of counter of box 0 on node 0`.
    pub what: String,
    /// Its bound: `0..2`, `up to 3`.
    pub bound: String,
    /// Where the bound is declared.
    pub declared: Option<Source>,
    /// Its values as they changed, the last one within the bound last.
    pub points: Vec<Point>,
    /// The value that does not fit: `3`, `one more`.
    pub beyond: String,
}

/// A value that something had from a step on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// The step that made it so; 0: it was so at the start.
    pub step: u32,
    /// The value.
    pub value: String,
    /// What happened: `Acquire from 1`.
    pub event: String,
}

/// Something bounded in a record.
struct Bounded {
    node: Node,
    role: RoleId,
    object: Object,
    /// The variable; none: the defer space.
    var: Option<VarId>,
    field: Option<u16>,
}

/// What a fault overran, with its values in the states before it. `events[i]` leads from `worlds[i]` to the next.
pub(super) fn growth(model: &Model, fault: &Fault, worlds: &[World], events: &[String]) -> Option<Growth> {
    let role = fault.role?;
    let (bounded, beyond) = match fault.kind {
        FaultKind::DeferFull => {
            let own = Bounded { node: fault.node, role, object: fault.object, var: None, field: None };
            (own, "one more".to_string())
        }
        FaultKind::ListFull => (variable(model, fault)?, "one more".to_string()),
        FaultKind::Range { value, .. } => (variable(model, fault)?, value.to_string()),
        _ => return None,
    };
    let mut points: Vec<Point> = Vec::new();
    for (step, world) in worlds.iter().enumerate() {
        let value = bounded.value(model, world)?;
        if points.last().is_none_or(|last| last.value != value) {
            let event = step.checked_sub(1).and_then(|before| events.get(before)).cloned().unwrap_or_default();
            points.push(Point { step: fit(step, "the number of a step"), value, event });
        }
    }
    let (what, bound, span) = bounded.declaration(model)?;
    Some(Growth { what, bound, declared: lines(model.protocol(), span), points, beyond })
}

/// The variable that the statement at a fault's place gives a value to.
fn variable(model: &Model, fault: &Fault) -> Option<Bounded> {
    let role = &model.protocol().roles[fault.role?.index()];
    let place = role.handlers.iter().find_map(|handler: &Handler| assigned(&handler.steps, fault.span))?;
    if matches!(place.owner, Owner::RoleOf(..) | Owner::At(..)) {
        return None; // another object, whose number is known only while the handler runs
    }
    let kind = model.protocol().roles[place.role.index()].object;
    let object = if kind == NODE { Object { kind, id: 0 } } else { fault.object };
    Some(Bounded { node: fault.node, role: place.role, object, var: Some(place.var), field: place.field })
}

fn assigned(steps: &[Step], at: Span) -> Option<&Place> {
    let within = |outer: Span| outer.file == at.file && outer.start <= at.start && at.end <= outer.end;
    steps.iter().find_map(|step| match &step.kind {
        StepKind::Assign(place, _) | StepKind::Push(place, _) | StepKind::AssignElement(place, ..)
            if within(step.span) =>
        {
            Some(place)
        }
        StepKind::If(_, yes, no) => assigned(yes, at).or_else(|| assigned(no, at)),
        StepKind::ForSet(_, _, steps)
        | StepKind::ForRange(_, _, _, steps)
        | StepKind::ForList(_, _, steps)
        | StepKind::Elsewhere(_, _, steps) => assigned(steps, at),
        _ => None,
    })
}

impl Bounded {
    fn value(&self, model: &Model, world: &World) -> Option<String> {
        let record = model.record(world, self.node, self.role, self.object)?;
        let Some(var) = self.var else {
            let kept = model.engine.deferred(self.role, self.object, record);
            let kept: Vec<String> = kept.iter().map(|event| model.engine.event_text(event)).collect();
            return Some(counted(&kept));
        };
        let ty = &model.protocol().roles[self.role.index()].vars[var.index()].ty;
        Some(match model.engine.read_var(self.role, record, var) {
            Value::Record(fields) => fields.get(usize::from(self.field?))?.to_string(),
            Value::List(elements) => counted(&model.engine.elements_text(ty, &elements)),
            Value::Scalar(_) | Value::Set(_) | Value::Array(..) => model.engine.var_text(self.role, record, var),
        })
    }

    /// What it is, its bound, and where that is declared.
    fn declaration(&self, model: &Model) -> Option<(String, String, Span)> {
        let role = &model.protocol().roles[self.role.index()];
        let whose = match self.object.kind {
            NODE => format!("{} on node {}", role.name, self.node),
            _ => format!("{} of {} on node {}", role.name, model.object_name(self.object), self.node),
        };
        let Some(var) = self.var else {
            let bound = format!("up to {}", role.defers?.at(model.nodes));
            return Some((format!("the deferred events of {whose}"), bound, role.span));
        };
        let var = &role.vars[var.index()];
        let (ty, name) = match (&var.ty, self.field) {
            (Type::Record(record), Some(field)) => {
                let field = &model.protocol().records[record.index()].fields[usize::from(field)];
                (&field.ty, format!("{}.{}", var.name, field.name))
            }
            (Type::Array { of, .. }, _) => (&**of, var.name.clone()),
            (ty, _) => (ty, var.name.clone()),
        };
        let bound = match ty.given().unwrap_or(ty) {
            Type::Int { lo, hi } => format!("{}..{}", lo.at(model.nodes), hi.at(model.nodes)),
            Type::List { up_to, .. } => format!("up to {}", up_to.at(model.nodes)),
            _ => return None,
        };
        Some((format!("`{name}` of {whose}"), bound, var.span))
    }
}

fn counted(elements: &[String]) -> String {
    if elements.is_empty() { "0".into() } else { format!("{} ({})", elements.len(), elements.join(", ")) }
}
