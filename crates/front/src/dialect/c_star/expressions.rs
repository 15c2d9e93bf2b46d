//! Expressions: scalar ones stay where they are, with their reductions and the single positions that they read; parallel ones stand in a loop.

use super::barriers::is_call;
use super::flow::{Flow, READ, WRITE};
use super::parallel::{
    Ahead, OF_SHAPES, callee, has_effects, is_left_index, is_parallel, object, reduces, signature, variable_of,
};
use super::shifts::{is_shift, is_shift_to};
use super::{HOW_TO_CHOOSE, Loops, NO_SHAPE};
use crate::edits::about;
use crate::tree::{Expression, Form};
use crate::types::{ParallelShape, Shape};
use std::rc::Rc;

/// Functions that are called at each position if an argument is parallel: they do nothing but give a value.
const ELEMENTAL: [&str; 41] = [
    "abs", "labs", "llabs", "fabs", "fabsf", "sqrt", "sqrtf", "cbrt", "exp", "expf", "exp2", "log", "logf", "log2",
    "log10", "pow", "powf", "sin", "sinf", "cos", "cosf", "tan", "tanf", "asin", "acos", "atan", "atan2", "sinh",
    "cosh", "tanh", "hypot", "floor", "floorf", "ceil", "ceilf", "fmin", "fmax", "fmod", "round", "trunc", "copysign",
];

pub(super) const SCALAR_HELP: &str = "reduce it, as in (+= x), or read one position, as in [0]x";

impl Loops<'_, '_> {
    pub(super) fn error(&mut self, expression: &Expression, message: impl Into<String>, help: &str) {
        self.draft.error(expression.first, expression.last, message).help(help);
    }

    pub(super) fn temporary(&mut self) -> String {
        self.draft.temporary("cstar")
    }

    pub(super) fn word(&self, token: usize) -> String {
        self.draft.word_at(token).to_string()
    }

    /// The number that an expression is, if it is nothing else.
    pub(super) fn number(&self, expression: &Expression) -> Option<usize> {
        self.word(expression.first).parse().ok().filter(|_| expression.first == expression.last)
    }

    /// The text of an expression, with its changes.
    pub(super) fn text(&self, expression: &Expression) -> String {
        self.tokens(expression.first, expression.last)
    }

    pub(super) fn tokens(&self, first: usize, last: usize) -> String {
        self.draft.edits.text(self.draft.lexed, first, last)
    }

    /// The current shape, which a parallel expression needs.
    pub(super) fn shape_for(&mut self, expression: &Expression) -> Option<Rc<ParallelShape>> {
        if self.current.is_none() {
            self.error(expression, NO_SHAPE, HOW_TO_CHOOSE);
        }
        self.current.clone()
    }

    /// An expression that stands where only a scalar may.
    pub(super) fn wanted_scalar(&mut self, expression: &Expression, why_not: &str) {
        if is_parallel(self.draft, expression) && !self.draft.unevaluated {
            self.error(expression, why_not, SCALAR_HELP);
        } else {
            self.scalar(expression);
        }
    }

