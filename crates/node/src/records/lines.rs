//! Processors with caches of their own (`docs/semantics.md`, section 8): the state of each line, and where the contents
//! of blocks lie that no processor has.

use crate::space::Data;
use rustc_hash::FxHashMap;
use trivium_engine::{CacheLine, Object};
use trivium_protocol::{BLOCK, Line};

/// What a node keeps where processors are cached.
#[derive(Default)]
pub struct Lines {
    /// Blocks of which the cache has something, or of which its interface remembers something.
    held: FxHashMap<u32, CacheLine>,
    /// The engine's copies: of a home the memory, else a buffer.
    copies: FxHashMap<u32, Box<[u8]>>,
    /// Buffers that are emptied when a handler ends and the node has no contents of their blocks.
    buffers: Vec<u32>,
    /// Contents on their way from the cache to the engine.
    leaving: FxHashMap<u32, Box<Data>>,
}

impl Lines {
    /// Whether the engine has yet to hear that a block has left the cache.
    pub fn is_leaving(&self, block: Object) -> bool {
        block.kind == BLOCK && self.held.get(&block.id).is_some_and(|line| line.line == Line::Leaving)
    }

    /// The line of a block.
    pub fn line(&self, block: Object) -> CacheLine {
        self.held.get(&block.id).copied().unwrap_or_default()
    }

    /// Changes the line of a block.
    pub fn set(&mut self, block: Object, line: CacheLine) {
        if line == CacheLine::default() {
            self.held.remove(&block.id);
        } else {
            self.held.insert(block.id, line);
        }
    }

    /// The engine's copy of a block, if it has one.
    pub fn copy(&mut self, block: Object) -> Option<&mut [u8]> {
        self.copies.get_mut(&block.id).map(|copy| &mut copy[..])
    }

    /// The engine has a copy of a block from now on: its memory, or a buffer that is empty again when the handler ends.
    pub fn keep_copy(&mut self, block: Object, bytes: Box<[u8]>, is_buffer: bool) -> &mut [u8] {
        if is_buffer {
            self.buffers.push(block.id);
        }
        self.copies.insert(block.id, bytes);
        self.copies.get_mut(&block.id).map_or(&mut [], |copy| &mut copy[..])
    }

    /// The blocks of which the engine has a buffer, each of which is to be kept or emptied: [`Lines::end_buffer`].
    pub fn take_buffers(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.buffers)
    }

    /// A handler has ended: a buffer is empty again, unless the node keeps the block's contents.
    pub fn end_buffer(&mut self, block: u32, keeps: bool) {
        if keeps {
            self.buffers.push(block);
        } else {
            self.copies.remove(&block);
        }
    }

    /// Contents of a block are on their way from the cache to the engine.
    pub fn leave(&mut self, block: Object, data: Box<Data>) {
        self.leaving.insert(block.id, data);
    }

    /// The engine hears of a block that has left: the contents that came with it.
    pub fn take_left(&mut self, block: Object) -> Option<Box<Data>> {
        self.leaving.remove(&block.id)
    }
}
