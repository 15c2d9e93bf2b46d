//! Routines, rules, and all of a model.

use super::expressions::Expr;
use super::names::Name;
use super::statements::{Block, Statement};
use super::types::{Declared, TypeExpr};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub declared: Declared,
    /// The caller's own variable.
    pub by_reference: bool,
}

/// A function (with a result) or a procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Routine {
    pub name: Name,
    pub comment: Option<String>,
    pub parameters: Vec<Parameter>,
    pub result: Option<TypeExpr>,
    pub locals: Vec<Declared>,
    pub body: Vec<Statement>,
}

pub(crate) fn function(name: impl Into<Name>, result: TypeExpr) -> Routine {
    Routine { result: Some(result), ..procedure(name) }
}

pub(crate) fn procedure(name: impl Into<Name>) -> Routine {
    let (name, comment, result) = (name.into(), None, None);
    Routine { name, comment, parameters: Vec::new(), result, locals: Vec::new(), body: Vec::new() }
}

impl Routine {
    pub fn comment(self, text: impl Into<String>) -> Routine {
        Routine { comment: Some(text.into()), ..self }
    }

    fn parameter(mut self, declared: Declared, by_reference: bool) -> Routine {
        self.parameters.push(Parameter { declared, by_reference });
        self
    }

    pub fn takes(self, name: impl Into<Name>, ty: TypeExpr) -> Routine {
        self.parameter(name.into().of(ty), false)
    }

    /// Takes several values of one type.
    pub fn takes_each(self, names: impl IntoIterator<Item = Name>, ty: &TypeExpr) -> Routine {
        names.into_iter().fold(self, |routine, name| routine.takes(name, ty.clone()))
    }

    /// Takes a variable of its caller, and changes it.
    pub fn changes(self, name: impl Into<Name>, ty: TypeExpr) -> Routine {
        self.parameter(name.into().of(ty), true)
    }

    pub fn local(mut self, name: impl Into<Name>, ty: TypeExpr) -> Routine {
        self.locals.push(name.into().of(ty));
        self
    }

    pub fn locals(mut self, locals: impl IntoIterator<Item = Declared>) -> Routine {
        self.locals.extend(locals);
        self
    }
}

/// A rule, for each choice of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub name: String,
    pub parameters: Vec<Declared>,
    pub guard: Expr,
    pub locals: Vec<Declared>,
    pub body: Vec<Statement>,
}

impl Rule {
    /// Whether the firing itself finds out if the rule fires.
    pub fn assumes(&self) -> bool {
        self.body.iter().any(|statement| matches!(statement, Statement::Assume(_)))
    }
}

/// All of a model.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// What is explored, in words.
    pub head: Vec<String>,
    pub constants: Vec<(Name, i64)>,
    pub types: Vec<Declared>,
    pub variables: Vec<Declared>,
    pub routines: Vec<Routine>,
    pub rules: Vec<Rule>,
    pub start: Vec<Statement>,
    pub invariants: Vec<(String, Expr)>,
    /// What is promised and is no part of the model, in words.
    pub unchecked: Vec<String>,
}

impl Program {
    pub fn ty(&mut self, name: impl Into<Name>, ty: TypeExpr) {
        self.types.push(name.into().of(ty));
    }

    /// A type, and what it is for.
    pub fn ty_for(&mut self, comment: &str, name: impl Into<Name>, ty: TypeExpr) {
        self.types.push(name.into().of(ty).comment(comment));
    }

    pub fn variable(&mut self, name: impl Into<Name>, ty: TypeExpr) {
        self.variables.push(name.into().of(ty));
    }

    /// A variable, and what it is for.
    pub fn variable_for(&mut self, comment: &str, name: impl Into<Name>, ty: TypeExpr) {
        self.variables.push(name.into().of(ty).comment(comment));
    }

    /// A routine whose head is given, with what it does.
    pub fn define(&mut self, head: Routine, body: impl FnOnce(&mut Block)) {
        self.routines.push(Routine { body: Block::of(body), ..head });
    }

    pub fn invariant(&mut self, name: impl Into<String>, condition: impl Into<Expr>) {
        self.invariants.push((name.into(), condition.into()));
    }
}
