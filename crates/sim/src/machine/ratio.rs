//! Exact fractions for what a machine scales by: cycles of operators, the engine's slowdown.

use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::fmt;
use trivium_engine::number::fit;

/// A fraction that is not negative, written in a machine file as `2`, `0.7` or `"7/10"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    numerator: Divisor,
    denominator: Divisor,
}

/// A number that others are divided by, often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Divisor {
    number: u64,
    /// 2^64 by the number, rounded up; 0 if that is not below 2^64.
    inverse: u64,
}

impl Divisor {
    fn new(number: u64) -> Divisor {
        Divisor { number, inverse: if number > 1 { u64::MAX / number + 1 } else { 0 } }
    }

    /// A number divided by this one, which is not 0, rounded down. The inverse times this number exceeds 2^64 by less
    /// than this number, which is below 2^20 ([`LIMIT`]), so that the quotient is right for numbers below 2^44.
    #[inline]
    fn divides(self, number: u64) -> u64 {
        if self.inverse > 0 && number < 1 << 44 {
            ((u128::from(number) * u128::from(self.inverse)) >> 64) as u64
        } else {
            number / self.number
        }
    }
}

/// Numerators and denominators stay below this, so that products with 40-bit counts fit 64 bits.
const LIMIT: u64 = 1_000_000;

impl Ratio {
    /// Nothing.
    pub(crate) fn zero() -> Ratio {
        Ratio { numerator: Divisor::new(0), denominator: Divisor::new(1) }
    }

    /// One.
    pub(crate) fn one() -> Ratio {
        Ratio { numerator: Divisor::new(1), denominator: Divisor::new(1) }
    }

    /// The fraction; `None` when the denominator is 0 or a part is above 1,000,000.
    pub fn new(numerator: u64, denominator: u64) -> Option<Ratio> {
        let is_right = denominator > 0 && numerator <= LIMIT && denominator <= LIMIT;
        is_right.then(|| Ratio { numerator: Divisor::new(numerator), denominator: Divisor::new(denominator) })
    }

    /// `count` times the fraction, rounded down. Of a growing count, so that no rounding accumulates.
    #[inline]
    pub fn of(self, count: u64) -> u64 {
        let Ratio { numerator, denominator } = self;
        match count.checked_mul(numerator.number) {
            Some(product) if denominator.number == 1 => product,
            Some(product) => denominator.divides(product),
            None => long_quotient(count, numerator.number, denominator.number),
        }
    }

    /// The least count of which the fraction, rounded down, is at least `least`; the greatest count if there is none.
    #[inline]
    pub fn count_for(self, least: u64) -> u64 {
        let Ratio { numerator, denominator } = self;
        match (least, numerator.number) {
            (0, _) => 0,
            (_, 0) => u64::MAX,
            _ => match least.checked_mul(denominator.number) {
                Some(product) if numerator.number == 1 => product,
                Some(product) => numerator.divides(product - 1) + 1,
                None => {
                    let product = u128::from(least) * u128::from(denominator.number);
                    u64::try_from(product.div_ceil(u128::from(numerator.number))).unwrap_or(u64::MAX)
                }
            },
        }
    }

    /// Whether it is 0.
    pub(crate) fn is_zero(self) -> bool {
        self.numerator.number == 0
    }

    /// The greatest fraction of which both, which are not 0, are multiples; none if its parts would be too large.
    pub(crate) fn common_part(self, other: Ratio) -> Option<Ratio> {
        let (above, below) = (self.numerator.number, self.denominator.number);
        let (other_above, other_below) = (other.numerator.number, other.denominator.number);
        // Products of two numbers up to the limit.
        let (numerator, denominator) = (common_divisor(above * other_below, other_above * below), below * other_below);
        let common = common_divisor(numerator, denominator);
        Ratio::new(numerator / common, denominator / common)
    }

    /// How often another fraction, which is not 0, goes into this one, rounded down.
    pub(crate) fn times(self, other: Ratio) -> u64 {
        self.numerator.number * other.denominator.number / (self.denominator.number * other.numerator.number)
    }

