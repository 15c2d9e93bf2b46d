//! The functions of `trivium.h`: the module `trivium`.

use wasmtime::Result;

use super::NodeState;
use crate::memory::{PART_UNIT, SHARED_BASE, SHARED_END};
use crate::processor::{Call, Placement, Processor, ProgramFault, ReadModifyWrite, RmwOp, SplitPhase};

#[derive(Clone, Copy)]
pub(super) enum Function {
    Node,
    Nodes,
    Alloc,
    Share,
    Freeing,
    IsHome,
    Free,
    Bind,
    Place,
    Barrier,
    Rmw,
    LoadLinked,
    StoreConditional,
    WaitUntilChanged,
    Begin,
    End,
    Cycles,
    Fail,
    Name,
    ParallelStart,
    Fence,
    SplitPhase,
    Prefetch,
}

/// Name, parameters, result.
pub(super) const FUNCTIONS: [(&str, &str, &str, Function); 23] = [
    ("node", "", "i", Function::Node),
    ("nodes", "", "i", Function::Nodes),
    // bytes, placement, node, protocol or null -> address
    ("alloc", "Iiii", "i", Function::Alloc),
    // address, bytes, protocol or null -> address
    ("share", "iIi", "i", Function::Share),
    // address -> bytes
    ("freeing", "i", "I", Function::Freeing),
    // address -> whether this node is its home
    ("is_home", "i", "i", Function::IsHome),
    // address
    ("free", "i", "", Function::Free),
    // address, protocol or null
    ("bind", "ii", "", Function::Bind),
    // protocol, kind, object, node
    ("place", "iiii", "", Function::Place),
    ("barrier", "", "", Function::Barrier),
    // address, size, operation, operand, expected -> old value
    ("rmw", "iiiII", "I", Function::Rmw),
    // address, size, whether for a store -> value
    ("load_linked", "iii", "I", Function::LoadLinked),
    // address, size, value -> whether it is stored
    ("store_conditional", "iiI", "i", Function::StoreConditional),
    // address, size, old value -> new value
    ("wait_until_changed", "iiI", "I", Function::WaitUntilChanged),
    ("begin", "", "", Function::Begin),
    ("end", "", "", Function::End),
    ("cycles", "", "I", Function::Cycles),
    ("fail", "i", "", Function::Fail),
    // address, name
    ("name", "ii", "", Function::Name),
    ("parallel_start", "", "", Function::ParallelStart),
    ("fence", "", "", Function::Fence),
    // what, address, bytes, place -> result
    ("split_phase", "iiIi", "I", Function::SplitPhase),
    // address, whether to store
    ("prefetch", "ii", "", Function::Prefetch),
];

/// What a function asks of the processor, if it is nothing but one call.
pub(super) fn only_call<P: Processor>(node: &NodeState<P>, function: Function, args: &[i64]) -> Result<Option<Call>> {
    Ok(Some(match function {
        Function::Node => Call::Node,
        Function::Nodes => Call::Nodes,
        Function::Freeing => Call::Freeing { addr: args[0] as u32 },
        Function::IsHome => Call::IsHome { addr: args[0] as u32 },
        Function::Free => Call::Free { addr: args[0] as u32 },
        Function::ParallelStart => Call::ParallelStart,
        Function::Fence => Call::Fence,
        Function::Prefetch => Call::Prefetch { addr: args[0] as u32, write: args[1] != 0 },
        Function::Barrier => Call::Barrier,
        Function::Rmw => Call::ReadModifyWrite(rmw(node, args)?),
        Function::LoadLinked => {
            let (addr, size) = word(node, args[0], args[1], "a linked load")?;
            Call::LoadLinked { addr, size, exclusive: args[2] != 0 }
        }
        Function::StoreConditional => {
            let (addr, size) = word(node, args[0], args[1], "a conditional store")?;
            Call::StoreConditional { addr, size, value: truncate(args[2], size) }
        }
        Function::WaitUntilChanged => {
            let (addr, size) = word(node, args[0], args[1], "a wait for a change")?;
            Call::WaitUntilChanged { addr, size, old: truncate(args[2], size) }
        }
        Function::Begin => Call::RegionBegin,
        Function::End => Call::RegionEnd,
        Function::Cycles => Call::Cycles,
        Function::Alloc
        | Function::Share
        | Function::Bind
        | Function::Place
        | Function::Name
        | Function::SplitPhase
        | Function::Fail => {
            return Ok(None);
        }
    }))
}

