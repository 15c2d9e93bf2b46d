//! The tags and lines of a node's blocks, and where its pages are.

use super::NodeCore;
use trivium_engine::{CacheLine, Object};
use trivium_protocol::{Access, BLOCK, RoleId};

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

    /// Whether this node has contents of a block of a protocol (`docs/semantics.md`, section 1).
    pub fn has_contents(&self, protocol: usize, block: Object) -> bool {
        let keeps = |role: &RoleId| {
            let states = &self.protocols.engines[protocol].protocol().roles[role.index()].states;
            states[self.state_of(protocol, *role, block).index()].contents
        };
        let roles = &self.protocols.keeping[protocol];
        roles.is_empty() || self.home_of_block(block) == self.me || roles.iter().any(keeps)
    }

    /// A handler has ended: the engine's buffers of blocks of which the node has no contents are empty again.
    pub fn empty_buffers(&mut self) {
        for block in self.lines.take_buffers() {
            let object = Object { kind: BLOCK, id: block };
            let protocol = self.protocol_at(self.offset_of(object));
            let keeps = protocol.is_some_and(|protocol| self.has_contents(protocol, object));
            self.lines.end_buffer(block, keeps);
        }
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
        self.set_tag(block, to);
        Some((from, to))
    }

    /// The tag of a block becomes another one. A copy that may not be loaded from is lost.
    #[inline]
    pub fn set_tag(&mut self, block: Object, to: Access) {
        if to < Access::Read {
            self.threads.lose(block);
        }
        self.tags.put(block, to);
    }
}
