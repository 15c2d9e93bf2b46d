//! Whether a protocol treats all nodes alike: a run with renamed nodes is then a run with other names.
//!
//! The language keeps a protocol from looking at the number of a node except by `index` and `node(..)`, which the
//! compiler notes, in `initially` too, so that nodes that are alike begin alike. Sets can hold nodes given by number, which is looked for here.
//!
//! Handlers take the nodes of a set in every order that can be told apart, so that no order depends on numbers. It does where only one
//! is tried: everywhere if the system says so, and in what nobody chooses for, which are claims and what records are at first.

use crate::system::model::addresses_memory;
use trivium_protocol::orders::{depends_on_order, picks_node};
use trivium_protocol::walk::{any_step, claims, code, each_look, visit};
use trivium_protocol::{Expr, ExprKind, Operator, Protocol, Role, StepKind, Type};

/// Whether nodes can be renamed, where handlers take nodes in every order or in ascending order.
pub(crate) fn nodes_are_alike(protocol: &Protocol, every_order: bool) -> bool {
    let mut begins = protocol.roles.iter().flat_map(|role: &Role| &role.initially);
    protocol.asymmetric.is_none()
        && all_exprs(protocol)
        && !claims(protocol).any(claim_picks)
        && !begins.any(depends_on_order)
        && (every_order || !code(protocol).any(depends_on_order))
}

/// Whether objects can be renamed together with their homes: nodes can, and nothing names an object but by being about it, nor an address, where one lies.
pub(crate) fn objects_are_alike(protocol: &Protocol, every_order: bool) -> bool {
    let mut are_named = any_step(protocol, |step| matches!(step, StepKind::Perform(_)));
    each_look(protocol, &mut |looked_at| {
        are_named |= names_object(protocol, &looked_at.ty) || matches!(looked_at.kind, ExprKind::Memory(_));
    });
    let messages = protocol.messages.iter().flat_map(|message| &message.args);
    let calls = protocol.ops.iter().flat_map(|op| &op.args);
    let bodies = protocol.ops.iter().filter_map(|op| op.body.as_ref()).flat_map(|body| &body.locals);
    !are_named
        && !messages.chain(calls).chain(bodies).any(|arg| names_object(protocol, &arg.ty))
        && !addresses_memory(protocol)
        && nodes_are_alike(protocol, every_order)
}

/// Whether a value of a type may name an object, or a place in memory.
fn names_object(protocol: &Protocol, ty: &Type) -> bool {
    match ty {
        Type::Address | Type::Object(_) | Type::ObjectOrNone(_) => true,
        Type::List { of, .. } | Type::Array { of, .. } | Type::OrNone(of) => names_object(protocol, of),
        Type::Record(record) => {
            protocol.records[record.index()].fields.iter().any(|field| names_object(protocol, &field.ty))
        }
        Type::Bool
        | Type::Int { .. }
        | Type::Node { .. }
        | Type::Word
        | Type::Thread
        | Type::NodeSet
        | Type::IntSet { .. } => false,
    }
}

fn claim_picks(claim: &Expr) -> bool {
    let mut found = false;
    visit(claim, &mut |looked_at| found |= picks_node(looked_at));
    found
}

fn all_exprs(protocol: &Protocol) -> bool {
    let mut are_alike = true;
    each_look(protocol, &mut |part| are_alike &= treats_nodes_alike(part));
    are_alike
}

/// Without what stands in it.
fn treats_nodes_alike(looked_at: &Expr) -> bool {
    let is_node = |e: &Expr| matches!(e.ty, Type::Node { .. });
    match &looked_at.kind {
        ExprKind::Constant(value) => !is_node(looked_at) || value.at(1) == -1 && value.at(2) == -1,
        ExprKind::Binary(Operator::Equal | Operator::Different, ..) => true,
        ExprKind::Binary(_, a, b) => !is_node(a) && !is_node(b),
        ExprKind::Negate(value) => !is_node(value),
        ExprKind::Index(_) | ExprKind::NodeAt(_) => false,
        _ => true,
    }
}
