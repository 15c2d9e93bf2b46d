//! A hard-wired engine: it takes an event every `interval` cycles, whatever its handler's data still take.

use super::Engine;
use crate::machine::EngineModel;

pub(super) struct Ideal {
    interval: u64,
}

impl Ideal {
    pub(super) fn new(model: &EngineModel) -> Ideal {
        Ideal { interval: model.interval }
    }
}

impl Engine for Ideal {
    fn occupancy(&self, _cycles: u64) -> u64 {
        self.interval
    }
}
