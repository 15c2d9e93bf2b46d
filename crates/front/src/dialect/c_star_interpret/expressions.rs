//! Expressions. What is done once comes first ([`Meant::ahead`]), then each operator has its values at all active positions ([`Meant::value`]).

use super::parallel::{called, function, is_of_shape, is_once, is_parallel, is_sent_to};
use super::{Meant, each, object};
use crate::tree::{Expression, Form};
use crate::types::{ParallelShape, Shape};
use std::rc::Rc;

/// What is done ahead of a statement, one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Calls,
    Scalars,
}

/// What a statement has changed.
pub(super) struct Changed {
    /// The tokens of its name.
    pub name: (usize, usize),
    /// Its value at `cstar_vp`.
    pub value: String,
    pub shape: Rc<ParallelShape>,
}

/// `a = b` and the like, of objects and values in C.
pub(super) fn assigned(place: &str, (word, width): (&str, usize), value: &str) -> String {
    match width {
        3 => format!("{place} = {place} {word} {value} ? {place} : {value}"),
        _ => format!("{place} {word} {value}"),
    }
}

impl Meant<'_, '_> {
    /// An array of the type of a value in C, which has it at all active positions; gives its element at `cstar_vp`.
    pub(super) fn array(&mut self, value: &str, code: &mut String) -> String {
        let (name, shape) = (self.temporary(), self.shape());
        code.push_str(&self.space(&name, &format!("__typeof_unqual__(({{ {value}; }}))")));
        let element = format!("{name}[cstar_vp]");
        code.push_str(&each(&shape, &format!("{element} = {value};")));
        element
    }

    /// An array of zeros at all positions of the current shape.
    pub(super) fn space(&self, name: &str, ty: &str) -> String {
        let object = object(&self.shape());
        format!("{ty} *{name} __attribute__((cleanup(cstar_release))) = cstar_array(&{object}, sizeof *{name}); ")
    }

    /// Whether something is true at each active position; gives the array.
    pub(super) fn mask(&mut self, condition: &str, code: &mut String) -> String {
        let (name, shape) = (self.temporary(), self.shape());
        code.push_str(&self.space(&name, "unsigned char"));
        code.push_str(&each(&shape, &format!("{name}[cstar_vp] = {condition};")));
        name
    }

    /// Remembers what holds the value of an expression.
    pub(super) fn knows(&mut self, expression: &Expression, holder: &str) {
        self.known.insert((expression.first, expression.last), holder.to_string());
    }

    /// What is done before the rest of a statement: calls that give parallel values, then scalar parts that are evaluated once, each in the order of the text. What stands
    /// behind `&&`, `||` and `?` has its turn when it is known where it is evaluated.
    pub(super) fn ahead(&mut self, expression: &Expression, code: &mut String) {
        self.turn(expression, Turn::Calls, code);
        self.turn(expression, Turn::Scalars, code);
    }

    fn turn(&mut self, expression: &Expression, turn: Turn, code: &mut String) {
        if !is_parallel(self.draft, expression) {
            if turn == Turn::Scalars && is_once(self.draft, expression) {
                self.scalar(expression);
                if expression.ty.shape == Shape::Void {
                    code.push_str(&format!("{}; ", self.text(expression)));
                    self.knows(expression, "(void)0");
                    return;
                }
                let name = self.temporary();
                code.push_str(&format!("__auto_type {name} = ({}); ", self.text(expression)));
                self.knows(expression, &name);
            }
            return;
        }
        match &expression.form {
            Form::Parentheses(part) | Form::Member { base: part, .. } => self.turn(part, turn, code),
            Form::Prefix { operand, .. } | Form::Postfix { operand, .. } | Form::Cast { operand, .. } => {
                self.turn(operand, turn, code);
            }
            Form::Binary { op, left, .. } if ["&&", "||"].contains(&self.word(*op).as_str()) => {
                self.turn(left, turn, code)
            }
            Form::Conditional { parts } => self.turn(&parts[0], turn, code),
            Form::Comma { left, .. } => self.turn(left, turn, code),
            Form::Index { base, index, .. } => [base, index].iter().for_each(|part| self.turn(part, turn, code)),
            Form::Assign { left, right, .. } | Form::OwnBinary { left, right, .. } if is_sent_to(left) => {
                self.indices_turn(left.bare(), turn, code);
                self.turn(right, turn, code);
            }
            Form::Binary { left, right, .. }
            | Form::Assign { left, right, .. }
            | Form::OwnBinary { left, right, .. } => [left, right].iter().for_each(|part| self.turn(part, turn, code)),
            Form::LeftIndex { .. } => self.indices_turn(expression, turn, code),
            Form::Parts(parts) => match function(self.draft, parts) {
                Some(function) if turn == Turn::Calls => self.call(expression, parts, &function, code),
                Some(_) => {}
                None => parts[1..].iter().for_each(|part| self.turn(part, turn, code)),
            },
            Form::Leaf
            | Form::Coordinate(_)
            | Form::SplitPhase { .. }
            | Form::SizeOf(_)
            | Form::Reduce { .. }
            | Form::Shape(_)
            | Form::Block => {}
        }
    }

