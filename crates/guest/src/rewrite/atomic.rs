//! What takes the place of atomic operators.
//!
//! A load or store is one event at its processor anyway, so an atomic one is an ordinary one that is aligned. A
//! read-modify-write is a call of the host, as that of `trivium.h` is. Processors do not reorder accesses, so a fence
//! has nothing to do.

use wasm_encoder::{BlockType, Function, Instruction as I, ValType};
use wasmparser::MemArg;

use super::access::{ACCESSES, Kind, find as find_access};
use super::{ATOMIC, Layout, STRANGE_ATOMIC};
use crate::atomics::{Atomic, PLAIN, SHAPES};
use crate::memory::SHARED_BASE;

use ValType::I32;

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
        None => plain(function).1.signature(0),
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
    // The counts are up to date.
    (0..layout.pending_counts()).for_each(|_| {
        f.instruction(&I::I64Const(0));
    });
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
