//! What a C library needs of WASI preview 1: arguments, output, clocks that show simulated
//! time, and deterministic random numbers; what it reads is in `files`. There is no environment.

use super::errno::{BAD_DESCRIPTOR, INVALID, SUCCESS};
use std::cell::Cell;

use wasmtime::Result;

use super::{Exit, NodeState, files, poll};
use crate::processor::{Call, Processor};

#[derive(Clone, Copy)]
pub(super) enum Function {
    ArgsGet,
    ArgsSizesGet,
    EnvironGet,
    EnvironSizesGet,
    ClockResGet,
    ClockTimeGet,
    FdClose,
    FdFdstatGet,
    FdFdstatSetFlags,
    FdFilestatGet,
    FdPrestatGet,
    FdPrestatDirName,
    FdRead,
    FdReaddir,
    FdSeek,
    FdTell,
    FdWrite,
    PathFilestatGet,
    PathOpen,
    PollOneoff,
    ProcExit,
    RandomGet,
    SchedYield,
}

/// Name, parameters, result.
pub(super) const FUNCTIONS: [(&str, &str, &str, Function); 23] = [
    ("args_get", "ii", "i", Function::ArgsGet),
    ("args_sizes_get", "ii", "i", Function::ArgsSizesGet),
    ("environ_get", "ii", "i", Function::EnvironGet),
    ("environ_sizes_get", "ii", "i", Function::EnvironSizesGet),
    ("clock_res_get", "ii", "i", Function::ClockResGet),
    ("clock_time_get", "iIi", "i", Function::ClockTimeGet),
    ("fd_close", "i", "i", Function::FdClose),
    ("fd_fdstat_get", "ii", "i", Function::FdFdstatGet),
    ("fd_fdstat_set_flags", "ii", "i", Function::FdFdstatSetFlags),
    ("fd_filestat_get", "ii", "i", Function::FdFilestatGet),
    ("fd_prestat_get", "ii", "i", Function::FdPrestatGet),
    ("fd_prestat_dir_name", "iii", "i", Function::FdPrestatDirName),
    ("fd_read", "iiii", "i", Function::FdRead),
    ("fd_readdir", "iiiIi", "i", Function::FdReaddir),
    ("fd_seek", "iIii", "i", Function::FdSeek),
    ("fd_tell", "ii", "i", Function::FdTell),
    ("fd_write", "iiii", "i", Function::FdWrite),
    ("path_filestat_get", "iiiii", "i", Function::PathFilestatGet),
    ("path_open", "iiiiiIIii", "i", Function::PathOpen),
    ("poll_oneoff", "iiii", "i", Function::PollOneoff),
    ("proc_exit", "i", "", Function::ProcExit),
    ("random_get", "ii", "i", Function::RandomGet),
    ("sched_yield", "", "i", Function::SchedYield),
];

// Clocks of WASI preview 1. All of a node's follow its processor's.
const REALTIME: i64 = 0;
const MONOTONIC: i64 = 1;
const PROCESS_TIME: i64 = 2;
const THREAD_TIME: i64 = 3;

/// The date at which every program begins, in nanoseconds since 1970: the first second of the year 2000, in UTC.
const DATE: i64 = 946_684_800 * 1_000_000_000;

/// What a clock shows when the program begins.
pub(super) fn begin_of(clock: i64) -> Option<i64> {
    match clock {
        REALTIME => Some(DATE),
        MONOTONIC | PROCESS_TIME | THREAD_TIME => Some(0),
        _ => None,
    }
}

