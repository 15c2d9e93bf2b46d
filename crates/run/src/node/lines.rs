//! Processors with caches of their own (`docs/semantics.md`, section 8).
//!
//! The program's memory is what its processor's cache holds; the engine's copies of blocks lie in [`Lines`](trivium_node::Lines). The cache
//! has room for all that a program touches, so that nothing leaves by itself.

use super::NodeState;
use trivium_engine::{CacheLine, Object};
use trivium_node::HandlerMemory;
use trivium_protocol::Line;

impl NodeState {
    fn requests(&self, block: Object) -> bool {
        self.core.thread.requests(block) || self.lines.line(block).hinted
    }

    /// The line's access becomes what its state gives.
    fn show_line(&mut self, block: Object, line: CacheLine) {
        let (from, to) = (self.tag(block), line.line.access());
        self.lines.set(block, line);
        self.tags[block.id as usize] = 1 + to as u8;
        if to < from {
            self.publish(block, to, false);
        }
    }

    pub(crate) fn line_of(&self, block: Object) -> Line {
        self.lines.line(block).line
    }

    /// See [`trivium_engine::Mechanisms::fill`].
    pub(crate) fn fill_line(&mut self, block: Object, to: Line) -> bool {
        if !self.requests(block) {
            return false;
        }
        self.handling.effects.changed.push(block);
        let mut line = self.lines.line(block);
        if line.fill(to) {
            self.fill_from_copy(block);
        }
        self.show_line(block, line);
        true
    }

    /// See [`trivium_engine::Mechanisms::upgrade`].
    pub(crate) fn upgrade_line(&mut self, block: Object) -> bool {
        if !self.requests(block) {
            return false;
        }
        self.handling.effects.changed.push(block);
        let mut line = self.lines.line(block);
        line.upgrade();
        self.show_line(block, line);
        true
    }

    /// See [`trivium_engine::Mechanisms::take`].
    pub(crate) fn take_line(&mut self, block: Object, to: Line) {
        self.handling.effects.changed.push(block);
        self.take_to_copy(block);
        let mut line = self.lines.line(block);
        line.take(to, self.requests(block));
        self.show_line(block, line);
    }

    /// See [`trivium_engine::Mechanisms::invalidate`].
    pub(crate) fn invalidate_line(&mut self, block: Object) {
        self.handling.effects.changed.push(block);
        let mut line = self.lines.line(block);
        line.invalidate(self.requests(block));
        self.show_line(block, line);
    }
}
