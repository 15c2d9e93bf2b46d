//! The host's memory in the fast build: what compiled code may load and store by itself.
//!
//! It has a byte for each [granule](GRANULE_BITS) of the node's memory, up to where shared memory ends. The rest, up
//! to 4 GiB, is never written: there compiled code looks for what is not aligned, or out of bounds.
//!
//! A cache holds little of what a program goes over. So the host gives a page of tags only where something has been allowed, and
//! takes all of them back when there are too many; what is held is then told again ([`Tags::are_crowded`]).

use std::cell::Cell;
use std::rc::Rc;

use crate::memory::{PRIVATE_LIMIT, SHARED_BASE, SHARED_END};
use crate::prefetch::prefetch_at;

/// Length of the host's memory in bytes. Nobody touches most of it.
pub(crate) const BYTES: u64 = 1 << 32;
/// A granule has 2 to this power bytes.
pub(crate) const GRANULE_BITS: u32 = 2;
/// Bytes of a granule.
pub(crate) const GRANULE: u32 = 1 << GRANULE_BITS;
/// So many bytes from a granule on are near to it.
pub(crate) const SPAN: u32 = 4 * GRANULE;
/// Nothing below this address is ever allowed: the sum of a pointer and a smaller offset that wraps around ends there,
/// and must be told from a good address.
pub(crate) const FIRST_PUBLISHED: u32 = 1024;

/// The bit in a granule's byte that allows a load, or store, of so many bytes: 1 to 4 that lie in the granule, or 8
/// that begin with it.
pub(crate) const fn allows(size: u32, store: bool) -> u8 {
    match (size > GRANULE, store) {
        (false, false) => 1,
        (false, true) => 2,
        (true, false) => 4,
        (true, true) => 8,
    }
}

/// The bit in a granule's byte that allows all loads, or stores, in the [`SPAN`] bytes that begin with it.
pub(crate) const fn allows_near(store: bool) -> u8 {
    if store { 32 } else { 16 }
}

/// The bytes of eight granules, the first lowest.
#[derive(Clone, Copy)]
struct Word {
    /// If the line goes on behind them.
    all: u64,
    /// If it ends there: the last granules of a line begin no more of it than there is.
    last: u64,
}

/// For a line that may be loaded or not, and stored or not.
const WORDS: [[Word; 2]; 2] = [[word(false, false), word(false, true)], [word(true, false), word(true, true)]];

const fn word(read: bool, write: bool) -> Word {
    const fn each(byte: u8) -> u64 {
        byte as u64 * 0x0101_0101_0101_0101
    }
    let (reads, writes) = (if read { 0xff } else { 0 }, if write { 0xff } else { 0 });
    let one = allows(4, false) & reads | allows(4, true) & writes;
    let two = allows(8, false) & reads | allows(8, true) & writes;
    let near = allows_near(false) & reads | allows_near(true) & writes;
    let all = each(one | two | near);
    Word { all, last: all & !(each(near) << 40) & !(each(two) << 56) }
}

/// A handle to the tags that a node's compiled code looks at. What they allow happens without asking the
/// [`Processor`](crate::Processor); everything else is asked for, so that allowing nothing is always right.
///
/// It may be used whenever a [`Memory`](crate::Memory) may; once the node is dropped it does nothing.
#[derive(Clone)]
pub struct Tags {
    base: *mut u8,
    shared_end: Rc<Cell<u64>>,
    alive: Rc<Cell<bool>>,
    pages: Rc<Pages>,
}

/// The pages of tags in which something has been allowed since they were all empty.
struct Pages {
    /// A bit for each.
    written: Box<[Cell<u64>]>,
    count: Cell<u32>,
    /// With more of them there are too many.
    most: Cell<u32>,
}

/// A page of tags has 2 to this power bytes, as most hosts' pages have.
const PAGE_BITS: u32 = 12;
/// So many pages are never too many.
const FEW_PAGES: u32 = 256;
/// Nor are so many for each that was needed when they were last told again: else a program whose accesses are far apart would have
/// them taken back all the time.
const SPARE_PAGES: u32 = 4;

impl Pages {
    fn new() -> Pages {
        let count = (SHARED_END >> GRANULE_BITS >> PAGE_BITS).div_ceil(u64::BITS);
        let written = (0..count).map(|_| Cell::new(0)).collect();
        Pages { written, count: Cell::new(0), most: Cell::new(FEW_PAGES) }
    }

    /// Something is allowed in a page.
    #[inline]
    fn write(&self, page: u32) {
        if !self.has(page) {
            let word = &self.written[(page / u64::BITS) as usize];
            word.set(word.get() | 1 << (page % u64::BITS));
            self.count.set(self.count.get() + 1);
        }
    }

