//! Conditions that constant arguments decide: an action that is given `true` or `false` is expanded without the branches that it
//! cannot take there (docs/semantics.md, section 3), so that no analysis counts what they send.

use std::collections::BTreeMap;
use trivium_protocol::walk::inner;
use trivium_protocol::*;

/// What the locals are that have one value only, and that is a number.
type Known = BTreeMap<LocalId, Option<i64>>;

/// Takes the branches out of all handlers that their constants exclude.
pub(super) fn fold(protocol: &mut Protocol) {
    for role in &mut protocol.roles {
        for handler in &mut role.handlers {
            let mut known = Known::new();
            values(&handler.steps, &mut known);
            if known.values().any(Option::is_some) {
                prune(&mut handler.steps, &known);
            }
        }
    }
}

/// Notes what locals get. One that gets several values, or one that is no constant, is not known.
fn values(steps: &[Step], known: &mut Known) {
    for step in steps {
        if let StepKind::Let(local, value) = &step.kind {
            let value = match value.as_slice() {
                [one] => number(one),
                _ => None,
            };
            known.entry(*local).and_modify(|before| *before = before.filter(|_| *before == value)).or_insert(value);
        }
        inner(&step.kind).for_each(|steps| values(steps, known));
        if let StepKind::Elsewhere(_, _, steps) = &step.kind {
            values(steps, known);
        }
    }
}

fn number(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Constant(value) if value.per_node == 0 => Some(value.constant),
        _ => None,
    }
}

fn prune(steps: &mut Vec<Step>, known: &Known) {
    for step in std::mem::take(steps) {
        let Step { kind, span } = step;
        match kind {
            StepKind::If(condition, mut yes, mut no) => {
                prune(&mut yes, known);
                prune(&mut no, known);
                match truth(&condition, known) {
                    Some(true) => steps.append(&mut yes),
                    Some(false) => steps.append(&mut no),
                    None => steps.push(Step { kind: StepKind::If(condition, yes, no), span }),
                }
            }
            mut kind => {
                if let StepKind::ForSet(_, _, body)
                | StepKind::ForRange(_, _, _, body)
                | StepKind::ForList(_, _, body)
                | StepKind::Elsewhere(_, _, body) = &mut kind
                {
                    prune(body, known);
                }
                steps.push(Step { kind, span });
            }
        }
    }
}

/// What a condition is, if constants decide it. What stands before an `and` or `or` that is decided by its second part could go wrong,
/// so it stays.
fn truth(condition: &Expr, known: &Known) -> Option<bool> {
    match &condition.kind {
        ExprKind::Not(inner) => truth(inner, known).map(|value| !value),
        ExprKind::Binary(Operator::And, a, b) => match truth(a, known)? {
            true => truth(b, known),
            false => Some(false),
        },
        ExprKind::Binary(Operator::Or, a, b) => match truth(a, known)? {
            true => Some(true),
            false => truth(b, known),
        },
        ExprKind::Binary(Operator::Equal, a, b) => Some(constant(a, known)? == constant(b, known)?),
        ExprKind::Binary(Operator::Different, a, b) => Some(constant(a, known)? != constant(b, known)?),
        ExprKind::Local(_) => constant(condition, known).map(|value| value != 0),
        _ => None,
    }
}

fn constant(expr: &Expr, known: &Known) -> Option<i64> {
    match &expr.kind {
        ExprKind::Local(local) => known.get(local).copied().flatten(),
        _ => number(expr),
    }
}
