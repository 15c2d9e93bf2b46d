//! The functions added to a module: one for each kind of load and store, and `poll`.
//!
//! Loads have the parameters (base, offset), stores (base, value, offset): what the operator finds
//! on the stack, and its static offset. In the fast build the work follows that the stored
//! countdown does not count yet, and, where the operators' weights differ, the change of the surplus with it.

use wasm_encoder::{BlockType, Function, Instruction as I, MemArg, ValType};
use wasmparser::Operator;

use super::fast::adjust_countdown;
use super::{ACCESS, Build, LOAD_SLOWLY, Layout, MEMORY_INIT, POLL, STORE_SLOWLY};

/// The host's answer: the access may happen.
pub(crate) const GO: i32 = 0;
/// The host's answer: suspend, then ask again.
pub(crate) const WAIT: i32 = 1;
/// The host's answer: it will do the access itself (in pieces, or because it is already done).
pub(crate) const SLOWLY: i32 = 2;
/// Added to the size of an access that is a store.
pub(crate) const WRITE: i32 = 0x100;

/// How the bits of a narrower load are extended.
#[derive(Clone, Copy, PartialEq)]
enum Extend {
    /// With zeros, or not at all.
    Zero,
    /// With the sign.
    Sign,
}

/// A kind of load or store.
pub(super) struct Kind {
    /// Bytes.
    pub(super) size: u32,
    pub(super) value: ValType,
    pub(super) store: bool,
    extend: Extend,
    pub(super) operator: fn(MemArg) -> I<'static>,
}

macro_rules! accesses {
    ($( $op:ident $size:literal $value:ident $store:literal $extend:ident )*) => {
        /// All kinds of loads and stores.
        pub(super) const ACCESSES: [Kind; [$($size),*].len()] = [$(
            Kind {
                size: $size,
                value: ValType::$value,
                store: $store,
                extend: Extend::$extend,
                operator: I::$op,
            }
        ),*];

        /// Which of [`ACCESSES`] an operator is, if any.
        pub(super) fn find(operator: &Operator<'_>) -> Option<(u32, wasmparser::MemArg)> {
            let mut index = 0;
            $(
                if let Operator::$op { memarg } = operator {
                    return Some((index, *memarg));
                }
                index += 1;
            )*
            let _ = index;
            None
        }
    };
}

accesses! {
    I32Load 4 I32 false Zero
    I64Load 8 I64 false Zero
    F32Load 4 F32 false Zero
    F64Load 8 F64 false Zero
    I32Load8S 1 I32 false Sign
    I32Load8U 1 I32 false Zero
    I32Load16S 2 I32 false Sign
    I32Load16U 2 I32 false Zero
    I64Load8S 1 I64 false Sign
    I64Load8U 1 I64 false Zero
    I64Load16S 2 I64 false Sign
    I64Load16U 2 I64 false Zero
    I64Load32S 4 I64 false Sign
    I64Load32U 4 I64 false Zero
    I32Store 4 I32 true Zero
    I64Store 8 I64 true Zero
    F32Store 4 F32 true Zero
    F64Store 8 F64 true Zero
    I32Store8 1 I32 true Zero
    I32Store16 2 I32 true Zero
    I64Store8 1 I64 true Zero
    I64Store16 2 I64 true Zero
    I64Store32 4 I64 true Zero
}

/// The bytes of a load or store, whether it stores, and where.
pub(crate) fn access_of(operator: &Operator<'_>) -> Option<(u32, bool, wasmparser::MemArg)> {
    let (access, memarg) = find(operator)?;
    let kind = &ACCESSES[access as usize];
    Some((kind.size, kind.store, memarg))
}

impl Kind {
    /// Parameters, so many counts last, and results.
    pub(super) fn signature(&self, counts: usize) -> (Vec<ValType>, Vec<ValType>) {
        let (mut params, results) = match self.store {
            true => (vec![ValType::I32, self.value, ValType::I32], vec![]),
            false => (vec![ValType::I32, ValType::I32], vec![self.value]),
        };
        params.extend(std::iter::repeat_n(ValType::I64, counts));
        (params, results)
    }

    /// Asks the host until it lets the access happen, and performs it.
    pub(super) fn function(&self, layout: &Layout) -> Function {
        let offset = if self.store { 2 } else { 1 };
        let pending = offset + 1;
        let meta = self.size as i32 + if self.store { WRITE } else { 0 };
        let is_fast = layout.build == Build::Fast;
        let mut f = Function::new([]);
        if is_fast {
            adjust_countdown(layout, &mut f, pending, true);
        }
        f.instruction(&I::Loop(BlockType::Empty));
        f.instruction(&I::Block(BlockType::Empty)); // left when the host does it: SLOWLY
        f.instruction(&I::Block(BlockType::Empty)); // left when the host says WAIT
        f.instruction(&I::Block(BlockType::Empty)); // left when the host says GO
        f.instruction(&I::LocalGet(0));
        f.instruction(&I::LocalGet(offset));
        f.instruction(&I::I32Const(meta));
        self.bits(&mut f);
        layout.push_count(&mut f);
        f.instruction(&I::Call(layout.host(ACCESS)));
        debug_assert!((GO, WAIT, SLOWLY) == (0, 1, 2));
        f.instruction(&I::BrTable([GO as u32, WAIT as u32].as_slice().into(), SLOWLY as u32));
        f.instruction(&I::End);
        if is_fast {
            adjust_countdown(layout, &mut f, pending, false);
        }
        self.perform(&mut f, offset);
        f.instruction(&I::Return);
        f.instruction(&I::End);
        f.instruction(&I::Call(layout.wait()));
        f.instruction(&I::Br(1));
        f.instruction(&I::End);
        f.instruction(&I::End);
        self.perform_slowly(layout, &mut f, offset, meta);
        if is_fast {
            adjust_countdown(layout, &mut f, pending, false);
        }
        f.instruction(&I::End);
        f
    }

