//! Where the order in which a loop goes over nodes can be seen.
//!
//! The language leaves open in which order `for s in S` takes the nodes of a set, and which of them `pick(S)` is (`docs/semantics.md`, section 1). Where one
//! order does what another does, a backend that tries all of them tries one.

use crate::walk::{any_step_of, each_look_of, parts};
use crate::*;

/// Whether a step is a loop over nodes of which something can tell in which order it went.
#[must_use]
pub fn shows_order(step: &StepKind) -> bool {
    matches!(step, StepKind::ForSet(local, set, body) if set.ty == Type::NodeSet && !any_order(*local, body))
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

/// Whether a loop over nodes does the same in any order: each round only sends to its own node, so that
/// nothing that a round looks at changes, and no two of its messages share a channel.
fn any_order(node: LocalId, body: &[Step]) -> bool {
    body.iter().all(|step| match &step.kind {
        StepKind::Send { args, object, to, .. } => {
            matches!(to.kind, ExprKind::Local(local) if local == node) && !args.iter().chain(object).any(is_open)
        }
        StepKind::Let(_, values) => !values.iter().any(is_open),
        StepKind::If(condition, yes, no) => !is_open(condition) && any_order(node, yes) && any_order(node, no),
        _ => false,
    })
}

/// Whether a value may be another one in another round though nothing has changed but what was sent.
fn is_open(asked: &Expr) -> bool {
    matches!(asked.kind, ExprKind::Room(..)) || parts(asked).into_iter().any(is_open)
}
