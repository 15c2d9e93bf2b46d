//! A node's page table: in which frame of its memory each page of its program lies.
//!
//! A cache finds its lines by physical addresses, so the frames decide which lines drive each other out. Pages, private
//! and shared alike, get their frames in the order in which the node's processor first has a line of them, one frame
//! after the other ("bin hopping": R. E. Kessler and M. D. Hill, "Page Placement Algorithms for Large Real-Indexed Caches", 1992): pages
//! that are first used together do not conflict as long as they fit into the cache together. A program's own addresses
//! would do what page colouring does: which arrays then lie over each other depends on their sizes to the byte.

use super::per_page::PerPage;

/// The frames of a program's pages.
pub(crate) struct PageTable {
    /// 1 + the frame, or 0.
    entries: PerPage<u32>,
    /// So many frames have ever been given.
    given: u32,
    /// Those of pages that have gone, the latest last.
    free: Vec<u32>,
}

impl PageTable {
    /// No page has a frame yet; a page has `page` bytes, a power of two.
    pub fn new(page: u64) -> PageTable {
        PageTable { entries: PerPage::new(page), given: 0, free: Vec::new() }
    }

    fn within(&self, frame: u32, address: u32) -> u64 {
        let page = u64::from(self.entries.bytes());
        u64::from(frame) * page + (u64::from(address) & (page - 1))
    }

    /// The physical address, if the page has a frame.
    #[inline]
    pub fn physical(&self, address: u32) -> Option<u64> {
        let frame = self.entries.get(address).checked_sub(1)?;
        Some(self.within(frame, address))
    }

    /// The physical address; the page gets a frame if it has none: the one that was given back last, else the next.
    pub fn place(&mut self, address: u32) -> u64 {
        if let Some(physical) = self.physical(address) {
            return physical;
        }
        let frame = self.free.pop().unwrap_or_else(|| {
            self.given += 1;
            self.given - 1
        });
        self.entries.set(address, frame + 1);
        self.within(frame, address)
    }

    /// The page's frame is free again. Nothing if it has none.
    pub fn release(&mut self, address: u32) {
        if let Some(frame) = self.entries.get(address).checked_sub(1) {
            self.entries.set(address, 0);
            self.free.push(frame);
        }
    }

    /// The addresses of the page of an address: where it begins, and its length.
    pub fn page_of(&self, address: u32) -> (u32, u32) {
        (self.entries.start(address), self.entries.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trivium_guest::SHARED_BASE;

    #[test]
    fn frames_are_given_in_the_order_of_first_use() {
        let mut table = PageTable::new(4096);
        assert_eq!(table.physical(0x5000), None);
        assert_eq!(table.place(0x5010), 0x10);
        assert_eq!(table.place(SHARED_BASE + 0x7008), 0x1008);
        assert_eq!(table.place(0x123), 0x2123);
        assert_eq!(table.physical(0x5fff), Some(0xfff));
        assert_eq!((table.physical(0x7008), table.physical(SHARED_BASE + 0x8000)), (None, None));
    }

    #[test]
    fn a_frame_that_is_given_back_is_the_next() {
        let mut table = PageTable::new(2048);
        assert_eq!([0, 1, 2].map(|page| table.place(2048 * page)), [0, 2048, 4096]);
        table.release(2048);
        table.release(0);
        table.release(0);
        assert_eq!(table.physical(2048), None);
        assert_eq!([9, 8, 7].map(|page| table.place(2048 * page)), [0, 2048, 6144]);
        assert_eq!(table.page_of(2048 + 77), (2048, 2048));
    }
}