    #[inline]
    fn has(&self, page: u32) -> bool {
        self.written[(page / u64::BITS) as usize].get() & 1 << (page % u64::BITS) != 0
    }
}

impl Tags {
    /// # Safety
    /// [`BYTES`] bytes from `base` on must be readable and writable, and must not move, as long as `alive` is true;
    /// whoever unmaps them sets `alive` to false first. `base` must be aligned to 8 bytes.
    pub(crate) unsafe fn new(base: *mut u8, shared_end: Rc<Cell<u64>>, alive: Rc<Cell<bool>>) -> Tags {
        Tags { base, shared_end, alive, pages: Rc::new(Pages::new()) }
    }

    /// Most bytes of the host's memory that the tags of `bytes` bytes of a program's memory take, where a cache holds so many lines.
    pub fn most(bytes: u64, lines: u64) -> u64 {
        let page = 1 << PAGE_BITS;
        let crowded = u64::from(FEW_PAGES).max(u64::from(SPARE_PAGES) * lines) * page;
        if CAN_EMPTY { crowded.min(bytes >> GRANULE_BITS) } else { bytes >> GRANULE_BITS }
    }

    /// Whether the host should take the tags' memory back: by [`Tags::empty`], after which what is allowed has to be set again, and
    /// [`Tags::are_settled`] then.
    #[inline]
    pub fn are_crowded(&self) -> bool {
        CAN_EMPTY && self.pages.count.get() > self.pages.most.get()
    }

    /// Allows nothing any more. On hosts on which that cannot be done for all of it at once, it does nothing.
    pub fn empty(&self) {
        if !self.alive.get() || !empty(self.base, (SHARED_END >> GRANULE_BITS) as usize) {
            return;
        }
        self.pages.written.iter().for_each(|word| word.set(0));
        self.pages.count.set(0);
    }

    /// Allows nothing any more in the `bytes` bytes from `address` on, which begin and end between lines.
    ///
    /// # Panics
    /// If they do not begin and end between granules of 4 bytes, or lie beyond the end of shared memory.
    pub fn forbid(&self, address: u32, bytes: u32) {
        assert!(address.is_multiple_of(GRANULE) && bytes.is_multiple_of(GRANULE), "{address:#x}, {bytes} bytes");
        assert!(u64::from(address) + u64::from(bytes) <= u64::from(SHARED_END), "{address:#x}, {bytes} bytes");
        if !self.alive.get() {
            return;
        }
        let (mut at, end) = (address >> GRANULE_BITS, (address + bytes) >> GRANULE_BITS);
        while at < end {
            let page = at >> PAGE_BITS;
            let to = end.min((page + 1) << PAGE_BITS);
            if self.pages.has(page) {
                // SAFETY: the granules lie below `SHARED_END`, so they lie in the memory, which lives as long as `alive`. Compiled code,
                // which reads it, does not run while the host does (see `set`).
                unsafe { self.base.add(at as usize).write_bytes(0, (to - at) as usize) };
            }
            at = to;
        }
    }

    /// All that is allowed has been set again.
    pub fn are_settled(&self) {
        self.pages.most.set(FEW_PAGES.max(SPARE_PAGES * self.pages.count.get()));
    }

    /// How many of `words` aligned words of 8 bytes from `address` on may be loaded, or stored to, without asking, up to the
    /// first that may not.
    pub(crate) fn words_from(&self, address: u32, words: u32, store: bool) -> u32 {
        let mut count = 0;
        while count < words && self.allows_word(address + 8 * count, store) {
            count += 1;
            while count + 4 <= words && self.allows_four_words(address + 8 * count, store) {
                count += 4;
            }
        }
        count
    }

    /// The same of words that end before `end`, from the last on.
    pub(crate) fn words_before(&self, end: u32, words: u32, store: bool) -> u32 {
        let mut count = 0;
        while count < words && self.allows_word(end - 8 * (count + 1), store) {
            count += 1;
            while count + 4 <= words && self.allows_four_words(end - 8 * (count + 4), store) {
                count += 4;
            }
        }
        count
    }

    fn allows_word(&self, address: u32, store: bool) -> bool {
        let needed = u16::from(allows(GRANULE, store)) * 0x0101;
        // SAFETY: a word has 2 granules.
        self.is_published(address, 8) && unsafe { self.granules::<u16>(address) } & needed == needed
    }

