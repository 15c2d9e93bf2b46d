//! What has a value at each position, and what is done once.

use crate::draft::Draft;
use crate::tree::{Expression, Form};
use crate::types::{ParallelShape, Shape, Signature};
use std::rc::Rc;

/// Assignments by operators that are reductions too: of what is parallel to what is scalar.
const REDUCING: [&str; 5] = ["+=", "-=", "&=", "|=", "^="];

/// The name of what a call calls; none if it has none.
pub(super) fn called<'d>(draft: &'d Draft, parts: &[Expression]) -> &'d str {
    let name = parts.first().filter(|name| matches!(name.form, Form::Leaf) && name.first == name.last);
    name.map_or("", |name| draft.word_at(name.first))
}

/// What the function is that a call calls, if something in it is parallel.
pub(super) fn function(draft: &Draft, parts: &[Expression]) -> Option<Rc<Signature>> {
    let is_function = parts.first().is_some_and(|name| matches!(name.ty.shape, Shape::Function(_)));
    draft.functions.get(called(draft, parts)).filter(|_| is_function).cloned()
}

/// Whether a call asks something about a shape.
pub(super) fn is_of_shape(draft: &Draft, parts: &[Expression]) -> bool {
    ["dimof", "positionsof", "rankof"].contains(&called(draft, parts))
}

/// The shape of a parallel variable, or of a part of one.
pub(super) fn shape_of(expression: &Expression) -> Option<Rc<ParallelShape>> {
    match &expression.form {
        _ if expression.ty.parallel.is_some() => expression.ty.parallel.clone(),
        Form::Parentheses(part) | Form::Member { base: part, .. } | Form::Index { base: part, .. } => shape_of(part),
        _ => None,
    }
}

/// Whether something is sent to this place.
pub(super) fn is_sent_to(left: &Expression) -> bool {
    matches!(left.bare().form, Form::LeftIndex { .. })
}

/// Whether an assignment of what is parallel to what is scalar assigns its reduction.
fn is_reduced(draft: &Draft, op: usize, width: usize, left: &Expression) -> bool {
    !is_sent_to(left) && (width == 3 || REDUCING.contains(&draft.word_at(op)))
}

/// Whether an expression has a value at each position.
pub(super) fn is_parallel(draft: &Draft, expression: &Expression) -> bool {
    let any = |of: &[&Expression]| of.iter().any(|part| is_parallel(draft, part));
    match &expression.form {
        _ if expression.ty.parallel.is_some() && matches!(expression.form, Form::Leaf | Form::Index { .. }) => true,
        Form::Coordinate(_) => true,
        Form::Reduce { .. } | Form::SizeOf(_) | Form::Block | Form::Shape(_) | Form::Leaf => false,
        Form::LeftIndex { axes, operand } => any(&axes.iter().collect::<Vec<_>>()) || any(&operand.indices()),
        Form::Assign { op, left, right } => any(&[left]) || any(&[right]) && !is_reduced(draft, *op, 1, left),
        Form::OwnBinary { op, width: 3, left, right } => {
            any(&[left]) || any(&[right]) && !is_reduced(draft, *op, 3, left)
        }
        Form::Parts(of) => match function(draft, of) {
            Some(function) => function.result.is_some(),
            None if is_of_shape(draft, of) => false,
            None => called(draft, of) == "pcoord" || any(&of.iter().collect::<Vec<_>>()),
        },
        _ => any(&expression.parts()),
    }
}

/// Whether a scalar expression does something, or reads what others may have written, so that it is evaluated once, before the statement that it stands in.
pub(super) fn is_once(draft: &Draft, expression: &Expression) -> bool {
    match &expression.form {
        Form::Leaf | Form::SizeOf(_) => false,
        Form::Reduce { .. } | Form::Block | Form::LeftIndex { .. } | Form::Assign { .. } | Form::Postfix { .. } => true,
        Form::OwnBinary { width: 3, .. } => true,
        Form::Prefix { op, .. } if ["++", "--"].contains(&draft.word_at(*op)) => true,
        Form::Parts(of) if !is_of_shape(draft, of) => true,
        _ => expression.parts().iter().any(|part| is_once(draft, part)),
    }
}
