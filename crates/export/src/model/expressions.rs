//! Expressions: Rust's own operators build them, and [`Term`] has what Rust keeps for itself.

use super::names::Name;
use super::types::Declared;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

/// What stands between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    Number(i64),
    Truth(bool),
    Name(Name),
    Field(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    Call(Name, Vec<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Complement(Box<Expr>),
    /// `And` and `Or` of numbers are about their bits.
    Binary(Sign, Box<Expr>, Box<Expr>),
    /// What is asked, the value if it is true, and the other one.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Whether something is true for all (true) or any (false) values of a variable.
    Over(bool, Box<Declared>, Box<Expr>),
}

impl Expr {
    fn binary(sign: Sign, left: impl Into<Expr>, right: impl Into<Expr>) -> Expr {
        Expr::Binary(sign, Box::new(left.into()), Box::new(right.into()))
    }

    /// A number with all bits changed.
    pub fn complement(self) -> Expr {
        Expr::Complement(Box::new(self))
    }

    /// With a value for a name.
    pub fn with(self, name: &Name, value: &Expr) -> Expr {
        let within = |part: Box<Expr>| Box::new(part.with(name, value));
        match self {
            Expr::Name(found) if found == *name => value.clone(),
            Expr::Number(_) | Expr::Truth(_) | Expr::Name(_) => self,
            Expr::Field(of, field) => Expr::Field(within(of), field),
            Expr::Index(of, index) => Expr::Index(within(of), within(index)),
            Expr::Call(routine, given) => {
                Expr::Call(routine, given.into_iter().map(|argument| argument.with(name, value)).collect())
            }
            Expr::Not(inner) => Expr::Not(within(inner)),
            Expr::Negate(inner) => Expr::Negate(within(inner)),
            Expr::Complement(inner) => Expr::Complement(within(inner)),
            Expr::Binary(sign, left, right) => Expr::Binary(sign, within(left), within(right)),
            Expr::Choice(condition, yes, no) => Expr::Choice(within(condition), within(yes), within(no)),
            // Within, the name is another variable's.
            Expr::Over(all, over, body) if over.name == *name => Expr::Over(all, over, body),
            Expr::Over(all, over, body) => Expr::Over(all, over, within(body)),
        }
    }
}

impl From<bool> for Expr {
    fn from(value: bool) -> Expr {
        Expr::Truth(value)
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        match value.checked_neg().filter(|_| value < 0) {
            Some(positive) => Expr::Negate(Box::new(Expr::Number(positive))),
            None => Expr::Number(value),
        }
    }
}

impl From<i32> for Expr {
    fn from(value: i32) -> Expr {
        i64::from(value).into()
    }
}

/// Numbers that have no sign. None is greater than those of a model can be.
macro_rules! from_numbers {
    ($($number:ty),*) => {$(
        impl From<$number> for Expr {
            fn from(value: $number) -> Expr {
                Expr::Number(i64::try_from(value).unwrap_or(i64::MAX))
            }
        }
    )*};
}

from_numbers!(u8, u16, u32, u64, usize);

impl From<Name> for Expr {
    fn from(name: Name) -> Expr {
        Expr::Name(name)
    }
}

impl From<&Name> for Expr {
    fn from(name: &Name) -> Expr {
        Expr::Name(name.clone())
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Expr {
        expr.clone()
    }
}

macro_rules! binary_operators {
    ($($operator:ident $method:ident $sign:ident),*) => {$(
        binary_operators!($operator $method $sign: Expr, &Expr, Name, &Name);
    )*};
    ($operator:ident $method:ident $sign:ident: $($left:ty),*) => {$(
        impl<T: Into<Expr>> $operator<T> for $left {
            type Output = Expr;
            fn $method(self, right: T) -> Expr {
                Expr::binary(Sign::$sign, self, right)
            }
        }
    )*};
}

binary_operators!(
    Add add Plus,
    Sub sub Minus,
    Mul mul Times,
    Div div Divide,
    Rem rem Remainder,
    Shl shl ShiftLeft,
    Shr shr ShiftRight,
    BitAnd bitand And,
    BitOr bitor Or
);

macro_rules! unary_operators {
    ($($operand:ty),*) => {$(
        impl Not for $operand {
            type Output = Expr;
            fn not(self) -> Expr {
                Expr::Not(Box::new(self.into()))
            }
        }
        impl Neg for $operand {
            type Output = Expr;
            fn neg(self) -> Expr {
                Expr::Negate(Box::new(self.into()))
            }
        }
    )*};
}

unary_operators!(Expr, &Expr, Name, &Name);

/// What expressions are made of, beside operators: comparisons, elements and fields.
pub(crate) trait Term: Into<Expr> {
    fn is(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Sign::Equal, self, other)
    }

    fn differs_from(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Sign::Different, self, other)
    }

    fn lt(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Sign::Less, self, other)
    }

    fn le(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Sign::LessEqual, self, other)
    }

    fn gt(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Sign::Greater, self, other)
    }

    fn ge(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Sign::GreaterEqual, self, other)
    }

    /// An element of an array.
    fn at(self, index: impl Into<Expr>) -> Expr {
        Expr::Index(Box::new(self.into()), Box::new(index.into()))
    }

    /// A field of a record.
    fn field(self, name: impl Into<Name>) -> Expr {
        Expr::Field(Box::new(self.into()), name.into())
    }
}

