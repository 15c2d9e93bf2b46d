//! Processors with caches of their own (`docs/semantics.md`, section 8).
//!
//! The program's memory is what its processor's cache holds; the engine's copies of blocks lie in [`Lines`](trivium_node::Lines). The cache
//! has room for all that a program touches, so that nothing leaves by itself.

use super::{Doing, NodeState, Wait};
use trivium_engine::number::index;
use trivium_engine::{CacheLine, Object};
use trivium_protocol::Line;

impl NodeState {
    /// Whether the running handler's protocol has cached processors.
    pub(crate) fn is_cached(&self) -> bool {
        self.core.protocols.cached[self.handling.protocol]
    }

    /// The engine's copy of a block.
    fn copy_of(&mut self, block: Object) -> Result<&mut [u8], String> {
        if self.lines.copy(block).is_none() {
            let mut bytes = vec![0; index(self.core.protocols.block)];
            let is_home = self.core.home_of(block) == self.core.me;
            if is_home {
                // Before anybody has cached it, memory is all that there is.
                self.memory.read(self.core.offset_of(block), &mut bytes)?;
            }
            return Ok(self.lines.keep_copy(block, bytes.into(), !is_home));
        }
        Ok(self.lines.copy(block).unwrap_or_default())
    }

    /// The engine's copy of the block at an offset, from there on.
    fn copy_from(&mut self, offset: u64) -> Result<&mut [u8], String> {
        let from = index(offset % self.core.protocols.block);
        Ok(&mut self.copy_of(self.core.block_of(offset))?[from..])
    }

    /// Reads the engine's copies from an offset on.
    pub(crate) fn read_copies(&mut self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        let mut done = 0;
        while done < into.len() {
            let copy = self.copy_from(offset + done as u64)?;
            let count = copy.len().min(into.len() - done);
            into[done..done + count].copy_from_slice(&copy[..count]);
            done += count;
        }
        Ok(())
    }

    /// Writes them.
    pub(crate) fn write_copies(&mut self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let mut done = 0;
        while done < bytes.len() {
            let copy = self.copy_from(offset + done as u64)?;
            let count = copy.len().min(bytes.len() - done);
            copy[..count].copy_from_slice(&bytes[done..done + count]);
            done += count;
        }
        Ok(())
    }

    fn requests(&self, block: Object) -> bool {
        self.doing == Doing::Waiting(Wait::Access(block))
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
        self.handling.changed.push(block);
        let mut line = self.lines.line(block);
        if line.fill(to) {
            let offset = self.core.offset_of(block);
            let bytes = self.copy_of(block).map(|copy| copy.to_vec());
            let written = bytes.and_then(|bytes| self.memory.write(offset, &bytes));
            self.trouble_of(written);
        }
        self.show_line(block, line);
        true
    }

    /// See [`trivium_engine::Mechanisms::upgrade`].
    pub(crate) fn upgrade_line(&mut self, block: Object) -> bool {
        if !self.requests(block) {
            return false;
        }
        self.handling.changed.push(block);
        let mut line = self.lines.line(block);
        line.upgrade();
        self.show_line(block, line);
        true
    }

    /// See [`trivium_engine::Mechanisms::take`].
    pub(crate) fn take_line(&mut self, block: Object, to: Line) {
        self.handling.changed.push(block);
        let mut bytes = vec![0; index(self.core.protocols.block)];
        let read = self.memory.read(self.core.offset_of(block), &mut bytes);
        let taken = read.and_then(|()| self.copy_of(block).map(|copy| copy.copy_from_slice(&bytes)));
        self.trouble_of(taken);
        let mut line = self.lines.line(block);
        line.take(to, self.requests(block));
        self.show_line(block, line);
    }

    /// See [`trivium_engine::Mechanisms::invalidate`].
    pub(crate) fn invalidate_line(&mut self, block: Object) {
        self.handling.changed.push(block);
        let mut line = self.lines.line(block);
        line.invalidate(self.requests(block));
        self.show_line(block, line);
    }

    /// The processor's request for a block has been answered.
    pub(crate) fn answered_line(&mut self, block: Object) {
        let mut line = self.lines.line(block);
        line.answered();
        self.lines.set(block, line);
    }
}
