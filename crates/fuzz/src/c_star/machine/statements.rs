//! Statements, contexts, and output.

use super::{Machine, Result};
use crate::c_star::number::{Operator, Type, Value};
use crate::c_star::tree::{Expression, Object, Reduction, Statement};
use std::fmt::Write as _;
use std::rc::Rc;

/// Where a statement goes on.
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    /// With the result: one value, or one at each position.
    Return(Option<Vec<Value>>),
}

impl Machine<'_> {
    pub(super) fn block(&mut self, statements: &[Statement]) -> Result<Flow> {
        for statement in statements {
            let flow = self.statement(statement)?;
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow> {
        self.step(0)?;
        if !self.contenders.is_empty() && !matches!(statement, Statement::Settle(_)) {
            return Err("positions have sent different values to one, and nothing shows which has stayed".into());
        }
        match statement {
            Statement::Block(statements) => return self.block(statements),
            Statement::Declare(variable, value) => self.declare(*variable, value.as_ref())?,
            Statement::Assign(object, operator, value) => self.assign(object, *operator, value)?,
            Statement::Send(indices, object, operator, value) => self.send(indices, object, *operator, value)?,
            Statement::ShiftTo(shift, value) => self.shift_to(shift, value)?,
            Statement::Copy(places, to, indices, from) => self.copy((places, to), (indices, from))?,
            Statement::Evaluate(Expression::Step { object, .. }) => {
                self.assign(object, Some(Operator::Add), &Expression::int(1))?;
            }
            Statement::Evaluate(expression) => self.evaluate(expression)?,
            Statement::With(name, inner) => {
                let shape = self.named(*name)?;
                let before = self.frame().shape.replace(shape);
                let flow = self.block(inner);
                self.frame().shape = before;
                return flow;
            }
            Statement::Where(condition, inner, otherwise) => {
                return self.where_statement(condition, inner, otherwise.as_deref());
            }
            Statement::Everywhere(inner) => {
                let shape = self.needed_view()?.shape;
                return self.in_context(shape, None, inner);
            }
            Statement::If(condition, inner, otherwise) => {
                let is = self.condition(condition)?;
                return match otherwise {
                    _ if is => self.block(inner),
                    Some(otherwise) => self.block(otherwise),
                    None => Ok(Flow::Next),
                };
            }
            Statement::For(variable, count, inner) => return self.repeat(*variable, *count, None, inner),
            Statement::While(variable, count, condition, inner) => {
                return self.repeat(*variable, *count, Some(condition), inner);
            }
            Statement::Do(variable, count, condition, inner) => {
                return self.do_loop(*variable, *count, condition, inner);
            }
            Statement::Switch(chosen, cases) => return self.switch(chosen, cases),
            Statement::Break => return Ok(Flow::Break),
            Statement::Continue => return Ok(Flow::Continue),
            Statement::Return(value) => {
                return Ok(Flow::Return(value.as_ref().map(|value| self.given(value)).transpose()?));
            }
            Statement::Print(word, numbers) => self.print(word, numbers)?,
            Statement::Settle(object) => self.settle(object)?,
        }
        Ok(Flow::Next)
    }

    /// What a function gives: at positions that are not active it is 0.
    fn given(&mut self, value: &Expression) -> Result<Vec<Value>> {
        let Some(shape) = self.frame().called_in else {
            let view = self.view();
            return Ok(vec![self.scalar(value, view.as_ref())?]);
        };
        // It is of the function's own shape, whichever is current where it returns.
        let view = self.view_of(shape);
        let values = self.parallel(value, &view)?;
        let mut given = vec![Value::zero(self.program.type_of(value)); values.len()];
        view.active().for_each(|at| given[at] = values[at]);
        Ok(given)
    }

    fn condition(&mut self, condition: &Expression) -> Result<bool> {
        let view = self.view();
        Ok(self.scalar(condition, view.as_ref())?.is_true())
    }

    fn evaluate(&mut self, expression: &Expression) -> Result<()> {
        let view = self.view();
        match (expression, &view) {
            (Expression::Call(call), Some(view)) if self.program.functions[call.function].shape.is_some() => {
                self.call_parallel(call, view)?;
            }
            _ => drop(self.scalar(expression, view.as_ref())?),
        }
        Ok(())
    }

    fn declare(&mut self, variable: usize, value: Option<&Expression>) -> Result<()> {
        let made = self.made(variable)?;
        let shape = made.shape;
        // As in C, the value does not see what is declared; no program names it there.
        self.frame().locals.insert(variable, made);
        let Some(value) = value else { return Ok(()) };
        let before = self.frame().shape;
        self.frame().shape = shape.or(before);
        let done = self.assign(&Object::of(variable), None, value);
        self.frame().shape = before;
        done
    }

    fn assign(&mut self, object: &Object, operator: Option<Operator>, value: &Expression) -> Result<()> {
        let of = self.program.type_of_object(object);
        let view = self.view();
        if !self.program.is_parallel(&Expression::Own(object.clone())) {
            let value = match (&view, operator.and_then(Reduction::of)) {
                // The operator stays: what is subtracted is the sum.
                (Some(view), Some(reduction)) if self.program.is_parallel(value) => {
                    let sum = if reduction == Reduction::Subtract { Reduction::Add } else { reduction };
                    self.reduced(sum, value, view)?
                }
                _ => self.scalar(value, view.as_ref())?,
            };
            let cell = self.cell(object, view.as_ref())?;
            let held = &mut self.storage(object.variable)?.values[cell];
            *held = assigned(*held, operator, value, of)?;
            return Ok(());
        }
        let view = self.needed_view()?;
        let values = self.parallel(value, &view)?;
        let cells = self.cells(object, &view)?;
        let storage = self.storage(object.variable)?;
        for at in view.active() {
            let held = &mut storage.values[cells[at]];
            *held = assigned(*held, operator, values[at], of)?;
        }
        Ok(())
    }

    /// Whole structures; between single positions whatever the context is.
    fn copy(
        &mut self,
        (places, to): (&[Expression], &Object),
        (indices, from): (&[Expression], &Object),
    ) -> Result<()> {
        let view = self.needed_view()?;
        let is_one = |indices: &[Expression]| {
            !indices.is_empty() && !indices.iter().any(|index| self.program.is_parallel(index))
        };
        if is_one(places) && is_one(indices) {
            let source = self.one_place(indices, from, Some(&view))?;
            let width = self.program.cells_of(self.program.variables[from.variable].held);
            let values = self.storage(from.variable)?.values[source..source + width].to_vec();
            let target = self.one_place(places, to, Some(&view))?;
            self.storage(to.variable)?.values[target..target + width].copy_from_slice(&values);
            return Ok(());
        }
        let sources = if indices.is_empty() { self.cells(from, &view)? } else { self.elsewhere(indices, from, &view)? };
        let width = self.program.cells_of(self.program.variables[from.variable].held);
        let storage = self.storage(from.variable)?;
        let mut read = Vec::new();
        for at in view.active() {
            read.push((at, storage.values[sources[at]..sources[at] + width].to_vec()));
        }
        let targets = if places.is_empty() { self.cells(to, &view)? } else { self.elsewhere(places, to, &view)? };
        let storage = self.storage(to.variable)?;
        for (at, values) in read {
            storage.values[targets[at]..targets[at] + width].copy_from_slice(&values);
        }
        Ok(())
    }

    fn where_statement(
        &mut self,
        condition: &Expression,
        inner: &[Statement],
        otherwise: Option<&[Statement]>,
    ) -> Result<Flow> {
        let view = self.needed_view()?;
        let values = self.parallel(condition, &view)?;
        let flow = self.in_context(view.shape, Some(view.narrowed(|at| values[at].is_true()).mask), inner)?;
        match otherwise {
            Some(otherwise) if matches!(flow, Flow::Next) => {
                self.in_context(view.shape, Some(view.narrowed(|at| !values[at].is_true()).mask), otherwise)
            }
            _ => Ok(flow),
        }
    }

    /// Statements in a context, which ends with them, however they end.
    fn in_context(&mut self, shape: usize, mask: Option<Rc<[bool]>>, inner: &[Statement]) -> Result<Flow> {
        let before = std::mem::replace(&mut self.contexts[shape], mask);
        let flow = self.block(inner);
        self.contexts[shape] = before;
        flow
    }

    /// `for` and `while`: at most so many times. The variable of `while` counts before the body, so that `continue` does not pass it over.
    fn repeat(
        &mut self,
        variable: usize,
        count: i128,
        condition: Option<&Expression>,
        inner: &[Statement],
    ) -> Result<Flow> {
        let made = self.made(variable)?;
        self.frame().locals.insert(variable, made);
        for time in 0..count {
            self.storage(variable)?.values[0] = Value::int(time);
            if let Some(condition) = condition {
                if !self.condition(condition)? {
                    break;
                }
                self.storage(variable)?.values[0] = Value::int(time + 1);
            }
            match self.block(inner)? {
                Flow::Break => break,
                flow @ Flow::Return(_) => return Ok(flow),
                Flow::Next | Flow::Continue => {}
            }
        }
        Ok(Flow::Next)
    }

    fn do_loop(&mut self, variable: usize, count: i128, condition: &Expression, inner: &[Statement]) -> Result<Flow> {
        let made = self.made(variable)?;
        self.frame().locals.insert(variable, made);
        for time in 1..=count {
            self.storage(variable)?.values[0] = Value::int(time);
            match self.block(inner)? {
                Flow::Break => break,
                flow @ Flow::Return(_) => return Ok(flow),
                Flow::Next | Flow::Continue => {}
            }
            if time == count || !self.condition(condition)? {
                break;
            }
        }
        Ok(Flow::Next)
    }

    /// From the label of this number on, or from `default`, if there is one.
    fn switch(&mut self, chosen: &Expression, cases: &[(Option<i128>, Vec<Statement>)]) -> Result<Flow> {
        let view = self.view();
        let chosen = self.scalar(chosen, view.as_ref())?.as_whole()?;
        let is_label = |wanted: Option<i128>| cases.iter().position(|(label, _)| *label == wanted);
        let Some(begin) = is_label(Some(chosen)).or_else(|| is_label(None)) else { return Ok(Flow::Next) };
        for (_, inner) in &cases[begin..] {
            match self.block(inner)? {
                Flow::Next => {}
                Flow::Break => break,
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn print(&mut self, word: &str, numbers: &[Expression]) -> Result<()> {
        let view = self.view();
        let mut line = word.to_string();
        for number in numbers {
            let value = self.scalar(number, view.as_ref())?.as_whole()?;
            let _ = match number {
                Expression::Bits(_) => write!(line, " {value:016x}"),
                _ => write!(line, " {value}"),
            };
        }
        self.lines.push(line);
        Ok(())
    }

    /// A line for each position; where several values were sent, the one that is heard stays if it is one of them.
    fn settle(&mut self, object: &Object) -> Result<()> {
        let contenders = std::mem::take(&mut self.contenders);
        let shape = self.program.variables[object.variable].shape.ok_or("a scalar is settled")?;
        let positions = self.positions(self.meant(shape)?);
        let place = self.cell(object, None)?;
        let name = &self.program.variables[object.variable].name;
        for at in 0..positions {
            let heard = self.heard.get(self.lines.len()).and_then(|line| line.rsplit(' ').next()?.parse().ok());
            let heard = heard.unwrap_or(i128::MAX);
            let storage = self.storage(object.variable)?;
            let held = &mut storage.values[at * storage.cells + place];
            if let Some(values) = contenders.get(&(at, place))
                && let Some(value) = values.iter().find(|value| value.as_whole() == Ok(heard))
            {
                *held = *value;
            }
            let line = format!("{name}[{at}] {}", held.as_whole()?);
            self.lines.push(line);
        }
        Ok(())
    }
}

/// What a variable holds after `=` or `op=`.
fn assigned(held: Value, operator: Option<Operator>, value: Value, of: Type) -> Result<Value> {
    match operator {
        Some(operator) => operator.apply(held, value)?.to(of),
        None => value.to(of),
    }
}
