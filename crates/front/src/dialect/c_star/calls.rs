//! Calls of functions that have something parallel. They are made before the loop of a statement, once for all positions: their arguments become
//! variables of the caller, and so does what they give.

use super::Loops;
use super::expressions::SCALAR_HELP;
use super::parallel::{Ahead, callee, is_left_index, is_parallel, object, signature};
use super::shifts::is_shift_to;
use super::variables::{marked, memory};
use crate::tree::{Expression, Form, Statement};
use crate::types::Signature;

impl Loops<'_, '_> {
    /// A statement of which nothing stays for a loop: a send, or a call. Gives whether it is one.
    pub(super) fn alone(&mut self, expression: &Expression, ahead: &mut Ahead) -> bool {
        let bare = expression.bare();
        match &bare.form {
            Form::Assign { op, left, right } if is_left_index(left) => {
                self.send(bare, *op, left, right, (false, ahead));
            }
            Form::OwnBinary { op, width: 3, left, right } if is_left_index(left) => {
                self.send(bare, *op, left, right, (false, ahead));
            }
            Form::Parts(parts) if is_shift_to(callee(self.draft, parts)) => self.shift_to(bare, parts, ahead),
            Form::Parts(parts) => {
                let Some(signature) = signature(self.draft, parts) else { return false };
                self.call(bare, parts, &signature, ahead);
            }
            _ => return false,
        }
        true
    }

    /// Calls such a function; gives the variable that its parallel result is in, and the text of the call.
    fn called(
        &mut self,
        expression: &Expression,
        parts: &[Expression],
        signature: &Signature,
        ahead: &mut Ahead,
    ) -> Option<(Option<String>, String)> {
        let current = self.shape_for(expression)?;
        if !signature.shape.is_current() && signature.shape != current {
            let message = format!(
                "this function has values of the shape {}, and the current shape is {}",
                signature.shape.name, current.name
            );
            self.error(expression, message, "choose its shape: with");
            return None;
        }
        if parts.len() - 1 != signature.parameters.len() {
            let message =
                format!("this function has {} parameters, not {}", signature.parameters.len(), parts.len() - 1);
            self.error(expression, message, "give each an argument");
            return None;
        }
        let mark = self.temporary();
        let place = self.memory_point();
        // What is got for an argument is got before the call; what is got beside it, after.
        let mut own = Ahead::default();
        own.declare(&format!("{place}{}", marked(&mark)));
        let mut arguments = Vec::new();
        if signature.shape.is_current() {
            arguments.push(format!("&{}", object(&current.name)));
        }
        let result = signature.result.as_ref().map(|value| {
            let name = self.temporary();
            let memory = memory(&current, &name, false);
            own.declare(&format!("__typeof_unqual__({}) *{name} = {memory}; ", value.c));
            arguments.push(name.clone());
            name
        });
        for (argument, parameter) in parts[1..].iter().zip(&signature.parameters) {
            let Some(value) = parameter else {
                if is_parallel(self.draft, argument) {
                    self.error(argument, "this parameter is scalar, and what it gets is parallel", SCALAR_HELP);
                } else {
                    self.once(argument, &mut own);
                }
                arguments.push(self.text(argument));
                continue;
            };
            let noted = self.noted(|loops| loops.inside(argument, &mut own));
            let name = self.temporary();
            self.get_all(&mut own);
            let (memory, text) = (memory(&current, &name, true), self.text(argument));
            let filled = format!("{}{name}[cstar_vp] = {text}; ", self.loop_over(&current, noted));
            own.declare(&format!("__typeof_unqual__({}) *{name} = {memory}; {filled}", value.c));
            arguments.push(name);
        }
        ahead.declare(&self.done(own));
        let place = self.call_point(parts);
        let text = format!("{place}{}({})", self.text(&parts[0]), arguments.join(", "));
        Some((result, text))
    }

    /// A call in a parallel statement; gives the variable with its result, if that is parallel.
    pub(super) fn call(
        &mut self,
        expression: &Expression,
        parts: &[Expression],
        signature: &Signature,
        ahead: &mut Ahead,
    ) -> Option<String> {
        let (result, text) = self.called(expression, parts, signature, ahead)?;
        ahead.declare(&format!("{text}; "));
        result
    }

    /// A call that gives a scalar, or nothing.
    pub(super) fn scalar_result(&mut self, expression: &Expression, parts: &[Expression], signature: &Signature) {
        if let (true, Some(result)) = (self.draft.unevaluated, &signature.result) {
            self.draft.edits.replace(expression.first, expression.last, &format!("(*({} *)0)", result.c));
            return;
        }
        let mut ahead = Ahead::default();
        let Some((_, text)) = self.called(expression, parts, signature, &mut ahead) else { return };
        let text = format!("({{ {}{text}; }})", self.done(ahead));
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// `return e`: a parallel result goes into memory of the caller.
    pub(super) fn returned(&mut self, statement: &Statement, value: usize) {
        let whole = self.main(value);
        self.begin(&whole.expression);
        let Some(signature) = self.signature.filter(|signature| signature.result.is_some()) else {
            self.wanted_scalar(&whole.expression, "the result of this function is scalar, and this is parallel");
            return;
        };
        if self.current.as_ref() != Some(&signature.shape) && is_parallel(self.draft, &whole.expression) {
            let message = format!(
                "the result of this function has the shape {}, which is not current here",
                signature.shape.name
            );
            self.error(&whole.expression, message, "leave the inner `with` before");
            return;
        }
        let before = self.current.replace(signature.shape.clone());
        let mut ahead = Ahead::default();
        let noted = self.noted(|loops| loops.inside(&whole.expression, &mut ahead));
        let (ahead, over) = (self.done(ahead), self.loop_over(&signature.shape, noted));
        self.current = before;
        let begin = format!("{{ {ahead}{over}cstar_result[cstar_vp] =");
        self.draft.edits.instead(statement.first, &begin);
        self.draft.edits.after(statement.last, " return cstar_result; }");
    }
}
