//! Types, and names with their types.

use super::names::Name;

/// A type as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TypeExpr {
    Name(Name),
    Boolean,
    Range(i64, i64),
    Array(Box<TypeExpr>, Box<TypeExpr>),
    Record(Vec<Declared>),
}

pub(crate) const BOOLEAN: TypeExpr = TypeExpr::Boolean;

/// A name with its type: a variable, a field, a parameter of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    pub name: Name,
    pub ty: TypeExpr,
    /// What it is for, where its name does not say it.
    pub comment: Option<String>,
}

impl Name {
    /// It with its type.
    pub fn of(self, ty: TypeExpr) -> Declared {
        Declared { name: self, ty, comment: None }
    }
}

impl Declared {
    pub fn comment(self, text: impl Into<String>) -> Declared {
        Declared { comment: Some(text.into()), ..self }
    }
}

impl TypeExpr {
    /// A type with a name of its own.
    pub const fn named(text: &'static str) -> TypeExpr {
        TypeExpr::Name(Name::new(text))
    }
}

impl From<Name> for TypeExpr {
    fn from(name: Name) -> TypeExpr {
        TypeExpr::Name(name)
    }
}

/// Numbers from one to another.
pub(crate) fn range(least: impl TryInto<i64>, most: impl TryInto<i64>) -> TypeExpr {
    TypeExpr::Range(least.try_into().unwrap_or(i64::MAX), most.try_into().unwrap_or(i64::MAX))
}

/// An array, by the type of its indices.
pub(crate) fn array(by: TypeExpr, of: TypeExpr) -> TypeExpr {
    TypeExpr::Array(Box::new(by), Box::new(of))
}

pub(crate) fn record(fields: impl IntoIterator<Item = Declared>) -> TypeExpr {
    TypeExpr::Record(fields.into_iter().collect())
}
