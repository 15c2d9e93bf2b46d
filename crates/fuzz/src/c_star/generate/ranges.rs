//! Between which numbers expressions lie, and how they are brought between others.

use super::Generator;
use crate::c_star::features::Feature;
use crate::c_star::number::{Operator, Prefix, Type, Value};
use crate::c_star::tree::{Expression, Math};

/// An expression of which it is known that it lies between two numbers.
pub(super) struct Made {
    pub tree: Expression,
    pub of: Type,
    pub low: i128,
    pub high: i128,
}

/// What real numbers in expressions stay below.
const GREATEST_REAL: i128 = 1_000_000_000_000;

/// What ranges are cut to: it is beyond every type.
const WIDEST: i128 = 1 << 100;

/// What whole numbers are divided by, to keep the rest.
const MODULI: [i128; 4] = [7, 101, 1009, 30_011];

impl Made {
    pub(super) fn new(tree: Expression, of: Type, low: i128, high: i128) -> Made {
        Made { tree, of, low, high }
    }

    pub(super) fn constant(value: Value) -> Made {
        let (low, high) = match value.as_whole() {
            Ok(number) => (number, number),
            Err(_) => (value.as_real().floor() as i128, value.as_real().ceil() as i128),
        };
        Made::new(Expression::Constant(value), value.of, low, high)
    }

    pub(super) fn truth(tree: Expression) -> Made {
        Made::new(tree, Type::Int, 0, 1)
    }

    fn is_within(&self, low: i128, high: i128) -> bool {
        self.low >= low && self.high <= high
    }

    /// Between which numbers it lies as another type.
    fn as_type(&self, to: Type) -> (i128, i128) {
        if to.is_real() {
            if self.of.is_real() && to == Type::Double { (self.low, self.high) } else { rounded(self.low, self.high) }
        } else if self.is_within(to.least(), to.most()) {
            (self.low, self.high)
        } else {
            (to.least(), to.most())
        }
    }
}

/// With room for what rounding to a float adds.
fn rounded(low: i128, high: i128) -> (i128, i128) {
    (low - 1 - (low.abs() >> 20), high + 1 + (high.abs() >> 20))
}

/// The least range of whole bits that holds both.
fn of_bits(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    let magnitude = [a.0, a.1, b.0, b.1].map(|number| if number < 0 { -number - 1 } else { number });
    let most = magnitude.into_iter().max().unwrap_or(0) as u128;
    let all = ((most + 1).next_power_of_two() - 1) as i128;
    if a.0 < 0 || b.0 < 0 { (-all - 1, all) } else { (0, all) }
}

impl Generator {
    /// Whether calls, gets and reductions may stand here.
    pub(super) fn may_be_once(&self) -> bool {
        !self.scope.is_blocked && (!self.scope.is_narrow || Feature::Narrowing.is_on())
    }

    /// Brings an expression between a limit and its negative.
    pub(super) fn fit(&mut self, made: Made, limit: i128) -> Made {
        if made.is_within(-limit, limit) {
            return made;
        }
        let moduli: Vec<i128> = MODULI.into_iter().filter(|modulus| *modulus <= limit).collect();
        let modulus = moduli[self.random.below(moduli.len())];
        if !made.of.is_real() {
            let of = made.of.common(Type::Int);
            let tree = Expression::binary(Operator::Remainder, made.tree, Expression::int(modulus));
            return Made::new(tree, of, if made.low < 0 { 1 - modulus } else { 0 }, modulus - 1);
        }
        let bound = Expression::Constant(Value::real(Type::Double, modulus as f64));
        if !self.may_be_once() && !self.program.is_parallel(&made.tree) {
            let below = Expression::binary(Operator::Least, made.tree, bound.clone());
            let bound = Expression::Constant(Value::real(Type::Double, -modulus as f64));
            return Made::new(Expression::binary(Operator::Most, below, bound), Type::Double, -modulus, modulus);
        }
        Made::new(Expression::Math(Math::Fmod, vec![made.tree, bound]), Type::Double, -modulus, modulus)
    }

