//! Compiles, rewrites and runs WebAssembly programs.
//!
//! A program is one WebAssembly module, run as N *nodes* (SPMD): one instance and one linear
//! memory each. Before it is compiled, the module is rewritten so that instructions are counted
//! and every load, store, loop head and function entry asks the node's [`Processor`], which may
//! let it go on, make it wait, or answer in its place. That is the *reference* build; in the *fast*
//! one ([`Build`]) accesses that a processor has allowed in advance ([`Tags`]), and polls before its
//! [`Processor::deadline`], never leave compiled code. Calls that a program makes (allocation,
//! barrier, atomics, printing, calls of a protocol) arrive at the same trait.
//!
//! The nodes of a host thread take turns on a [`Stage`]: each runs until its processor makes it wait. They do so by
//! WebAssembly's stack switching, or where that is not possible by fibres ([`Switching`]).
//!
//! **Invariants.** This crate knows no protocol, no machine and no time: it never decides whether
//! an access is allowed, only whether it lies inside memory. It never reorders accesses. The
//! number of instructions depends on the program and the values that it reads, and not on how
//! often it had to wait. So does the work that they are, by the weights that its user gives to classes of operators
//! ([`OperatorWeights`]), of which this crate only makes the sum.
//!
//! # Memory of a node
//!
//! ```text
//! 0                         private bytes        SHARED_BASE              shared end     SHARED_END
//! | stack, globals, malloc  |  out of bounds  |  regions of trivium_alloc  | out of bounds |
//! ```
//!
//! The last 64 KiB before `SHARED_BASE` are never the program's: the fast build keeps its own values there.
//!
//! A shared address is the same offset on every node, and each node's memory holds that node's
//! copy. The whole range up to [`SHARED_END`] is mapped lazily and never moves.
//!
//! # Example
//!
//! ```
//! use std::{cell::RefCell, rc::Rc};
//! use trivium_guest::*;
//!
//! /// Lets everything pass.
//! struct Alone;
//! impl Processor for Alone {
//!     fn access(&mut self, _: Executed, _: LoadStore) -> Result<AccessStep, ProgramFault> { Ok(AccessStep::Go) }
//!     fn poll(&mut self, _: Executed) -> Result<AccessStep, ProgramFault> { Ok(AccessStep::Go) }
//!     fn call(&mut self, _: Executed, _: &Call) -> Result<CallStep, ProgramFault> { Ok(CallStep::Done(0)) }
//! }
//!
//! // (module (func (export "_start")))
//! let bytes = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x07\x0a\x01\x06_start\0\0\x0a\x04\x01\x02\0\x0b";
//! let program = Program::load(bytes, "empty").unwrap();
//! let mut node = ProgramNode::new(&program, 0, &[], Rc::new(RefCell::new(Alone))).unwrap();
//! assert_eq!(node.resume(), NodeOutcome::Finished { exit_code: 0 });
//! ```

mod atomics;
mod compile;
mod coroutine;
mod counters;
mod debug_info;
mod folder;
mod host;
mod inputs;
mod inspect;
mod lacking;
mod library;
mod loaded;
mod memory;
mod native;
mod node;
mod prefetch;
mod processor;
mod program;
mod rewrite;
mod shelf;
mod source;
mod switching;
mod tags;
mod translations;
mod variables;
mod weights;

pub use compile::{
    COMPILE_FLAGS, CompileOptions, Compiled, Compiling, IMPORT_UNDEFINED, LIBRARY_FILES, LINK_FLAGS, Toolchain,
    Translator, compile, compile_c, kept, readable, run_compiler, translated,
};
pub use counters::CounterUse;
pub use debug_info::DebugInfo;
pub use folder::FileChange;
pub use inputs::Inputs;
pub use inspect::CallImport;
pub use lacking::{lacks_functions, undefined};
pub use memory::{Memory, PART_UNIT, PRIVATE_LIMIT, SHARED_BASE, SHARED_END};
pub use node::{NodeOutcome, ProgramNode, Stage};
pub use prefetch::{prefetch, prefetch_to_write};
pub use processor::{
    AccessKind, AccessStep, Call, CallStep, LoadStore, Placement, Processor, ProgramFault, ReadModifyWrite, RmwOp,
    SplitPhase, StackFrame,
};
pub use program::Program;
pub use rewrite::Build;
pub use shelf::Shelf;
pub use source::SourceLocation;
pub use switching::Switching;
pub use tags::Tags;
pub use translations::{TlbShape, Translations};
pub use variables::Variable;
pub use weights::{Executed, OperatorClass, OperatorWeights};
