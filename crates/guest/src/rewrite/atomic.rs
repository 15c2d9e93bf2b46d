//! Atomic operators. C's `_Atomic` and `__atomic_*` become these.
//!
//! A load or store is one event at its processor anyway, so an atomic one is an ordinary one that is aligned. A
//! read-modify-write is a call of the host, as that of `trivium.h` is. Processors do not reorder accesses, so a fence
//! has nothing to do.

use wasm_encoder::{BlockType, Function, Instruction as I, ValType};
use wasmparser::{MemArg, Operator};

use super::access::{ACCESSES, Kind, find as find_access};
use super::{ATOMIC, Build, Layout, STRANGE_ATOMIC};
use crate::memory::SHARED_BASE;
use crate::processor::RmwOp;

use ValType::{I32, I64};

/// What an atomic operator is.
pub(super) enum Atomic {
    /// An aligned one of the [`ACCESSES`], by its place in [`ALIGNED`].
    Access(u32, MemArg),
    /// A read-modify-write.
    Rmw(Rmw, MemArg),
    /// A fence.
    Fence,
}

/// A read-modify-write, as the host is told of it.
pub(super) struct Rmw {
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
    fn code(&self) -> i32 {
        let op = OPS.iter().position(|&op| op == (self.op, self.negated)).unwrap_or(0);
        self.size as i32 | (op as i32) << 8
    }

    /// Which of [`SHAPES`] performs it.
    fn shape(&self) -> u32 {
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
const SHAPES: [(ValType, bool); 4] = [(I32, false), (I64, false), (I32, true), (I64, true)];

macro_rules! atomics {
    (
        accesses { $( $atomic:ident $plain:ident )* }
        rmws { $( $op:ident $kind:ident $negated:literal $size:literal $long:literal )* }
    ) => {
        /// The atomic loads and stores that an [`Operator`] can be, as plain ones.
        const PLAIN: [fn(MemArg) -> Operator<'static>; [$(stringify!($plain)),*].len()] = [
            $( |memarg| Operator::$plain { memarg } ),*
        ];

        /// What an operator is, if it is atomic.
        pub(super) fn find(operator: &Operator<'_>) -> Option<Atomic> {
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

/// How many functions are added for atomic operators: aligned accesses, then [`SHAPES`].
pub(super) const FUNCTIONS: u32 = (PLAIN.len() + SHAPES.len()) as u32;

/// The plain kind of an aligned access, with its place among [`ACCESSES`].
fn plain(index: usize) -> (u32, &'static Kind) {
    let memarg = MemArg { align: 0, max_align: 0, offset: 0, memory: 0 };
    let access = find_access(&PLAIN[index](memarg)).map_or(0, |(access, _)| access);
    (access, &ACCESSES[access as usize])
}

/// Parameters and results of an added function.
pub(super) fn signature(function: u32) -> (Vec<ValType>, Vec<ValType>) {
    let function = function as usize;
    match function.checked_sub(PLAIN.len()) {
        None => plain(function).1.signature(Build::Reference),
        // base, perhaps an expected value, operand, offset, code
        Some(shape) => {
            let (value, expects) = SHAPES[shape];
            let values = if expects { vec![value, value] } else { vec![value] };
            ([vec![I32], values, vec![I32, I32]].concat(), vec![value])
        }
    }
}

/// An added function.
pub(super) fn function(layout: &Layout, function: u32) -> Function {
    let function = function as usize;
    match function.checked_sub(PLAIN.len()) {
        None => aligned(layout, function),
        Some(shape) => read_modify_write(layout, SHAPES[shape]),
    }
}

/// An access that must be aligned. Of private memory the host is told: its length of time does not depend on that.
fn aligned(layout: &Layout, index: usize) -> Function {
    let (access, kind) = plain(index);
    let offset = if kind.store { 2 } else { 1 };
    let mut f = Function::new([]);
    f.instruction(&I::LocalGet(0));
    f.instruction(&I::LocalGet(offset));
    f.instruction(&I::I32Add);
    f.instruction(&I::I32Const(kind.size as i32 - 1));
    f.instruction(&I::I32And);
    f.instruction(&I::LocalGet(0));
    f.instruction(&I::LocalGet(offset));
    f.instruction(&I::I32Add);
    f.instruction(&I::I32Const(SHARED_BASE as i32));
    f.instruction(&I::I32LtU);
    f.instruction(&I::I32Or);
    f.instruction(&I::If(BlockType::Empty));
    f.instruction(&I::LocalGet(0));
    f.instruction(&I::LocalGet(offset));
    f.instruction(&I::I32Const(kind.size as i32));
    f.instruction(&I::Call(layout.host(STRANGE_ATOMIC)));
    f.instruction(&I::End);
    (0..=offset).for_each(|local| {
        f.instruction(&I::LocalGet(local));
    });
    if layout.build == Build::Fast {
        // The countdown is up to date.
        f.instruction(&I::I32Const(0));
    }
    f.instruction(&I::Call(layout.access(access)));
    f.instruction(&I::End);
    f
}

fn read_modify_write(layout: &Layout, (value, expects): (ValType, bool)) -> Function {
    let operand = 1 + u32::from(expects);
    let long = |f: &mut Function, local| {
        f.instruction(&I::LocalGet(local));
        if value == I32 {
            f.instruction(&I::I64ExtendI32U);
        }
    };
    let mut f = Function::new([]);
    f.instruction(&I::LocalGet(0));
    f.instruction(&I::LocalGet(operand + 1));
    f.instruction(&I::LocalGet(operand + 2));
    long(&mut f, operand);
    if expects {
        long(&mut f, 1);
    } else {
        f.instruction(&I::I64Const(0));
    }
    f.instruction(&I::Call(layout.patient(ATOMIC)));
    if value == I32 {
        f.instruction(&I::I32WrapI64);
    }
    f.instruction(&I::End);
    f
}

impl Atomic {
    /// What is called in its place: constants pushed on what the operator finds on the stack, and the function. None for
    /// a fence.
    pub(super) fn instead(&self, layout: &Layout) -> Option<(Vec<i32>, u32)> {
        // The validator has bounded a 32-bit memory's offset.
        let offset = |memarg: &MemArg| memarg.offset as u32 as i32;
        match self {
            Atomic::Access(index, memarg) => Some((vec![offset(memarg)], layout.atomic(*index))),
            Atomic::Rmw(rmw, memarg) => {
                Some((vec![offset(memarg), rmw.code()], layout.atomic(PLAIN.len() as u32 + rmw.shape())))
            }
            Atomic::Fence => None,
        }
    }
}
