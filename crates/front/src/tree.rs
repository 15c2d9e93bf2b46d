//! A function's body as a tree, and expressions with their types, while a dialect decides what becomes of them.

use crate::types::{ParallelShape, Signature, Type};
use std::ops::Range;
use std::rc::Rc;

/// An expression: what it is, its type (with the space in which it lies, if it is an object), and its tokens.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub form: Form,
    pub ty: Type,
    /// Its first token.
    pub first: usize,
    /// Its last token.
    pub last: usize,
}

/// The forms that a dialect tells apart. Numbers name tokens.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// A name, a constant, and whatever has no parts that a dialect looks at.
    Leaf,
    /// `( e )`.
    Parentheses(Box<Expression>),
    /// `base [ index ]`, with both brackets.
    Index { base: Box<Expression>, open: usize, index: Box<Expression>, close: usize },
    /// `base . name` or `base -> name`.
    Member { base: Box<Expression>, is_arrow: bool },
    /// `op e`.
    Prefix { op: usize, operand: Box<Expression> },
    /// `e ++` or `e --`.
    Postfix { op: usize, operand: Box<Expression> },
    /// `a op b`, also for comparisons and logic.
    Binary { op: usize, left: Box<Expression>, right: Box<Expression> },
    /// `a = b`, `a += b`.
    Assign { op: usize, left: Box<Expression>, right: Box<Expression> },
    /// `a := b` (a get or a put) or `a :- b` (a store); the operator is two tokens.
    SplitPhase { op: usize, is_store: bool, left: Box<Expression>, right: Box<Expression> },
    /// `a ? b : c`; b may be missing.
    Conditional { parts: Vec<Expression> },
    /// `a , b`.
    Comma { left: Box<Expression>, right: Box<Expression> },
    /// `( type ) e`.
    Cast { close: usize, operand: Box<Expression> },
    /// `sizeof e` and the like: what is not evaluated.
    SizeOf(Box<Expression>),
    /// Calls, compound literals, selections: parts without more meaning. Of a call the first is what is called.
    Parts(Vec<Expression>),
    /// C*'s `[i][j] e`.
    LeftIndex { axes: Vec<Expression>, operand: Box<Expression> },
    /// `.` in a left index: a position's own coordinate in that dimension.
    Coordinate(usize),
    /// `+= e` and the like, of all positions; `<?=` is three tokens.
    Reduce { op: usize, operand: Box<Expression> },
    /// `a <? b`, `a >? b`, `a %% b`, `a <?= b`, `a >?= b`: the operator is so many tokens.
    OwnBinary { op: usize, width: usize, left: Box<Expression>, right: Box<Expression> },
    /// The name of a shape, or `shapeof ( e )`.
    Shape(Rc<ParallelShape>),
    /// GNU's `({ .. })`, and C*'s compound literals: what is in it is whole expressions.
    Block,
}

impl Expression {
    /// Without parentheses around it.
    pub(crate) fn bare(&self) -> &Expression {
        match &self.form {
            Form::Parentheses(inner) => inner.bare(),
            _ => self,
        }
    }

    /// Its parts that are expressions.
    pub(crate) fn parts(&self) -> Vec<&Expression> {
        match &self.form {
            Form::Leaf | Form::Coordinate(_) | Form::Shape(_) | Form::Block => Vec::new(),
            Form::Parentheses(part) | Form::SizeOf(part) | Form::Member { base: part, .. } => vec![part],
            Form::Prefix { operand, .. }
            | Form::Postfix { operand, .. }
            | Form::Cast { operand, .. }
            | Form::Reduce { operand, .. } => vec![operand],
            Form::Index { base, index, .. } => vec![base, index],
            Form::Binary { left, right, .. }
            | Form::Assign { left, right, .. }
            | Form::SplitPhase { left, right, .. }
            | Form::OwnBinary { left, right, .. }
            | Form::Comma { left, right } => vec![left, right],
            Form::Conditional { parts } | Form::Parts(parts) => parts.iter().collect(),
            Form::LeftIndex { axes, operand } => axes.iter().chain([&**operand]).collect(),
        }
    }

    /// Of what is left-indexed: the indices on the right of its variable.
    pub(crate) fn indices(&self) -> Vec<&Expression> {
        match &self.form {
            Form::Parentheses(part) | Form::Member { base: part, .. } => part.indices(),
            Form::Index { base, index, .. } => base.indices().into_iter().chain([&**index]).collect(),
            _ => Vec::new(),
        }
    }
}

/// What was read of a function's body.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// Its statements; none if it could not be read to its end.
    pub block: Option<Statement>,
    /// All whole expressions in it, in the order in which they end. Statements name them by their numbers.
    pub wholes: Vec<Whole>,
    /// The function's name.
    pub name: String,
    /// The first token of its declarator, if an attribute of the function may stand before it; none outside of functions.
    pub declarator: Option<usize>,
    /// Whether only functions of this file name it.
    pub is_static: bool,
    /// Of a function that C* calls in a way of its own.
    pub signature: Option<Rc<Signature>>,
    /// Its parallel parameters.
    pub parallel: Vec<String>,
}

/// An expression that is no part of another, or stands in a type, in braces, or in a block that is part of one.
#[derive(Debug, Clone)]
pub(crate) struct Whole {
    pub expression: Expression,
    /// Whether its value is used.
    pub used: bool,
    /// Whether it is an operand of `sizeof` or `typeof`.
    pub unevaluated: bool,
}

/// A statement or declaration of a block.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub form: StatementForm,
    /// Its first token.
    pub first: usize,
    /// Its last token.
    pub last: usize,
    /// The whole expressions in it, those of statements inside it too.
    pub wholes: Range<usize>,
}

/// The forms that a dialect tells apart. Numbers name whole expressions.
#[derive(Debug, Clone)]
pub(crate) enum StatementForm {
    /// `{ .. }`
    Block(Vec<Statement>),
    /// `e ;`
    Expression(usize),
    /// `if (e) .. else if (e) .. else ..`: the conditions with what they decide about, and what stands behind the last `else`.
    If { branches: Vec<(usize, Statement)>, otherwise: Option<Box<Statement>> },
    /// `switch`, `while`, `do`: what is looked at, and the statement.
    Condition { condition: usize, inner: Box<Statement> },
    /// `for`: what stands in the middle, if it does, and the statement.
    For { condition: Option<usize>, inner: Box<Statement> },
    /// A label, `case` or `default`, and what stands behind it, if anything does.
    Labelled(Option<Box<Statement>>),
    /// C*'s `with (shape)`, with its parenthesis.
    With { shape: Rc<ParallelShape>, close: usize, inner: Box<Statement> },
    /// `where (e)`, with its parenthesis; and `else`, with what follows.
    Where { condition: usize, close: usize, inner: Box<Statement>, otherwise: Option<(usize, Box<Statement>)> },
    /// `everywhere`.
    Everywhere(Box<Statement>),
    /// A declaration of C*'s parallel variables.
    Parallel(Vec<LocalVariable>),
    /// `return`, with its value.
    Return(Option<usize>),
    /// A declaration, a jump, and whatever has no statement in it.
    Plain,
}

/// A parallel variable in a function.
#[derive(Debug, Clone)]
pub(crate) struct LocalVariable {
    /// The token of its name.
    pub name: usize,
    pub shape: Rc<ParallelShape>,
    /// Of an array of them.
    pub dimensions: usize,
    /// The last token of its declarator.
    pub last: usize,
    /// `=`, and the whole expression after it.
    pub initial: Option<(usize, usize)>,
}
