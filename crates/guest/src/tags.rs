//! The host's memory in the fast build: the cache's tags, which compiled code looks at by itself.

use std::cell::Cell;
use std::rc::Rc;

/// The shape of a direct-mapped cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    /// Bytes of a line: a power of two from 8 on.
    pub line: u32,
    /// Lines: a power of two from 2 on.
    pub places: u32,
}

impl Shape {
    /// Whether compiled code can check accesses against such a cache.
    pub fn is_supported(&self) -> bool {
        self.line.is_power_of_two()
            && self.places.is_power_of_two()
            && (8..=1 << 16).contains(&self.line)
            && (2..=1 << 26).contains(&self.places)
    }

    /// Offset in the host's memory of the writable lines.
    pub(crate) fn writable(&self) -> u64 {
        READABLE + 4 * u64::from(self.places)
    }

    /// Length of the host's memory in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        READABLE + 8 * u64::from(self.places)
    }
}

/// Offset in the host's memory of the countdown of instructions, 8 bytes.
pub(crate) const COUNTDOWN: u64 = 0;
/// Offset in the host's memory of the readable lines, 4 bytes for each place; the writable ones follow.
pub(crate) const READABLE: u64 = 64;
/// Lines below this address are never published: the sum of a pointer and a smaller offset that wraps around ends
/// there, and must be told from a good address.
pub(crate) const FIRST_PUBLISHED: u32 = 1024;

/// A handle to the tags that a node's compiled code looks at. What they allow happens without asking the
/// [`Processor`](crate::Processor); everything else is asked for, so that publishing nothing is always right.
///
/// It may be used whenever a [`Memory`](crate::Memory) may; once the node is dropped it does nothing.
#[derive(Clone)]
pub struct Tags {
    base: *mut u8,
    shape: Shape,
    shared_end: Rc<Cell<u64>>,
    alive: Rc<Cell<bool>>,
}

impl Tags {
    /// # Safety
    /// `base..base + shape.bytes()` must be readable and writable, aligned to 8 bytes, and must not move, as long
    /// as `alive` is true; whoever unmaps it sets `alive` to false first.
    pub(crate) unsafe fn new(base: *mut u8, shape: Shape, shared_end: Rc<Cell<u64>>, alive: Rc<Cell<bool>>) -> Tags {
        let tags = Tags { base, shape, shared_end, alive };
        tags.set(0, 0, false, false);
        tags
    }

    /// Lets loads (`read`), or stores (`write`), of the line that begins at `address` happen without asking, or
    /// neither. `place` is the line's place in the cache: what was published there before is so no more.
    ///
    /// # Panics
    /// If the cache has no such place.
    pub fn set(&self, place: u32, address: u32, read: bool, write: bool) {
        assert!(place < self.shape.places, "place {place} of {:?}", self.shape);
        if !self.alive.get() {
            return;
        }
        let end = u64::from(address) + u64::from(self.shape.line);
        // The end of shared memory may lie within a line, whose rest is out of bounds.
        let is_whole =
            address < crate::SHARED_BASE && end <= u64::from(crate::SHARED_BASE) || end <= self.shared_end.get();
        let may = is_whole && address >= FIRST_PUBLISHED;
        // A line of another place is never found here. Line 0 belongs to place 0, so all others may begin as zeros.
        let nothing = if place == 0 { self.shape.line } else { 0 };
        let entry = |allowed: bool| if allowed && may { address } else { nothing };
        let at = 4 * place as usize;
        // SAFETY: `place` has been bounded, and the memory lives as long as `alive`. Compiled code, which reads it,
        // does not run while the host does, since neither leaves the node's thread.
        unsafe {
            let readable = self.base.add(READABLE as usize + at).cast::<u32>();
            readable.write(entry(read).to_le());
            let writable = self.base.add(self.shape.writable() as usize + at);
            writable.cast::<u32>().write(entry(write).to_le());
        }
    }

    /// The countdown, as compiled code last stored it.
    pub(crate) fn countdown(&self) -> i64 {
        // SAFETY: as in `set`; the caller is the node, or runs inside it.
        i64::from_le(unsafe { self.base.add(COUNTDOWN as usize).cast::<i64>().read() })
    }

    /// Sets what compiled code loads next.
    pub(crate) fn set_countdown(&self, left: i64) {
        // SAFETY: as in `countdown`.
        unsafe {
            self.base.add(COUNTDOWN as usize).cast::<i64>().write(left.to_le());
        }
    }
}
