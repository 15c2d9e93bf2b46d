//! Numbers as C has them where `int` and `long` have 32 bits: types, conversions, operators. What C leaves undefined is an error.

/// An arithmetic type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Bool,
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Float,
    Double,
}

use Type::{Double, Float, Int, UnsignedLongLong};

impl Type {
    pub const ALL: [Type; 14] = [
        Type::Bool,
        Type::Char,
        Type::SignedChar,
        Type::UnsignedChar,
        Type::Short,
        Type::UnsignedShort,
        Int,
        Type::Unsigned,
        Type::Long,
        Type::UnsignedLong,
        Type::LongLong,
        UnsignedLongLong,
        Float,
        Double,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Type::Bool => "_Bool",
            Type::Char => "char",
            Type::SignedChar => "signed char",
            Type::UnsignedChar => "unsigned char",
            Type::Short => "short",
            Type::UnsignedShort => "unsigned short",
            Int => "int",
            Type::Unsigned => "unsigned",
            Type::Long => "long",
            Type::UnsignedLong => "unsigned long",
            Type::LongLong => "long long",
            UnsignedLongLong => "unsigned long long",
            Float => "float",
            Double => "double",
        }
    }

    pub fn bits(self) -> u32 {
        match self {
            Type::Bool => 1,
            Type::Char | Type::SignedChar | Type::UnsignedChar => 8,
            Type::Short | Type::UnsignedShort => 16,
            Int | Type::Unsigned | Type::Long | Type::UnsignedLong | Float => 32,
            Type::LongLong | UnsignedLongLong | Double => 64,
        }
    }

    pub fn is_real(self) -> bool {
        matches!(self, Float | Double)
    }

    /// Whether it has negative numbers; `char` has.
    pub fn is_signed(self) -> bool {
        use Type::{Bool, UnsignedChar, UnsignedLong, UnsignedShort};
        !matches!(self, Bool | UnsignedChar | UnsignedShort | Type::Unsigned | UnsignedLong | UnsignedLongLong)
    }

    /// The least whole number of the type.
    pub fn least(self) -> i128 {
        if self.is_signed() { -(1 << (self.bits() - 1)) } else { 0 }
    }

    /// The greatest whole number of the type.
    pub fn most(self) -> i128 {
        if self.is_signed() { (1 << (self.bits() - 1)) - 1 } else { (1 << self.bits()) - 1 }
    }

    /// What an operator makes of an operand of this type.
    pub fn promoted(self) -> Type {
        if self.bits() < 32 { Int } else { self }
    }

    /// What two operands are brought to.
    pub fn common(self, other: Type) -> Type {
        for real in [Double, Float] {
            if self == real || other == real {
                return real;
            }
        }
        let (a, b) = (self.promoted(), other.promoted());
        let rank = |of: Type| match of {
            Int | Type::Unsigned => 0,
            Type::Long | Type::UnsignedLong => 1,
            _ => 2,
        };
        if a.is_signed() == b.is_signed() {
            return if rank(a) >= rank(b) { a } else { b };
        }
        let (signed, unsigned) = if a.is_signed() { (a, b) } else { (b, a) };
        if rank(unsigned) >= rank(signed) {
            unsigned
        } else if signed.bits() > unsigned.bits() {
            signed
        } else {
            signed.unsigned()
        }
    }

    fn unsigned(self) -> Type {
        match self {
            Int => Type::Unsigned,
            Type::Long => Type::UnsignedLong,
            _ => UnsignedLongLong,
        }
    }
}

/// A number without its type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    Whole(i128),
    Real(f64),
}

/// A number of a type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Value {
    pub of: Type,
    pub number: Number,
}

/// Operators with two operands that are both evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    And,
    Or,
    Xor,
    Left,
    Right,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
    /// `<?`
    Least,
    /// `>?`
    Most,
    /// `%%`
    Modulus,
}