    /// The same of what stands in and behind left indices.
    fn indices_turn(&mut self, expression: &Expression, turn: Turn, code: &mut String) {
        if let Form::LeftIndex { axes, operand } = &expression.form {
            axes.iter().for_each(|axis| self.turn(axis, turn, code));
            self.turn(operand, turn, code);
        }
    }

    /// An expression whose value nobody wants; gives what it has changed.
    pub(super) fn done(&mut self, expression: &Expression, code: &mut String) -> Option<Changed> {
        if !is_parallel(self.draft, expression) {
            // What is evaluated once has been, if it had its turn.
            if !self.known.contains_key(&(expression.first, expression.last)) {
                self.scalar(expression);
                code.push_str(&format!("(void)({}); ", self.text(expression)));
            }
            return None;
        }
        match &expression.form {
            Form::Parentheses(part) => self.done(part, code),
            Form::Cast { operand, .. } if expression.ty.shape == Shape::Void => self.done(operand, code),
            Form::Comma { left, right } => {
                self.done(left, code);
                self.ahead(right, code);
                self.done(right, code)
            }
            Form::Assign { op, left, right } => self.assignment((*op, 1), left, right, code).1,
            Form::OwnBinary { op, width: 3, left, right } => self.assignment((*op, 3), left, right, code).1,
            Form::Parts(parts) if ["to_torus_dim", "to_grid_dim"].contains(&called(self.draft, parts)) => {
                self.shifted_to(parts, code)
            }
            Form::Prefix { operand, .. } | Form::Postfix { operand, .. } => {
                self.value(expression, code);
                let value = self.place(operand, "cstar_vp", code);
                Some(Changed { name: (operand.first, operand.last), value, shape: self.shape() })
            }
            _ => {
                self.value(expression, code);
                None
            }
        }
    }

    /// The value of an expression at `cstar_vp`, in C, once all that comes before it is done.
    pub(super) fn value(&mut self, expression: &Expression, code: &mut String) -> String {
        if let Some(holder) = self.known.get(&(expression.first, expression.last)) {
            return holder.clone();
        }
        if !is_parallel(self.draft, expression) {
            self.scalar(expression);
            let text = format!("({})", self.text(expression));
            self.knows(expression, &text);
            return text;
        }
        match &expression.form {
            Form::Leaf | Form::Index { .. } | Form::Member { .. } => self.place(expression, "cstar_vp", code),
            Form::Coordinate(axis) => self.coordinate(&axis.to_string()),
            Form::Parentheses(part) => format!("({})", self.value(part, code)),
            Form::Cast { close, operand } => {
                let value = self.value(operand, code);
                let value = format!("{}({value})", self.tokens(expression.first, *close));
                self.array(&value, code)
            }
            Form::Prefix { op, operand } => {
                let value = format!("{} {}", self.word(*op), self.value(operand, code));
                self.array(&value, code)
            }
            Form::Postfix { op, operand } => {
                let value = format!("{} {}", self.value(operand, code), self.word(*op));
                self.array(&value, code)
            }
            Form::Binary { op, left, right } if ["&&", "||"].contains(&self.word(*op).as_str()) => {
                self.logic(*op, left, right, code)
            }
            Form::Binary { op, left, right } => {
                let (left, right) = (self.value(left, code), self.value(right, code));
                self.array(&format!("{left} {} {right}", self.word(*op)), code)
            }
            Form::Assign { op, left, right } => self.assignment((*op, 1), left, right, code).0,
            Form::OwnBinary { op, width: 3, left, right } => self.assignment((*op, 3), left, right, code).0,
            Form::OwnBinary { op, left, right, .. } => self.own_operator(*op, left, right, code),
            Form::Conditional { parts } => self.choice(parts, code),
            Form::LeftIndex { axes, operand } => self.get(expression, axes, operand, code),
            Form::Parts(parts) => self.elemental(parts, code),
            Form::Comma { left, right } => {
                self.done(left, code);
                self.ahead(right, code);
                self.value(right, code)
            }
            Form::SplitPhase { .. } | Form::SizeOf(_) | Form::Reduce { .. } | Form::Shape(_) | Form::Block => {
                self.text(expression)
            }
        }
    }

