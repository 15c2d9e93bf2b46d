//! What a node has shared of its private memory (`docs/semantics.md`, section 1).

use super::shared_u32;
use std::ops::Range;
use trivium_guest::SHARED_BASE;

/// A range of private memory that is the memory of this node's part of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    private: u32,
    bytes: u32,
    /// The byte offset in shared memory.
    offset: u32,
}

/// What a node has shared of its private memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts(Vec<Part>);

impl Parts {
    /// Whether nothing is shared.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The `bytes` bytes of private memory from `private` on are those of shared memory from the address `part` on.
    pub fn add(&mut self, private: u32, bytes: u32, part: u32) {
        self.0.push(Part { private, bytes, offset: part - SHARED_BASE });
    }

    /// Whether something of the `bytes` bytes of private memory from `private` on is shared.
    pub fn have(&self, private: u32, bytes: u32) -> bool {
        self.0.iter().any(|part| private < part.private + part.bytes && part.private < private + bytes)
    }

    /// The byte offset in shared memory of a private address, if it is shared.
    #[inline]
    pub fn offset_of(&self, address: u32) -> Option<u64> {
        let part = self.0.iter().find(|part| address.wrapping_sub(part.private) < part.bytes)?;
        Some(u64::from(part.offset + (address - part.private)))
    }

    /// Where the `bytes` bytes from a byte offset of shared memory on lie in private memory, if they are shared from there. They do not
    /// cross the end of a part.
    pub fn private_of(&self, offset: u64, bytes: u64) -> Option<Range<u32>> {
        let offset = shared_u32(offset);
        let part = self.0.iter().find(|part| offset.wrapping_sub(part.offset) < part.bytes)?;
        let begin = part.private + (offset - part.offset);
        Some(begin..begin + shared_u32(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_range_lies_at_two_places() {
        let mut parts = Parts::default();
        parts.add(0x2_0000, 0x1_0000, SHARED_BASE + 0x5_0000);
        assert_eq!(parts.offset_of(0x2_0000), Some(0x5_0000));
        assert_eq!(parts.offset_of(0x2_ffff), Some(0x5_ffff));
        assert_eq!((parts.offset_of(0x1_ffff), parts.offset_of(0x3_0000)), (None, None));
        assert!(parts.have(0x1_0000, 0x1_0001) && parts.have(0x2_ffff, 1));
        assert!(!parts.have(0x1_0000, 0x1_0000) && !parts.have(0x3_0000, 0x1_0000));
        assert_eq!(parts.private_of(0x5_0040, 32), Some(0x2_0040..0x2_0060));
        assert_eq!((parts.private_of(0x4_ffff, 1), parts.private_of(0x6_0000, 1)), (None, None));
    }
}