    /// A value that may be assigned to a variable of this type, or cast to it.
    pub(super) fn assignable(&mut self, made: Made, to: Type) -> Made {
        if to.is_real() {
            return self.fit(made, super::REAL_LIMIT);
        }
        if !made.of.is_real() || to == Type::Bool {
            return made;
        }
        let fitted = self.fit(made, if to.bits() == 8 { 101 } else { 30_011 });
        // A negative number does not go into an unsigned type, but by way of `int`.
        if to.is_signed() { fitted } else { self.cast(fitted, Type::Int) }
    }

    pub(super) fn cast(&mut self, made: Made, to: Type) -> Made {
        let made = self.assignable(made, to);
        let (low, high) = made.as_type(to);
        Made::new(Expression::Cast(to, Box::new(made.tree)), to, low, high)
    }

    /// A whole number.
    pub(super) fn as_whole(&mut self, made: Made) -> Made {
        if made.of.is_real() { self.cast(made, Type::Int) } else { made }
    }

    /// `+`, `-`, `*`
    pub(super) fn arithmetic(&mut self, operator: Operator, left: Made, right: Made) -> Made {
        let of = left.of.common(right.of);
        match arithmetic_range(operator, of, &left, &right) {
            Some((low, high)) => Made::new(Expression::binary(operator, left.tree, right.tree), of, low, high),
            None => {
                let limit = if operator == Operator::Multiply { 30_011 } else { 100_000 };
                let (left, right) = (self.fit(left, limit), self.fit(right, limit));
                let of = left.of.common(right.of);
                let (low, high) = arithmetic_range(operator, of, &left, &right).unwrap_or((of.least(), of.most()));
                Made::new(Expression::binary(operator, left.tree, right.tree), of, low, high)
            }
        }
    }

    /// `&`, `|`, `^`, of whole numbers.
    pub(super) fn bits(&mut self, operator: Operator, left: Made, right: Made) -> Made {
        let of = left.of.common(right.of);
        let (a, b) = (left.as_type(of), right.as_type(of));
        let range = match operator {
            Operator::And if a.0 >= 0 && b.0 >= 0 => (0, a.1.min(b.1)),
            Operator::And if a.0 >= 0 => (0, a.1),
            Operator::And if b.0 >= 0 => (0, b.1),
            _ => of_bits(a, b),
        };
        Made::new(Expression::binary(operator, left.tree, right.tree), of, range.0, range.1)
    }

    /// A number that it is right to divide a whole number by: never 0, never -1.
    pub(super) fn divisor(&mut self, made: Option<Made>) -> Made {
        match made {
            Some(made) => {
                let low_bits = self.bits(Operator::And, made, Made::constant(Value::int(7)));
                self.arithmetic(Operator::Add, low_bits, Made::constant(Value::int(1)))
            }
            None => {
                let number = 2 + self.random.below(9) as i128;
                Made::constant(Value::int(if self.random.once_in(3) { -number } else { number }))
            }
        }
    }

    /// `/`, `%`, `%%`, of whole numbers.
    pub(super) fn division(&mut self, operator: Operator, left: Made, right: Made) -> Made {
        let of = left.of.common(right.of);
        let is_off = !of.is_signed() && !Feature::UnsignedModulus.is_on();
        let operator = if operator == Operator::Modulus && is_off { Operator::Remainder } else { operator };
        let (a, b) = (left.as_type(of), right.as_type(of));
        let most = a.0.abs().max(a.1.abs());
        let divisor = b.0.abs().max(b.1.abs());
        let (low, high) = match operator {
            Operator::Divide => (if a.0 >= 0 && b.0 >= 0 { 0 } else { -most }, most),
            Operator::Remainder => (if a.0 >= 0 { 0 } else { 1 - divisor }, divisor - 1),
            _ => (if b.0 >= 0 { 0 } else { 1 - divisor }, if b.1 <= 0 { 0 } else { divisor - 1 }),
        };
        let (low, high) = (low.max(of.least()), high.min(of.most()));
        Made::new(Expression::binary(operator, left.tree, right.tree), of, low, high)
    }