use Operator::{Add, And, Divide, Least, Modulus, Most, Multiply, Or, Remainder, Subtract, Xor};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prefix {
    Minus,
    Complement,
    Not,
}

/// Wrong is what C leaves undefined.
pub type Result<T> = std::result::Result<T, String>;

impl Value {
    /// A whole number, brought into its type.
    pub fn whole(of: Type, number: i128) -> Value {
        if of == Type::Bool {
            return Value { of, number: Number::Whole(i128::from(number != 0)) };
        }
        let all: i128 = 1 << of.bits();
        let rest = number.rem_euclid(all);
        let number = if of.is_signed() && rest > of.most() { rest - all } else { rest };
        Value { of, number: Number::Whole(number) }
    }

    pub fn int(number: i128) -> Value {
        Value::whole(Int, number)
    }

    pub fn truth(is: bool) -> Value {
        Value::int(i128::from(is))
    }

    /// A real number, rounded to its type.
    pub fn real(of: Type, number: f64) -> Value {
        let number = if of == Float { f64::from(number as f32) } else { number };
        Value { of, number: Number::Real(number) }
    }

    pub fn zero(of: Type) -> Value {
        if of.is_real() { Value::real(of, 0.0) } else { Value::whole(of, 0) }
    }

    pub fn is_true(self) -> bool {
        match self.number {
            Number::Whole(number) => number != 0,
            Number::Real(number) => number != 0.0,
        }
    }

    /// As a whole number, which an index is.
    pub fn as_whole(self) -> Result<i128> {
        match self.number {
            Number::Whole(number) => Ok(number),
            Number::Real(number) => Err(format!("{number} is no whole number")),
        }
    }

    pub fn as_real(self) -> f64 {
        match self.number {
            Number::Whole(number) => number as f64,
            Number::Real(number) => number,
        }
    }

    pub fn to(self, of: Type) -> Result<Value> {
        Ok(match (self.number, of) {
            (Number::Whole(number), Float) => Value::real(of, f64::from(number as f32)),
            (Number::Whole(number), Double) => Value::real(of, number as f64),
            (Number::Whole(number), _) => Value::whole(of, number),
            (Number::Real(number), Type::Bool) => Value::whole(of, i128::from(number != 0.0)),
            (Number::Real(number), Float | Double) => {
                let value = Value::real(of, number);
                if value.as_real().is_infinite() && number.is_finite() {
                    return Err(format!("{number} is too great for a float"));
                }
                value
            }
            (Number::Real(number), _) => {
                let whole = number.trunc();
                if !(whole >= of.least() as f64 && whole < of.most() as f64 + 1.0) {
                    return Err(format!("{number} does not go into {}", of.name()));
                }
                Value::whole(of, whole as i128)
            }
        })
    }

    pub fn prefix(self, prefix: Prefix) -> Result<Value> {
        let of = self.of.promoted();
        match (prefix, self.number) {
            (Prefix::Not, _) => Ok(Value::truth(!self.is_true())),
            (Prefix::Minus, Number::Real(number)) => Ok(Value::real(of, -number)),
            (Prefix::Minus, Number::Whole(number)) => whole_result(of, -number),
            (Prefix::Complement, Number::Whole(number)) => Ok(Value::whole(of, !number)),
            (Prefix::Complement, Number::Real(_)) => Err("`~` of a real number".into()),
        }
    }
}

/// What an operator has computed: an unsigned type takes all, and a signed one only its own numbers.
fn whole_result(of: Type, number: i128) -> Result<Value> {
    if of.is_signed() && !(of.least()..=of.most()).contains(&number) {
        return Err(format!("{number} overflows {}", of.name()));
    }
    Ok(Value::whole(of, number))
}

