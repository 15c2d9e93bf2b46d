//! In which states nobody can read a node's copy of a block again before it is overwritten: `check` forgets the copy there,
//! so that states do not multiply on contents that nobody sees.
//!
//! This is the analysis of live variables (`live`) with the copy as one more variable. It is read by the accesses of
//! threads, in a state that allows them; by `with block`, `complete`, `perform` and `fill`; it is overwritten by `install` and
//! `take`. Nothing is said of a protocol that reads or writes copies in other ways: by address, from the role of another
//! object, or in a claim; and nothing of a node on which several roles do.

use trivium_protocol::copies::{live_states, looks_at_memory, moves_by_address, sends_other_block, touches_copy};
use trivium_protocol::walk::{any_expr, inner};
use trivium_protocol::*;

/// Fills in [`State::copy_is_dead`].
pub(super) fn copies(protocol: &mut Protocol) {
    if any_expr(protocol, looks_at_memory) || is_touched_otherwise(protocol) {
        return;
    }
    let entered = entered_by_others(protocol);
    for (role, entered) in protocol.roles.iter_mut().zip(entered) {
        if role.object != BLOCK || role.kind == RoleKind::Ghost {
            continue;
        }
        let live = live_states(role, &entered, |_, copy_use, live| copy_use.needs(live));
        role.states.iter_mut().zip(live).for_each(|(state, live)| state.copy_is_dead = !live);
    }
}

/// Whether code reads or writes copies in a way that is not followed here.
fn is_touched_otherwise(protocol: &Protocol) -> bool {
    let moves_bytes = |message: &Message| matches!(message.payload, PayloadShape::Memory | PayloadShape::List);
    protocol.messages.iter().any(moves_bytes)
        || protocol.roles.iter().any(|role| {
            let is_own = role.object == BLOCK && role.kind != RoleKind::Ghost;
            role.code().any(|handler| touches_otherwise(&handler.steps, is_own))
        })
}

/// `is_own`: the present object is a block, and the code is that of its own role.
fn touches_otherwise(steps: &[Step], is_own: bool) -> bool {
    steps.iter().any(|step| match &step.kind {
        kind if moves_by_address(kind) => true,
        StepKind::Send { payload: PayloadSource::List(_), .. } => true,
        kind if sends_other_block(kind) => true,
        kind if touches_copy(kind) => !is_own,
        StepKind::Elsewhere(_, _, body) => touches_otherwise(body, false),
        kind => inner(kind).any(|steps| touches_otherwise(steps, is_own)),
    })
}

/// For each role the states into which an action puts an instance that other code calls.
fn entered_by_others(protocol: &Protocol) -> Vec<Vec<StateId>> {
    let mut entered = vec![Vec::new(); protocol.roles.len()];
    for handler in protocol.roles.iter().flat_map(|role| &role.handlers) {
        note_entered(&handler.steps, None, &mut entered);
    }
    entered
}

fn note_entered(steps: &[Step], called: Option<RoleId>, entered: &mut [Vec<StateId>]) {
    for step in steps {
        match (&step.kind, called) {
            (StepKind::Goto(state), Some(role)) => entered[role.index()].push(*state),
            (StepKind::Elsewhere(_, role, body), _) => note_entered(body, Some(*role), entered),
            (kind, _) => inner(kind).for_each(|steps| note_entered(steps, called, entered)),
        }
    }
}