    /// A position's own coordinate.
    fn coordinate(&self, axis: &str) -> String {
        format!("cstar_coordinate(&{}, cstar_vp, {axis})", object(&self.shape()))
    }

    /// A call that is made at each position.
    fn elemental(&mut self, parts: &[Expression], code: &mut String) -> String {
        match (called(self.draft, parts), parts) {
            ("from_torus_dim", [_, operand, dimension, distance]) => {
                return self.shifted(operand, None, [dimension, distance], code);
            }
            ("from_grid_dim", [_, operand, border, dimension, distance]) => {
                return self.shifted(operand, Some(border), [dimension, distance], code);
            }
            _ => {}
        }
        let arguments: Vec<String> = parts[1..].iter().map(|part| self.value(part, code)).collect();
        if called(self.draft, parts) == "pcoord" {
            return self.coordinate(&arguments.join(", "));
        }
        let value = format!("{}({})", self.text(&parts[0]), arguments.join(", "));
        self.array(&value, code)
    }

    /// What is parallel, at a position of this name: an object, if it is one.
    pub(super) fn place(&mut self, expression: &Expression, at: &str, code: &mut String) -> String {
        match &expression.form {
            Form::Leaf if expression.ty.parallel.is_some() => format!("{}[{at}]", self.text(expression)),
            Form::Index { .. } if expression.ty.parallel.is_some() => {
                format!("{}[{at}]", self.variable(expression, code))
            }
            Form::Parentheses(part) => format!("({})", self.place(part, at, code)),
            Form::Index { base, index, .. } => {
                let base = self.place(base, at, code);
                format!("{base}[{}]", self.value(index, code))
            }
            Form::Member { base, is_arrow: false } => {
                format!("({}).{}", self.place(base, at, code), self.word(expression.last))
            }
            _ => self.value(expression, code),
        }
    }

    /// One of an array of parallel variables.
    fn variable(&mut self, expression: &Expression, code: &mut String) -> String {
        match &expression.form {
            Form::Index { base, index, .. } => {
                let base = self.variable(base, code);
                format!("{base}[{}]", self.value(index, code))
            }
            Form::Parentheses(part) => format!("({})", self.variable(part, code)),
            _ => self.text(expression),
        }
    }

    /// An assignment to a parallel variable, or a send: its value, and what it has changed.
    fn assignment(
        &mut self,
        (op, width): (usize, usize),
        left: &Expression,
        right: &Expression,
        code: &mut String,
    ) -> (String, Option<Changed>) {
        if is_sent_to(left) {
            return self.send((op, width), left, right, code);
        }
        let place = self.place(left, "cstar_vp", code);
        let right = self.value(right, code);
        let value = assigned(&place, (&self.word(op), width), &right);
        let changed = Changed { name: (left.first, left.last), value: place, shape: self.shape() };
        (self.array(&format!("({value})"), code), Some(changed))
    }