    fn perform(&self, f: &mut Function, offset: u32) {
        f.instruction(&I::LocalGet(0));
        f.instruction(&I::LocalGet(offset));
        f.instruction(&I::I32Add);
        if self.store {
            f.instruction(&I::LocalGet(1));
        }
        f.instruction(&(self.operator)(MemArg { offset: 0, align: 0, memory_index: 0 }));
    }

    fn perform_slowly(&self, layout: &Layout, f: &mut Function, offset: u32, meta: i32) {
        f.instruction(&I::LocalGet(0));
        f.instruction(&I::LocalGet(offset));
        f.instruction(&I::I32Const(meta));
        if self.store {
            self.bits(f);
            f.instruction(&I::Call(layout.patient(STORE_SLOWLY)));
        } else {
            f.instruction(&I::Call(layout.patient(LOAD_SLOWLY)));
            self.value_of_bits(f);
        }
    }

    /// Pushes what a store is about to write as 64 bits (of which the host takes `size` bytes).
    fn bits(&self, f: &mut Function) {
        if !self.store {
            f.instruction(&I::I64Const(0));
            return;
        }
        f.instruction(&I::LocalGet(1));
        match self.value {
            ValType::I32 => f.instruction(&I::I64ExtendI32U),
            ValType::F32 => f.instruction(&I::I32ReinterpretF32).instruction(&I::I64ExtendI32U),
            ValType::F64 => f.instruction(&I::I64ReinterpretF64),
            _ => f,
        };
    }

    /// Makes the loaded value of 64 bits, of which `size` bytes are not zero.
    fn value_of_bits(&self, f: &mut Function) {
        if self.extend == Extend::Sign {
            match self.size {
                1 => f.instruction(&I::I64Extend8S),
                2 => f.instruction(&I::I64Extend16S),
                _ => f.instruction(&I::I64Extend32S),
            };
        }
        match self.value {
            ValType::I32 => f.instruction(&I::I32WrapI64),
            ValType::F32 => f.instruction(&I::I32WrapI64).instruction(&I::F32ReinterpretI32),
            ValType::F64 => f.instruction(&I::F64ReinterpretI64),
            _ => f,
        };
    }
}

/// Asks the host at a loop head or a function entry until it lets the program go on. In the fast build the host winds the countdown
/// up before a program that has waited goes on, so that it need not be asked again.
pub(super) fn poll(layout: &Layout) -> Function {
    let mut f = Function::new([]);
    f.instruction(&I::Loop(BlockType::Empty));
    layout.push_count(&mut f);
    f.instruction(&I::Call(layout.host(POLL)));
    f.instruction(&I::If(BlockType::Empty));
    f.instruction(&I::Call(layout.wait()));
    match layout.build {
        Build::Reference => f.instruction(&I::Br(1)),
        Build::Fast => {
            layout.push_count(&mut f);
            f.instruction(&I::I64Const(0));
            f.instruction(&I::I64LeS);
            f.instruction(&I::BrIf(1))
        }
    };
    f.instruction(&I::End);
    f.instruction(&I::End);
    f.instruction(&I::End);
    f
}

/// `memory.init` of one data segment. The host copies it word by word; what may be read of the segment, of which nothing
/// is left once it is dropped, is looked at here: each of these copies nothing, and traps if it begins behind the end.
pub(super) fn memory_init(layout: &Layout, data_index: u32) -> Function {
    let (from, bytes) = (1, 2);
    let mut f = Function::new([]);
    let mut must_reach = |place: &[I<'_>]| {
        f.instruction(&I::I32Const(0));
        place.iter().for_each(|instruction| {
            f.instruction(instruction);
        });
        f.instruction(&I::I32Const(0));
        f.instruction(&I::MemoryInit { mem: 0, data_index });
    };
    // The sum of two numbers that a segment reaches does not wrap around.
    must_reach(&[I::LocalGet(from)]);
    must_reach(&[I::LocalGet(bytes)]);
    must_reach(&[I::LocalGet(from), I::LocalGet(bytes), I::I32Add]);
    (0..=bytes).for_each(|local| {
        f.instruction(&I::LocalGet(local));
    });
    f.instruction(&I::I32Const(data_index as i32));
    f.instruction(&I::Call(layout.patient(MEMORY_INIT)));
    f.instruction(&I::End);
    f
}
