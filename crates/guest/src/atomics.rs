//! Which operators are atomic, and what they do. C's `_Atomic` and `__atomic_*` become these; [`crate::rewrite`] says what takes their place.

use wasm_encoder::ValType;
use wasmparser::{MemArg, Operator};

use crate::processor::RmwOp;

use ValType::{I32, I64};

/// What an atomic operator is.
pub(crate) enum Atomic {
    /// An aligned one, by its place in [`PLAIN`].
    Access(u32, MemArg),
    /// A read-modify-write.
    Rmw(Rmw, MemArg),
    /// A fence.
    Fence,
}

/// A read-modify-write, as the host is told of it.
pub(crate) struct Rmw {
    op: RmwOp,
    /// The operand is subtracted: it is added with the other sign.
    negated: bool,
    /// 1, 2, 4 or 8 bytes.
    size: u32,
    /// Whether the value has 64 bits.
    long: bool,
}

const OPS: [(RmwOp, bool); 7] = [
    (RmwOp::Add, false),
    (RmwOp::Add, true),
    (RmwOp::And, false),
    (RmwOp::Or, false),
    (RmwOp::Xor, false),
    (RmwOp::Swap, false),
    (RmwOp::CompareSwap, false),
];

impl Rmw {
    /// As one number: the size, and the operation from bit 8 on.
    pub(crate) fn code(&self) -> i32 {
        let op = OPS.iter().position(|&op| op == (self.op, self.negated)).unwrap_or(0);
        self.size as i32 | (op as i32) << 8
    }

    /// Which of [`SHAPES`] performs it.
    pub(crate) fn shape(&self) -> u32 {
        u32::from(self.long) + 2 * u32::from(self.op == RmwOp::CompareSwap)
    }
}

/// What the number of a read-modify-write means: the operation, whether its operand is negated, and the size in bytes.
pub(crate) fn read_modify_write_of(code: i32) -> Option<(RmwOp, bool, u32)> {
    let (op, negated) = *OPS.get(usize::try_from(code >> 8).ok()?)?;
    Some((op, negated, (code & 0xff) as u32))
}

/// Whether an operator is one of those that are replaced here.
pub(crate) fn is_atomic(operator: &Operator<'_>) -> bool {
    find(operator).is_some()
}

/// Whether an operator reads, modifies and writes.
pub(crate) fn is_read_modify_write(operator: &Operator<'_>) -> bool {
    matches!(find(operator), Some(Atomic::Rmw(..)))
}

/// The functions that perform read-modify-writes: the value's type, and whether there is an expected one.
pub(crate) const SHAPES: [(ValType, bool); 4] = [(I32, false), (I64, false), (I32, true), (I64, true)];

macro_rules! atomics {
    (
        accesses { $( $atomic:ident $plain:ident )* }
        rmws { $( $op:ident $kind:ident $negated:literal $size:literal $long:literal )* }
    ) => {
        /// The atomic loads and stores that an [`Operator`] can be, as plain ones.
        pub(crate) const PLAIN: [fn(MemArg) -> Operator<'static>; [$(stringify!($plain)),*].len()] = [
            $( |memarg| Operator::$plain { memarg } ),*
        ];

        /// What an operator is, if it is atomic.
        pub(crate) fn find(operator: &Operator<'_>) -> Option<Atomic> {
            let mut index = 0;
            $(
                if let Operator::$atomic { memarg } = operator {
                    return Some(Atomic::Access(index, *memarg));
                }
                index += 1;
            )*
            let _ = index;
            let rmw = |op, negated, size, long, memarg: &MemArg| Some(Atomic::Rmw(Rmw { op, negated, size, long }, *memarg));
            match operator {
                Operator::AtomicFence => Some(Atomic::Fence),
                $( Operator::$op { memarg } => rmw(RmwOp::$kind, $negated, $size, $long, memarg), )*
                _ => None,
            }
        }
    };
}

atomics! {
    accesses {
        I32AtomicLoad I32Load
        I64AtomicLoad I64Load
        I32AtomicLoad8U I32Load8U
        I32AtomicLoad16U I32Load16U
        I64AtomicLoad8U I64Load8U
        I64AtomicLoad16U I64Load16U
        I64AtomicLoad32U I64Load32U
        I32AtomicStore I32Store
        I64AtomicStore I64Store
        I32AtomicStore8 I32Store8
        I32AtomicStore16 I32Store16
        I64AtomicStore8 I64Store8
        I64AtomicStore16 I64Store16
        I64AtomicStore32 I64Store32
    }
    rmws {
        I32AtomicRmwAdd Add false 4 false
        I64AtomicRmwAdd Add false 8 true
        I32AtomicRmw8AddU Add false 1 false
        I32AtomicRmw16AddU Add false 2 false
        I64AtomicRmw8AddU Add false 1 true
        I64AtomicRmw16AddU Add false 2 true
        I64AtomicRmw32AddU Add false 4 true
        I32AtomicRmwSub Add true 4 false
        I64AtomicRmwSub Add true 8 true
        I32AtomicRmw8SubU Add true 1 false
        I32AtomicRmw16SubU Add true 2 false
        I64AtomicRmw8SubU Add true 1 true
        I64AtomicRmw16SubU Add true 2 true
        I64AtomicRmw32SubU Add true 4 true
        I32AtomicRmwAnd And false 4 false
        I64AtomicRmwAnd And false 8 true
        I32AtomicRmw8AndU And false 1 false
        I32AtomicRmw16AndU And false 2 false
        I64AtomicRmw8AndU And false 1 true
        I64AtomicRmw16AndU And false 2 true
        I64AtomicRmw32AndU And false 4 true
        I32AtomicRmwOr Or false 4 false
        I64AtomicRmwOr Or false 8 true
        I32AtomicRmw8OrU Or false 1 false
        I32AtomicRmw16OrU Or false 2 false
        I64AtomicRmw8OrU Or false 1 true
        I64AtomicRmw16OrU Or false 2 true
        I64AtomicRmw32OrU Or false 4 true
        I32AtomicRmwXor Xor false 4 false
        I64AtomicRmwXor Xor false 8 true
        I32AtomicRmw8XorU Xor false 1 false
        I32AtomicRmw16XorU Xor false 2 false
        I64AtomicRmw8XorU Xor false 1 true
        I64AtomicRmw16XorU Xor false 2 true
        I64AtomicRmw32XorU Xor false 4 true
        I32AtomicRmwXchg Swap false 4 false
        I64AtomicRmwXchg Swap false 8 true
        I32AtomicRmw8XchgU Swap false 1 false
        I32AtomicRmw16XchgU Swap false 2 false
        I64AtomicRmw8XchgU Swap false 1 true
        I64AtomicRmw16XchgU Swap false 2 true
        I64AtomicRmw32XchgU Swap false 4 true
        I32AtomicRmwCmpxchg CompareSwap false 4 false
        I64AtomicRmwCmpxchg CompareSwap false 8 true
        I32AtomicRmw8CmpxchgU CompareSwap false 1 false
        I32AtomicRmw16CmpxchgU CompareSwap false 2 false
        I64AtomicRmw8CmpxchgU CompareSwap false 1 true
        I64AtomicRmw16CmpxchgU CompareSwap false 2 true
        I64AtomicRmw32CmpxchgU CompareSwap false 4 true
    }
}
