//! The TLB of a compute processor: which pages of its program it has the translations of.
//!
//! It is fully associative, and gives up the entry that has been there for longest (first in, first out): that
//! depends on misses alone, so hits need not be seen and can stay in compiled code.

use super::per_page::PerPage;
use trivium_engine::number::index;

/// What of a program's address space is translated at once.
pub(crate) struct Tlb {
    /// Where the page of each entry begins, plus 1; 0 if there is none.
    entries: Vec<u32>,
    /// The entry that is replaced next.
    next: usize,
    /// Whether a page is in one of them.
    held: PerPage<bool>,
}

impl Tlb {
    /// An empty TLB, for pages of `page` bytes.
    pub fn new(entries: u64, page: u64) -> Tlb {
        Tlb { entries: vec![0; index(entries)], next: 0, held: PerPage::new(page) }
    }

    /// Whether it translates an address.
    #[inline]
    pub fn holds(&self, address: u32) -> bool {
        self.held.get(address)
    }

    /// Where the page of an address begins, and its length.
    pub fn page_of(&self, address: u32) -> (u32, u32) {
        (self.held.start(address), self.held.bytes())
    }

    /// The page of an address, which it does not hold, comes in; the page that leaves, if one has to.
    pub fn load(&mut self, address: u32) -> Option<u32> {
        let page = self.held.start(address);
        let left = std::mem::replace(&mut self.entries[self.next], page + 1).checked_sub(1);
        self.next = (self.next + 1) % self.entries.len();
        if let Some(left) = left {
            self.held.set(left, false);
        }
        self.held.set(page, true);
        left
    }

    /// What it holds of the `bytes` bytes from an address on leaves. Their entries stay empty until it is their turn.
    pub fn drop_pages(&mut self, from: u32, bytes: u32) {
        for page in (from..from + bytes).step_by(self.held.bytes() as usize) {
            if self.held.get(page) {
                self.held.set(page, false);
                self.entries.iter_mut().filter(|entry| **entry == page + 1).for_each(|entry| *entry = 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trivium_guest::SHARED_BASE;

    #[test]
    fn the_oldest_entry_leaves() {
        let mut tlb = Tlb::new(2, 4096);
        assert_eq!((tlb.load(5), tlb.load(SHARED_BASE + 4096)), (None, None));
        assert!(tlb.holds(4095) && tlb.holds(SHARED_BASE + 8191) && !tlb.holds(4096) && !tlb.holds(SHARED_BASE));
        assert_eq!(tlb.load(8200), Some(0));
        assert_eq!(tlb.load(0), Some(SHARED_BASE + 4096));
        assert!(tlb.holds(8192) && tlb.holds(0) && !tlb.holds(SHARED_BASE + 4096));
    }

    #[test]
    fn pages_that_go_leave_their_entries_empty() {
        let mut tlb = Tlb::new(3, 1024);
        assert_eq!([0, 1024, 8192].map(|page| tlb.load(page)), [None; 3]);
        tlb.drop_pages(0, 4096);
        assert_eq!([0, 1024, 8192].map(|page| tlb.holds(page)), [false, false, true]);
        assert_eq!([2048, 3072, 4096].map(|page| tlb.load(page)), [None, None, Some(8192)]);
    }
}
