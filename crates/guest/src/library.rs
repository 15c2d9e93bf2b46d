//! Functions of the C library that do not do here what they promise, and what a module's instructions tell of its source.
//!
//! The library for WebAssembly has `pthread_create` and mutexes that do nothing, and atomic operations of more than 8 bytes
//! that use a lock in private memory. A program with them runs, and its answer is wrong. The linker leaves out what is not
//! used, so what is there is used.

use std::collections::{BTreeMap, BTreeSet};
use trivium_diagnostic::{Code, Diagnostic};

use wasmparser::Operator;

use crate::atomics::{is_atomic, is_read_modify_write};
use crate::inspect::{Inspected, function_name};
use crate::source::{self, SourceLocation, line_of};

/// What a module's instructions tell.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instructions {
    /// It has atomic operators of any kind.
    pub atomic: bool,
    /// It has an atomic read-modify-write, or may ask the host for one.
    pub read_modify_write: bool,
}

/// What a function must not be called for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Threads,
    WideAtomics,
}

/// Functions of threads that the library has and that do nothing, stop the program, or lock what is private, without the
/// `pthread_` before them.
const ONE_THREAD: [&str; 5] = ["create", "join", "timedjoin_np", "tryjoin_np", "detach"];
/// How the names of others begin.
const ONE_THREAD_KINDS: [&str; 5] = ["mutex_", "rwlock_", "cond_", "barrier_", "spin_"];

/// What a function of the C library, or of the compiler's own, is called for, and what the program's author calls it.
fn want(name: &str) -> Option<(Want, &str)> {
    let plain = name.rsplit('.').next().unwrap_or(name);
    // Most have two leading underscores and another name besides, so that a program may define that itself.
    let called = plain.strip_prefix("__").filter(|rest| rest.starts_with("pthread_")).unwrap_or(plain);
    if let Some(function) = called.strip_prefix("pthread_") {
        let is_stub = ONE_THREAD.contains(&function) || ONE_THREAD_KINDS.iter().any(|kind| function.starts_with(kind));
        return is_stub.then_some((Want::Threads, called));
    }
    let any_size = ["__atomic_load", "__atomic_store", "__atomic_exchange", "__atomic_compare_exchange"];
    let is_wide = plain.starts_with("__atomic_") && plain.ends_with("_16") || any_size.contains(&plain);
    is_wide.then_some((Want::WideAtomics, plain))
}

/// Looks at all instructions of a module.
///
/// # Errors
/// It calls functions that do not do here what they promise.
pub(crate) fn check(module: &Inspected<'_>, bytes: &[u8], name: &str) -> Result<Instructions, Diagnostic> {
    let imported = module.imports.len() as u32;
    let of_library = |index: u32| {
        let name = || function_name(&module.function_names, index);
        source::is_of_library(bytes, index.wrapping_sub(imported), name) == Some(true)
    };
    let wanted: BTreeMap<u32, (Want, &str)> = module
        .function_names
        .iter()
        .filter_map(|(index, name)| Some((*index, want(name)?)))
        // Names without the two underscores may be the program's own.
        .filter(|(index, _)| module.function_names[index].starts_with("__") || of_library(*index))
        .collect();
    let rmw = |import: &crate::inspect::Import| import.module == "trivium" && import.name == "rmw";
    let mut instructions = Instructions { atomic: false, read_modify_write: module.imports.iter().any(rmw) };
    // From what function to which, and where the first such call stands.
    let mut calls: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let code = module.code.as_ref().map_or(0, |code| code.range().start);
    for (number, body) in (imported..).zip(module.code.clone().into_iter().flatten()) {
        let Ok(operators) = body.and_then(|body| body.get_operators_reader()) else { continue };
        for (operator, at) in operators.into_iter_with_offsets().flatten() {
            if let Operator::Call { function_index } = operator
                && wanted.contains_key(&function_index)
                && !wanted.contains_key(&number)
            {
                calls.entry((function_index, number)).or_insert(at);
            }
            instructions.atomic |= is_atomic(&operator);
            instructions.read_modify_write |= is_read_modify_write(&operator);
        }
    }
    for kind in [Want::Threads, Want::WideAtomics] {
        let of_kind: Vec<_> = wanted.iter().filter(|(_, (want, _))| *want == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let told: BTreeSet<String> = of_kind
            .iter()
            .filter_map(|(index, (_, called))| {
                let all: Vec<_> = calls.iter().filter(|((to, _), _)| to == *index).collect();
                // What the library locks for itself, on one thread, needs no lock.
                let own = all.iter().filter(|((_, from), _)| !of_library(*from)).map(|((_, from), at)| {
                    let function = function_name(&module.function_names, *from);
                    SourceLocation { function, line: line_of(bytes, code, **at) }.to_string()
                });
                let own: Vec<String> = own.collect();
                match (all.is_empty(), own.is_empty()) {
                    (true, _) => Some(format!("`{called}`")),
                    (false, true) => None,
                    (false, false) => Some(format!("`{called}` ({})", own.join(", "))),
                }
            })
            .collect();
        if told.is_empty() {
            continue;
        }
        return Err(refusal(kind, &told.into_iter().collect::<Vec<_>>().join(", ")).at(name));
    }
    Ok(instructions)
}

/// What there is in place of threads, and of what they wait for each other by.
pub(crate) const IN_PLACE_OF_THREADS: &str = "every node runs `main`: share the work by trivium_node() and trivium_nodes(), let nodes wait for each other by trivium_barrier(), and take a trivium_lock_t in memory of trivium_alloc for a mutex, a trivium_condition_t or trivium_semaphore_t for what their names say";

fn refusal(want: Want, calls: &str) -> Diagnostic {
    match want {
        Want::Threads => Diagnostic::new(Code::Module, format!("the program calls {calls}: a node has one thread, so that these do nothing"))
            .help(IN_PLACE_OF_THREADS),
        Want::WideAtomics => Diagnostic::new(Code::Module, format!(
            "the program has atomic operations on more than 8 bytes, or on an object that is not aligned ({calls}): they would not be atomic"
        ))
        .help("use atomic operations on aligned objects of at most 8 bytes, or a trivium_lock_t"),
    }
}

/// A warning if a program that shares memory may have lost the atomic operations of its source: compilers make plain loads
/// and stores of them unless they may use atomic instructions and, in a file with a thread-local variable, bulk memory.
pub(crate) fn lost_atomics(module: &Inspected<'_>, instructions: Instructions) -> Option<String> {
    let shares = module.imports.iter().any(|import| import.module == "trivium" && import.name == "alloc");
    let has = |feature: &str| module.features.as_ref().is_some_and(|features| features.contains(feature));
    if !shares || has("atomics") && has("bulk-memory") || instructions.atomic && module.features.is_none() {
        return None;
    }
    let why = match &module.features {
        None => "the module does not say that it was compiled with atomic instructions and bulk memory",
        Some(_) => "the module was not compiled with atomic instructions and bulk memory",
    };
    Some(format!(
        "{why}: if its source uses C11 atomics, they may have become plain loads and stores; compile with -matomics -mbulk-memory, as is done with a .c file"
    ))
}
