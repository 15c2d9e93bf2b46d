//! Which handlers look at what is about to be stored.

use crate::walk::{expressions, inner, visit};
use crate::*;

/// Whether a handler of `write(a, v)` uses v. An atomic read-modify-write has no such value before it is performed.
pub fn looks_at_stored_value(handler: &Handler) -> bool {
    handler.guard.iter().any(looks) || any(&handler.steps)
}

fn any(steps: &[Step]) -> bool {
    steps.iter().any(|step| {
        let elsewhere = matches!(&step.kind, StepKind::Elsewhere(_, _, body) if any(body));
        elsewhere || expressions(&step.kind).into_iter().any(looks) || inner(&step.kind).any(any)
    })
}

fn looks(expr: &Expr) -> bool {
    let mut found = false;
    visit(expr, &mut |part| found |= matches!(part.kind, ExprKind::FaultValue));
    found
}