    /// A scalar expression.
    pub(super) fn scalar(&mut self, expression: &Expression) {
        match &expression.form {
            // Its type is what is asked for.
            Form::Leaf if expression.ty.parallel.is_some() => {
                self.draft.edits.before(expression.first, "(*");
                self.draft.edits.after(expression.last, ")");
            }
            Form::Leaf if expression.ty.is_of_variables() => {
                self.error(expression, "an array of parallel variables is no value", "name one of them: a[0]");
            }
            Form::Leaf if self.is_parallel_function(expression) => {
                self.error(expression, "a function with parallel parameters or results is only called", "call it");
            }
            Form::Coordinate(_) => self.draft.edits.instead(expression.first, "0"),
            Form::LeftIndex { axes, operand } if self.draft.unevaluated => self.type_of_got(expression, axes, operand),
            Form::Leaf | Form::Block | Form::SplitPhase { .. } => {}
            Form::Shape(_) => {
                self.error(expression, "a shape is no value", "it stands in with, dimof, positionsof and rankof")
            }
            Form::Reduce { op, operand } => {
                self.reduction(expression, *op, operand);
            }
            Form::LeftIndex { axes, operand } => self.one_position(expression, axes, operand),
            Form::SizeOf(operand) => {
                let before = std::mem::replace(&mut self.draft.unevaluated, true);
                self.scalar(operand);
                self.draft.unevaluated = before;
            }
            Form::Parentheses(part)
            | Form::Member { base: part, .. }
            | Form::Postfix { operand: part, .. }
            | Form::Prefix { operand: part, .. }
            | Form::Cast { operand: part, .. } => self.part(part),
            // Its type is what is asked for.
            Form::Index { index, .. } if expression.ty.parallel.is_some() => {
                self.part(index);
                self.draft.edits.before(expression.first, "(*");
                self.draft.edits.after(expression.last, ")");
            }
            Form::Index { base, index, .. } => [base, index].into_iter().for_each(|part| self.part(part)),
            Form::Binary { op, left, right } if ["&&", "||"].contains(&self.word(*op).as_str()) => {
                self.part(left);
                self.one_of(&[std::slice::from_ref(right), &[]]);
            }
            Form::Binary { left, right, .. } | Form::Comma { left, right } => {
                [left, right].into_iter().for_each(|part| self.part(part));
            }
            Form::Assign { op, left, right } if is_left_index(left) => self.store(expression, *op, left, right),
            Form::OwnBinary { op, width: 3, left, right } if is_left_index(left) => {
                self.store(expression, *op, left, right);
            }
            Form::Assign { op, left, right } => self.scalar_assignment((*op, 1), left, right),
            Form::OwnBinary { op, width: 3, left, right } => {
                self.scalar_assignment((*op, 3), left, right);
                self.own_assignment(*op, left, right);
            }
            Form::OwnBinary { op, left, right, .. } => {
                [left, right].into_iter().for_each(|part| self.part(part));
                self.own_operator(*op, left, right);
            }
            Form::Conditional { parts } => {
                self.part(&parts[0]);
                // In `a ?: b` nothing stands between.
                let yes = if let [_, yes, _] = &parts[..] { std::slice::from_ref(yes) } else { &[] };
                self.one_of(&[yes, &parts[parts.len() - 1..]]);
            }
            Form::Parts(parts) => self.scalar_call(expression, parts),
        }
    }

    /// Of these parts of a scalar expression one is evaluated.
    fn one_of(&mut self, ways: &[&[Expression]]) {
        let ways: Vec<Vec<Flow>> =
            ways.iter().map(|way| self.flow_of(|loops| way.iter().for_each(|part| loops.part(part)))).collect();
        if ways.iter().any(|way| !way.is_empty()) {
            self.flow.push(Flow::Branch(ways));
        }
    }

    /// Whether this names a function that C* calls in a way of its own.
    fn is_parallel_function(&self, expression: &Expression) -> bool {
        matches!(expression.ty.shape, Shape::Function(_))
            && self.draft.functions.contains_key(self.draft.word_at(expression.first))
    }

    /// A part of a scalar expression.
    pub(super) fn part(&mut self, expression: &Expression) {
        self.wanted_scalar(expression, "a scalar is wanted here, and this is parallel");
    }

    /// `s = e`, and `s += e`, which reduces what is parallel.
    fn scalar_assignment(&mut self, (op, width): (usize, usize), left: &Expression, right: &Expression) {
        self.part(left);
        let is_reduction = width == 3 || reduces(&self.word(op));
        if is_reduction && is_parallel(self.draft, right) {
            // What is subtracted is the sum.
            let operator = if self.word(op) == "-=" { "CSTAR_ADD" } else { self.operator(op) };
            if let Some(text) = self.reduced(right, operator) {
                self.draft.edits.replace(right.first, right.last, &text);
            }
        } else {
            self.part(right);
        }
    }

