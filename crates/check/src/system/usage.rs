//! Assumptions about each use (`docs/semantics.md`, section 7): `assume CALL when EXPR`.

use crate::system::action::event_kind;
use crate::system::client::Intent;
use crate::system::model::Model;
use crate::system::promise::{PromiseView, Violation};
use crate::system::world::World;
use trivium_protocol::Condition;

/// Whether all assumptions about what a thread is about to do are kept.
///
/// # Errors
/// A fault in one of them.
pub(crate) fn may_use(model: &Model, world: &World, thread: usize, intent: &Intent) -> Result<bool, Violation> {
    Ok(broken(model, world, thread, intent)?.is_none())
}

/// The assumption, as it is written, that keeps a thread from what it is about to do.
pub(crate) fn broken_condition<'m>(model: &'m Model, world: &World, thread: usize, intent: &Intent) -> Option<&'m str> {
    let condition = broken(model, world, thread, intent).ok()??;
    Some(&condition.text)
}

fn broken<'m>(
    model: &'m Model,
    world: &World,
    thread: usize,
    intent: &Intent,
) -> Result<Option<&'m Condition>, Violation> {
    let conditions = &model.protocol().conditions;
    if conditions.is_empty() {
        return Ok(None);
    }
    let (kind, me) = (event_kind(intent), model.client.threads[thread].node);
    let args = match intent {
        Intent::Call { args, .. } => args.words(),
        _ => &[],
    };
    for condition in conditions.iter().filter(|condition| condition.event == kind) {
        let seen = PromiseView { model, world };
        let kept = model.engine.evaluate_condition(condition, me, intent.object(), args, &seen);
        if !kept.map_err(Violation::fault)? {
            return Ok(Some(condition));
        }
    }
    Ok(None)
}
