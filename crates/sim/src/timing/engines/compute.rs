//! No engine at all: handlers run on the compute processor, while its program waits in a call or for an access, and at the
//! poll points of a program that runs. Then the program's registers are saved before the handler and restored after it.

use super::Engine;
use crate::machine::EngineModel;

pub(super) struct ComputeProcessor {
    save: u64,
    restore: u64,
}

impl ComputeProcessor {
    pub(super) fn new(model: &EngineModel) -> ComputeProcessor {
        ComputeProcessor { save: model.save, restore: model.restore }
    }
}

impl Engine for ComputeProcessor {
    fn shares_processor(&self) -> bool {
        true
    }

    fn switch(&self, interrupts: bool) -> (u64, u64) {
        if interrupts { (self.save, self.restore) } else { (0, 0) }
    }

    fn occupancy(&self, cycles: u64) -> u64 {
        cycles
    }
}
