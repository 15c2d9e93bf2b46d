//! All tests of programs that use this crate as other crates do, in one program.

mod ahead;
mod atomics;
mod bad_input;
mod compiling;
mod instructions;
mod keeping;
mod library;
mod memory;
mod nan;
mod programs;
mod rewriting;
#[path = "../../../check/tests/suite/slow.rs"]
mod slow;
mod switching;
mod weights;
mod world;