    /// `<<`, `>>`, by less than the type has bits.
    pub(super) fn shift(&mut self, operator: Operator, left: Made, by: Made) -> Made {
        let by = self.bits(Operator::And, by, Made::constant(Value::int(7)));
        let is_left = operator == Operator::Left;
        let left = match is_left && left.of.promoted().is_signed() {
            true => self.bits(Operator::And, left, Made::constant(Value::int(1023))),
            false => left,
        };
        let of = left.of.promoted();
        let (low, high) = match is_left {
            true if of.is_signed() => (0, 1023 << 7),
            true => (0, of.most()),
            false => (left.low.min(0), left.high.max(0)),
        };
        Made::new(Expression::binary(operator, left.tree, by.tree), of, low, high)
    }

    /// `<?`, `>?`. Zeros of reals are positive, so that it is the same which of two is taken.
    pub(super) fn least_or_most(&mut self, operator: Operator, left: Made, right: Made) -> Made {
        let of = left.of.common(right.of);
        let (left, right) = match of.is_real() {
            true => (self.with_positive_zero(left), self.with_positive_zero(right)),
            false => (left, right),
        };
        let of = left.of.common(right.of);
        let (a, b) = (left.as_type(of), right.as_type(of));
        Made::new(Expression::binary(operator, left.tree, right.tree), of, a.0.min(b.0), a.1.max(b.1))
    }

    pub(super) fn with_positive_zero(&mut self, made: Made) -> Made {
        if !made.of.is_real() {
            return made;
        }
        self.arithmetic(Operator::Add, Made::constant(Value::real(made.of, 0.0)), made)
    }

    pub(super) fn conditional(&mut self, condition: Expression, yes: Made, no: Made) -> Made {
        let of = yes.of.common(no.of);
        let (a, b) = (yes.as_type(of), no.as_type(of));
        let parts = Box::new([condition, yes.tree, no.tree]);
        Made::new(Expression::Conditional(parts), of, a.0.min(b.0), a.1.max(b.1))
    }

    pub(super) fn prefixed(&mut self, prefix: Prefix, made: Made) -> Made {
        let made = match prefix {
            Prefix::Minus if made.of.promoted().is_signed() && made.low <= made.of.promoted().least() => {
                self.fit(made, 30_011)
            }
            Prefix::Complement => self.as_whole(made),
            _ => made,
        };
        let of = made.of.promoted();
        let (low, high) = match prefix {
            Prefix::Not => return Made::truth(Expression::Prefix(prefix, Box::new(made.tree))),
            _ if !of.is_signed() => (0, of.most()),
            Prefix::Minus => (-made.high, -made.low),
            Prefix::Complement => (-made.high - 1, -made.low - 1),
        };
        Made::new(Expression::Prefix(prefix, Box::new(made.tree)), of, low, high)
    }

    pub(super) fn range_of_reduction(&self, of: Type, made: &Made, positions: i128) -> Option<(i128, i128)> {
        let (low, high) = (made.low.min(0) * positions, made.high.max(0) * positions);
        let widest = low.abs().max(high);
        match of.is_real() {
            true => (widest <= GREATEST_REAL).then(|| rounded(-widest, widest)),
            false if of.is_signed() => (widest <= of.most()).then_some((-widest, widest)),
            false => Some((0, of.most())),
        }
    }
}

/// Between which numbers the result lies; none if it may leave its type.
fn arithmetic_range(operator: Operator, of: Type, left: &Made, right: &Made) -> Option<(i128, i128)> {
    let (a, b) = (left.as_type(of), right.as_type(of));
    let (low, high) = match operator {
        Operator::Add => (a.0 + b.0, a.1 + b.1),
        Operator::Subtract => (a.0 - b.1, a.1 - b.0),
        _ => {
            let products = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)]
                .map(|(a, b)| a.saturating_mul(b).clamp(-WIDEST, WIDEST));
            (products.into_iter().min()?, products.into_iter().max()?)
        }
    };
    if of.is_real() {
        let (low, high) = rounded(low, high);
        return (low >= -GREATEST_REAL && high <= GREATEST_REAL).then_some((low, high));
    }
    match low >= of.least() && high <= of.most() {
        true => Some((low, high)),
        false if of.is_signed() => None,
        false => Some((of.least(), of.most())),
    }
}
