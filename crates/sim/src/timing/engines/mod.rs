//! Where handlers run, and what of that takes time: one file for each kind of engine.
//!
//! A new kind is a file here that implements [`Engine`], its name in [`EngineKind`], and its line in [`make`];
//! `timing/contract.rs` holds every kind against what is said here.

mod compute;
mod ideal;
mod library;
mod processor;

use crate::machine::{EngineKind, EngineModel};

/// A kind of engine. It is asked once for each handler, whose primitives are priced already.
pub(crate) trait Engine {
    /// Whether handlers run on the compute processor: they begin where its program can be left, and it stands still until
    /// they have ended. The same for the whole run.
    fn shares_processor(&self) -> bool {
        false
    }

    /// Whether they begin in calls of the program's library only, and not wherever its program can be left. The same for the whole run.
    fn only_in_library(&self) -> bool {
        false
    }

    /// Cycles before the first primitive of a handler and after its last one, if its program was running (it
    /// `interrupts` it) or if not.
    fn switch(&self, _interrupts: bool) -> (u64, u64) {
        (0, 0)
    }

    /// For how many cycles, from its start, a handler that takes so many keeps the engine from other events.
    fn occupancy(&self, cycles: u64) -> u64;
}

/// All kinds.
#[cfg(test)]
pub(crate) const KINDS: [EngineKind; 4] =
    [EngineKind::Ideal, EngineKind::Processor, EngineKind::Compute, EngineKind::Library];

/// The engine of a machine.
pub(crate) fn make(model: &EngineModel) -> Box<dyn Engine> {
    match model.kind {
        EngineKind::Ideal => Box::new(ideal::Ideal::new(model)),
        EngineKind::Processor => Box::new(processor::ProtocolProcessor::new(model)),
        EngineKind::Compute => Box::new(compute::ComputeProcessor::new(model)),
        EngineKind::Library => Box::new(library::Library),
    }
}