    /// `dimof (S, k)` and the like; other calls have scalar arguments.
    fn scalar_call(&mut self, expression: &Expression, parts: &[Expression]) {
        if let Some(signature) = signature(self.draft, parts) {
            self.scalar_result(expression, parts, &signature);
            return;
        }
        let name = callee(self.draft, parts).to_string();
        if is_shift(&name) {
            self.scalar_shift(expression, parts);
            return;
        }
        if is_shift_to(&name) {
            self.no_shift_to(expression, parts);
            return;
        }
        if name == "pcoord" && self.draft.unevaluated {
            self.draft.edits.replace(expression.first, expression.last, "0");
            return;
        }
        if !OF_SHAPES.contains(&name.as_str()) {
            parts.iter().for_each(|part| self.part(part));
            if is_call(self.draft, expression, parts) && !self.draft.unevaluated {
                self.call_in_place(expression, parts);
            }
            return;
        }
        let wanted = if name == "dimof" { 3 } else { 2 };
        let shape = match parts {
            [_, Expression { form: Form::Shape(shape), .. }, ..] if parts.len() == wanted => shape,
            _ => {
                let message = format!("`{name}` is asked of a shape");
                self.error(expression, message, "write dimof(S, 0), positionsof(S) or rankof(S)");
                return;
            }
        };
        self.draft.edits.instead(parts[0].first, &format!("cstar_{name}"));
        self.draft.edits.replace(parts[1].first, parts[1].last, &format!("&{}", object(&shape.name)));
        parts[2..].iter().for_each(|part| self.part(part));
    }

    /// An expression of a loop over positions.
    pub(super) fn inside(&mut self, expression: &Expression, ahead: &mut Ahead) {
        if !is_parallel(self.draft, expression) {
            self.once(expression, ahead);
            return;
        }
        match &expression.form {
            Form::Leaf => self.element(expression),
            Form::Coordinate(axis) => {
                let text = self.coordinate(&axis.to_string());
                self.draft.edits.instead(expression.first, &text);
            }
            Form::Parentheses(part) | Form::Cast { operand: part, .. } => self.inside(part, ahead),
            Form::Prefix { op, operand } if ["&", "*"].contains(&self.word(*op).as_str()) => {
                self.error(
                    operand,
                    "pointers to parallel variables, and parallel pointers, are not there",
                    "use the variable itself",
                );
            }
            Form::Prefix { op, operand } | Form::Postfix { op, operand } => {
                let is_written = ["++", "--"].contains(&self.word(*op).as_str());
                if !is_written || self.is_place(operand) {
                    self.inside(operand, ahead);
                }
                if is_written {
                    self.writes(operand);
                }
            }
            Form::Binary { op, left, right } => self.binary(*op, left, right, ahead),
            Form::Assign { op, left, right } => self.assignment(expression, (*op, 1), left, right, ahead),
            Form::OwnBinary { op, width: 3, left, right } => {
                self.assignment(expression, (*op, 3), left, right, ahead);
            }
            Form::OwnBinary { op, left, right, .. } => {
                self.inside(left, ahead);
                self.inside(right, ahead);
                self.own_operator(*op, left, right);
            }
            Form::Conditional { parts } if parts[1..].iter().any(|part| self.has_ahead(part)) => {
                self.narrow_choice(expression, parts, ahead);
            }
            Form::Conditional { parts } => parts.iter().for_each(|part| self.inside(part, ahead)),
            Form::LeftIndex { axes, operand } => self.get(expression, axes, operand, ahead),
            Form::Parts(parts) => self.parallel_call(expression, parts, ahead),
            Form::Comma { left, right } => self.comma(expression, left, right, ahead),
            Form::Index { base, index, .. } => self.indices(expression, base, index, ahead),
            Form::Member { is_arrow: true, .. } => {
                self.error(expression, "parallel pointers are not there", "use the structure itself");
            }
            Form::Member { base, .. } => self.inside(base, ahead),
            Form::SplitPhase { .. } | Form::Reduce { .. } | Form::Block | Form::SizeOf(_) | Form::Shape(_) => {}
        }
    }