    /// `a && b`, `a || b`: b only where a does not decide.
    fn logic(&mut self, op: usize, left: &Expression, right: &Expression, code: &mut String) -> String {
        let word = self.word(op);
        let left = self.value(left, code);
        let sign = if word == "||" { "!" } else { "!!" };
        let mask = self.mask(&format!("{sign}({left})"), code);
        let right = self.narrowed(&mask, right, code);
        let sign = if word == "||" { "!" } else { "" };
        self.array(&format!("{sign}{mask}[cstar_vp] {word} {right}"), code)
    }

    /// `a ? b : c`: b where a is true, c elsewhere; `a ?: c` gives a itself.
    fn choice(&mut self, parts: &[Expression], code: &mut String) -> String {
        let condition = self.value(&parts[0], code);
        let mask = self.mask(&format!("!!({condition})"), code);
        let yes = match parts {
            [_, yes, _] => self.narrowed(&mask, yes, code),
            _ => self.array(&condition, code),
        };
        let others = self.mask(&format!("!{mask}[cstar_vp]"), code);
        let no = self.narrowed(&others, &parts[parts.len() - 1], code);
        self.array(&format!("{mask}[cstar_vp] ? {yes} : {no}"), code)
    }

    /// The value of an expression that is evaluated at the positions of a mask.
    fn narrowed(&mut self, mask: &str, expression: &Expression, code: &mut String) -> String {
        let (name, object) = (self.temporary(), object(&self.shape()));
        code.push_str(&format!("struct cstar_within {name} = cstar_where(&{object}, {mask}); "));
        self.ahead(expression, code);
        let value = self.value(expression, code);
        code.push_str(&format!("cstar_leave(&{name}); "));
        value
    }

    /// `a <? b`, `a >? b`, `a %% b`.
    fn own_operator(&mut self, op: usize, left: &Expression, right: &Expression, code: &mut String) -> String {
        let (left, right) = (self.value(left, code), self.value(right, code));
        let text = self.own_text(op, &left, &right);
        self.array(&text, code)
    }

    /// The same of values in C. Of `%%` both have the type that `%` gives them.
    fn own_text(&mut self, op: usize, left: &str, right: &str) -> String {
        let word = self.word(op);
        if word != "%" {
            return format!("({left} {word} {right} ? {left} : {right})");
        }
        let (rest, by) = (self.temporary(), self.temporary());
        format!(
            "({{ __auto_type {rest} = {left} % {right}; __typeof__({rest}) {by} = {right}; {rest} != 0 && ({rest} < 0) != ({by} < 0) ? {rest} + {by} : {rest}; }})"
        )
    }

    /// A scalar expression stays where it is, but for what in it is C*'s own.
    pub(super) fn scalar(&mut self, expression: &Expression) {
        match &expression.form {
            Form::LeftIndex { .. } | Form::Coordinate(_) | Form::Parts(_)
                if self.draft.unevaluated && self.is_typed(expression) => {}
            // Of what is not evaluated only the type is wanted: that of a value.
            Form::Leaf if expression.ty.parallel.is_some() => self.first_value(expression),
            Form::Leaf | Form::Block | Form::Coordinate(_) | Form::SplitPhase { .. } | Form::Shape(_) => {}
            Form::Index { index, .. } if expression.ty.parallel.is_some() => {
                self.scalar(index);
                self.first_value(expression);
            }
            Form::SizeOf(part) => {
                let before = std::mem::replace(&mut self.draft.unevaluated, true);
                self.scalar(part);
                self.draft.unevaluated = before;
            }
            Form::Parentheses(part) | Form::Member { base: part, .. } => self.scalar(part),
            Form::Postfix { operand, .. } | Form::Prefix { operand, .. } | Form::Cast { operand, .. } => {
                self.scalar(operand);
            }
            Form::Index { base, index, .. } => [base, index].iter().for_each(|part| self.scalar(part)),
            Form::Binary { left, right, .. } | Form::Comma { left, right } => {
                [left, right].iter().for_each(|part| self.scalar(part));
            }
            Form::Conditional { parts } => parts.iter().for_each(|part| self.scalar(part)),
            Form::Reduce { op, operand } => self.reduction(expression, *op, operand),
            Form::LeftIndex { axes, operand } => self.one_position(expression, axes, operand),
            Form::Assign { op, left, right } => self.scalar_assignment(expression, (*op, 1), left, right),
            Form::OwnBinary { op, width: 3, left, right } => {
                self.scalar_assignment(expression, (*op, 3), left, right);
            }
            Form::OwnBinary { op, left, right, .. } => self.scalar_operator(expression, *op, left, right),
            Form::Parts(parts) => self.scalar_call(expression, parts),
        }
    }

