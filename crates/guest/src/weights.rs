//! How much work a program's operators are: classes of operators, and a weight for each.

use std::ops::{Add, AddAssign, Mul};

/// What kind of work an operator is. Operators that are no instructions (those that move locals, constants, and the
/// brackets of the program's structure) have no class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperatorClass {
    /// Integers are added, compared, shifted, combined bit by bit, widened or narrowed; one of two values is selected.
    Integer,
    /// Integers are multiplied.
    Multiply,
    /// Integers are divided, or the remainder is taken.
    Divide,
    /// Floating-point numbers are added, subtracted or compared, or their sign is changed.
    FloatAdd,
    /// Floating-point numbers are multiplied.
    FloatMultiply,
    /// Floating-point numbers are divided.
    FloatDivide,
    /// A square root.
    SquareRoot,
    /// From integers to floating-point numbers and back, between sizes of floating-point numbers, to a whole number, or from one kind
    /// of register to the other.
    Conversion,
    /// `br`, `br_if`, `br_table`, `if`, `return`.
    Branch,
    /// `call` and `call_indirect`.
    Call,
    /// Loads and stores, atomic operators among them, and operators that copy or fill memory: of these each access to a
    /// word, too.
    Memory,
    /// All others: global variables, tables, references, the memory's size.
    Other,
}

impl OperatorClass {
    /// All classes.
    pub const ALL: [OperatorClass; 12] = [
        OperatorClass::Integer,
        OperatorClass::Multiply,
        OperatorClass::Divide,
        OperatorClass::FloatAdd,
        OperatorClass::FloatMultiply,
        OperatorClass::FloatDivide,
        OperatorClass::SquareRoot,
        OperatorClass::Conversion,
        OperatorClass::Branch,
        OperatorClass::Call,
        OperatorClass::Memory,
        OperatorClass::Other,
    ];
}

/// How much work an operator of each class is, in a unit of whoever weighs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperatorWeights {
    of: [u32; OperatorClass::ALL.len()],
    are_equal: bool,
}

/// Each operator is work of 1.
impl Default for OperatorWeights {
    fn default() -> OperatorWeights {
        OperatorWeights { of: [1; OperatorClass::ALL.len()], are_equal: true }
    }
}

impl OperatorWeights {
    /// The greatest weight.
    pub const MOST: u32 = 1 << 20;

    /// What `weight` tells of each class; none unless all are from 1 to [`OperatorWeights::MOST`]: a program that did no work would
    /// never poll.
    pub fn new(weight: impl Fn(OperatorClass) -> u32) -> Option<OperatorWeights> {
        let of = OperatorClass::ALL.map(weight);
        let is_right = of.iter().all(|weight| (1..=OperatorWeights::MOST).contains(weight));
        is_right.then(|| OperatorWeights { of, are_equal: of.iter().all(|weight| *weight == of[0]) })
    }

    /// Of one operator of a class.
    pub fn of(&self, class: OperatorClass) -> u32 {
        self.of[class as usize]
    }

    /// Whether the work tells how many instructions there were.
    pub(crate) fn are_equal(&self) -> bool {
        self.are_equal
    }

    /// One operator of a class.
    pub(crate) fn one(&self, class: OperatorClass) -> Executed {
        Executed { instructions: 1, work: self.of(class).into() }
    }

    /// By how much the work is more than if each instruction had the weight of an [integer](OperatorClass::Integer) operator.
    pub(crate) fn surplus(&self, executed: Executed) -> i64 {
        executed.work.wrapping_sub(executed.instructions.wrapping_mul(self.plain())).cast_signed()
    }

    /// What was executed, as its work and the [surplus](OperatorWeights::surplus) tell it.
    pub(crate) fn executed(&self, work: u64, surplus: i64) -> Executed {
        let plain = work.wrapping_sub(surplus.cast_unsigned());
        let instructions = if self.plain() == 1 { plain } else { plain / self.plain() };
        Executed { instructions, work }
    }

    /// Whether operators of a class do not change the surplus.
    pub(crate) fn is_plain(&self, class: OperatorClass) -> bool {
        u64::from(self.of(class)) == self.plain()
    }

    fn plain(&self) -> u64 {
        self.of(OperatorClass::Integer).into()
    }
}

/// What a program has executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Executed {
    /// How many instructions.
    pub instructions: u64,
    /// The sum of their [weights](OperatorWeights); of a program whose operators are not weighed, their number.
    pub work: u64,
}

impl Add for Executed {
    type Output = Executed;

    fn add(self, other: Executed) -> Executed {
        Executed { instructions: self.instructions + other.instructions, work: self.work + other.work }
    }
}

impl AddAssign for Executed {
    fn add_assign(&mut self, other: Executed) {
        *self = *self + other;
    }
}

impl Mul<u64> for Executed {
    type Output = Executed;

    fn mul(self, times: u64) -> Executed {
        Executed { instructions: self.instructions * times, work: self.work * times }
    }
}

#[cfg(test)]
mod tests {
    use super::{Executed, OperatorClass, OperatorWeights};

    #[test]
    fn work_and_surplus_tell_the_instructions() {
        for integer in [1, 7, 40] {
            let weights = OperatorWeights::new(|class| if class == OperatorClass::Integer { integer } else { 9 });
            let weights = weights.expect("weights that are allowed");
            let (integer, other) = (weights.one(OperatorClass::Integer), weights.one(OperatorClass::Divide));
            for executed in [Executed::default(), integer * 5, other * 3, integer * (1 << 30) + other * 12_345] {
                assert_eq!(weights.executed(executed.work, weights.surplus(executed)), executed);
            }
        }
    }

    #[test]
    fn weights_that_are_nothing_or_too_much_are_refused() {
        assert_eq!(OperatorWeights::new(|_| 1), Some(OperatorWeights::default()));
        assert!(OperatorWeights::new(|_| OperatorWeights::MOST).is_some_and(|weights| weights.are_equal()));
        for wrong in [0, OperatorWeights::MOST + 1] {
            assert_eq!(OperatorWeights::new(|class| if class == OperatorClass::Call { wrong } else { 1 }), None);
        }
    }
}
