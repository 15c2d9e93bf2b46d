//! What can be asked for: an exploration, and what becomes of a mutant.

pub(crate) mod explore;
pub(crate) mod mutants;
mod weak;
