//! A model in the part of Murphi's language in which [`crate::murphi`] writes.

/// A type as it is written.
#[derive(Debug, Clone)]
pub(super) enum TypeExpr {
    Name(String),
    Boolean,
    Range(i64, i64),
    Array(Box<TypeExpr>, Box<TypeExpr>),
    Record(Vec<Declared>),
}

/// A name with its type: a variable, a field, a parameter of a rule.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub name: String,
    pub ty: TypeExpr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    And,
    Or,
    Equal,
    Different,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
}

#[derive(Debug, Clone)]
pub(super) enum Expr {
    Number(i64),
    Truth(bool),
    Name(String),
    Field(Box<Expr>, String),
    Index(Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Complement(Box<Expr>),
    Binary(Sign, Box<Expr>, Box<Expr>),
    /// `(condition ? yes : no)`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `forall` (true) or `exists`.
    Over(bool, Box<Declared>, Box<Expr>),
}

/// The values that a loop goes through.
#[derive(Debug, Clone)]
pub(super) enum Through {
    Type(TypeExpr),
    Numbers(Expr, Expr),
}

#[derive(Debug, Clone)]
pub(super) enum Statement {
    Assign(Expr, Expr),
    Call(String, Vec<Expr>),
    /// Conditions with what follows, and what is done if none holds.
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    While(Expr, Vec<Statement>),
    For(String, Through, Vec<Statement>),
    Switch(Expr, Vec<(Vec<Expr>, Vec<Statement>)>),
    Clear(Expr),
    Error(String),
    /// If it is false, the rule does not fire.
    Assume(Expr),
    Return(Option<Expr>),
}

#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub declared: Declared,
    /// `var`: the caller's own variable.
    pub by_reference: bool,
}

/// A function (with a result) or a procedure.
#[derive(Debug, Clone)]
pub(super) struct Routine {
    pub name: String,
    pub parameters: Vec<Parameter>,
    pub result: Option<TypeExpr>,
    pub locals: Vec<Declared>,
    pub body: Vec<Statement>,
}

/// A rule, for each choice of its parameters.
#[derive(Debug, Clone)]
pub(super) struct Rule {
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
#[derive(Debug, Default)]
pub(super) struct Program {
    pub constants: Vec<(String, i64)>,
    pub types: Vec<Declared>,
    pub variables: Vec<Declared>,
    pub routines: Vec<Routine>,
    pub rules: Vec<Rule>,
    pub start: Vec<Statement>,
    pub invariants: Vec<(String, Expr)>,
}