    /// `a, b`: a is done at all positions, then b has the value.
    fn comma(&mut self, expression: &Expression, left: &Expression, right: &Expression, ahead: &mut Ahead) {
        let Some(current) = self.current.clone() else { return };
        if is_parallel(self.draft, left) {
            let noted = self.noted(|loops| loops.inside(left, ahead));
            self.get_all(ahead);
            let text = format!("{}(void)({}); ", self.loop_over(&current, noted), self.text(left));
            ahead.declare(&about(left.first, &text));
        } else {
            self.scalar(left);
            self.then(ahead, &about(left.first, &format!("(void)({}); ", self.text(left))));
        }
        self.inside(right, ahead);
        self.draft.edits.replace(expression.first, expression.last, &self.text(right));
    }

    fn binary(&mut self, op: usize, left: &Expression, right: &Expression, ahead: &mut Ahead) {
        if ["&&", "||"].contains(&self.word(op).as_str()) && self.has_ahead(right) {
            self.narrow_logic(op, left, right, ahead);
        } else {
            self.inside(left, ahead);
            self.inside(right, ahead);
        }
    }

    /// An assignment to a parallel variable, or a send.
    fn assignment(
        &mut self,
        expression: &Expression,
        (op, width): (usize, usize),
        left: &Expression,
        right: &Expression,
        ahead: &mut Ahead,
    ) {
        if is_left_index(left) {
            if let Some(sent) = self.send(expression, op, left, right, (true, ahead)) {
                self.draft.edits.replace(expression.first, expression.last, &format!("{sent}[cstar_vp]"));
            }
        } else if self.is_place(left) {
            self.inside(left, ahead);
            self.inside(right, ahead);
            self.writes(left);
            if width == 3 {
                self.own_assignment(op, left, right);
            }
        }
    }

    /// Notes that a loop writes a variable.
    fn writes(&mut self, left: &Expression) {
        if let Some(variable) = variable_of(left) {
            self.access(&self.name_of(variable), WRITE);
        }
    }

    /// `a[i]`: one of an array of parallel variables, an element of what is parallel, or at each position an element of what is scalar.
    fn indices(&mut self, expression: &Expression, base: &Expression, index: &Expression, ahead: &mut Ahead) {
        if expression.ty.parallel.is_some() {
            self.one_of_variables(expression, ahead);
            self.element(expression);
        } else if is_parallel(self.draft, base) && base.ty.pointee().is_none() && !base.ty.is_unknown() {
            self.error(
                expression,
                "a parallel variable has no elements",
                "its positions are read by a left index: [i]a",
            );
        } else if base.ty.is_of_variables() {
            self.error(expression, "an array of parallel variables is no value", "name one of them: a[0]");
        } else {
            self.inside(base, ahead);
            self.inside(index, ahead);
        }
    }

    /// The indices of one of an array of parallel variables.
    fn one_of_variables(&mut self, expression: &Expression, ahead: &mut Ahead) {
        match &expression.form {
            Form::Index { base, index, .. } => {
                self.one_of_variables(base, ahead);
                self.inside(index, ahead);
            }
            Form::Parentheses(part) => self.one_of_variables(part, ahead),
            _ => {}
        }
    }

    /// A scalar expression in a parallel one: what would be something else if it were done at each position is done before, once.
    pub(super) fn once(&mut self, expression: &Expression, ahead: &mut Ahead) {
        let is_before = has_effects(self.draft, expression);
        let is_mixed = self.is_mixed(expression);
        let before = std::mem::replace(&mut self.is_mixed, is_mixed);
        self.scalar(expression);
        self.is_mixed = before;
        if is_before && expression.ty.shape == Shape::Void {
            ahead.declare(&format!("{}; ", self.text(expression)));
            self.draft.edits.replace(expression.first, expression.last, "(void)0");
        } else if is_before {
            let name = self.temporary();
            ahead.declare(&format!("__auto_type {name} = ({}); ", self.text(expression)));
            self.draft.edits.replace(expression.first, expression.last, &name);
        }
    }

    /// A parallel variable where a loop is at one of its positions.
    fn element(&mut self, expression: &Expression) {
        let (Some(own), Some(current)) = (expression.ty.parallel.clone(), self.current.clone()) else { return };
        if own != current {
            let name = self.word(expression.first);
            self.error(
                expression,
                format!("`{name}` has the shape {}, and the current shape is {}", own.name, current.name),
                "read it by a left index, or choose its shape: with",
            );
        }
        self.access(&self.name_of(expression), READ);
        self.draft.edits.after(expression.last, "[cstar_vp]");
    }

