//! What a read-modify-write makes of what is there.

/// The operations of read-modify-writes (`docs/semantics.md`, section 3). Their numbers are what protocols send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// The operand.
    #[default]
    Exchange,
    /// The operand, if what is there is what is expected.
    CompareExchange,
    /// The sum, without what does not fit.
    Add,
    /// What is there less the operand, without what does not fit.
    Sub,
    /// The bits that both have.
    And,
    /// The bits that one has, or both.
    Or,
    /// The bits that one has and the other has not.
    Xor,
    /// The lesser of two signed numbers.
    Min,
    /// The greater of two signed numbers.
    Max,
    /// The sum of two numbers of IEEE 754, of 4 or 8 bytes.
    AddFloat,
    /// Their difference.
    SubFloat,
    /// The lesser of them (IEEE 754-2019 `minimumNumber`).
    MinFloat,
    /// The greater of them.
    MaxFloat,
}

impl Operation {
    /// All of them, in the order of their numbers.
    pub const ALL: [Operation; 13] = [
        Operation::Exchange,
        Operation::CompareExchange,
        Operation::Add,
        Operation::Sub,
        Operation::And,
        Operation::Or,
        Operation::Xor,
        Operation::Min,
        Operation::Max,
        Operation::AddFloat,
        Operation::SubFloat,
        Operation::MinFloat,
        Operation::MaxFloat,
    ];

    /// The greatest number of one.
    pub const LAST: i64 = Self::ALL.len().cast_signed() as i64 - 1;

    /// The one with a number.
    pub fn of_number(number: i64) -> Option<Operation> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Its number.
    pub fn number(self) -> i64 {
        self as i64
    }

