//! Expressions: scalar ones stay where they are, with their reductions and the single positions that they read; parallel ones stand in a loop.

use super::parallel::{Ahead, OF_SHAPES, callee, has_effects, is_parallel, object, positions, reduces};
use super::{HOW_TO_CHOOSE, Loops, NO_SHAPE};
use crate::edits::about;
use crate::tree::{Expression, Form};
use crate::types::ParallelShape;
use std::rc::Rc;

/// Functions that are called at each position if an argument is parallel: they do nothing but give a value.
const ELEMENTAL: [&str; 41] = [
    "abs", "labs", "llabs", "fabs", "fabsf", "sqrt", "sqrtf", "cbrt", "exp", "expf", "exp2", "log", "logf", "log2",
    "log10", "pow", "powf", "sin", "sinf", "cos", "cosf", "tan", "tanf", "asin", "acos", "atan", "atan2", "sinh",
    "cosh", "tanh", "hypot", "floor", "floorf", "ceil", "ceilf", "fmin", "fmax", "fmod", "round", "trunc", "copysign",
];

const SCALAR_HELP: &str = "reduce it, as in (+= x), or read one position, as in [0]x";

impl Loops<'_, '_> {
    pub(super) fn error(&mut self, expression: &Expression, message: impl Into<String>, help: &str) {
        self.draft.error(expression.first, expression.last, message).help(help);
    }

    pub(super) fn temporary(&mut self) -> String {
        self.draft.temporary("cstar")
    }

    fn word(&self, token: usize) -> String {
        self.draft.word_at(token).to_string()
    }

