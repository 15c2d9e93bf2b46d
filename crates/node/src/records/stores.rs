//! Which blocks a node has stored to.

use trivium_engine::Object;

/// Of each block, 1 + the phase between two barriers of this node's latest store, where that is watched.
#[derive(Debug, Default)]
pub struct Stores(Vec<u64>);

impl Stores {
    /// A store to a block in a phase: whether it is the first.
    #[inline]
    pub(crate) fn is_first(&mut self, block: Object, phase: u64) -> bool {
        let at = block.id as usize;
        if at >= self.0.len() {
            self.0.resize(at + 64, 0);
        }
        std::mem::replace(&mut self.0[at], phase + 1) != phase + 1
    }
}
