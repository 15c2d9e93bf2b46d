//! What nodes come together for: other bindings of regions, other homes of pages (`docs/semantics.md`, section 1).

use super::{Space, shared_u32};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use trivium_engine::Node;

/// From now on a region is under this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The number of the allocation.
    pub region: usize,
    /// The number of the protocol.
    pub protocol: usize,
}

/// From now on an object that is no block is at home at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placing {
    /// The number of the protocol.
    pub protocol: usize,
    /// The kind of object.
    pub kind: u8,
    /// Its number.
    pub object: u32,
    /// The node.
    pub home: Node,
}

/// What a barrier to which all nodes come is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// The barrier alone.
    Barrier,
    /// A region comes under another protocol behind it.
    Bind(Binding),
    /// The parallel phase starts behind it: pages that were placed by first touch get another home.
    Start,
    /// An object gets its home behind it.
    Place(Placing),
}

impl Purpose {
    /// What happens to all nodes behind the barrier, as the beginning of a sentence.
    pub(crate) fn event(self) -> &'static str {
        match self {
            Purpose::Start => "the parallel phase starts",
            Purpose::Place(_) => "an object gets its home",
            Purpose::Bind(_) | Purpose::Barrier => "a region is bound to another protocol",
        }
    }

    /// The program's call that asks for it.
    pub(crate) fn call(self) -> &'static str {
        match self {
            Purpose::Start => "trivium_parallel_start",
            Purpose::Place(_) => "trivium_place",
            Purpose::Bind(_) | Purpose::Barrier => "trivium_bind",
        }
    }

    /// The numbers of the blocks of which all records and copies are forgotten behind the barrier, where blocks have so many bytes.
    pub fn forgets(self, space: &Space, block: u64) -> Vec<Range<u32>> {
        match self {
            Purpose::Barrier | Purpose::Place(_) => Vec::new(),
            Purpose::Bind(binding) => vec![blocks(space, block, binding)],
            Purpose::Start => {
                let pages = space.placed_by_first_touch();
                pages.into_iter().map(|page| blocks_of_page(space, block, page)).collect()
            }
        }
    }
}

/// The numbers of the blocks of a region that is bound.
pub(crate) fn blocks(space: &Space, block: u64, binding: Binding) -> Range<u32> {
    let bytes = space.range(binding.region);
    shared_u32(bytes.start / block)..shared_u32(bytes.end / block)
}

pub(crate) fn blocks_of_page(space: &Space, block: u64, page: usize) -> Range<u32> {
    let (page, bytes) = (page as u64, space.page_bytes());
    shared_u32(page * bytes / block)..shared_u32((page + 1) * bytes / block)
}
