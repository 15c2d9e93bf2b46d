//! Expressions with their types, while a dialect looks at them.

use crate::types::Type;

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
}

impl Expression {
    /// Without parentheses around it.
    pub(crate) fn bare(&self) -> &Expression {
        match &self.form {
            Form::Parentheses(inner) => inner.bare(),
            _ => self,
        }
    }
}