    /// Reads `2`, `0.7` or `7/10`.
    pub fn parse(text: &str) -> Option<Ratio> {
        if let Some((above, below)) = text.split_once('/') {
            return Ratio::new(above.trim().parse().ok()?, below.trim().parse().ok()?);
        }
        let Some((whole, digits)) = text.split_once('.') else {
            return Ratio::new(text.trim().parse().ok()?, 1);
        };
        let denominator = 10u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let rest: u64 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        let numerator = whole.checked_mul(denominator)?.checked_add(rest)?;
        let common = common_divisor(numerator, denominator);
        Ratio::new(numerator / common, denominator / common)
    }
}

/// The greatest number that divides both; the other if one is 0.
fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// A product divided, where the product has more than 64 bits.
#[cold]
fn long_quotient(count: u64, numerator: u64, denominator: u64) -> u64 {
    let quotient = u128::from(count) * u128::from(numerator) / u128::from(denominator);
    fit(quotient, "a time, which has 64 bits")
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ratio { numerator, denominator } = self;
        match denominator.number {
            1 => write!(f, "{}", numerator.number),
            number => write!(f, "{}/{number}", numerator.number),
        }
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ratio, D::Error> {
        struct RatioVisitor;
        impl Visitor<'_> for RatioVisitor {
            type Value = Ratio;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a fraction of two whole numbers up to 1000000, like 2, 0.7 or \"7/10\"")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Ratio, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Ratio, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Ratio, E> {
                Ratio::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(RatioVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::{Divisor, LIMIT, Ratio};

    #[test]
    fn a_divisor_divides() {
        for number in [1, 2, 3, 7, 10, 64, 999_983, LIMIT - 1, LIMIT] {
            let divisor = Divisor::new(number);
            let multiples = [0, 1, 2, 12_345, (1 << 44) / number - 1, (1 << 44) / number, (1 << 60) / number];
            for multiple in multiples.map(|times| times * number) {
                for other in multiple.saturating_sub(1)..multiple + 2 {
                    assert_eq!(divisor.divides(other), other / number, "{other} by {number}");
                }
            }
        }
    }

    #[test]
    fn decimals_and_fractions_are_exact() {
        assert_eq!(Ratio::parse("0.7").unwrap().of(1_000_000_000_010), 700_000_000_007);
        assert_eq!(Ratio::parse("1/3").unwrap().of(10), 3);
        assert_eq!(Ratio::parse("4").unwrap().of(5), 20);
        assert_eq!(Ratio::parse("12.50000000"), Ratio::new(25, 2));
        for bad in ["-1", "", "1/0", "x", "1.2.3", "1e9999999", "0.1234567", "1234567.0"] {
            assert!(Ratio::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_common_part_goes_into_both() {
        let ratio = |text: &str| Ratio::parse(text).unwrap();
        for (a, b, part) in [("0.7", "12", "1/10"), ("3/2", "9/4", "3/4"), ("4/6", "2/3", "2/3"), ("5", "5", "5")] {
            let (a, b) = (ratio(a), ratio(b));
            let common = a.common_part(b).unwrap();
            assert_eq!(common, ratio(part));
            for each in [a, b] {
                assert_eq!(common.of(each.times(common) * 1_000_000), each.of(1_000_000), "{each} by {common}");
            }
        }
        assert_eq!(ratio("1/999983").common_part(ratio("1/999979")), None);
    }

    #[test]
    fn counts_are_the_least() {
        for ratio in ["0.7", "1", "3", "1/3", "7/5"].map(|text| Ratio::parse(text).unwrap()) {
            for least in (0..200).chain([1 << 50, u64::MAX / 8]) {
                let count = ratio.count_for(least);
                assert!(
                    ratio.of(count) >= least && (count == 0 || ratio.of(count - 1) < least),
                    "{ratio} {least} {count}"
                );
            }
        }
        assert_eq!(Ratio::parse("0").unwrap().count_for(1), u64::MAX);
    }
}
