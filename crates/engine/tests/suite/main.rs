//! All tests of the engine that use it as other crates do, in one program.

mod coherence;
mod constructs;
mod contract;
mod defer;
mod flat;
mod hand;
mod handlers;
mod loading;
#[path = "../../../lang/tests/suite/mutant/mod.rs"]
mod mutant;
mod mutants;
mod records;
