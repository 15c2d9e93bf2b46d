//! Compiles rewritten modules to the host's code, and keeps that from one run to the next.

use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};
use wasmtime::{Config, Engine, Module};

use crate::rewrite::{Build, Manner};
use crate::shelf::Shelf;
use crate::switching::Switching;

/// The stack of a node's compiled code, in bytes: deeper recursion is an error of the program.
const WASM_STACK: usize = 1 << 20;
/// The stack that a node runs on, in bytes: compiled code and the host functions above it.
const NODE_STACK: usize = 2 << 20;

/// Compiles a rewritten module, or takes what was compiled from it before.
pub(crate) fn compile(
    module: &[u8],
    Manner { build, switching, .. }: Manner,
    shelf: Option<&Shelf>,
) -> wasmtime::Result<Module> {
    let engine = Engine::new(&config(build, switching))?;
    let Some(shelf) = shelf else {
        return Module::from_binary(&engine, module);
    };
    let name = kept_name(&engine, module);
    if let Some(code) = shelf.take(&name) {
        // SAFETY: `deserialize` wants what `serialize` gave: it runs it. The file is as it was written, or the shelf
        // would not give it, and only `compile` writes under such names. The shelf's folder is the user's own, and no one
        // else may write to it; who can write as the user needs no file of ours. Another version of the
        // engine, or other settings, are refused by `deserialize`, and have another name besides.
        if let Ok(module) = unsafe { Module::deserialize(&engine, code) } {
            return Ok(module);
        }
    }
    let compiled = Module::from_binary(&engine, module)?;
    // What cannot be kept is compiled again the next time. Where C is compiled, the user is told so.
    let _ = compiled.serialize().map(|code| shelf.put(&name, &code));
    Ok(compiled)
}

/// Compiled code is the same on every machine as far as a program can see: no relaxed operators,
/// one form of NaN (which the fast build sees to by itself).
fn config(build: Build, switching: Switching) -> Config {
    let mut config = Config::new();
    config
        .cranelift_nan_canonicalization(build == Build::Reference)
        .wasm_relaxed_simd(false)
        .wasm_simd(false)
        .wasm_branch_hinting(true)
        .memory_may_move(false)
        .memory_reservation(1 << 32)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(NODE_STACK);
    if switching == Switching::Stacks {
        config.wasm_function_references(true).wasm_exceptions(true).wasm_stack_switching(true);
    }
    config
}

/// The name under which the code of a module is kept: all that it depends on. How it was rewritten is seen in the module.
fn kept_name(engine: &Engine, module: &[u8]) -> String {
    let mut hash = Hashing(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hash);
    hash.0.update(module);
    let hash: String = hash.0.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("native-{hash}")
}

/// Passes on what is hashed, whose own 64 bits would be too few for a name.
struct Hashing(Sha256);

impl Hasher for Hashing {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the name is made of the whole hash")
    }
}