impl Operator {
    pub fn word(self) -> &'static str {
        match self {
            Add => "+",
            Subtract => "-",
            Multiply => "*",
            Divide => "/",
            Remainder => "%",
            And => "&",
            Or => "|",
            Xor => "^",
            Operator::Left => "<<",
            Operator::Right => ">>",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Equal => "==",
            Operator::Unequal => "!=",
            Least => "<?",
            Most => ">?",
            Modulus => "%%",
        }
    }

    pub fn is_comparison(self) -> bool {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};
        matches!(self, Less | LessOrEqual | Greater | GreaterOrEqual | Equal | Unequal)
    }

    /// The type of what comes of it.
    pub fn result(self, left: Type, right: Type) -> Type {
        match self {
            Operator::Left | Operator::Right => left.promoted(),
            _ if self.is_comparison() => Int,
            _ => left.common(right),
        }
    }

    pub fn apply(self, left: Value, right: Value) -> Result<Value> {
        if matches!(self, Operator::Left | Operator::Right) {
            return self.shift(left, right);
        }
        let common = left.of.common(right.of);
        match (left.to(common)?.number, right.to(common)?.number) {
            (Number::Whole(a), Number::Whole(b)) => self.of_whole(common, a, b),
            (Number::Real(a), Number::Real(b)) => self.of_real(common, a, b),
            _ => Err("operands of two kinds".into()),
        }
    }

    fn shift(self, left: Value, right: Value) -> Result<Value> {
        let of = left.of.promoted();
        let (number, by) = (left.as_whole()?, right.as_whole()?);
        if !(0..i128::from(of.bits())).contains(&by) {
            return Err(format!("{} is shifted by {by}", of.name()));
        }
        if self == Operator::Right {
            return Ok(Value::whole(of, number >> by));
        }
        if of.is_signed() && number < 0 {
            return Err(format!("{number} is shifted left"));
        }
        whole_result(of, number << by)
    }

    fn compare<T: PartialOrd>(self, a: &T, b: &T) -> Option<bool> {
        Some(match self {
            Operator::Less => a < b,
            Operator::LessOrEqual => a <= b,
            Operator::Greater => a > b,
            Operator::GreaterOrEqual => a >= b,
            Operator::Equal => a == b,
            Operator::Unequal => a != b,
            _ => return None,
        })
    }

    fn of_whole(self, of: Type, a: i128, b: i128) -> Result<Value> {
        if let Some(is) = self.compare(&a, &b) {
            return Ok(Value::truth(is));
        }
        if matches!(self, Divide | Remainder | Modulus) && (b == 0 || of.is_signed() && a == of.least() && b == -1) {
            return Err(format!("{a} {} {b}", self.word()));
        }
        let number = match self {
            Add => a + b,
            Subtract => a - b,
            // Two numbers of 64 bits may not fit into 127.
            Multiply => a.checked_mul(b).unwrap_or_else(|| (a as u128).wrapping_mul(b as u128) as u64 as i128),
            Divide => a / b,
            Remainder => a % b,
            Modulus => {
                let rest = a % b;
                if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
            }
            And => a & b,
            Or => a | b,
            Xor => a ^ b,
            Least => a.min(b),
            _ => a.max(b),
        };
        whole_result(of, number)
    }

    fn of_real(self, of: Type, a: f64, b: f64) -> Result<Value> {
        if let Some(is) = self.compare(&a, &b) {
            return Ok(Value::truth(is));
        }
        let number = match self {
            // A float's sum, product or quotient is that of doubles, rounded once more: a double has bits enough for that.
            Add => a + b,
            Subtract => a - b,
            Multiply => a * b,
            Divide => a / b,
            Least => return Ok(Value::real(of, if a < b { a } else { b })),
            Most => return Ok(Value::real(of, if a > b { a } else { b })),
            _ => return Err(format!("`{}` of real numbers", self.word())),
        };
        let value = Value::real(of, number);
        if value.as_real().is_finite() { Ok(value) } else { Err(format!("{a} {} {b} is not finite", self.word())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(of: Type, number: i128) -> Value {
        Value::whole(of, number)
    }

    #[test]
    fn conversions_are_those_of_c() {
        assert_eq!(whole(Type::Char, 200), whole(Type::Char, -56));
        assert_eq!(whole(Type::UnsignedShort, -1).as_whole(), Ok(65535));
        assert_eq!(Type::Long.common(Type::Unsigned), Type::UnsignedLong);
        assert_eq!(Type::LongLong.common(Type::UnsignedLong), Type::LongLong);
        assert_eq!(Type::LongLong.common(UnsignedLongLong), UnsignedLongLong);
        assert_eq!(Type::UnsignedChar.common(Type::Short), Int);
        assert_eq!(Type::Bool.common(Type::Bool), Int);
        assert_eq!(whole(Type::Bool, 6), whole(Type::Bool, 1));
        assert_eq!(Value::real(Double, 0.25).to(Type::Bool), Ok(whole(Type::Bool, 1)));
        assert_eq!(Type::LongLong.common(Float), Float);
        // Minus one is the greatest unsigned number.
        assert_eq!(Operator::Less.apply(Value::int(-1), whole(Type::Unsigned, 1)), Ok(Value::truth(false)));
        assert_eq!(Operator::Less.apply(Value::int(-1), whole(Type::UnsignedChar, 1)), Ok(Value::truth(true)));
        // Towards zero; and what does not go in is undefined, at both ends.
        assert_eq!(Value::real(Double, -128.9).to(Type::SignedChar), Ok(whole(Type::SignedChar, -128)));
        assert_eq!(Value::real(Double, -0.9).to(Type::Unsigned), Ok(whole(Type::Unsigned, 0)));
        for outside in [-129.0, 128.0, f64::NAN, f64::INFINITY] {
            assert!(Value::real(Double, outside).to(Type::SignedChar).is_err(), "{outside}");
        }
        // To the nearest, and to the even one of two, once.
        assert_eq!(whole(Type::LongLong, (1 << 24) + 1).to(Float), Ok(Value::real(Float, 16_777_216.0)));
        assert_eq!(whole(UnsignedLongLong, (1 << 60) + (1 << 36) + 1).to(Float).unwrap().as_real(), {
            (1u64 << 60) as f64 + (1u64 << 37) as f64
        });
    }

    #[test]
    fn operators_are_those_of_c() {
        let of_int = |operator: Operator, a: i128, b: i128| operator.apply(Value::int(a), Value::int(b));
        assert_eq!(of_int(Divide, -7, 2), Ok(Value::int(-3)));
        assert_eq!(of_int(Remainder, -7, 2), Ok(Value::int(-1)));
        assert_eq!(of_int(Modulus, -7, 2), Ok(Value::int(1)));
        assert_eq!(of_int(Modulus, 7, -2), Ok(Value::int(-1)));
        assert_eq!(of_int(Operator::Right, -8, 1), Ok(Value::int(-4)));
        let least = Int.least();
        let undefined = [
            (Add, Int.most(), 1),
            (Divide, 1, 0),
            (Modulus, least, -1),
            (Operator::Left, -1, 1),
            (Operator::Left, 1, 31),
            (Operator::Left, 1, 32),
            (Operator::Right, 1, -1),
        ];
        for (operator, a, b) in undefined {
            assert!(of_int(operator, a, b).is_err(), "{a} {} {b}", operator.word());
        }
        assert!(Value::int(least).prefix(Prefix::Minus).is_err());
        let most = whole(UnsignedLongLong, -1);
        assert_eq!(Multiply.apply(most, most), Ok(whole(UnsignedLongLong, 1)));
        assert_eq!(
            Operator::Left.apply(whole(Type::UnsignedChar, 255), most.to(Type::UnsignedChar).unwrap()).ok(),
            None
        );
        // A float is rounded at each step.
        let (a, b) = (Value::real(Float, 0.1), Value::real(Float, 0.2));
        assert_eq!(Add.apply(a, b).unwrap().as_real(), f64::from(0.1f32 + 0.2f32));
    }
}
