//! Atomic operators of programs: see [`crate::rewrite`].

use wasmtime::{Caller, Result, WasmBacktrace};

use super::NodeState;
use super::seats::Seats;
use crate::atomics::read_modify_write_of;
use crate::memory::SHARED_BASE;
use crate::processor::{Call, Processor, ProgramFault, ReadModifyWrite};

/// Performs a read-modify-write and gives the value before.
pub(super) async fn run<P: Processor>(
    node: &NodeState<P>,
    (base, offset, code): (i32, i32, i32),
    operand: i64,
    expected: i64,
) -> Result<i64> {
    let number = node.number;
    let Some((op, negated, size)) = read_modify_write_of(code) else {
        return Err(ProgramFault::new(format!("node {number}: {code} is not an atomic operator")).into());
    };
    let addr = aligned(node, base, offset, size)?;
    let operand = if negated { operand.wrapping_neg() } else { operand };
    // Both are wrapped to the size: compilers leave in the upper bits what was there.
    let wrapped = |value: i64| value as u64 & (u64::MAX >> (64 - 8 * size));
    let rmw = ReadModifyWrite { addr, size, op, operand: wrapped(operand), expected: wrapped(expected) };
    node.call(Call::ReadModifyWrite(rmw)).await
}

/// Tells the processor, once, of an atomic operator on private memory: the program has been written for threads. What the C
/// library does there for itself is no sign of that.
pub(super) fn tell_private<P: Processor>(caller: &Caller<'_, Seats<P>>, (base, offset): (i32, i32)) {
    let node = caller.data().node();
    let address = u64::from(base as u32) + u64::from(offset as u32);
    if address >= SHARED_BASE.into() || node.told_private.get() {
        return;
    }
    let backtrace = WasmBacktrace::force_capture(caller);
    let defined = |frame: &wasmtime::FrameInfo| node.program.defined_function(frame.func_index(), node.switching);
    let function = backtrace.frames().iter().find_map(defined);
    if function.is_some_and(|function| node.program.is_of_library(function)) {
        return;
    }
    node.told_private.set(true);
    let function = function.map(|function| node.program.function_name(function));
    node.processor.borrow_mut().private_atomic(address as u32, function.as_deref());
}

/// The address of an atomic operator; a fault if it is out of bounds or not aligned.
pub(super) fn aligned<P: Processor>(node: &NodeState<P>, base: i32, offset: i32, size: u32) -> Result<u32> {
    let addr = u64::from(base as u32) + u64::from(offset as u32);
    if !node.is_in_bounds(addr, size.into()) {
        return Err(node.out_of_bounds(addr, size.into(), "an atomic operation").into());
    }
    if !addr.is_multiple_of(size.into()) {
        let number = node.number;
        return Err(ProgramFault::new(format!(
            "node {number}: an atomic operation on {size} bytes at {addr:#x}: it must be aligned to its size"
        ))
        .into());
    }
    Ok(addr as u32)
}
