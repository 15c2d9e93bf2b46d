//! Whether nothing tells the values apart that programs store: a run with other values is then a run of its own, with these values exchanged
//! (`docs/semantics.md`, section 6).
//!
//! A protocol that only moves the contents of blocks from one copy to another cannot tell values apart. What could is looked for here, and
//! what is not known here counts as something that could: words of memory, values of faults, accesses that handlers perform, ghosts that hear of accesses, and
//! claims that compare contents with anything but contents.

use crate::system::model::Model;
use trivium_protocol::walk::{any_expr, any_step, claims, parts};
use trivium_protocol::{BLOCK, Expr, ExprKind, GhostEvent, Operator, PayloadShape, PayloadSource, Protocol, StepKind};

/// Most values whose names are exchanged: all orders of those are tried that nothing else gives an order.
const MOST_VALUES: u32 = 4;

/// Whose values have names of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameSpaces {
    /// The contents of each block: none go from one block to another.
    Apart,
    /// Those of all blocks.
    Together,
}

/// Whether values can be exchanged in a system, and if so those of each block by themselves or those of all blocks together.
pub(crate) fn values_are_alike(model: &Model) -> Option<NameSpaces> {
    let protocol = model.protocol();
    let are_alike = (2..=MOST_VALUES).contains(&model.system.values)
        && protocol.uses(BLOCK)
        && model.client.script.is_none()
        && !model.keeps_payloads()
        && protocol.weaker().is_none()
        && !any_step(protocol, |step| !moves_contents_alone(step))
        && !any_expr(protocol, looks_at_values)
        && !hears_of_accesses(protocol)
        && claims(protocol).all(compares_contents_alone);
    are_alike.then(|| {
        if any_step(protocol, may_cross_blocks) || brings_data_elsewhere(protocol) {
            NameSpaces::Together
        } else {
            NameSpaces::Apart
        }
    })
}

/// Whether a verdict for two values or more is one for any number of them. A load of the wrong value is also one in the run in which this value is one and
/// all others are another, since the protocol does the same there; a claim about several copies could need more values.
pub(crate) fn stand_for_any(protocol: &Protocol) -> bool {
    !any_expr(protocol, |kind| match kind {
        ExprKind::Contents(..) => true,
        // On a duplicating lane equal messages are one, so that they tell how many values there are.
        ExprKind::Flight(message, _) => {
            let message = &protocol.messages[message.index()];
            message.payload != PayloadShape::Nothing && protocol.lanes[message.lane.index()].duplicating
        }
        _ => false,
    })
}

/// Whether a step moves contents as they are, or has nothing to do with them.
fn moves_contents_alone(step: &StepKind) -> bool {
    match step {
        StepKind::Send { payload, .. } => {
            matches!(
                payload,
                PayloadSource::Nothing | PayloadSource::Block | PayloadSource::BlockOf(_) | PayloadSource::Received
            )
        }
        StepKind::Install(at) => at.is_none(),
        StepKind::Assign(..)
        | StepKind::AssignElement(..)
        | StepKind::Let(..)
        | StepKind::Insert(..)
        | StepKind::Remove(..)
        | StepKind::Push(..)
        | StepKind::Pop(..)
        | StepKind::Clear(_)
        | StepKind::If(..)
        | StepKind::ForSet(..)
        | StepKind::ForRange(..)
        | StepKind::ForList(..)
        | StepKind::Stop
        | StepKind::Goto(_)
        | StepKind::Resume
        | StepKind::Complete
        | StepKind::Return { .. }
        | StepKind::Defer
        | StepKind::Stall
        | StepKind::Start(..)
        | StepKind::Yield
        | StepKind::Fill(_)
        | StepKind::Upgrade
        | StepKind::Take(_)
        | StepKind::Invalidate
        | StepKind::Compose(_)
        | StepKind::Impossible
        | StepKind::Assert(..)
        | StepKind::Elsewhere(..) => true,
        StepKind::Perform(_)
        | StepKind::CompleteWith(..)
        | StepKind::InstallOwn(_)
        | StepKind::Copy { .. }
        | StepKind::Store(..) => false,
    }
}

fn looks_at_values(kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::FaultValue | ExprKind::FaultOperation | ExprKind::FaultExpected | ExprKind::Memory(_))
}

/// Whether some ghost hears what threads load and store.
fn hears_of_accesses(protocol: &Protocol) -> bool {
    let mut heard = protocol.ghosts.iter().flat_map(|ghost| &ghost.clauses);
    heard.any(|(event, _)| matches!(event, GhostEvent::Read | GhostEvent::Write))
}

/// Whether contents stand in a claim only to be compared with contents.
fn compares_contents_alone(claim: &Expr) -> bool {
    let is_contents = |e: &Expr| matches!(e.kind, ExprKind::Contents(..));
    match &claim.kind {
        ExprKind::Contents(..) => false,
        ExprKind::Binary(Operator::Equal | Operator::Different, a, b) if is_contents(a) && is_contents(b) => true,
        _ => parts(claim).into_iter().all(compares_contents_alone),
    }
}

/// Whether some message brings data to another object than a block.
fn brings_data_elsewhere(protocol: &Protocol) -> bool {
    let mut messages = protocol.messages.iter().filter(|message| message.payload != PayloadShape::Nothing);
    messages.any(|message| message.object != BLOCK)
}

/// Whether the contents of a block may go to another: a message about another object than the present one carries them, or what arrived is
/// used where another object is the present one.
fn may_cross_blocks(step: &StepKind) -> bool {
    match step {
        StepKind::Send { payload: PayloadSource::BlockOf(_), .. } => true,
        StepKind::Send { payload, object, .. } => object.is_some() && !matches!(payload, PayloadSource::Nothing),
        StepKind::Elsewhere(_, _, body) => trivium_protocol::walk::any_step_of(body, |step| {
            matches!(step, StepKind::Install(_))
                || matches!(step, StepKind::Send { payload, .. } if !matches!(payload, PayloadSource::Nothing))
        }),
        _ => false,
    }
}
