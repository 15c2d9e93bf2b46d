//! The functions of `trivium.h`: the module `trivium`.

use wasmtime::Result;

use super::NodeState;
use crate::memory::{SHARED_BASE, SHARED_END};
use crate::processor::{Call, Placement, Processor, ProgramFault, ReadModifyWrite, RmwOp};

#[derive(Clone, Copy)]
pub(super) enum Function {
    Node,
    Nodes,
    Alloc,
    Bind,
    Barrier,
    Rmw,
    WaitUntilChanged,
    Begin,
    End,
    Cycles,
    Fail,
    Name,
}

/// Name, parameters, result.
pub(super) const FUNCTIONS: [(&str, &str, &str, Function); 12] = [
    ("node", "", "i", Function::Node),
    ("nodes", "", "i", Function::Nodes),
    // bytes, placement, node, protocol or null -> address
    ("alloc", "Iiii", "i", Function::Alloc),
    // address, protocol or null
    ("bind", "ii", "", Function::Bind),
    ("barrier", "", "", Function::Barrier),
    // address, size, operation, operand, expected -> old value
    ("rmw", "iiiII", "I", Function::Rmw),
    // address, size, old value -> new value
    ("wait_until_changed", "iiI", "I", Function::WaitUntilChanged),
    ("begin", "", "", Function::Begin),
    ("end", "", "", Function::End),
    ("cycles", "", "I", Function::Cycles),
    ("fail", "i", "", Function::Fail),
    // address, name
    ("name", "ii", "", Function::Name),
];

pub(super) async fn run<P: Processor>(node: &NodeState<P>, function: Function, args: &[i64]) -> Result<i64> {
    match function {
        Function::Node => node.call(Call::Node).await,
        Function::Nodes => node.call(Call::Nodes).await,
        Function::Alloc => alloc(node, args).await,
        Function::Bind => {
            let addr = args[0] as u32;
            let protocol = protocol_name(node, args[1] as u32).await?;
            node.call(Call::Bind { addr, protocol }).await
        }
        Function::Name => {
            let addr = args[0] as u32;
            let name = node.read_string(args[1] as u32).await?;
            node.call(Call::Name { addr, name }).await
        }
        Function::Barrier => node.call(Call::Barrier).await,
        Function::Rmw => rmw(node, args).await,
        Function::WaitUntilChanged => {
            let (addr, size) = word(node, args[0], args[1], "a wait for a change")?;
            node.call(Call::WaitUntilChanged { addr, size, old: truncate(args[2], size) }).await
        }
        Function::Begin => node.call(Call::RegionBegin).await,
        Function::End => node.call(Call::RegionEnd).await,
        Function::Cycles => node.call(Call::Cycles).await,
        Function::Fail => {
            let message = node.read_string(args[0] as u32).await?;
            let number = node.number;
            Err(ProgramFault::new(format!("node {number}: the program reports: {message}")).into())
        }
    }
}

async fn alloc<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let number = node.number;
    let fault = |message: String| ProgramFault::new(format!("node {number}: trivium_alloc: {message}"));
    let placement = match args[1] {
        0 => Placement::Explicit(args[2] as u32),
        1 => Placement::RoundRobin,
        2 => Placement::FirstTouch,
        other => Err(fault(format!("{other} is not a placement")))?,
    };
    let bytes = args[0] as u64;
    let most = u64::from(SHARED_END - SHARED_BASE);
    if bytes == 0 || bytes > most {
        Err(fault(format!("{bytes} bytes asked for; shared memory has {most}")))?;
    }
    let protocol = protocol_name(node, args[3] as u32).await?;
    let addr = node.call(Call::Alloc { bytes, placement, protocol }).await?;
    let start = u64::from(SHARED_BASE);
    // The C library reads strings by whole words, up to the word's end.
    let end = (addr as u64).saturating_add(bytes).next_multiple_of(8);
    if (addr as u64) < start || end > u64::from(SHARED_END) {
        Err(fault(format!("shared memory is exhausted: {bytes} bytes do not fit")))?;
    }
    node.shared_end.set(node.shared_end.get().max(end));
    Ok(addr)
}

/// The protocol that a program names; none if it passes NULL.
async fn protocol_name<P: Processor>(node: &NodeState<P>, name: u32) -> Result<Option<String>> {
    if name == 0 { Ok(None) } else { Ok(Some(node.read_string(name).await?)) }
}

async fn rmw<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let (addr, size) = word(node, args[0], args[1], "an atomic operation")?;
    let op = match args[2] {
        0 => RmwOp::Add,
        1 => RmwOp::And,
        2 => RmwOp::Or,
        3 => RmwOp::Xor,
        4 => RmwOp::Swap,
        5 => RmwOp::CompareSwap,
        other => {
            let number = node.number;
            Err(ProgramFault::new(format!("node {number}: {other} is not an atomic operation")))?
        }
    };
    let operand = truncate(args[3], size);
    let expected = truncate(args[4], size);
    node.call(Call::ReadModifyWrite(ReadModifyWrite { addr, size, op, operand, expected })).await
}

/// Checks the address and the size of a word, which must be shared: nobody else sees, or changes, what is private.
fn word<P: Processor>(node: &NodeState<P>, addr: i64, size: i64, what: &str) -> Result<(u32, u32)> {
    let (addr, size, number) = (addr as u32, size as u32, node.number);
    if (size != 4 && size != 8) || !addr.is_multiple_of(size) {
        Err(ProgramFault::new(format!(
            "node {number}: {what} on {size} bytes at {addr:#x}: it must be 4 or 8 bytes, aligned to their size"
        )))?;
    }
    node.check(addr, size.into(), what)?;
    if addr < SHARED_BASE {
        Err(ProgramFault::new(format!(
            "node {number}: {what} on private memory, at {addr:#x}: every node has its own copy, which no other sees; locks, and words to wait for, must lie in memory of trivium_alloc"
        )))?;
    }
    Ok((addr, size))
}

fn truncate(value: i64, size: u32) -> u64 {
    if size == 4 { u64::from(value as u32) } else { value as u64 }
}
