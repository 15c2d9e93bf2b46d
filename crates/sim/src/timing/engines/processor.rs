//! A processor of the engine's own: it is busy until its handler has ended.

use super::Engine;
use crate::machine::EngineModel;

pub(super) struct ProtocolProcessor {
    interval: u64,
}

impl ProtocolProcessor {
    pub(super) fn new(model: &EngineModel) -> ProtocolProcessor {
        ProtocolProcessor { interval: model.interval }
    }
}

impl Engine for ProtocolProcessor {
    fn occupancy(&self, cycles: u64) -> u64 {
        cycles.max(self.interval)
    }
}
