//! What `room` says of an outgoing queue is no part of a state, and a rule of a model has one outcome: so no model is made of a protocol that asks.

use trivium_check::ConfigError;
use trivium_protocol::walk::{expressions, inner, parts};
use trivium_protocol::{Expr, ExprKind, Handler, LaneId, Protocol, Step, StepKind};

/// Refuses a protocol that asks for room in an outgoing queue.
pub(super) fn check(protocol: &Protocol) -> Result<(), ConfigError> {
    let handlers = protocol.roles.iter().flat_map(|role| &role.handlers);
    let Some((handler, lane)) = handlers.filter_map(|h| Some((h, asked(protocol, h)?))).next() else { return Ok(()) };
    let lane = &protocol.lanes[lane.index()].name;
    Err(ConfigError::new(
        format!("`{}` cannot be exported: it asks for room on lane `{lane}`, an outgoing queue", handler.name),
        "what it is told depends on what has left the queue, which exported models do not know; `trivium check` tries each answer",
    ))
}

/// The queue of which a handler asks, if it does.
fn asked(protocol: &Protocol, handler: &Handler) -> Option<LaneId> {
    handler.guard.as_ref().and_then(|guard| in_expr(protocol, guard)).or_else(|| in_steps(protocol, &handler.steps))
}

fn in_steps(protocol: &Protocol, steps: &[Step]) -> Option<LaneId> {
    steps.iter().find_map(|step| {
        let here = expressions(&step.kind).into_iter().find_map(|expr| in_expr(protocol, expr));
        here.or_else(|| match &step.kind {
            StepKind::Elsewhere(_, _, body) => in_steps(protocol, body),
            kind => inner(kind).find_map(|steps| in_steps(protocol, steps)),
        })
    })
}

fn in_expr(protocol: &Protocol, expr: &Expr) -> Option<LaneId> {
    match expr.kind {
        ExprKind::Room(lane, _) if protocol.lanes[lane.index()].queues => Some(lane),
        _ => parts(expr).into_iter().find_map(|part| in_expr(protocol, part)),
    }
}