impl<T: Into<Expr>> Term for T {}

/// Several expressions, or one, or none: a tuple of what can be one, or a list.
pub(crate) trait Values {
    fn list(self) -> Vec<Expr>;
}

impl Values for Vec<Expr> {
    fn list(self) -> Vec<Expr> {
        self
    }
}

impl Values for () {
    fn list(self) -> Vec<Expr> {
        Vec::new()
    }
}

macro_rules! values_of_one {
    ($($one:ty),*) => {$(
        impl Values for $one {
            fn list(self) -> Vec<Expr> {
                vec![self.into()]
            }
        }
    )*};
}

values_of_one!(Expr, Name);

macro_rules! values_of_tuples {
    ($($($part:ident $value:ident)*;)*) => {$(
        impl<$($part: Into<Expr>),*> Values for ($($part,)*) {
            fn list(self) -> Vec<Expr> {
                let ($($value,)*) = self;
                vec![$($value.into()),*]
            }
        }
    )*};
}

values_of_tuples! {
    A a B b;
    A a B b C c;
    A a B b C c D d;
    A a B b C c D d E e;
    A a B b C c D d E e F f;
}

pub(crate) fn values(several: impl Values) -> Vec<Expr> {
    several.list()
}

/// What a function gives.
pub(crate) fn call(routine: impl Into<Name>, arguments: impl Values) -> Expr {
    Expr::Call(routine.into(), arguments.list())
}

/// One value or the other.
pub(crate) fn choice(condition: impl Into<Expr>, yes: impl Into<Expr>, no: impl Into<Expr>) -> Expr {
    Expr::Choice(Box::new(condition.into()), Box::new(yes.into()), Box::new(no.into()))
}

pub(crate) fn forall(over: Declared, body: impl Into<Expr>) -> Expr {
    Expr::Over(true, Box::new(over), Box::new(body.into()))
}

pub(crate) fn exists(over: Declared, body: impl Into<Expr>) -> Expr {
    Expr::Over(false, Box::new(over), Box::new(body.into()))
}

/// Whether all of some conditions hold.
pub(crate) fn all(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    conditions.into_iter().reduce(|one, other| one & other).unwrap_or(Expr::Truth(true))
}

/// Whether any of some conditions holds.
pub(crate) fn any(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    conditions.into_iter().reduce(|one, other| one | other).unwrap_or(Expr::Truth(false))
}

#[cfg(test)]
mod tests {
    use super::{Expr, Term, any, call, exists};
    use crate::model::{BOOLEAN, Name};

    const A: Name = Name::new("a");
    const B: Name = Name::new("b");

    #[test]
    fn a_name_gets_a_value_wherever_it_stands_for_the_same() {
        let with = |expr: Expr| expr.with(&A, &7.into());
        assert_eq!(with(A.at(A + 1).field("a")), Expr::from(7).at(Expr::from(7) + 1).field("a"));
        assert_eq!(with(call("a", (A, B))), call("a", (7, B)));
        assert_eq!(with(exists(B.of(BOOLEAN), A.is(B))), exists(B.of(BOOLEAN), Expr::from(7).is(B)));
        assert_eq!(with(exists(A.of(BOOLEAN), A.is(B))), exists(A.of(BOOLEAN), A.is(B)));
    }

    #[test]
    fn several_conditions_are_taken_from_the_left() {
        assert_eq!(any([A.into(), B.into(), true.into()]), (A | B) | true);
        assert_eq!(any([]), Expr::Truth(false));
    }

    #[test]
    fn a_negative_number_is_one_with_a_sign() {
        assert_eq!(Expr::from(-3), -Expr::from(3));
    }
}
