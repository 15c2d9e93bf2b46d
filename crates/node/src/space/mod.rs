//! The shared address space as a node sees it: who allocated what, where homes are, its copy of memory and its tags, what it has shared of its
//! own memory, data in the hands of its handlers.

mod allocations;
mod images;
mod memory;
mod parts;
mod payload;
mod purpose;
mod tags;

pub use allocations::{Allocation, Claimed, Space, SpaceCall, shared_u32};
pub use images::Images;
pub use memory::NodeMemory;
pub use parts::Parts;
pub use payload::{Data, Payloads};
pub use purpose::{Binding, Placing, Purpose};
pub(crate) use purpose::{blocks, blocks_of_page};
pub use tags::{BlockTags, Mapped, Pages};