    /// Its name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Exchange => "exchange",
            Operation::CompareExchange => "compare_exchange",
            Operation::Add => "add",
            Operation::Sub => "sub",
            Operation::And => "bitand",
            Operation::Or => "bitor",
            Operation::Xor => "bitxor",
            Operation::Min => "min",
            Operation::Max => "max",
            Operation::AddFloat => "fadd",
            Operation::SubFloat => "fsub",
            Operation::MinFloat => "fmin",
            Operation::MaxFloat => "fmax",
        }
    }

    /// The one of a name.
    pub fn of_name(name: &str) -> Option<Operation> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// Whether it can be made on so many bytes: numbers of IEEE 754 have 4 or 8, others 1 to 8.
    pub fn takes(self, bytes: u8) -> bool {
        match self {
            Operation::AddFloat | Operation::SubFloat | Operation::MinFloat | Operation::MaxFloat => {
                matches!(bytes, 4 | 8)
            }
            _ => (1..=8).contains(&bytes),
        }
    }

    /// What is there afterwards in `bytes` bytes that were `old`. The operand and what is expected lose what does not fit. A result that is no
    /// number is the canonical one.
    ///
    /// # Panics
    /// If [`Operation::takes`] says that it cannot be made on so many bytes.
    pub fn apply(self, bytes: u8, old: u64, operand: u64, expected: u64) -> u64 {
        assert!(self.takes(bytes), "{self:?} of {bytes} bytes");
        let mask = u64::MAX >> (64 - 8 * u32::from(bytes));
        let (old, operand, expected) = (old & mask, operand & mask, expected & mask);
        let signed = |value: u64| {
            let unused = 64 - 8 * u32::from(bytes);
            (value << unused).cast_signed() >> unused
        };
        let new = match self {
            Operation::Exchange => operand,
            Operation::CompareExchange if old == expected => operand,
            Operation::CompareExchange => old,
            Operation::Add => old.wrapping_add(operand),
            Operation::Sub => old.wrapping_sub(operand),
            Operation::And => old & operand,
            Operation::Or => old | operand,
            Operation::Xor => old ^ operand,
            Operation::Min => signed(old).min(signed(operand)).cast_unsigned(),
            Operation::Max => signed(old).max(signed(operand)).cast_unsigned(),
            Operation::AddFloat | Operation::SubFloat | Operation::MinFloat | Operation::MaxFloat => {
                self.apply_to_floats(bytes, old, operand)
            }
        };
        new & mask
    }

    fn apply_to_floats(self, bytes: u8, old: u64, operand: u64) -> u64 {
        if bytes == 4 {
            let [old, operand] = [old, operand].map(|bits| f32::from_bits(bits as u32));
            let new = match self {
                Operation::AddFloat => old + operand,
                Operation::SubFloat => old - operand,
                // Of two zeros the negative one is the lesser.
                Operation::MinFloat if old == operand => f32::from_bits(old.to_bits() | operand.to_bits()),
                Operation::MinFloat => old.min(operand),
                _ if old == operand => f32::from_bits(old.to_bits() & operand.to_bits()),
                _ => old.max(operand),
            };
            return u64::from(if new.is_nan() { 0x7fc0_0000 } else { new.to_bits() });
        }
        let [old, operand] = [old, operand].map(f64::from_bits);
        let new = match self {
            Operation::AddFloat => old + operand,
            Operation::SubFloat => old - operand,
            // Of two zeros the negative one is the lesser.
            Operation::MinFloat if old == operand => f64::from_bits(old.to_bits() | operand.to_bits()),
            Operation::MinFloat => old.min(operand),
            _ if old == operand => f64::from_bits(old.to_bits() & operand.to_bits()),
            _ => old.max(operand),
        };
        if new.is_nan() { 0x7ff8_0000_0000_0000 } else { new.to_bits() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_those_of_the_list() {
        for (number, operation) in (0..).zip(Operation::ALL) {
            assert_eq!((operation.number(), Operation::of_number(number)), (number, Some(operation)));
            assert_eq!(Operation::of_name(operation.name()), Some(operation));
        }
        assert_eq!(Operation::of_number(Operation::LAST + 1), None);
    }

    #[test]
    fn operations_keep_to_their_bytes() {
        use Operation::*;
        let cases = [
            (Add, 1, 0xff, 2, 0, 1),
            (Sub, 2, 0, 1, 0, 0xffff),
            (Exchange, 1, 7, 0x1234, 0, 0x34),
            (CompareExchange, 4, 5, 6, 5, 6),
            (CompareExchange, 4, 5, 6, 4, 5),
            (CompareExchange, 1, 5, 6, 0x105, 6),
            (CompareExchange, 2, 0xfffd, 6, (-3i64).cast_unsigned(), 6),
            (And, 8, 6, 3, 0, 2),
            (Or, 8, 6, 3, 0, 7),
            (Xor, 8, 6, 3, 0, 5),
            (Min, 1, 0xff, 1, 0, 0xff),
            (Max, 1, 0xff, 1, 0, 1),
            (Min, 3, 0x80_0000, 5, 0, 0x80_0000),
        ];
        for (operation, bytes, old, operand, expected, new) in cases {
            assert_eq!(operation.apply(bytes, old, operand, expected), new, "{operation:?} of {bytes} bytes");
        }
    }

    #[test]
    fn floats_are_added_and_compared_as_numbers() {
        let (half, two) = (0.5f64.to_bits(), 2f64.to_bits());
        assert_eq!(f64::from_bits(Operation::AddFloat.apply(8, half, two, 0)), 2.5);
        assert_eq!(f64::from_bits(Operation::MaxFloat.apply(8, half, two, 0)), 2.0);
        let single = |value: f32| u64::from(value.to_bits());
        assert_eq!(Operation::SubFloat.apply(4, single(0.5), single(2.0), 0), single(-1.5));
        assert_eq!(Operation::MinFloat.apply(4, single(f32::NAN), single(2.0), 0), single(2.0));
        let infinite = f64::INFINITY.to_bits();
        let zeros = [0.0f64, -0.0].map(f64::to_bits);
        for (a, b) in [(zeros[0], zeros[1]), (zeros[1], zeros[0])] {
            assert_eq!(Operation::MinFloat.apply(8, a, b, 0), zeros[1]);
            assert_eq!(Operation::MaxFloat.apply(8, a, b, 0), zeros[0]);
        }
        assert_eq!(Operation::SubFloat.apply(8, infinite, infinite, 0), 0x7ff8_0000_0000_0000);
        assert!(!Operation::AddFloat.takes(2) && !Operation::Add.takes(9));
    }
}
