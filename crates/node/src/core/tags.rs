//! The tags and lines of a node's blocks, and where its pages are.

use super::NodeCore;
use trivium_engine::{CacheLine, Object};
use trivium_protocol::Access;

impl<C> NodeCore<C> {
    /// The tag of a block of an allocated page whose home is known.
    #[inline]
    pub fn tag(&mut self, block: Object) -> Access {
        match self.tags.known(block.id) {
            Some(tag) => tag,
            None => self.first_tag(block),
        }
    }

    /// The tag of a block that has not been asked for before.
    #[cold]
    fn first_tag(&mut self, block: Object) -> Access {
        let first = self.first_access(block);
        self.tags.put(block, first);
        first
    }

    /// Whether the home of a byte's page is known; nobody asks for it.
    pub fn is_placed(&self, offset: u64) -> bool {
        let page = self.space.borrow().page_of(offset);
        self.pages.is_known(page) || !self.space.borrow().by_first_touch(page)
    }

    /// Whether the processor has requested a block, and the engine not answered.
    #[inline]
    pub fn requests(&self, block: Object) -> bool {
        self.threads.request(block) || self.lines.line(block).hinted
    }

    /// The line of a block becomes another one, and with it the block's tag: what that was and is, if it has changed.
    pub fn set_line(&mut self, block: Object, line: CacheLine) -> Option<(Access, Access)> {
        let (from, to) = (self.tag(block), line.line.access());
        self.lines.set(block, line);
        if from == to {
            return None;
        }
        self.tags.put(block, to);
        Some((from, to))
    }
}
