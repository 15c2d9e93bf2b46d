//! What is parallel, where it lies, and what a parallel statement has before its loop.

use crate::draft::Draft;
use crate::tree::{Expression, Form};
use crate::types::{ParallelShape, Signature};
use std::rc::Rc;

/// The object that stands for a shape of this name.
pub(crate) fn object(name: &str) -> String {
    if name == "current" { "(*cstar_shape_current)".into() } else { format!("cstar_shape_{name}") }
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

/// Of what a call calls, if something in it is parallel.
pub(super) fn signature(draft: &Draft, parts: &[Expression]) -> Option<Rc<Signature>> {
    let name = callee(draft, parts);
    let is_function = parts.first().is_some_and(|callee| matches!(callee.ty.shape, crate::types::Shape::Function(_)));
    draft.functions.get(name).filter(|_| is_function).cloned()
}

/// Whether an assignment of this operator to a scalar takes the reduction of what is parallel.
pub(super) fn reduces(word: &str) -> bool {
    ["+=", "-=", "&=", "|=", "^="].contains(&word)
}

/// Whether this is the left side of a send.
pub(super) fn is_left_index(expression: &Expression) -> bool {
    matches!(expression.bare().form, Form::LeftIndex { .. })
}

/// Whether an expression has a value at each position.
pub(super) fn is_parallel(draft: &Draft, expression: &Expression) -> bool {
    let is = |part: &Expression| is_parallel(draft, part);
    match &expression.form {
        Form::Leaf => expression.ty.parallel.is_some(),
        Form::Coordinate(_) => true,
        Form::Reduce { .. } | Form::Block | Form::SizeOf(_) | Form::Shape(_) | Form::SplitPhase { .. } => false,
        Form::LeftIndex { axes, .. } => axes.iter().any(is),
        Form::Parentheses(part)
        | Form::Member { base: part, .. }
        | Form::Prefix { operand: part, .. }
        | Form::Postfix { operand: part, .. }
        | Form::Cast { operand: part, .. } => is(part),
        Form::Index { base, index, .. } => expression.ty.parallel.is_some() || is(base) || is(index),
        Form::Binary { left, right, .. } | Form::Comma { left, right } => is(left) || is(right),
        Form::Assign { op, left, right } => {
            is(left) || is(right) && (is_left_index(left) || !reduces(draft.word_at(*op)))
        }
        Form::OwnBinary { width, left, right, .. } => is(left) || is(right) && (is_left_index(left) || *width == 2),
        Form::Conditional { parts } => parts.iter().any(is),
        Form::Parts(parts) => match signature(draft, parts) {
            Some(signature) => signature.result.is_some(),
            None => match callee(draft, parts) {
                "pcoord" => true,
                name if OF_SHAPES.contains(&name) => false,
                _ => parts.iter().any(is),
            },
        },
    }
}

/// Whether to evaluate a scalar expression at each position would be something else than to do so once.
pub(super) fn has_effects(draft: &Draft, expression: &Expression) -> bool {
    let has = |part: &Expression| has_effects(draft, part);
    match &expression.form {
        Form::Leaf | Form::Coordinate(_) | Form::SizeOf(_) | Form::Shape(_) => false,
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

/// Whether something of a parallel expression is done before its loop.
pub(super) fn has_ahead(draft: &Draft, expression: &Expression) -> bool {
    let has = |part: &Expression| has_ahead(draft, part);
    if !is_parallel(draft, expression) {
        return has_effects(draft, expression);
    }
    match &expression.form {
        Form::LeftIndex { .. } => true,
        Form::Leaf | Form::Coordinate(_) | Form::SizeOf(_) | Form::Shape(_) => false,
        Form::Reduce { .. } | Form::Block | Form::SplitPhase { .. } => false,
        Form::Parentheses(part)
        | Form::Member { base: part, .. }
        | Form::Prefix { operand: part, .. }
        | Form::Postfix { operand: part, .. }
        | Form::Cast { operand: part, .. } => has(part),
        Form::Index { base, index, .. } => has(base) || has(index),
        Form::Binary { left, right, .. }
        | Form::Comma { left, right }
        | Form::OwnBinary { left, right, .. }
        | Form::Assign { left, right, .. } => has(left) || has(right),
        Form::Conditional { parts } => parts.iter().any(has),
        Form::Parts(parts) => signature(draft, parts).is_some() || parts[1..].iter().any(has),
    }
}

/// A loop over a node's active positions of a shape, up to what is done at each.
pub(super) fn positions(shape: &ParallelShape) -> String {
    let object = object(&shape.name);
    format!("for (int cstar_vp = 0; cstar_vp < {object}.count; cstar_vp++) if (cstar_active(&{object}, cstar_vp)) ")
}

/// What is done before the loop of a statement, in its order: scalar values, once for all positions; values that are got, and other communication.
#[derive(Default)]
pub(super) struct Ahead {
    done: String,
    /// How each position gets values: what follows each other shares a loop.
    gets: String,
}

impl Ahead {
    pub(super) fn is_empty(&self) -> bool {
        self.done.is_empty() && self.gets.is_empty()
    }

    /// A declaration, which what is got later may name.
    pub(super) fn declare(&mut self, text: &str) {
        self.done.push_str(text);
    }

    /// What an active position gets.
    pub(super) fn get(&mut self, text: &str) {
        self.gets.push_str(text);
    }

    /// What is done after all that was said so far.
    pub(super) fn then(&mut self, shape: &ParallelShape, text: &str) {
        self.get_all(shape);
        self.done.push_str(text);
    }

    /// All positions of all nodes have written before anything is got, and have got all before anything is written again.
    fn get_all(&mut self, shape: &ParallelShape) {
        let gets = std::mem::take(&mut self.gets);
        if !gets.is_empty() {
            self.done.push_str(&format!("cstar_barrier(); {}{{ {gets}}} cstar_barrier(); ", positions(shape)));
        }
    }

    pub(super) fn text(mut self, shape: &ParallelShape) -> String {
        self.get_all(shape);
        self.done
    }
}
