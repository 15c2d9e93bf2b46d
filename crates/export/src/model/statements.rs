//! Statements, one after the other.

use super::expressions::{Expr, Values};
use super::names::Name;
use super::types::TypeExpr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Statement {
    Comment(String),
    Assign(Expr, Expr),
    Call(Name, Vec<Expr>),
    /// Conditions with what follows, and what is done if none holds.
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    While(Expr, Vec<Statement>),
    For(Name, TypeExpr, Vec<Statement>),
    Switch(Expr, Vec<(Expr, Vec<Statement>)>),
    /// A variable gets the least values of its type.
    Clear(Expr),
    Error(String),
    /// If it is false, the rule does not fire.
    Assume(Expr),
    Return(Option<Expr>),
}

/// Statements that are being built.
#[derive(Debug, Default)]
pub(crate) struct Block {
    statements: Vec<Statement>,
}

impl Block {
    /// What a closure says.
    pub fn of(body: impl FnOnce(&mut Block)) -> Vec<Statement> {
        let mut block = Block::default();
        body(&mut block);
        block.statements
    }

    fn add(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    /// Statements that were built apart.
    pub fn include(&mut self, other: Block) {
        self.statements.extend(other.statements);
    }

    pub fn comment(&mut self, text: impl Into<String>) {
        self.add(Statement::Comment(text.into()));
    }

    pub fn assign(&mut self, place: impl Into<Expr>, value: impl Into<Expr>) {
        self.add(Statement::Assign(place.into(), value.into()));
    }

    pub fn increase(&mut self, place: impl Into<Expr>, by: impl Into<Expr>) {
        let place = place.into();
        self.assign(&place, &place + by);
    }

    pub fn call(&mut self, routine: impl Into<Name>, arguments: impl Values) {
        self.add(Statement::Call(routine.into(), arguments.list()));
    }

    pub fn when(&mut self, condition: impl Into<Expr>, body: impl FnOnce(&mut Block)) {
        self.add(Statement::If(vec![(condition.into(), Block::of(body))], Vec::new()));
    }

    pub fn when_else(&mut self, condition: impl Into<Expr>, yes: impl FnOnce(&mut Block), no: impl FnOnce(&mut Block)) {
        self.add(Statement::If(vec![(condition.into(), Block::of(yes))], Block::of(no)));
    }

    /// The first of two conditions that holds says what is done, if one does.
    pub fn when_or(
        &mut self,
        (first, yes): (Expr, impl FnOnce(&mut Block)),
        (second, then): (Expr, impl FnOnce(&mut Block)),
    ) {
        self.add(Statement::If(vec![(first, Block::of(yes)), (second, Block::of(then))], Vec::new()));
    }

    /// It is an error where something is true.
    pub fn refuse(&mut self, condition: impl Into<Expr>, text: impl Into<String>) {
        self.when(condition, |out| out.error(text));
    }

    pub fn while_(&mut self, condition: impl Into<Expr>, body: impl FnOnce(&mut Block)) {
        self.add(Statement::While(condition.into(), Block::of(body)));
    }

    /// For each value of a type.
    pub fn for_each(&mut self, name: impl Into<Name>, ty: TypeExpr, body: impl FnOnce(&mut Block)) {
        self.add(Statement::For(name.into(), ty, Block::of(body)));
    }

    pub fn switch(&mut self, value: impl Into<Expr>, cases: impl FnOnce(&mut Cases)) {
        let mut found = Cases::default();
        cases(&mut found);
        self.add(Statement::Switch(value.into(), found.cases));
    }

    pub fn clear(&mut self, place: impl Into<Expr>) {
        self.add(Statement::Clear(place.into()));
    }

    pub fn error(&mut self, text: impl Into<String>) {
        self.add(Statement::Error(text.into()));
    }

    pub fn assume(&mut self, condition: impl Into<Expr>) {
        self.add(Statement::Assume(condition.into()));
    }

    /// The function's value.
    pub fn give(&mut self, value: impl Into<Expr>) {
        self.add(Statement::Return(Some(value.into())));
    }

    /// Nothing more is done here.
    pub fn leave(&mut self) {
        self.add(Statement::Return(None));
    }
}

/// What is done for each value of something.
#[derive(Debug, Default)]
pub(crate) struct Cases {
    cases: Vec<(Expr, Vec<Statement>)>,
}

impl Cases {
    pub fn case(&mut self, value: impl Into<Expr>, body: impl FnOnce(&mut Block)) {
        self.cases.push((value.into(), Block::of(body)));
    }

    /// A case that is a function's value.
    pub fn give(&mut self, value: impl Into<Expr>, given: impl Into<Expr>) {
        self.case(value, |out| out.give(given));
    }
}
