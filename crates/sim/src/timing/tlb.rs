//! The TLB of a compute processor: which pages of its program it has the translations of.
//!
//! It is fully associative, and gives up the entry that has been there for longest (first in, first out): that
//! depends on misses alone, so hits need not be seen and can stay in compiled code.

use super::per_page::PerPage;
use std::cell::Cell;
use trivium_engine::number::{fit, index};

/// Of each page that it holds, it knows for so many parts whether compiled code has been told something of them.
const PARTS: u32 = u64::BITS;
/// A part has so many bytes at least: what is told at once.
const LEAST_PART: u64 = 256;

/// An entry.
#[derive(Clone, Default)]
struct Entry {
    /// Where its page begins, if it has one.
    page: Option<u32>,
    /// A bit for each part of the page of which compiled code has been told something.
    told: Cell<u64>,
}

/// A page that has left, and of which parts compiled code has been told something.
pub(crate) struct Left {
    page: u32,
    told: u64,
    part: u32,
}

impl Left {
    /// Address and length of these parts.
    pub fn told(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let parts = (0..PARTS).filter(|part| self.told & 1 << part != 0);
        parts.map(|part| (self.page + part * self.part, self.part))
    }
}

/// What of a program's address space is translated at once.
pub(crate) struct Tlb {
    entries: Vec<Entry>,
    /// The entry that is replaced next.
    next: usize,
    /// In which of them a page is, plus 1; 0 if in none.
    held: PerPage<u32>,
    /// Bytes of a part of a page: a line or more, since a line is told as a whole.
    part: u32,
}

impl Tlb {
    /// An empty TLB, for pages of `page` bytes, each a line of `line` bytes or more.
    pub fn new(entries: u64, page: u64, line: u64) -> Tlb {
        let part = (page / u64::from(PARTS)).max(line).max(LEAST_PART).min(page);
        Tlb {
            entries: vec![Entry::default(); index(entries)],
            next: 0,
            held: PerPage::new(page),
            part: fit(part, "a part of a page, which has 2^20 bytes at most"),
        }
    }

    /// Whether it translates an address.
    #[inline]
    pub fn holds(&self, address: u32) -> bool {
        self.held.get(address) != 0
    }

    /// Compiled code is told something of a line. Whether it may be: whether the page is there.
    #[inline]
    pub fn tell(&self, address: u32) -> bool {
        let Some(entry) = self.held.get(address).checked_sub(1) else { return false };
        let told = &self.entries[entry as usize].told;
        let part = (address - self.held.start(address)) / self.part;
        told.set(told.get() | 1 << part);
        true
    }

    /// Compiled code is told something of the `bytes` bytes from an address on. Whether it may be: whether one page has them all, and is there.
    #[inline]
    pub fn tell_all(&self, address: u32, bytes: u32) -> bool {
        let (page, last) = (self.held.start(address), address + (bytes - 1));
        let Some(entry) = self.held.get(address).checked_sub(1) else { return false };
        if self.held.start(last) != page {
            return false;
        }
        let told = &self.entries[entry as usize].told;
        let (from, to) = ((address - page) / self.part, (last - page) / self.part);
        told.set(told.get() | (u64::MAX << from & u64::MAX >> (PARTS - 1 - to)));
        true
    }

    /// The page of an address, which it does not hold, comes in; the page that leaves, if one has to.
    pub fn load(&mut self, address: u32) -> Option<Left> {
        let page = self.held.start(address);
        let came = Entry { page: Some(page), told: Cell::new(0) };
        let left = std::mem::replace(&mut self.entries[self.next], came);
        let entry: u32 = fit(self.next, "an entry of a TLB, which has 65536 at most");
        self.next = (self.next + 1) % self.entries.len();
        let left = left.page.map(|page| Left { page, told: left.told.get(), part: self.part });
        if let Some(left) = &left {
            self.held.set(left.page, 0);
        }
        self.held.set(page, entry + 1);
        left
    }

    /// What it holds of the `bytes` bytes from an address on leaves. Their entries stay empty until it is their turn.
    pub fn drop_pages(&mut self, from: u32, bytes: u32) {
        for page in (from..from + bytes).step_by(self.held.bytes() as usize) {
            if let Some(entry) = self.held.get(page).checked_sub(1) {
                self.held.set(page, 0);
                self.entries[entry as usize] = Entry::default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trivium_guest::SHARED_BASE;

    /// The page that leaves when another one comes.
    fn left(tlb: &mut Tlb, page: u32) -> Option<u32> {
        tlb.load(page).map(|left| left.page)
    }

    #[test]
    fn the_oldest_entry_leaves() {
        let mut tlb = Tlb::new(2, 4096, 32);
        assert_eq!((left(&mut tlb, 5), left(&mut tlb, SHARED_BASE + 4096)), (None, None));
        assert!(tlb.holds(4095) && tlb.holds(SHARED_BASE + 8191) && !tlb.holds(4096) && !tlb.holds(SHARED_BASE));
        assert_eq!(left(&mut tlb, 8200), Some(0));
        assert_eq!(left(&mut tlb, 0), Some(SHARED_BASE + 4096));
        assert!(tlb.holds(8192) && tlb.holds(0) && !tlb.holds(SHARED_BASE + 4096));
    }

    #[test]
    fn pages_that_go_leave_their_entries_empty() {
        let mut tlb = Tlb::new(3, 1024, 32);
        assert_eq!([0, 1024, 8192].map(|page| left(&mut tlb, page)), [None; 3]);
        tlb.drop_pages(0, 4096);
        assert_eq!([0, 1024, 8192].map(|page| tlb.holds(page)), [false, false, true]);
        assert_eq!([2048, 3072, 4096].map(|page| left(&mut tlb, page)), [None, None, Some(8192)]);
    }

    #[test]
    fn parts_are_told_of_pages_that_are_there() {
        let mut tlb = Tlb::new(1, 4096, 32);
        assert!(!tlb.tell(SHARED_BASE));
        tlb.load(SHARED_BASE);
        assert!(tlb.tell(SHARED_BASE + 300) && tlb.tell(SHARED_BASE + 4095) && !tlb.tell(0));
        assert!(
            tlb.tell_all(SHARED_BASE + 256, 256) && !tlb.tell_all(0, 256) && !tlb.tell_all(SHARED_BASE + 3840, 257)
        );
        let told: Vec<_> = tlb.load(0).iter().flat_map(Left::told).collect();
        assert_eq!(told, [(SHARED_BASE + 256, 256), (SHARED_BASE + 3840, 256)]);
        assert!(tlb.tell_all(512, 512) && tlb.tell_all(0, 1));
        let told: Vec<_> = tlb.load(4096).iter().flat_map(Left::told).collect();
        assert_eq!(told, [(0, 256), (512, 256), (768, 256)]);
        assert!(tlb.tell_all(4096, 4096));
        assert_eq!(tlb.load(8192).iter().flat_map(Left::told).count(), 16);
        // A page of few bytes has one part, and one of many bytes 64; no line lies in several.
        for (page, line, part) in [(128, 32, 128), (1 << 20, 32, 1 << 14), (4096, 2048, 2048)] {
            let mut tlb = Tlb::new(1, page, line);
            tlb.load(0);
            tlb.tell(100);
            assert_eq!(tlb.load(1 << 20).iter().flat_map(Left::told).collect::<Vec<_>>(), [(0, part)]);
        }
    }
}