pub(super) async fn run<P: Processor>(node: &NodeState<P>, function: Function, args: &[i64]) -> Result<i64> {
    match function {
        Function::Alloc => alloc(node, args).await,
        Function::Share => share(node, args).await,
        Function::Bind => {
            let addr = args[0] as u32;
            let protocol = protocol_name(node, args[1] as u32).await?;
            node.call(Call::Bind { addr, protocol }).await
        }
        Function::Place => {
            let protocol = node.read_string(args[0] as u32).await?;
            let kind = node.read_string(args[1] as u32).await?;
            node.call(Call::Place { protocol, kind, object: args[2] as u32, node: args[3] as u32 }).await
        }
        Function::Name => {
            let addr = args[0] as u32;
            let name = node.read_string(args[1] as u32).await?;
            node.call(Call::Name { addr, name }).await
        }
        Function::SplitPhase => split_phase(node, args).await,
        Function::Fail => {
            let message = node.read_string(args[0] as u32).await?;
            let number = node.number;
            Err(ProgramFault::new(format!("node {number}: the program reports: {message}")).into())
        }
        _ => match only_call(node, function, args)? {
            Some(call) => node.call(call).await,
            None => Ok(0),
        },
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
    if bytes == 0 {
        Err(fault("it is asked for 0 bytes: ask for 1 at least".to_string()))?;
    }
    if bytes > most {
        Err(fault(format!("it is asked for {bytes} bytes, and shared memory has {most}")))?;
    }
    let protocol = protocol_name(node, args[3] as u32).await?;
    allocated(node, "trivium_alloc", bytes, placement, protocol).await
}

/// An allocation, which the program may access from now on.
async fn allocated<P: Processor>(
    node: &NodeState<P>,
    by: &str,
    bytes: u64,
    placement: Placement,
    protocol: Option<String>,
) -> Result<i64> {
    let addr = node.call(Call::Alloc { bytes, placement, protocol }).await?;
    let start = u64::from(SHARED_BASE);
    // The C library reads strings by whole words, up to the word's end.
    let end = (addr as u64).saturating_add(bytes).next_multiple_of(8);
    if (addr as u64) < start || end > u64::from(SHARED_END) {
        let number = node.number;
        let what = format!("node {number}: {by}: shared memory is exhausted: {bytes} bytes do not fit");
        Err(ProgramFault::new(what))?;
    }
    node.shared_end.set(node.shared_end.get().max(end));
    Ok(addr)
}

/// Shares a range of private memory. Every node's memory lies at both places before any node goes on.
async fn share<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let number = node.number;
    let fault = |message: String| ProgramFault::new(format!("node {number}: trivium_share: {message}"));
    let (addr, bytes) = (args[0] as u32, args[1] as u64);
    if !addr.is_multiple_of(PART_UNIT) || !bytes.is_multiple_of(PART_UNIT.into()) || bytes == 0 {
        Err(fault(format!(
            "{bytes} bytes at {addr:#x}: what is shared begins at a multiple of {PART_UNIT}, and has one or more times {PART_UNIT} bytes"
        )))?;
    }
    node.check(addr, bytes, "sharing")?;
    if addr >= SHARED_BASE {
        Err(fault(format!("{addr:#x} lies in shared memory: only private memory can be shared")))?;
    }
    let bytes = u32::try_from(bytes).expect("it lies in memory");
    let nodes = node.call(Call::Nodes).await? as u64;
    let all = nodes * u64::from(bytes);
    let most = u64::from(SHARED_END - SHARED_BASE);
    if all > most {
        Err(fault(format!("{nodes} parts of {bytes} bytes are more than shared memory has, {most} bytes")))?;
    }
    let protocol = protocol_name(node, args[2] as u32).await?;
    let first = allocated(node, "trivium_share", all, Placement::Parts(bytes), protocol).await?;
    let part = first as u32 + number * bytes;
    node.call(Call::Shared { addr, bytes, part }).await?;
    node.memory.share(addr, part, bytes).map_err(|error| fault(error.message))?;
    node.call(Call::Barrier).await?;
    Ok(first)
}

/// The bytes that move lie in shared memory at one end, and in private memory at the other.
async fn split_phase<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let number = node.number;
    let fault = |message: String| ProgramFault::new(format!("node {number}: trivium_split_phase: {message}"));
    let (addr, bytes, place) = (args[1] as u32, args[2] as u64, args[3] as u32);
    let Some(&what) = SplitPhase::ALL.get(args[0] as usize) else {
        return Err(fault(format!("{} is no operation", args[0])).into());
    };
    if matches!(what, SplitPhase::Get | SplitPhase::Put | SplitPhase::Store) {
        node.check(addr, bytes, "a split-phase access")?;
        node.check(place, bytes, "a split-phase access")?;
        if addr < SHARED_BASE || place >= SHARED_BASE || bytes == 0 {
            let what = format!("{bytes} bytes between {addr:#x} and {place:#x}");
            Err(fault(format!("{what}: one or more move between shared memory and private memory")))?;
        }
    }
    node.call(Call::SplitPhase { what, addr, bytes, place }).await
}

/// The protocol that a program names; none if it passes NULL.
async fn protocol_name<P: Processor>(node: &NodeState<P>, name: u32) -> Result<Option<String>> {
    if name == 0 { Ok(None) } else { Ok(Some(node.read_string(name).await?)) }
}

fn rmw<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<ReadModifyWrite> {
    let (addr, size) = word(node, args[0], args[1], "an atomic operation")?;
    let op = match args[2] {
        0 => RmwOp::Add,
        1 => RmwOp::And,
        2 => RmwOp::Or,
        3 => RmwOp::Xor,
        4 => RmwOp::Swap,
        5 => RmwOp::CompareSwap,
        6 => RmwOp::Min,
        7 => RmwOp::Max,
        8 => RmwOp::AddFloat,
        9 => RmwOp::MinFloat,
        10 => RmwOp::MaxFloat,
        other => {
            let (number, other) = (node.number, other as i32);
            Err(ProgramFault::new(format!("node {number}: {other} is not an atomic operation")))?
        }
    };
    let operand = truncate(args[3], size);
    let expected = truncate(args[4], size);
    Ok(ReadModifyWrite { addr, size, op, operand, expected })
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
