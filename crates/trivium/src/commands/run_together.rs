//! `mpirun -n N trivium run`: each rank is a node. The first reads, for all, and tells what has come of it.

use super::run::{Loaded, head, load, only_on_threads, setup, told, tracing, write_trace};
use super::together;
use crate::arguments::{Run, Transport};
use crate::ranks::Job;
use crate::{Failure, failure, library};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use trivium_check::group::Group;
use trivium_diagnostic::Code;
use trivium_guest::{Inputs, Program};
use trivium_mpi::{Mail, World};
use trivium_run::{Ended, Setup, next_packet, take_part};

/// The exit code of a job of which a rank has come to a mistake of Trivium, as that of one process that panics.
const PANIC: u8 = 101;
/// As many nodes as there may be.
const MOST: usize = 256;

/// Runs this rank's node. `writable` says of the first whether it can write what it is to write.
///
/// # Errors
/// What is wrong, on all ranks; its text only on the first.
pub(super) fn run(arguments: &Run, job: &Job, writable: Result<(), Failure>) -> Result<u8, Failure> {
    let (Some(world), Some(group)) = (job.world(), job.group()) else {
        return Err(Failure::input(Code::Ranks, "this process is alone", "start it by mpirun"));
    };
    only_on_threads(arguments)?;
    let nodes = fitting(arguments, group.size())?;
    let mut mail = Mail::of(world);
    // A rank that only went away would leave the others waiting.
    let done = catch_unwind(AssertUnwindSafe(|| {
        let loaded = match group.rank() {
            0 => send(&mut mail, writable.and_then(|()| load(arguments)))?,
            _ => receive(&mut mail)?,
        };
        let tracing = tracing(arguments);
        let setup = Setup { trace: tracing.as_ref(), ..setup(arguments, &loaded, nodes) };
        let begun = Instant::now();
        let ended = take_part(&setup, Box::new(mail));
        let host_seconds = begun.elapsed().as_secs_f64();
        let set = library::settings(&arguments.set)?;
        // Before anything ends the job. Only the first rank has all, and opens files.
        let traced = match group.rank() {
            0 => write_trace(arguments, &loaded, &head(&setup, &set, Vec::new(), host_seconds), tracing.as_ref()),
            _ => Ok(()),
        };
        let tell = |read, result| {
            let code = told(arguments, ("mpi", &head(&setup, &set, read, host_seconds)), result)?;
            traced.map(|()| code)
        };
        if let Some(Ended { result, is_over: false }) = ended {
            // Some rank does not answer: nothing can be asked of all any more.
            if group.rank() != 0 && tracing.is_some() {
                crate::say!("note: no trace is written, since node 0, which has what all nodes did, does not answer");
            }
            end(world, tell(loaded.inputs.hashes(), result));
        }
        let read = read_by_all(group, &loaded.inputs);
        together::ended(group, ended.map(|ended| tell(read, ended.result)))
    }));
    done.unwrap_or_else(|_| world.abort(PANIC))
}

/// How many nodes there are.
fn fitting(arguments: &Run, ranks: usize) -> Result<u32, Failure> {
    if arguments.transport == Some(Transport::Threads) {
        let what = format!("{ranks} ranks were started, and with --transport threads each would run all nodes");
        return Err(Failure::input(Code::Ranks, what, "leave --transport out, or start it without mpirun"));
    }
    let nodes = u32::try_from(ranks).ok().filter(|_| ranks <= MOST);
    match (nodes, arguments.nodes) {
        (None, _) => Err(Failure::input(
            Code::Ranks,
            format!("{ranks} ranks were started, and a run has {MOST} nodes at most"),
            "start fewer",
        )),
        (Some(nodes), Some(asked)) if asked != nodes => Err(Failure::input(
            Code::Ranks,
            format!("--nodes {asked} was asked for, but {ranks} ranks were started, and each is a node"),
            "leave --nodes out, or start as many ranks; --transport threads makes nodes of one process threads",
        )),
        (Some(nodes), _) => Ok(nodes),
    }
}

