//! What is parallel, and what a parallel statement has before its loop.

use crate::draft::Draft;
use crate::tree::{Expression, Form};
use crate::types::ParallelShape;

/// The object that stands for a shape of this name.
pub(crate) fn object(name: &str) -> String {
    format!("cstar_shape_{name}")
}

/// Calls that C* has for shapes and positions.
pub(super) const OF_SHAPES: [&str; 3] = ["dimof", "positionsof", "rankof"];

/// The name that a call calls, if it is one.
pub(super) fn callee<'d>(draft: &'d Draft, parts: &[Expression]) -> &'d str {
    match parts.first() {
        Some(callee) if matches!(callee.form, Form::Leaf) && callee.first == callee.last => draft.word_at(callee.first),
        _ => "",
    }
}

/// Whether an assignment of this operator to a scalar takes the reduction of what is parallel.
pub(super) fn reduces(word: &str) -> bool {
    ["+=", "-=", "&=", "|=", "^="].contains(&word)
}

/// Whether an expression has a value at each position.
pub(super) fn is_parallel(draft: &Draft, expression: &Expression) -> bool {
    let is = |part: &Expression| is_parallel(draft, part);
    match &expression.form {
        Form::Leaf => expression.ty.parallel.is_some(),
        Form::Coordinate(_) => true,
        Form::Reduce { .. } | Form::Block | Form::SizeOf(_) | Form::Shape | Form::SplitPhase { .. } => false,
        Form::LeftIndex { axes, .. } => axes.iter().any(is),
        Form::Parentheses(part)
        | Form::Member { base: part, .. }
        | Form::Prefix { operand: part, .. }
        | Form::Postfix { operand: part, .. }
        | Form::Cast { operand: part, .. } => is(part),
        Form::Index { base, index, .. } => is(base) || is(index),
        Form::Binary { left, right, .. } | Form::Comma { left, right } => is(left) || is(right),
        Form::Assign { op, left, right } => is(left) || is(right) && !reduces(draft.word_at(*op)),
        Form::OwnBinary { width, left, right, .. } => is(left) || is(right) && *width == 2,
        Form::Conditional { parts } => parts.iter().any(is),
        Form::Parts(parts) => match callee(draft, parts) {
            "pcoord" => true,
            "shapeof" => false,
            name if OF_SHAPES.contains(&name) => false,
            _ => parts.iter().any(is),
        },
    }
}

/// Whether to evaluate a scalar expression at each position would be something else than to do so once.
pub(super) fn has_effects(draft: &Draft, expression: &Expression) -> bool {
    let has = |part: &Expression| has_effects(draft, part);
    match &expression.form {
        Form::Leaf | Form::Coordinate(_) | Form::SizeOf(_) | Form::Shape => false,
        Form::Reduce { .. } | Form::Block | Form::LeftIndex { .. } | Form::Assign { .. } | Form::Postfix { .. } => true,
        Form::SplitPhase { .. } => true,
        Form::Prefix { op, operand } => ["++", "--"].contains(&draft.word_at(*op)) || has(operand),
        Form::Parentheses(part) | Form::Member { base: part, .. } | Form::Cast { operand: part, .. } => has(part),
        Form::Index { base, index, .. } => has(base) || has(index),
        Form::Binary { left, right, .. } | Form::Comma { left, right } => has(left) || has(right),
        Form::OwnBinary { width, left, right, .. } => *width == 3 || has(left) || has(right),
        Form::Conditional { parts } => parts.iter().any(has),
        Form::Parts(parts) => {
            let is_of_shape = OF_SHAPES.contains(&callee(draft, parts));
            !is_of_shape || parts[1..].iter().any(has)
        }
    }
}

/// A loop over a node's active positions of a shape, up to what is done at each.
pub(super) fn positions(shape: &ParallelShape) -> String {
    let object = object(&shape.name);
    format!("for (int cstar_vp = 0; cstar_vp < {object}.count; cstar_vp++) if (cstar_active(&{object}, cstar_vp)) ")
}

/// What is done before the loop of a statement, once for all positions.
#[derive(Default)]
pub(super) struct Ahead {
    /// Scalar values, as declarations.
    pub scalars: String,
    /// Memory for what is got, as declarations; and how each position gets it, as statements.
    pub memory: String,
    pub gets: String,
}

impl Ahead {
    pub(super) fn is_empty(&self) -> bool {
        self.scalars.is_empty() && self.gets.is_empty()
    }

    /// All positions of all nodes have written before anything is got, and have got all before anything is written again.
    pub(super) fn text(&self, shape: &ParallelShape) -> String {
        if self.gets.is_empty() {
            return self.scalars.clone();
        }
        let (scalars, memory, gets, positions) = (&self.scalars, &self.memory, &self.gets, positions(shape));
        format!("{scalars}{memory}cstar_barrier(); {positions}{{ {gets}}} cstar_barrier(); ")
    }
}