pub(super) async fn run<P: Processor>(node: &NodeState<P>, function: Function, args: &[i64]) -> Result<i64> {
    let pointer = |index: usize| args[index] as u32;
    match function {
        Function::ArgsGet => args_get(node, pointer(0), pointer(1)).await,
        Function::ArgsSizesGet => {
            let count = node.args.len() as u32;
            let bytes: usize = node.args.iter().map(|arg| arg.len() + 1).sum();
            node.write_bytes(pointer(0), &count.to_le_bytes()).await?;
            node.write_bytes(pointer(1), &(bytes as u32).to_le_bytes()).await?;
            Ok(SUCCESS)
        }
        Function::EnvironGet => Ok(SUCCESS),
        Function::EnvironSizesGet => {
            node.write_bytes(pointer(0), &[0; 4]).await?;
            node.write_bytes(pointer(1), &[0; 4]).await?;
            Ok(SUCCESS)
        }
        Function::ClockResGet => {
            node.write_bytes(pointer(1), &1u64.to_le_bytes()).await?;
            Ok(SUCCESS)
        }
        Function::ClockTimeGet => {
            let Some(began) = begin_of(args[0]) else { return Ok(INVALID) };
            let time = began + node.call(Call::Nanoseconds).await?;
            node.write_bytes(pointer(2), &time.to_le_bytes()).await?;
            Ok(SUCCESS)
        }
        Function::FdClose => Ok(files::close(node, args[0])),
        Function::FdFdstatGet => files::about(node, args[0], pointer(1)).await,
        // Nothing that is open waits or appends.
        Function::FdFdstatSetFlags => Ok(SUCCESS),
        Function::FdFilestatGet => files::stat(node, args[0], pointer(1)).await,
        Function::FdPrestatGet => files::prestat(node, args[0], pointer(1)).await,
        Function::FdPrestatDirName => files::prestat_name(node, args).await,
        Function::FdRead => files::read(node, args).await,
        Function::FdReaddir => files::list(node, args).await,
        Function::FdSeek => files::seek(node, args[0], (args[1], args[2]), pointer(3)).await,
        Function::FdTell => files::seek(node, args[0], (0, 1), pointer(1)).await,
        Function::PathFilestatGet => files::path_stat(node, args).await,
        Function::PathOpen => files::path_open(node, args).await,
        Function::PollOneoff => poll::poll(node, args).await,
        Function::FdWrite => fd_write(node, args).await,
        Function::ProcExit => Err(wasmtime::Error::new(Exit(args[0] as i32))),
        Function::RandomGet => random_get(node, pointer(0), pointer(1)).await,
        Function::SchedYield => Ok(SUCCESS),
    }
}

async fn args_get<P: Processor>(node: &NodeState<P>, pointers: u32, strings: u32) -> Result<i64> {
    let mut string = strings;
    for (index, arg) in node.args.iter().enumerate() {
        node.write_bytes(pointers.wrapping_add(4 * index as u32), &string.to_le_bytes()).await?;
        let bytes = [arg.as_bytes(), &[0]].concat();
        node.write_bytes(string, &bytes).await?;
        string = string.wrapping_add(bytes.len() as u32);
    }
    Ok(SUCCESS)
}

/// Most bytes of one write, so that a program cannot make the host run out of memory: a C library
/// writes the rest with its next call.
const MOST_WRITTEN: u32 = 1 << 20;

async fn fd_write<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let fd = args[0] as u32;
    if fd != 1 && fd != 2 {
        return Ok(BAD_DESCRIPTOR);
    }
    let mut bytes = Vec::new();
    for index in 0..args[2] as u32 {
        let vector = (args[1] as u32).wrapping_add(8 * index);
        let part = read_word(node, vector).await?;
        let length = read_word(node, vector.wrapping_add(4)).await?;
        let room = MOST_WRITTEN - bytes.len() as u32;
        bytes.extend(node.read_bytes(part, length.min(room)).await?);
        if length >= room {
            break;
        }
    }
    let written = bytes.len() as u32;
    node.call(Call::Print { fd, bytes }).await?;
    node.write_bytes(args[3] as u32, &written.to_le_bytes()).await?;
    Ok(SUCCESS)
}

pub(super) async fn read_word<P: Processor>(node: &NodeState<P>, addr: u32) -> Result<u32> {
    let bytes = node.read_bytes(addr, 4).await?;
    Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

async fn random_get<P: Processor>(node: &NodeState<P>, into: u32, length: u32) -> Result<i64> {
    node.check(into, length.into(), "a write by the system")?;
    let bytes: Vec<u8> = (0..length).map(|_| next_random(&node.random)).collect();
    node.write_bytes(into, &bytes).await?;
    Ok(SUCCESS)
}

/// SplitMix64 (Steele, Lea, Flood 2014), one byte a step.
fn next_random(state: &Cell<u64>) -> u8 {
    state.set(state.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
    let mut z = state.get();
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as u8
}
