//! Whether a protocol treats all nodes alike: a run with renamed nodes is then a run with other names.
//!
//! The language keeps a protocol from looking at the number of a node except by `index` and `node(..)`, which the
//! compiler notes, in `initially` too, so that nodes that are alike begin alike. Three more things depend on the order of nodes, and are looked for here: `pick` takes the least
//! of a set, a loop over a set goes through it in ascending order, and sets can hold nodes given by number.

use trivium_protocol::walk::{any_step, each_look, parts};
use trivium_protocol::{Expr, ExprKind, LocalId, Operator, Protocol, Step, StepKind, Type};

/// Whether nodes can be renamed.
pub(crate) fn nodes_are_alike(protocol: &Protocol) -> bool {
    protocol.asymmetric.is_none() && !any_step(protocol, depends_on_order) && all_exprs(protocol)
}

fn depends_on_order(step: &StepKind) -> bool {
    matches!(step, StepKind::ForSet(local, set, body) if set.ty == Type::NodeSet && !any_order(*local, body))
}

fn all_exprs(protocol: &Protocol) -> bool {
    let mut are_alike = true;
    each_look(protocol, &mut |part| are_alike &= treats_nodes_alike(part));
    are_alike
}

/// Whether a loop over nodes does the same in any order: each round only sends to its own node, so that
/// nothing that a round looks at changes, and no two of its messages share a channel.
fn any_order(node: LocalId, body: &[Step]) -> bool {
    body.iter().all(|step| match &step.kind {
        StepKind::Send { args, object, to, .. } => {
            matches!(to.kind, ExprKind::Local(local) if local == node) && !args.iter().chain(object).any(asks_for_room)
        }
        StepKind::Let(_, values) => !values.iter().any(asks_for_room),
        StepKind::If(condition, yes, no) => !asks_for_room(condition) && any_order(node, yes) && any_order(node, no),
        _ => false,
    })
}

fn asks_for_room(asked: &Expr) -> bool {
    matches!(asked.kind, ExprKind::Room(..)) || parts(asked).into_iter().any(asks_for_room)
}

/// Without what stands in it.
fn treats_nodes_alike(looked_at: &Expr) -> bool {
    let is_node = |e: &Expr| matches!(e.ty, Type::Node { .. });
    match &looked_at.kind {
        ExprKind::Pick(set) => set.ty != Type::NodeSet,
        ExprKind::Constant(value) => !is_node(looked_at) || value.at(1) == -1 && value.at(2) == -1,
        ExprKind::Binary(Operator::Equal | Operator::Different, ..) => true,
        ExprKind::Binary(_, a, b) => !is_node(a) && !is_node(b),
        ExprKind::Negate(value) => !is_node(value),
        ExprKind::Index(_) | ExprKind::NodeAt(_) => false,
        _ => true,
    }
}
