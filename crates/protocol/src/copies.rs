//! Which code has to do with a node's copy of a block.

use crate::walk::inner;
use crate::*;

/// The only role that has to do with a node's copy of a block, where the node is, or is not, the block's home: its state
/// says whether the copy is dead. `None` if there are several, or none.
pub fn role_with_copy(protocol: &Protocol, is_home: bool) -> Option<RoleId> {
    let lives_there = |role: &Role| match role.kind {
        RoleKind::Home => is_home,
        RoleKind::Elsewhere => !is_home,
        RoleKind::Everywhere => true,
        RoleKind::Agent | RoleKind::Ghost => false,
    };
    let has_to_do = |role: &Role| {
        role.states.iter().any(|state| state.access != Access::None)
            || role.handlers.iter().any(|handler| touches(&handler.steps))
    };
    let roles = (0..).map(RoleId).zip(&protocol.roles);
    let mut roles = roles.filter(|(_, role)| role.object == BLOCK && lives_there(role) && has_to_do(role));
    let only = roles.next();
    only.filter(|_| roles.next().is_none()).map(|(id, _)| id)
}

/// Whether steps read or write the copy of the present block.
fn touches(steps: &[Step]) -> bool {
    steps.iter().any(|step| touches_copy(&step.kind) || inner(&step.kind).any(touches))
}

/// Whether a step itself reads or writes the copy of the present block.
pub fn touches_copy(step: &StepKind) -> bool {
    matches!(
        step,
        StepKind::Send { payload: PayloadSource::Block, .. }
            | StepKind::Install(None)
            | StepKind::Complete
            | StepKind::Perform(_)
            | StepKind::Fill(_)
            | StepKind::Take(_)
    )
}
