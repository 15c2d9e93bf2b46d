//! What a C library needs of WASI preview 1: arguments, output, clocks that show simulated
//! time, and deterministic random numbers; what it reads is in `files`. There is no environment.

use super::errno::{INVALID, SUCCESS};
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
    FdAdvise,
    FdAllocate,
    FdClose,
    FdDatasync,
    FdFdstatGet,
    FdFdstatSetFlags,
    FdFilestatGet,
    FdFilestatSetSize,
    FdPread,
    FdPrestatGet,
    FdPrestatDirName,
    FdPwrite,
    FdRead,
    FdReaddir,
    FdSeek,
    FdSync,
    FdTell,
    FdWrite,
    PathCreateDirectory,
    PathFilestatGet,
    PathOpen,
    PathRemoveDirectory,
    PathRename,
    PathUnlinkFile,
    PollOneoff,
    ProcExit,
    RandomGet,
    SchedYield,
}

/// Name, parameters, result.
pub(super) const FUNCTIONS: [(&str, &str, &str, Function); 34] = [
    ("args_get", "ii", "i", Function::ArgsGet),
    ("args_sizes_get", "ii", "i", Function::ArgsSizesGet),
    ("environ_get", "ii", "i", Function::EnvironGet),
    ("environ_sizes_get", "ii", "i", Function::EnvironSizesGet),
    ("clock_res_get", "ii", "i", Function::ClockResGet),
    ("clock_time_get", "iIi", "i", Function::ClockTimeGet),
    ("fd_advise", "iIIi", "i", Function::FdAdvise),
    ("fd_allocate", "iII", "i", Function::FdAllocate),
    ("fd_close", "i", "i", Function::FdClose),
    ("fd_datasync", "i", "i", Function::FdDatasync),
    ("fd_fdstat_get", "ii", "i", Function::FdFdstatGet),
    ("fd_fdstat_set_flags", "ii", "i", Function::FdFdstatSetFlags),
    ("fd_filestat_get", "ii", "i", Function::FdFilestatGet),
    ("fd_filestat_set_size", "iI", "i", Function::FdFilestatSetSize),
    ("fd_pread", "iiiIi", "i", Function::FdPread),
    ("fd_prestat_get", "ii", "i", Function::FdPrestatGet),
    ("fd_prestat_dir_name", "iii", "i", Function::FdPrestatDirName),
    ("fd_pwrite", "iiiIi", "i", Function::FdPwrite),
    ("fd_read", "iiii", "i", Function::FdRead),
    ("fd_readdir", "iiiIi", "i", Function::FdReaddir),
    ("fd_seek", "iIii", "i", Function::FdSeek),
    ("fd_sync", "i", "i", Function::FdSync),
    ("fd_tell", "ii", "i", Function::FdTell),
    ("fd_write", "iiii", "i", Function::FdWrite),
    ("path_create_directory", "iii", "i", Function::PathCreateDirectory),
    ("path_filestat_get", "iiiii", "i", Function::PathFilestatGet),
    ("path_open", "iiiiiIIii", "i", Function::PathOpen),
    ("path_remove_directory", "iii", "i", Function::PathRemoveDirectory),
    ("path_rename", "iiiiii", "i", Function::PathRename),
    ("path_unlink_file", "iii", "i", Function::PathUnlinkFile),
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
        // All of a file is there, and what is written is there at once.
        Function::FdAdvise | Function::FdDatasync | Function::FdSync => Ok(files::nothing(node, args[0])),
        Function::FdAllocate => Ok(files::resize(node, args[0], args[1].checked_add(args[2]), true)),
        Function::FdFilestatSetSize => Ok(files::resize(node, args[0], Some(args[1]), false)),
        Function::FdFdstatSetFlags => Ok(files::set_flags(node, args[0], args[1])),
        Function::FdFilestatGet => files::stat(node, args[0], pointer(1)).await,
        Function::FdPrestatGet => files::prestat(node, args[0], pointer(1)).await,
        Function::FdPrestatDirName => files::prestat_name(node, args).await,
        Function::FdPread => files::read(node, (args[0], args[1], args[2]), Some(args[3]), pointer(4)).await,
        Function::FdPwrite => files::write(node, (args[0], args[1], args[2]), Some(args[3]), pointer(4)).await,
        Function::FdRead => files::read(node, (args[0], args[1], args[2]), None, pointer(3)).await,
        Function::FdReaddir => files::list(node, args).await,
        Function::FdSeek => files::seek(node, args[0], (args[1], args[2]), pointer(3)).await,
        Function::FdTell => files::seek(node, args[0], (0, 1), pointer(1)).await,
        Function::PathFilestatGet => files::path_stat(node, args).await,
        Function::PathCreateDirectory => {
            files::change(node, (args[0], args[1], args[2]), |folder, from| folder.make_folder(from)).await
        }
        Function::PathRemoveDirectory => {
            files::change(node, (args[0], args[1], args[2]), |folder, from| folder.remove_folder(from)).await
        }
        Function::PathUnlinkFile => {
            files::change(node, (args[0], args[1], args[2]), |folder, from| folder.remove_file(from)).await
        }
        Function::PathRename => files::rename(node, args).await,
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
pub(super) const MOST_WRITTEN: u32 = 1 << 20;

async fn fd_write<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let fd = args[0] as u32;
    if fd != 1 && fd != 2 {
        return files::write(node, (args[0], args[1], args[2]), None, args[3] as u32).await;
    }
    let mut bytes = Vec::new();
    for (part, length) in vectors(node, args[1], args[2]).await? {
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

/// Most pieces of memory that one call reads or writes, as many as other systems take.
const MOST_VECTORS: i64 = 1024;

/// Pieces of memory, of which a list lies in memory: addresses and lengths.
pub(super) async fn vectors<P: Processor>(node: &NodeState<P>, list: i64, count: i64) -> Result<Vec<(u32, u32)>> {
    let mut vectors = Vec::new();
    for index in 0..count.clamp(0, MOST_VECTORS) as u32 {
        let vector = (list as u32).wrapping_add(8 * index);
        vectors.push((read_word(node, vector).await?, read_word(node, vector.wrapping_add(4)).await?));
    }
    Ok(vectors)
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
