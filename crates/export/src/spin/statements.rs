//! Statements and routines in C.

use super::expressions::{Kind, Scope};
use super::text::{Translated, harmless};
use crate::lines::Lines;
use crate::model::{Declared, Expr, Name, Statement, TypeExpr};

impl Scope<'_> {
    /// Local variables, all zero; the names are bound.
    pub fn locals(&mut self, locals: &[Declared], out: &mut Lines) -> Translated<()> {
        for local in locals {
            let ty = self.types.resolve(&local.ty)?;
            let text = self.bind(&local.name, ty);
            let first = if self.types.is_whole(ty) { "{0}" } else { "0" };
            out.line(format!("{} {text} = {first};", self.types.local(ty)));
        }
        Ok(())
    }

    pub fn statements(&mut self, statements: &[Statement], out: &mut Lines) -> Translated<()> {
        statements.iter().try_for_each(|statement| self.statement(statement, out))
    }

    fn truth(&mut self, expr: &Expr) -> Translated<String> {
        let value = self.value(expr)?;
        if value.kind == Kind::Truth { Ok(value.text) } else { Err(format!("a condition that is a number: {expr:?}")) }
    }

    fn statement(&mut self, statement: &Statement, out: &mut Lines) -> Translated<()> {
        match statement {
            // The model for Rumur has them.
            Statement::Comment(_) => {}
            Statement::Assign(place, value) => {
                let (text, ty) = self.place(place)?;
                let value = self.fitted(value, ty)?;
                out.line(format!("{text} = {value};"));
            }
            Statement::Call(name, arguments) => {
                let (text, _) = self.call(name, arguments)?;
                out.line(format!("{text};"));
            }
            Statement::If(branches, otherwise) => {
                for (b, (condition, body)) in branches.iter().enumerate() {
                    let head = if b == 0 { "if" } else { "} else if" };
                    let head = format!("{head} ({}) {{", self.truth(condition)?);
                    if b == 0 {
                        out.open(head)
                    } else {
                        out.middle(head)
                    }
                    self.statements(body, out)?;
                }
                if !otherwise.is_empty() {
                    out.middle("} else {");
                    self.statements(otherwise, out)?;
                }
                out.close("}");
            }
            Statement::While(condition, body) => {
                out.open(format!("while ({}) {{", self.truth(condition)?));
                self.statements(body, out)?;
                out.close("}");
            }
            Statement::For(name, ty, body) => self.repeat(name, ty, body, out)?,
            Statement::Switch(value, cases) => self.switch(value, cases, out)?,
            Statement::Clear(place) => {
                let (text, ty) = self.place(place)?;
                out.line(self.types.clear(ty, &text));
            }
            Statement::Error(text) => out.line(format!("fail(\"{}\");", harmless(text))),
            Statement::Assume(condition) => {
                let condition = self.truth(condition)?;
                out.line(format!("if (!({condition})) not_fired = 1;"));
            }
            Statement::Return(value) => self.give(value.as_ref(), out)?,
        }
        Ok(())
    }

    fn repeat(&mut self, name: &Name, ty: &TypeExpr, body: &[Statement], out: &mut Lines) -> Translated<()> {
        let ty = self.types.resolve(ty)?;
        let (from, to) = self.types.bounds(ty).ok_or("a loop over something that is no range")?;
        let variable = self.bind(name, ty);
        out.open(format!("for (int64_t {variable} = {from}; {variable} <= {to}; {variable}++) {{"));
        self.statements(body, out)?;
        out.close("}");
        self.variables.pop();
        Ok(())
    }

    fn switch(&mut self, value: &Expr, cases: &[(Expr, Vec<Statement>)], out: &mut Lines) -> Translated<()> {
        let value = self.value(value)?.text;
        out.open(format!("switch ({value}) {{"));
        for (label, body) in cases {
            out.line(format!("case {}:", self.value(label)?.text));
            out.open("{");
            self.statements(body, out)?;
            out.line("break;");
            out.close("}");
        }
        out.close("}");
        Ok(())
    }

    fn give(&mut self, value: Option<&Expr>, out: &mut Lines) -> Translated<()> {
        match (value, self.result) {
            (Some(value), Some(ty)) => {
                let value = self.fitted(value, ty)?;
                out.line(format!("return {value};"));
            }
            (None, None) => out.line("return;"),
            _ => return Err("a return that does not fit its routine".into()),
        }
        Ok(())
    }
}
