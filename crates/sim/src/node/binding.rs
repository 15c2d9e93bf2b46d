//! Between phases regions of shared memory come under other protocols, and pages lose their homes (`docs/semantics.md`, section 1).

use super::NodeState;
use trivium_engine::Object;
use trivium_node::{Binding, Mapped, NodeError};
use trivium_protocol::{Access, BLOCK};

impl NodeState {
    /// A region comes under another protocol on this node, as it does on all at this cycle.
    ///
    /// # Errors
    /// A block of it is not at rest, or not at home; or one of the protocols has cached processors.
    pub(crate) fn bind(&mut self, binding: Binding) -> Result<(), NodeError> {
        let bound = self.core.bind(binding, &format!("cycle {}", self.now))?;
        let Some(blocks) = bound else { return Ok(()) };
        let bytes = self.core.space.borrow().range(binding.region);
        let pages = self.core.space.borrow().page_of(bytes.start)..self.core.space.borrow().page_of(bytes.end);
        self.forget_frames(pages);
        for id in blocks {
            self.forget_tag(Object { kind: BLOCK, id });
        }
        Ok(())
    }

    /// The parallel phase starts on this node, as it does on all at this cycle: of pages that were placed by first touch it has nothing
    /// any more, and does not know their homes.
    ///
    /// # Errors
    /// A block of them is not at rest, or not at home; or it is under a protocol with cached processors.
    pub(crate) fn start(&mut self) -> Result<(), NodeError> {
        let placed = self.core.start(&format!("cycle {}", self.now))?;
        for (page, blocks) in placed {
            self.forget_frames(page..page + 1);
            self.core.pages.put(page, Mapped::No);
            for block in blocks.map(|id| Object { kind: BLOCK, id }) {
                if let Some(from) = self.core.tags.forget(block) {
                    self.lowered(block, from, Access::None);
                }
            }
        }
        Ok(())
    }

    /// The tag of a block is that of its new protocol's first state; lines that it does not allow leave the cache.
    fn forget_tag(&mut self, block: Object) {
        if let Some(from) = self.core.tags.forget(block) {
            let to = self.core.tag(block);
            self.lowered(block, from, to);
        }
    }

    /// The tag of a block is another one; lines that it does not allow leave the cache.
    fn lowered(&mut self, block: Object, from: Access, to: Access) {
        self.blame_tag(block, from, to, true, self.now);
        if to != Access::Write {
            self.lower_lines(block, to);
        }
    }
}