/// The first rank sends what it has read, or that it could not be read.
fn send(mail: &mut Mail, read: Result<Loaded, Failure>) -> Result<Loaded, Failure> {
    let written = read.and_then(|loaded| {
        let copy = loaded.inputs.copy(loaded.program.reads())?;
        Ok((loaded, copy))
    });
    let (letter, sent) = match written {
        Ok((loaded, copy)) => (letter(&loaded, &copy), Ok((loaded, copy))),
        Err(failure) => (framed(&json!({ "failed": failure.code }), [&[], &[]]), Err(failure)),
    };
    for to in 1..mail.size() {
        Mail::send(mail, to, letter.clone());
    }
    if sent.is_err() {
        while !mail.has_sent() {
            std::thread::yield_now();
        }
    }
    let (loaded, copy) = sent?;
    // As the others have it, so that no node sees a file that has changed since.
    let inputs = copied(&copy)?;
    let program = loaded.program.reading(inputs.clone());
    Ok(Loaded { program, inputs, ..loaded })
}

fn letter(loaded: &Loaded, copy: &[u8]) -> Vec<u8> {
    let protocols: Vec<Value> = loaded.protocols.iter().map(|protocol| together::texts(protocol)).collect();
    let module = loaded.program.bytes();
    framed(&json!({ "protocols": protocols, "name": loaded.program.name() }), [module, copy])
}

/// Bytes with a head that says what they are.
fn framed(head: &Value, parts: [&[u8]; 2]) -> Vec<u8> {
    let head = head.to_string();
    let lengths = [head.len(), parts[0].len()].map(|length| (length as u64).to_le_bytes());
    [&lengths.concat()[..], head.as_bytes(), parts[0], parts[1]].concat()
}

/// What [`framed`] was made of.
fn unframed(bytes: &[u8]) -> Option<(Value, [&[u8]; 2])> {
    let (head, rest) = bytes.split_first_chunk()?;
    let (first, rest) = rest.split_first_chunk()?;
    let [head, first] = [head, first].map(|length| usize::try_from(u64::from_le_bytes(*length)));
    let (head, rest) = rest.split_at_checked(head.ok()?)?;
    let parts = rest.split_at_checked(first.ok()?)?;
    Some((serde_json::from_slice(head).ok()?, [parts.0, parts.1]))
}

fn copied(copy: &[u8]) -> Result<Arc<Inputs>, Failure> {
    Inputs::copied(copy).map(Arc::new).ok_or_else(nonsense)
}

/// What the first rank has read. Nothing is opened here.
fn receive(mail: &mut Mail) -> Result<Loaded, Failure> {
    let (_, letter) = next_packet(mail);
    let (letter, [module, copy]) = unframed(&letter).ok_or_else(nonsense)?;
    if let Some(code) = letter["failed"].as_u64() {
        return Err(Failure::silent(u8::try_from(code).unwrap_or(failure::BAD_INPUT)));
    }
    let protocols = letter["protocols"].as_array().ok_or_else(nonsense)?;
    let protocols: Result<_, Failure> = protocols.iter().map(|one| together::compile(one).map(Arc::new)).collect();
    let inputs = copied(copy)?;
    let name = letter["name"].as_str().unwrap_or_default();
    let program = Program::load(module, name)?.reading(inputs.clone());
    Ok(Loaded { program, protocols: protocols?, inputs })
}

fn nonsense() -> Failure {
    Failure::input(
        Code::Ranks,
        "the first rank has sent what this one does not understand",
        "start the same `trivium` on all hosts",
    )
}

/// What the programs of all nodes have read, in order, on the first rank; elsewhere nothing.
fn read_by_all(group: &dyn Group, inputs: &Inputs) -> Vec<(String, String)> {
    let own = json!(inputs.hashes()).to_string().into_bytes();
    let mut letters = vec![Vec::new(); group.size()];
    letters[0] = own;
    let mut all: Vec<(String, String)> = Vec::new();
    for letter in group.exchange(letters) {
        let read: Vec<(String, String)> = serde_json::from_slice(&letter).unwrap_or_default();
        all.extend(read);
    }
    // Standard input, files, folders, as one process tells them.
    let place = |name: &str| ["stdin", "file", "folder"].iter().position(|kind| name.starts_with(kind));
    all.sort_by(|one, other| (place(&one.0), &one.0).cmp(&(place(&other.0), &other.0)));
    all.dedup();
    all
}

/// Ends all ranks, those too that do not answer.
fn end(world: &World, told: Result<u8, Failure>) -> ! {
    let code = match told {
        Ok(code) => code,
        Err(failure) => {
            crate::say_lines!("{failure}");
            failure.code
        }
    };
    world.abort(code)
}
