//! Regions of shared memory come under other protocols between phases (`docs/semantics.md`, section 1).

use super::space::{Space, shared_u32};
use crate::error::SimError;
use std::ops::Range;
use std::rc::Rc;
use trivium_engine::Engine;
use trivium_guest::SHARED_BASE;

/// From now on a region is under this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The number of the allocation.
    pub region: usize,
    /// The number of the protocol.
    pub protocol: usize,
}

/// The numbers of the blocks of a region that is bound.
pub fn blocks(space: &Space, block: u64, binding: Binding) -> Range<u32> {
    let bytes = space.range(binding.region);
    shared_u32(bytes.start / block)..shared_u32(bytes.end / block)
}

/// Two nodes are at the machine's barrier for different things.
pub fn disagree(
    space: &Space,
    engines: &[Rc<Engine>],
    one: (usize, Option<Binding>),
    other: (usize, Option<Binding>),
) -> SimError {
    let tell = |(node, binding): (usize, Option<Binding>)| match binding {
        None => format!("node {node} is at the barrier"),
        Some(binding) => {
            let address = u64::from(SHARED_BASE) + space.range(binding.region).start;
            format!("node {node} binds {address:#x} to `{}`", engines[binding.protocol].protocol().name)
        }
    };
    SimError::subject(format!("{}, but {}", tell(one), tell(other)))
        .help("trivium_bind is collective: every node makes the same call at the same point of its program")
}