    /// Puts something of the same type in place of what has its values from other positions, or from a loop, where only the type is wanted. Gives whether it is that.
    fn is_typed(&mut self, expression: &Expression) -> bool {
        let text = match &expression.form {
            Form::LeftIndex { operand, .. } => self.place(operand, "0", &mut String::new()),
            Form::Coordinate(_) => "0".into(),
            Form::Parts(parts) => match function(self.draft, parts) {
                Some(function) => match &function.result {
                    Some(result) => format!("(*({} *)0)", result.c),
                    None => return false,
                },
                None => match (called(self.draft, parts), parts.get(1)) {
                    ("pcoord", _) => "0".into(),
                    ("from_torus_dim" | "from_grid_dim", Some(operand)) => self.place(operand, "0", &mut String::new()),
                    _ => return false,
                },
            },
            _ => return false,
        };
        self.draft.edits.replace(expression.first, expression.last, &text);
        true
    }

    fn first_value(&mut self, expression: &Expression) {
        self.draft.edits.before(expression.first, "(*");
        self.draft.edits.after(expression.last, ")");
    }

    /// `a <? b` and the like: each operand is evaluated once.
    fn scalar_operator(&mut self, expression: &Expression, op: usize, left: &Expression, right: &Expression) {
        [left, right].iter().for_each(|part| self.scalar(part));
        let (a, b) = (self.temporary(), self.temporary());
        let result = self.own_text(op, &a, &b);
        let text = format!(
            "({{ __auto_type {a} = ({}); __auto_type {b} = ({}); {result}; }})",
            self.text(left),
            self.text(right)
        );
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// `s = e`; `s += e` and the like take the reduction of what is parallel.
    fn scalar_assignment(
        &mut self,
        expression: &Expression,
        (op, width): (usize, usize),
        left: &Expression,
        right: &Expression,
    ) {
        if is_sent_to(left) && !self.draft.unevaluated {
            self.store(expression, (op, width), left, right);
            return;
        }
        self.scalar(left);
        if is_parallel(self.draft, right) && !self.draft.unevaluated {
            // What is subtracted is the sum.
            let word = self.word(op);
            let reduced = self.reduced(right, if word == "-=" { "+=" } else { &word });
            self.draft.edits.replace(right.first, right.last, &reduced);
        } else {
            self.scalar(right);
        }
        if width == 3 {
            let (to, value) = (self.temporary(), self.temporary());
            let text = format!(
                "({{ __auto_type {to} = &({}); __auto_type {value} = ({}); {}; }})",
                self.text(left),
                self.text(right),
                assigned(&format!("*{to}"), (&self.word(op), width), &value)
            );
            self.draft.edits.replace(expression.first, expression.last, &text);
        }
    }

    /// A call: of a function with something parallel, about a shape, or of C.
    fn scalar_call(&mut self, expression: &Expression, parts: &[Expression]) {
        if let Some(function) = function(self.draft, parts) {
            self.scalar_result(expression, parts, &function);
            return;
        }
        match parts {
            [name, Expression { form: Form::Shape(shape), first, last, .. }, axes @ ..]
                if is_of_shape(self.draft, parts) =>
            {
                let called = format!("cstar_{}", self.word(name.first));
                self.draft.edits.instead(name.first, &called);
                self.draft.edits.replace(*first, *last, &format!("&{}", object(shape)));
                axes.iter().for_each(|part| self.scalar(part));
            }
            _ => parts.iter().for_each(|part| self.scalar(part)),
        }
    }
}
