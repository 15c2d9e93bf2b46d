//! Regions of shared memory come under other protocols between phases (`docs/semantics.md`, section 1).

use super::{NodeState, tag_of};
use trivium_engine::Object;
use trivium_node::{Binding, NodeError};
use trivium_protocol::{Access, BLOCK};

impl NodeState {
    /// A region comes under another protocol on this node, as it does on all at this cycle.
    ///
    /// # Errors
    /// A block of it is not at rest, or not at home; or one of the protocols has cached processors.
    pub(crate) fn bind(&mut self, binding: Binding) -> Result<(), NodeError> {
        let tags = &mut self.blocks.tags;
        let bound =
            self.core.bind(binding, &format!("cycle {}", self.now), &mut |core, block| tag_of(tags, core, block))?;
        let Some(blocks) = bound else { return Ok(()) };
        let bytes = self.core.space.borrow().range(binding.region);
        let pages = self.core.space.borrow().page_of(bytes.start)..self.core.space.borrow().page_of(bytes.end);
        self.forget_frames(pages);
        for id in blocks {
            self.forget_tag(Object { kind: BLOCK, id });
        }
        Ok(())
    }

    /// The tag of a block is that of its new protocol's first state; lines that it does not allow leave the cache.
    fn forget_tag(&mut self, block: Object) {
        let known = self.blocks.tags.get_mut(block.id as usize).map(std::mem::take);
        if known.is_none_or(|tag| tag == 0) {
            return;
        }
        let to = self.tag(block);
        let from = [Access::None, Access::Read, Access::Write][usize::from(known.unwrap_or(1)) - 1];
        self.blame_tag(block, from, to, true, self.now);
        if to != Access::Write {
            self.lower_lines(block, to);
        }
    }
}