    fn allows_four_words(&self, address: u32, store: bool) -> bool {
        let needed = u64::from(allows(GRANULE, store)) * 0x0101_0101_0101_0101;
        // SAFETY: four words have 8 granules.
        self.is_published(address, 32) && unsafe { self.granules::<u64>(address) } & needed == needed
    }

    /// Whether there are tags for so many bytes from `address` on.
    fn is_published(&self, address: u32, bytes: u32) -> bool {
        self.alive.get() && u64::from(address) + u64::from(bytes) <= u64::from(SHARED_END)
    }

    /// The tags of all granules that fit a `T`, from that of `address` on.
    ///
    /// # Safety
    /// These granules lie below [`SHARED_END`], and the node is alive.
    unsafe fn granules<T>(&self, address: u32) -> T {
        // SAFETY: the tags of all memory below `SHARED_END` lie in the host's memory, which nobody writes meanwhile (see `set`).
        unsafe { self.base.add((address >> GRANULE_BITS) as usize).cast::<T>().read_unaligned() }
    }

    /// Whether there can be tags for a cache with lines of so many bytes: a power of two from 8 to 65536.
    #[inline]
    pub fn are_for(line: u64) -> bool {
        line.is_power_of_two() && (8..=1 << 16).contains(&line)
    }

    /// The tags of an address are going to be set.
    #[inline]
    pub fn prefetch(&self, address: u32) {
        prefetch_at(self.base.wrapping_add((address >> GRANULE_BITS) as usize));
    }

    /// Lets loads (`read`), or stores (`write`), that lie in the `line` bytes from `address` on happen without asking,
    /// or neither. What was set before for some of these bytes must have been set for the same line.
    ///
    /// # Panics
    /// If `address` is not aligned to the line, or the line is not one that [tags can be for](Tags::are_for).
    #[inline]
    pub fn set(&self, address: u32, line: u32, read: bool, write: bool) {
        assert!(Tags::are_for(line.into()) && address.is_multiple_of(line), "{address:#x}, {line} bytes");
        if !self.alive.get() {
            return;
        }
        let end = u64::from(address) + u64::from(line);
        // The end of shared memory may lie within a line, whose rest is out of bounds.
        let is_whole = end <= u64::from(PRIVATE_LIMIT) || address >= SHARED_BASE && end <= self.shared_end.get();
        if !is_whole || address < FIRST_PUBLISHED {
            return;
        }
        let granules = line >> GRANULE_BITS;
        let first = address >> GRANULE_BITS;
        let pages = first >> PAGE_BITS..=(first + granules - 1) >> PAGE_BITS;
        if read || write {
            pages.for_each(|page| self.pages.write(page));
        } else if !pages.into_iter().any(|page| self.pages.has(page)) {
            return;
        }
        // SAFETY: the line lies below `SHARED_END`, and the node is alive.
        unsafe { self.write_line(first, granules, WORDS[usize::from(read)][usize::from(write)]) };
    }

    /// Writes the tags of a line.
    ///
    /// # Safety
    /// The line lies below [`SHARED_END`], and the node is alive.
    #[inline(always)]
    unsafe fn write_line(&self, first: u32, granules: u32, Word { all, last }: Word) {
        // SAFETY: the line's granules lie in the memory, which lives as long as `alive`,
        // and are aligned as far as they are written at once. Compiled code, which reads it, does not run while the
        // host does, since neither leaves the node's thread.
        unsafe {
            let at = self.base.add(first as usize);
            match granules {
                2 => at.cast::<u16>().write(((last >> 48) as u16).to_le()),
                4 => at.cast::<u32>().write(((last >> 32) as u32).to_le()),
                _ => {
                    let words = at.cast::<u64>();
                    let count = granules as usize / 8;
                    (0..count - 1).for_each(|word| words.add(word).write(all.to_le()));
                    words.add(count - 1).write(last.to_le());
                }
            }
        }
    }
}

/// Whether [`empty`] can.
const CAN_EMPTY: bool = cfg!(target_os = "linux");

/// Makes the `length` bytes from `base` on zero by giving their memory back. Whether that was done.
#[cfg(target_os = "linux")]
fn empty(base: *mut u8, length: usize) -> bool {
    // SAFETY: the tags are private anonymous memory, which no file backs: on Linux such pages read as zero again. `base` begins the memory,
    // which is as long at least, and nobody has a reference into it.
    unsafe { rustix::mm::madvise(base.cast(), length, rustix::mm::Advice::LinuxDontNeed).is_ok() }
}

#[cfg(not(target_os = "linux"))]
fn empty(_base: *mut u8, _length: usize) -> bool {
    false
}
