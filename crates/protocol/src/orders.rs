//! Where the order in which a loop goes over nodes can be seen.
//!
//! The language leaves open in which order `for s in S` takes the nodes of a set, and which of them `pick(S)` is (`docs/semantics.md`, section 1). Where one
//! order does what another does, a backend that tries all of them tries one.

use crate::walk::{any_step_of, each_look_of, each_step, expressions, parts, place_of, visit};
use crate::*;

/// Whether a step is a loop over nodes of which something can tell in which order it went.
#[must_use]
pub fn shows_order(step: &StepKind) -> bool {
    matches!(step, StepKind::ForSet(local, set, body)
        if set.ty == Type::NodeSet && !(any_order(*local, body) && keeps_to_itself(*local, body)))
}

/// Whether some code does one thing or another, depending on the order in which it takes nodes.
#[must_use]
pub fn depends_on_order(code: &Handler) -> bool {
    let mut picks = false;
    each_look_of(code, &mut |looked_at| picks |= picks_node(looked_at));
    picks || any_step_of(&code.steps, shows_order)
}

/// Whether a value is some node of a set.
#[must_use]
pub fn picks_node(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Pick(set) if set.ty == Type::NodeSet)
}

/// Whether a loop over nodes does the same in any order: each round only sends to its own node and changes its own elements of arrays
/// ([`keeps_to_itself`]), so that nothing that a round looks at changes, and no two of its messages share a channel.
fn any_order(node: LocalId, body: &[Step]) -> bool {
    body.iter().all(|step| match &step.kind {
        StepKind::Send { args, object, to, .. } => {
            matches!(to.kind, ExprKind::Local(local) if local == node) && !args.iter().chain(object).any(is_open)
        }
        StepKind::Let(_, values) => !values.iter().any(is_open),
        StepKind::AssignElement(_, index, _, values) => is_node(index, node) && !values.iter().any(is_open),
        StepKind::If(condition, yes, no) => !is_open(condition) && any_order(node, yes) && any_order(node, no),
        _ => false,
    })
}

fn is_node(index: &Expr, node: LocalId) -> bool {
    matches!(index.kind, ExprKind::Local(local) if local == node)
}

/// Whether each round of a loop over nodes looks at those arrays that the loop changes, of whatever object, at its own element alone.
fn keeps_to_itself(node: LocalId, body: &[Step]) -> bool {
    let mut changed = Vec::new();
    each_step(body, &mut |step| {
        if let StepKind::AssignElement(place, ..) = &step.kind {
            changed.push((place.role, place.var));
        }
    });
    let is_changed = |place: &Place| changed.contains(&(place.role, place.var));
    let mut keeps = true;
    each_step(body, &mut |step| {
        keeps &= matches!(step.kind, StepKind::AssignElement(..)) || !place_of(&step.kind).is_some_and(is_changed);
        for expr in expressions(&step.kind) {
            visit(expr, &mut |looked_at| match &looked_at.kind {
                ExprKind::Element(place, index, _) => keeps &= !is_changed(place) || is_node(index, node),
                ExprKind::Var(place) | ExprKind::Length(place) => keeps &= !is_changed(place),
                _ => {}
            });
        }
    });
    keeps
}

/// Whether a value may be another one in another round though nothing has changed but what was sent.
fn is_open(asked: &Expr) -> bool {
    matches!(asked.kind, ExprKind::Room(..)) || parts(asked).into_iter().any(is_open)
}