    /// The own coordinate of the position at which a loop is.
    fn coordinate(&self, axis: &str) -> String {
        let object = self.current.as_ref().map(|shape| object(&shape.name)).unwrap_or_default();
        format!("cstar_coordinate(&{object}, &cstar_run.at, cstar_vp, {axis})")
    }

    fn parallel_call(&mut self, expression: &Expression, parts: &[Expression], ahead: &mut Ahead) {
        if let Some(signature) = signature(self.draft, parts) {
            if let Some(result) = self.call(expression, parts, &signature, ahead) {
                self.draft.edits.replace(expression.first, expression.last, &format!("{result}[cstar_vp]"));
            }
            return;
        }
        let name = callee(self.draft, parts).to_string();
        if is_shift(&name) {
            self.shifted(expression, parts, ahead);
            return;
        }
        if is_shift_to(&name) {
            self.no_shift_to(expression, parts);
            return;
        }
        if name != "pcoord" {
            if !ELEMENTAL.contains(&name.as_str()) {
                let argument = parts.iter().find(|part| is_parallel(self.draft, part)).unwrap_or(expression);
                self.error(
                    argument,
                    "this function has scalar parameters, and the argument is parallel",
                    "declare a parallel one: int:current f(int:current x);",
                );
                return;
            }
            parts[1..].iter().for_each(|part| self.inside(part, ahead));
            return;
        }
        let rank = self.current.as_ref().map_or(0, |shape| shape.rank);
        let [_, axis] = parts else {
            self.error(expression, "`pcoord` takes the number of a dimension", "write pcoord(0)");
            return;
        };
        if self.number(axis).is_some_and(|number| rank > 0 && number >= rank) {
            self.error(axis, format!("the current shape has {}", dimensions(rank)), "they are numbered from 0");
            return;
        }
        if is_parallel(self.draft, axis) {
            self.error(axis, "a scalar is wanted here, and this is parallel", SCALAR_HELP);
            return;
        }
        self.once(axis, ahead);
        let text = self.coordinate(&format!("({})", self.text(axis)));
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// `a <? b`, `a >? b`, `a %% b`: each operand is evaluated once.
    fn own_operator(&mut self, op: usize, left: &Expression, right: &Expression) {
        if !self.draft.in_function {
            self.draft.error(op, op, "`<?`, `>?` and `%%` stand in functions only").help("write the number itself");
            return;
        }
        let (a, b) = (self.temporary(), self.temporary());
        let result = match self.draft.word_at(op) {
            // Of their common type, as `%` is.
            "%" => {
                let (rest, of) = (self.temporary(), self.temporary());
                format!(
                    "__typeof__({a} % {b}) {of} = {b}, {rest} = {a} % {b}; {rest} && ({rest} < 0) != ({of} < 0) ? {rest} + {of} : {rest}"
                )
            }
            word => format!("{a} {word} {b} ? {a} : {b}"),
        };
        self.draft.edits.before(left.first, &format!("({{ __auto_type {a} = ("));
        self.draft.edits.instead(op, &format!("); __auto_type {b} = ("));
        self.draft.edits.remove(op + 1);
        self.draft.edits.after(right.last, &about(op, &format!("); {result}; }})")));
    }

    /// `a <?= b`, `a >?= b`.
    fn own_assignment(&mut self, op: usize, left: &Expression, right: &Expression) {
        let (to, from, word) = (self.temporary(), self.temporary(), self.word(op));
        self.draft.edits.before(left.first, &format!("({{ __auto_type {to} = &("));
        self.draft.edits.instead(op, &format!("); __auto_type {from} = ("));
        self.draft.edits.remove(op + 1);
        self.draft.edits.remove(op + 2);
        let result = format!("*{to} = *{to} {word} {from} ? *{to} : {from}");
        self.draft.edits.after(right.last, &about(op, &format!("); {result}; }})")));
    }
}

pub(super) fn dimensions(rank: usize) -> String {
    if rank == 1 { "1 dimension".into() } else { format!("{rank} dimensions") }
}