    /// The text of an expression, with its changes.
    fn text(&self, expression: &Expression) -> String {
        self.draft.edits.text(self.draft.lexed, expression.first, expression.last)
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
            Form::Leaf | Form::Block | Form::Coordinate(_) | Form::SplitPhase { .. } => {}
            Form::Shape => {
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
            Form::Index { base, index, .. } => [base, index].into_iter().for_each(|part| self.part(part)),
            Form::Binary { left, right, .. } | Form::Comma { left, right } => {
                [left, right].into_iter().for_each(|part| self.part(part));
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
            Form::Conditional { parts } => parts.iter().for_each(|part| self.part(part)),
            Form::Parts(parts) => self.scalar_call(expression, parts),
        }
    }

    /// A part of a scalar expression.
    fn part(&mut self, expression: &Expression) {
        self.wanted_scalar(expression, "a scalar is wanted here, and this is parallel");
    }

    /// `s = e`, and `s += e`, which reduces what is parallel.
    fn scalar_assignment(&mut self, (op, width): (usize, usize), left: &Expression, right: &Expression) {
        if let Form::LeftIndex { .. } = left.bare().form {
            self.error(left, "sends (a left index on the left of an assignment) are not there yet", GET_HELP);
            return;
        }
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
        let name = callee(self.draft, parts).to_string();
        if name == "shapeof" {
            self.error(expression, "`shapeof` is not there yet", "name the shape");
            return;
        }
        if !OF_SHAPES.contains(&name.as_str()) {
            parts.iter().for_each(|part| self.part(part));
            return;
        }
        let wanted = if name == "dimof" { 3 } else { 2 };
        if parts.len() != wanted || !matches!(parts[1].form, Form::Shape) {
            self.error(
                expression,
                format!("`{name}` is asked of a shape"),
                "write dimof(S, 0), positionsof(S) or rankof(S)",
            );
            return;
        }
        let shape = self.word(parts[1].first);
        self.draft.edits.instead(parts[0].first, &format!("cstar_{name}"));
        self.draft.edits.instead(parts[1].first, &format!("&{}", object(&shape)));
        parts[2..].iter().for_each(|part| self.part(part));
    }

    /// An expression of a loop over positions. `is_narrow`: whether it may be evaluated at fewer positions than are active.
    pub(super) fn inside(&mut self, expression: &Expression, ahead: &mut Ahead, is_narrow: bool) {
        if !is_parallel(self.draft, expression) {
            self.once(expression, ahead, is_narrow);
            return;
        }
        match &expression.form {
            Form::Leaf => self.element(expression),
            Form::Coordinate(axis) => {
                let text = self.coordinate(&axis.to_string());
                self.draft.edits.instead(expression.first, &text);
            }
            Form::Parentheses(part) | Form::Postfix { operand: part, .. } | Form::Cast { operand: part, .. } => {
                self.inside(part, ahead, is_narrow);
            }
            Form::Prefix { op, operand } if ["&", "*"].contains(&self.word(*op).as_str()) => {
                self.error(
                    operand,
                    "pointers to parallel variables, and parallel pointers, are not there",
                    "use the variable itself",
                );
            }
            Form::Prefix { operand, .. } => self.inside(operand, ahead, is_narrow),
            Form::Binary { op, left, right } => {
                let narrows = ["&&", "||"].contains(&self.word(*op).as_str());
                self.inside(left, ahead, is_narrow);
                self.inside(right, ahead, is_narrow || narrows);
            }
            Form::OwnBinary { op, width, left, right } => {
                if *width == 3 && !self.is_place(left) {
                    return;
                }
                self.inside(left, ahead, is_narrow);
                self.inside(right, ahead, is_narrow);
                if *width == 3 { self.own_assignment(*op, left, right) } else { self.own_operator(*op, left, right) }
            }
            Form::Assign { left, right, .. } => {
                if self.is_place(left) {
                    self.inside(left, ahead, is_narrow);
                    self.inside(right, ahead, is_narrow);
                }
            }
            Form::Conditional { parts } => {
                self.inside(&parts[0], ahead, is_narrow);
                parts[1..].iter().for_each(|part| self.inside(part, ahead, true));
            }
            Form::LeftIndex { axes, operand } => self.get(expression, (axes, operand), ahead, is_narrow),
            Form::Parts(parts) => self.parallel_call(expression, parts, ahead, is_narrow),
            Form::Comma { .. } => {
                self.error(expression, "a parallel `,` is not there yet", "write two statements");
            }
            Form::Index { base, .. } if is_parallel(self.draft, base) => {
                self.error(
                    expression,
                    "a parallel variable has no elements",
                    "its positions are read by a left index: [i]a",
                );
            }
            Form::Index { .. } => {
                self.error(expression, "a parallel index of an array is not there yet", "index by a scalar");
            }
            Form::Member { .. } => {
                self.error(expression, "parallel structures are not there yet", "use parallel numbers")
            }
            Form::SplitPhase { .. } | Form::Reduce { .. } | Form::Block | Form::SizeOf(_) | Form::Shape => {}
        }
    }

    /// A scalar expression in a parallel one: what would be something else if it were done at each position is done before, once.
    fn once(&mut self, expression: &Expression, ahead: &mut Ahead, is_narrow: bool) {
        self.scalar(expression);
        if !has_effects(self.draft, expression) {
            return;
        }
        if is_narrow {
            self.error(expression, NARROW, NARROW_HELP);
            return;
        }
        let name = self.temporary();
        ahead.scalars.push_str(&format!("__auto_type {name} = ({}); ", self.text(expression)));
        self.draft.edits.replace(expression.first, expression.last, &name);
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
        self.draft.edits.after(expression.last, "[cstar_vp]");
    }

    /// Whether something parallel can be assigned to this; if not, why.
    fn is_place(&mut self, left: &Expression) -> bool {
        match left.bare().form {
            Form::LeftIndex { .. } => {
                self.error(left, "sends (a left index on the left of an assignment) are not there yet", GET_HELP);
            }
            _ if !is_parallel(self.draft, left) => {
                self.error(left, "a parallel value does not go into a scalar", SCALAR_HELP);
            }
            _ => return true,
        }
        false
    }

    /// The own coordinate of the position at which a loop is.
    fn coordinate(&self, axis: &str) -> String {
        let object = self.current.as_ref().map(|shape| object(&shape.name)).unwrap_or_default();
        format!("cstar_coordinate(&{object}, cstar_vp, {axis})")
    }

    fn parallel_call(&mut self, expression: &Expression, parts: &[Expression], ahead: &mut Ahead, is_narrow: bool) {
        let name = callee(self.draft, parts).to_string();
        if name != "pcoord" {
            if !ELEMENTAL.contains(&name.as_str()) {
                let argument = parts.iter().find(|part| is_parallel(self.draft, part)).unwrap_or(expression);
                self.error(
                    argument,
                    "a parallel argument goes to functions of <math.h> only: parallel functions are not there yet",
                    "write what the function does in place of the call, or reduce the argument",
                );
                return;
            }
            parts[1..].iter().for_each(|part| self.inside(part, ahead, is_narrow));
            return;
        }
        let rank = self.current.as_ref().map_or(0, |shape| shape.rank);
        let [_, axis] = parts else {
            self.error(expression, "`pcoord` takes the number of a dimension", "write pcoord(0)");
            return;
        };
        let number = self.word(axis.first).parse::<usize>().ok().filter(|_| axis.first == axis.last);
        if number.is_some_and(|number| number >= rank) {
            self.error(axis, format!("the current shape has {}", dimensions(rank)), "they are numbered from 0");
            return;
        }
        if is_parallel(self.draft, axis) {
            self.error(axis, "a scalar is wanted here, and this is parallel", SCALAR_HELP);
            return;
        }
        self.once(axis, ahead, is_narrow);
        let text = self.coordinate(&format!("({})", self.text(axis)));
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// What is left-indexed: a variable, and its shape if there are as many indices as that has dimensions.
    fn indexed(
        &mut self,
        expression: &Expression,
        axes: &[Expression],
        operand: &Expression,
    ) -> Option<(String, Rc<ParallelShape>)> {
        let bare = operand.bare();
        let Some(shape) = bare.ty.parallel.clone().filter(|_| matches!(bare.form, Form::Leaf)) else {
            let what = if is_parallel(self.draft, operand) {
                "a left index of an expression is not there yet"
            } else {
                "this is scalar, and only parallel variables have a left index"
            };
            self.error(operand, what, "left-index a parallel variable");
            return None;
        };
        if axes.len() != shape.rank {
            let indices =
                if axes.len() == 1 { "1 index stands".to_string() } else { format!("{} indices stand", axes.len()) };
            let message = format!("the shape {} has {}, and {indices} here", shape.name, dimensions(shape.rank));
            self.error(expression, message, "write one index for each, in brackets");
            return None;
        }
        Some((self.word(bare.first), shape))
    }

    /// The object at a position of any node.
    fn at(&self, variable: &str, shape: &ParallelShape, axes: &[Expression]) -> String {
        let mut indices: Vec<String> = axes.iter().map(|axis| format!("({}) | 0", self.text(axis))).collect();
        indices.resize(4, "0".into());
        format!(
            "*(__typeof__({variable}))cstar_at({variable}, sizeof *{variable}, &{}, {})",
            object(&shape.name),
            indices.join(", ")
        )
    }

    /// `[i]p` with a parallel index: each active position gets a value, before the loop.
    fn get(
        &mut self,
        expression: &Expression,
        (axes, operand): (&[Expression], &Expression),
        ahead: &mut Ahead,
        is_narrow: bool,
    ) {
        let Some((variable, shape)) = self.indexed(expression, axes, operand) else { return };
        if is_narrow {
            self.error(expression, NARROW, NARROW_HELP);
            return;
        }
        axes.iter().for_each(|axis| self.inside(axis, ahead, false));
        let (name, current) = (self.temporary(), self.current.as_ref().map(|shape| object(&shape.name)));
        let current = current.unwrap_or_default();
        ahead.memory.push_str(&format!(
            "__typeof_unqual__(*{variable}) *{name} __attribute__((cleanup(cstar_release))) = cstar_space(&{current}, sizeof *{variable}); "
        ));
        let at = self.at(&variable, &shape, axes);
        ahead.gets.push_str(&about(expression.first, &format!("{name}[cstar_vp] = {at}; ")));
        self.draft.edits.replace(expression.first, expression.last, &format!("{name}[cstar_vp]"));
    }

    /// `[i]p` with scalar indices: all nodes read one position.
    fn one_position(&mut self, expression: &Expression, axes: &[Expression], operand: &Expression) {
        let Some((variable, shape)) = self.indexed(expression, axes, operand) else { return };
        axes.iter().for_each(|axis| self.part(axis));
        let name = self.temporary();
        let at = self.at(&variable, &shape, axes);
        let text = format!("({{ cstar_barrier(); __auto_type {name} = {at}; cstar_barrier(); {name}; }})");
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// `(+= p)`.
    fn reduction(&mut self, expression: &Expression, op: usize, operand: &Expression) {
        if !is_parallel(self.draft, operand) {
            self.error(operand, "only what is parallel is reduced, and this is scalar", "leave the operator out");
            return;
        }
        let sign = if self.word(op) == "-=" { "-" } else { "" };
        let operator = self.operator(op);
        if let Some(text) = self.reduced(operand, operator) {
            self.draft.edits.replace(expression.first, expression.last, &format!("({sign}{text})"));
        }
    }

    /// The operator of a reduction, as the library knows it.
    fn operator(&self, op: usize) -> &'static str {
        match self.draft.word_at(op) {
            "&=" => "CSTAR_AND",
            "|=" => "CSTAR_OR",
            "^=" => "CSTAR_XOR",
            "<" => "CSTAR_MIN",
            ">" => "CSTAR_MAX",
            _ => "CSTAR_ADD",
        }
    }

    /// What comes of all active positions, as an expression.
    fn reduced(&mut self, operand: &Expression, operator: &str) -> Option<String> {
        let current = self.shape_for(operand)?;
        let mut ahead = Ahead::default();
        self.inside(operand, &mut ahead, false);
        let name = self.temporary();
        let is_of_bits = ["CSTAR_AND", "CSTAR_OR", "CSTAR_XOR"].contains(&operator);
        let text = self.text(operand);
        // What has no bits is refused where it stands.
        let value = if is_of_bits { format!("(({text}) | 0)") } else { format!("+({text})") };
        let (ahead, positions) = (ahead.text(&current), positions(&current));
        Some(format!(
            "({{ {ahead}int cstar_vp = 0; __auto_type {name} = cstar_identity({operator}, 0 ? +({text}) : 0); {positions}{name} = cstar_combine({operator}, {name}, {value}); cstar_reduce({operator}, {name}); }})"
        ))
    }

    /// `a <? b`, `a >? b`, `a %% b`: each operand is evaluated once.
    fn own_operator(&mut self, op: usize, left: &Expression, right: &Expression) {
        if !self.draft.in_function {
            self.draft.error(op, op, "`<?`, `>?` and `%%` stand in functions only").help("write the number itself");
            return;
        }
        let (a, b) = (self.temporary(), self.temporary());
        let result = match self.draft.word_at(op) {
            "%" => format!("(__typeof__({a} % {b}))cstar_modulus({a}, {b})"),
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

fn dimensions(rank: usize) -> String {
    if rank == 1 { "1 dimension".into() } else { format!("{rank} dimensions") }
}

const GET_HELP: &str = "let each position get what it needs, with a left index on the right";
const NARROW: &str = "behind `&&`, `||` and `?`, what is done once or got from other positions is not there yet";
const NARROW_HELP: &str = "give it to a variable before, or use where";
