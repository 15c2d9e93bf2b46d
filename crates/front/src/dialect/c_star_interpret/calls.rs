//! Calls of functions that have something parallel: their parallel arguments are copied, and so is what they give.

use super::expressions::Changed;
use super::parallel::is_parallel;
use super::{Meant, each, object};
use crate::tree::{Expression, Statement};
use crate::types::Signature;

impl Meant<'_, '_> {
    /// What such a function is called with. Gives what holds its parallel result, and the call.
    fn called_with(
        &mut self,
        parts: &[Expression],
        function: &Signature,
        code: &mut String,
    ) -> (Option<String>, String) {
        let shape = self.shape();
        let mut arguments = Vec::new();
        if function.shape.is_current() {
            arguments.push(format!("&{}", object(&shape)));
        }
        let result = function.result.as_ref().map(|value| {
            let name = self.temporary();
            code.push_str(&self.space(&name, &format!("__typeof_unqual__({})", value.c)));
            arguments.push(name.clone());
            name
        });
        for (argument, parameter) in parts[1..].iter().zip(&function.parameters) {
            self.ahead(argument, code);
            let value = self.value(argument, code);
            let Some(parameter) = parameter else {
                arguments.push(value);
                continue;
            };
            let name = self.temporary();
            code.push_str(&self.space(&name, &format!("__typeof_unqual__({})", parameter.c)));
            code.push_str(&each(&shape, &format!("{name}[cstar_vp] = {value};")));
            arguments.push(name);
        }
        (result, format!("{}({})", self.text(&parts[0]), arguments.join(", ")))
    }

    /// A call that gives parallel values.
    pub(super) fn call(
        &mut self,
        expression: &Expression,
        parts: &[Expression],
        function: &Signature,
        code: &mut String,
    ) {
        let (result, call) = self.called_with(parts, function, code);
        code.push_str(&self.at(expression.first, &format!("{call}; ")));
        if let Some(result) = result {
            self.knows(expression, &format!("{result}[cstar_vp]"));
        }
    }

    /// A call that gives a scalar, or nothing.
    pub(super) fn scalar_result(&mut self, expression: &Expression, parts: &[Expression], function: &Signature) {
        let mut code = String::new();
        let (_, call) = self.called_with(parts, function, &mut code);
        let text = format!("({{ {code}{}; }})", self.at(expression.first, &call));
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// `return e`: at positions that are active the function gives e.
    pub(super) fn returned(&mut self, statement: &Statement, value: usize) {
        let expression = self.named(value);
        let Some(function) = self.signature.filter(|function| function.result.is_some()) else {
            self.scalar(expression);
            return;
        };
        let before = self.current.replace(function.shape.clone());
        let mut code = String::new();
        self.ahead(expression, &mut code);
        let value = self.value(expression, &mut code);
        code.push_str(&each(&function.shape, &format!("cstar_result[cstar_vp] = {value};")));
        if is_parallel(self.draft, expression) {
            let given = Changed {
                name: (expression.first, expression.last),
                value: "cstar_result[cstar_vp]".into(),
                shape: function.shape.clone(),
            };
            self.tell((statement.first, statement.last), Some(given), &mut code);
        }
        self.current = before;
        self.draft.edits.replace(statement.first, statement.last, &format!("{{ {code}return cstar_result; }}"));
    }
}
