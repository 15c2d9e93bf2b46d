//! Whether a protocol says anything about the contents of blocks.

use crate::walk::{any_step, any_step_of, each_look_of, visit};
use crate::*;

/// Whether something can load from a block: a thread in a state that gives access, or a handler for it.
pub fn has_loads(protocol: &Protocol) -> bool {
    let gives_access = |role: &Role| {
        role.object == BLOCK
            && role.kind != RoleKind::Ghost
            && role.states.iter().any(|state| state.access != Access::None)
    };
    protocol.cached && protocol.uses(BLOCK)
        || protocol.roles.iter().any(gives_access)
        || any_step(protocol, |step| match step {
            StepKind::Complete => true,
            StepKind::Perform(perform) => perform.loads(),
            _ => false,
        })
}

/// Whether anything compares what is in a block with what should be there: a promise about loads, a claim about contents, or a ghost
/// that sees loads and asserts something, or at which a claim looks.
pub fn compares_contents(protocol: &Protocol) -> bool {
    let is_contents = |expr: &Expr| matches!(expr.kind, ExprKind::Contents(..));
    protocol.promises.iter().any(Promise::is_about_loads)
        || is_claimed(protocol, is_contents)
        || protocol.ghosts.iter().any(|ghost| compares(protocol, ghost))
}

/// Whether a ghost looks at what loads give, and that decides whether something holds.
fn compares(protocol: &Protocol, ghost: &Ghost) -> bool {
    let Some((_, handler)) = ghost.clauses.iter().find(|(event, _)| *event == GhostEvent::Read) else { return false };
    let handler = &protocol.roles[ghost.role.index()].handlers[handler.index()];
    // It is told the node and the value.
    let is_value = |expr: &Expr| matches!(expr.kind, ExprKind::Local(LocalId(1)));
    let mut looks = false;
    each_look_of(handler, &mut |expr| looks |= is_value(expr));
    let is_of_ghost = |expr: &Expr| match &expr.kind {
        ExprKind::Var(place) | ExprKind::Length(place) | ExprKind::Element(place, ..) => place.role == ghost.role,
        _ => false,
    };
    let asserts = any_step_of(&handler.steps, |step| matches!(step, StepKind::Assert(..)));
    looks && (asserts || is_claimed(protocol, is_of_ghost))
}

/// Whether what must hold looks at such a thing.
fn is_claimed(protocol: &Protocol, is: impl Fn(&Expr) -> bool) -> bool {
    let invariants = protocol.invariants.iter().map(|invariant| &invariant.condition);
    let leads = protocol.leads_to.iter().flat_map(|leads| [&leads.from.condition, &leads.to.condition]);
    let mut found = false;
    invariants.chain(leads).for_each(|claim| visit(claim, &mut |expr| found |= is(expr)));
    found
}
