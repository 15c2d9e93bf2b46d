//! What is proved about a protocol before anything runs: handlers end soon enough, lanes cannot block each other, and
//! which variables, and whose copies of blocks, are dead in which state.

mod contents;
mod copies;
mod fold;
mod lanes;
mod live;
mod longest;
mod stall;

use crate::diagnostics::Mistakes;
use trivium_protocol::*;

/// Takes out what constants exclude, and runs all analyses: fills in [`Handler::longest`], [`Handler::sends`], [`State::dead`], [`State::contents`] and
/// [`State::copy_is_dead`], and notes handlers that take too long, violations of the lane rule and looks at contents that may be gone.
pub fn analyse(protocol: &mut Protocol, diagnostics: &mut Mistakes) {
    fold::fold(protocol);
    stall::stalls(protocol, diagnostics);
    lanes::lanes(protocol, diagnostics);
    longest::longest(protocol, diagnostics);
    live::live(protocol);
    contents::contents(protocol);
    contents::forgotten(protocol, diagnostics);
    copies::copies(protocol);
}

/// Finds [`State::dead`], [`State::contents`] and [`State::copy_is_dead`] anew, of a protocol that has been changed since it was compiled.
pub fn find_dead(protocol: &mut Protocol) {
    live::live(protocol);
    contents::contents(protocol);
    protocol.roles.iter_mut().flat_map(|role| &mut role.states).for_each(|state| state.copy_is_dead = false);
    copies::copies(protocol);
}

fn sum(a: Bound, b: Bound) -> Bound {
    Bound { constant: a.constant.saturating_add(b.constant), per_node: a.per_node.saturating_add(b.per_node) }
}

/// The greater of two bounds for every number of nodes up to `most`: one of them where it is never less than the other.
fn greater(a: Bound, b: Bound, most: u32) -> Bound {
    let covers = |a: Bound, b: Bound| [1, most].into_iter().all(|nodes| a.at(nodes) >= b.at(nodes));
    if covers(a, b) {
        return a;
    }
    if covers(b, a) {
        return b;
    }
    Bound { constant: a.constant.max(b.constant), per_node: a.per_node.max(b.per_node) }
}

/// The product; where it would be quadratic in the number of nodes, its value for `most`.
fn product(times: Bound, body: Bound, most: u32) -> Bound {
    let fixed =
        |k: i64, b: Bound| Bound { constant: b.constant.saturating_mul(k), per_node: b.per_node.saturating_mul(k) };
    match (times.per_node, body.per_node) {
        (0, _) => fixed(times.constant, body),
        (_, 0) => fixed(body.constant, times),
        _ => Bound::fixed(times.at(most).saturating_mul(body.at(most))),
    }
}

/// How often a loop runs at the most.
fn iterations(protocol: &Protocol, step: &StepKind) -> Bound {
    match step {
        StepKind::ForSet(_, set, _) => match &set.ty {
            Type::IntSet { lo, hi } => Bound::fixed(elements(*lo, *hi)),
            _ => match &set.kind {
                ExprKind::SetOf(list) => Bound::fixed(list.len() as i64),
                ExprKind::SetBinary(SetOperator::Difference, from, taken) if all_but_one(from, taken) => {
                    Bound { constant: -1, per_node: 1 }
                }
                // `S - {x}` with x a member is smaller, but x need not be one.
                _ => Bound { constant: 0, per_node: 1 },
            },
        },
        StepKind::ForRange(_, lo, hi, _) => {
            let (lo, hi) = (least(protocol, lo), most(protocol, hi));
            Bound {
                constant: hi.constant.saturating_sub(lo.constant).saturating_add(1).max(0),
                per_node: hi.per_node.saturating_sub(lo.per_node).max(0),
            }
        }
        StepKind::ForList(_, place, _) => match &protocol.roles[place.role.index()].vars[place.var.index()].ty {
            Type::List { up_to, .. } => *up_to,
            _ => Bound::fixed(0),
        },
        _ => Bound::fixed(1),
    }
}

/// Whether one node at least, which is always a node, is taken from all: `all - {me}`.
fn all_but_one(from: &Expr, taken: &Expr) -> bool {
    let ExprKind::SetOf(taken) = &taken.kind else { return false };
    let is_node = |e: &Expr| matches!(e.kind, ExprKind::Me | ExprKind::Home | ExprKind::Sender);
    matches!(from.kind, ExprKind::AllNodes) && taken.iter().any(is_node)
}

/// How many elements a set of the numbers from `lo` to `hi` has at the most, whatever the number of nodes.
fn elements(lo: Bound, hi: Bound) -> i64 {
    let of = |nodes| hi.at(nodes).saturating_sub(lo.at(nodes)).saturating_add(1);
    of(1).max(of(MAX_NODES)).clamp(0, i64::from(MAX_NODES))
}

/// The least value that an expression's type allows.
fn least(protocol: &Protocol, expr: &Expr) -> Bound {
    range(protocol, expr).map_or(Bound::fixed(0), |(lo, _)| lo)
}

/// The greatest value that an expression's type allows.
fn most(protocol: &Protocol, expr: &Expr) -> Bound {
    range(protocol, expr).map_or(Bound::fixed(i64::from(u32::MAX)), |(_, hi)| hi)
}

/// What is known of a number's range; `None` if nothing is.
pub(crate) fn range(protocol: &Protocol, expr: &Expr) -> Option<(Bound, Bound)> {
    let known = |ty: &Type| match ty {
        Type::Int { lo, hi } if hi.constant != i64::MAX && lo.constant != i64::MIN => Some((*lo, *hi)),
        _ => None,
    };
    match &expr.kind {
        ExprKind::Constant(c) => Some((*c, *c)),
        ExprKind::SetCount(set) => match &set.ty {
            Type::IntSet { lo, hi } => Some((Bound::fixed(0), Bound::fixed(elements(*lo, *hi)))),
            _ => Some((Bound::fixed(0), Bound { constant: 0, per_node: 1 })),
        },
        ExprKind::Index(_) => Some((Bound::fixed(0), Bound { constant: 0, per_node: 1 })),
        ExprKind::Length(place) => match &protocol.roles[place.role.index()].vars[place.var.index()].ty {
            Type::List { up_to, .. } => Some((Bound::fixed(0), *up_to)),
            _ => None,
        },
        ExprKind::Binary(Operator::Add, a, b) => {
            let ((al, ah), (bl, bh)) = (range(protocol, a)?, range(protocol, b)?);
            Some((sum(al, bl), sum(ah, bh)))
        }
        ExprKind::Binary(Operator::Subtract, a, b) => {
            let ((al, ah), (bl, bh)) = (range(protocol, a)?, range(protocol, b)?);
            let minus =
                |x: Bound| Bound { constant: x.constant.saturating_neg(), per_node: x.per_node.saturating_neg() };
            Some((sum(al, minus(bh)), sum(ah, minus(bl))))
        }
        _ => known(&expr.ty),
    }
}
