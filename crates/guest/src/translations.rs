//! What of a program's address space is translated at once: the contents of a TLB.
//!
//! It is fully associative, and gives up the entry that has been there for longest (first in, first out): that depends on misses
//! alone, so a hit needs one look at a table of pages. In the fast build compiled code makes that look before each look at the
//! [tags](crate::tags), and changes the contents itself on a miss: to ask the host would take longer than all else that a miss is. The host, which
//! makes the accesses that compiled code asks about or that it makes for it, finds and changes the same contents here.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::rc::Rc;

use wasm_encoder::{BlockType, Function, Instruction as I, MemArg, ValType};

use crate::memory::{SHARED_END, TLB_MISSES};

/// A TLB, as compiled code has to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TlbShape {
    entries: u32,
    page_shift: u32,
    work: u64,
}

impl TlbShape {
    /// The most entries.
    pub const MOST_ENTRIES: u32 = 1 << 16;
    /// The most [work](crate::Executed) that a miss may take.
    pub const MOST_WORK: u64 = 1 << 40;

    /// So many entries, each of a page of so many bytes. `work` is the least work that takes a processor as long as a miss: by so much
    /// a miss brings the next poll that must ask nearer. None unless there are 1 to [`TlbShape::MOST_ENTRIES`] entries, `page` is a power of
    /// two from 8 bytes to 2^20, and `work` is at most [`TlbShape::MOST_WORK`].
    pub fn new(entries: u64, page: u64, work: u64) -> Option<TlbShape> {
        let entries = u32::try_from(entries).ok().filter(|entries| (1..=TlbShape::MOST_ENTRIES).contains(entries))?;
        let is_right = page.is_power_of_two() && (8..=1 << 20).contains(&page) && work <= TlbShape::MOST_WORK;
        is_right.then(|| TlbShape { entries, page_shift: page.trailing_zeros(), work })
    }

    /// The work that a miss stands for.
    pub(crate) fn work(self) -> u64 {
        self.work
    }

    /// The page of an address.
    fn page(self, address: u32) -> u32 {
        address >> self.page_shift
    }

    /// Where the table of pages is in the contents: a byte for each, 1 if it is translated.
    fn table(self) -> u32 {
        ENTRIES + 4 * self.entries
    }

    /// Bytes of the contents.
    pub(crate) fn bytes(self) -> u64 {
        u64::from(self.table()) + (1 << (u32::BITS - self.page_shift))
    }

    /// Pushes whether the page of an address in a local is translated: 0 if not.
    pub(crate) fn push_holds(self, function: &mut Function, address: u32) {
        function.instruction(&I::LocalGet(address));
        function.instruction(&I::I32Const(self.page_shift as i32));
        function.instruction(&I::I32ShrU);
        function.instruction(&I::I32Load8U(at(PLACE + self.table(), 0)));
    }

    /// The added function that brings in the page of an address, its parameter, which is not there.
    pub(crate) fn load_function(self) -> Function {
        let (page, next, old) = (0, 1, 2);
        let table = at(PLACE + self.table(), 0);
        let entry = at(PLACE + ENTRIES, 2);
        let mut f = Function::new([(2, ValType::I32)]);
        let mut push = |instructions: &[I<'_>]| {
            instructions.iter().for_each(|instruction| {
                f.instruction(instruction);
            });
        };
        push(&[I::LocalGet(page), I::I32Const(self.page_shift as i32), I::I32ShrU, I::LocalSet(page)]);
        push(&[I::I32Const(0), I::I32Load(at(PLACE + NEXT, 2)), I::LocalSet(next)]);
        // The page that leaves.
        push(&[I::LocalGet(next), I::I32Load(entry), I::LocalTee(old), I::If(BlockType::Empty)]);
        push(&[I::LocalGet(old), I::I32Const(1), I::I32Sub, I::I32Const(0), I::I32Store8(table), I::End]);
        push(&[I::LocalGet(next), I::LocalGet(page), I::I32Const(1), I::I32Add, I::I32Store(entry)]);
        push(&[I::LocalGet(page), I::I32Const(1), I::I32Store8(table)]);
        // The entry that is replaced next.
        push(&[I::LocalGet(next), I::I32Const(4), I::I32Add, I::LocalTee(next)]);
        push(&[I::I32Const(4 * self.entries as i32), I::I32Eq, I::If(BlockType::Empty)]);
        push(&[I::I32Const(0), I::LocalSet(next), I::End]);
        push(&[I::I32Const(0), I::LocalGet(next), I::I32Store(at(PLACE + NEXT, 2))]);
        push(&[I::I32Const(0), I::I32Const(0), I::I64Load(at(TLB_MISSES, 3))]);
        push(&[I::I64Const(1), I::I64Add, I::I64Store(at(TLB_MISSES, 3)), I::End]);
        f
    }
}

/// Where the contents are in a node's memory in the fast build: behind all that is the program's.
const PLACE: u32 = SHARED_END;
/// Which entry is replaced next, times 4: 4 bytes.
const NEXT: u32 = 0;
/// The entries, 4 bytes each: 1 + the page, or 0.
const ENTRIES: u32 = 8;

fn at(offset: u32, align: u32) -> MemArg {
    MemArg { offset: offset.into(), align, memory_index: 0 }
}

/// A handle to the contents of a node's TLB. It may be used whenever a [`Memory`](crate::Memory) may; once the node is dropped, nothing is
/// translated any more.
#[derive(Clone)]
pub struct Translations {
    shape: TlbShape,
    base: *mut u8,
    alive: Rc<Cell<bool>>,
    /// Its memory, if that is not a node's.
    _own: Option<Rc<[Cell<u64>]>>,
}

impl Translations {
    /// An empty TLB that no compiled code looks at.
    pub fn new(shape: TlbShape) -> Translations {
        // Zeroes from the operating system: small pages have a table of megabytes, of which a program touches little.
        let own: Rc<[MaybeUninit<Cell<u64>>]> = Rc::new_zeroed_slice(shape.bytes().div_ceil(8) as usize);
        // SAFETY: a cell of the number 0 is eight bytes of 0.
        let own = unsafe { own.assume_init() };
        Translations { shape, base: own.as_ptr().cast_mut().cast(), alive: Rc::new(Cell::new(true)), _own: Some(own) }
    }

    /// That of a node, whose memory begins at `base`.
    ///
    /// # Safety
    /// The [`TlbShape::bytes`] bytes from `base + SHARED_END` on must be readable and writable, and must not move, as long as `alive`
    /// is true; whoever unmaps them sets `alive` to false first. `base` is aligned to 8 bytes. Nothing else writes there but compiled
    /// code made for this shape.
    pub(crate) unsafe fn of_node(shape: TlbShape, base: *mut u8, alive: Rc<Cell<bool>>) -> Translations {
        // SAFETY: that lies in the node's memory.
        Translations { shape, base: unsafe { base.add(PLACE as usize) }, alive, _own: None }
    }

    /// What compiled code knows of it.
    pub(crate) fn shape(&self) -> TlbShape {
        self.shape
    }

    /// A byte of the table: that of the page of an address.
    #[inline]
    fn held(&self, page: u32) -> *mut u8 {
        // SAFETY: the table has a byte for each page of 32 bits of addresses, and lies in the contents.
        unsafe { self.base.add(self.shape.table() as usize + page as usize) }
    }

    /// An entry, given its place times 4.
    #[inline]
    fn entry(&self, place: u32) -> *mut u32 {
        debug_assert!(place < 4 * self.shape.entries);
        // SAFETY: places lie below the number of entries, which lie in the contents and are aligned.
        unsafe { self.base.add((ENTRIES + place) as usize).cast() }
    }

    #[inline]
    fn next(&self) -> *mut u32 {
        // SAFETY: it lies in the contents, aligned.
        unsafe { self.base.add(NEXT as usize).cast() }
    }

    /// Whether it translates an address.
    #[inline]
    pub fn holds(&self, address: u32) -> bool {
        let page = self.shape.page(address);
        // SAFETY: the contents live as long as `alive`, and compiled code, which changes them, does not run while the host does.
        self.alive.get() && unsafe { self.held(page).read() } != 0
    }

    /// The page of an address, which it does not hold, comes in, and one leaves if no entry is empty.
    pub fn load(&self, address: u32) {
        if !self.alive.get() {
            return;
        }
        let page = self.shape.page(address);
        // SAFETY: as in `holds`. `next` is always the place of an entry, and an entry has 0 or 1 + a page.
        unsafe {
            let next = self.next().read();
            let entry = self.entry(next);
            if let Some(old) = entry.read().checked_sub(1) {
                self.held(old).write(0);
            }
            entry.write(page + 1);
            self.held(page).write(1);
            self.next().write((next + 4) % (4 * self.shape.entries));
        }
    }

    /// What it holds of the `bytes` bytes from an address on, at least 1, leaves. The entries stay empty until it is their turn.
    pub fn drop_pages(&self, from: u32, bytes: u32) {
        if !self.alive.get() {
            return;
        }
        for page in self.shape.page(from)..=self.shape.page(from + (bytes - 1)) {
            // SAFETY: as in `load`.
            unsafe {
                if self.held(page).read() == 0 {
                    continue;
                }
                self.held(page).write(0);
                let entries = (0..self.shape.entries).map(|entry| self.entry(4 * entry));
                entries.filter(|entry| entry.read() == page + 1).for_each(|entry| entry.write(0));
            }
        }
    }

    /// How many of the `words` aligned words of 8 bytes from `address` on lie in pages that it holds, up to the first that does not.
    pub(crate) fn words_from(&self, address: u32, words: u32) -> u32 {
        let page_words = 1 << (self.shape.page_shift - 3);
        let mut count = 0;
        while count < words && self.holds(address + 8 * count) {
            count += page_words - (address / 8 + count) % page_words;
        }
        count.min(words)
    }

    /// The same of words that end before `end`, from the last on.
    pub(crate) fn words_before(&self, end: u32, words: u32) -> u32 {
        let page_words = 1 << (self.shape.page_shift - 3);
        let mut count = 0;
        while count < words && self.holds(end - 8 * (count + 1)) {
            count += (end / 8 - count - 1) % page_words + 1;
        }
        count.min(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::SHARED_BASE;

    fn tlb(entries: u64, page: u64) -> Translations {
        Translations::new(TlbShape::new(entries, page, 0).expect("a shape that may be"))
    }

    #[test]
    fn the_oldest_entry_leaves() {
        let tlb = tlb(2, 4096);
        tlb.load(5);
        tlb.load(SHARED_BASE + 4096);
        assert!(tlb.holds(4095) && tlb.holds(SHARED_BASE + 8191) && !tlb.holds(4096) && !tlb.holds(SHARED_BASE));
        tlb.load(8200);
        assert!(!tlb.holds(5) && tlb.holds(8192) && tlb.holds(SHARED_BASE + 4096));
        tlb.load(0);
        assert!(tlb.holds(8192) && tlb.holds(0) && !tlb.holds(SHARED_BASE + 4096));
    }

    #[test]
    fn pages_that_go_leave_their_entries_empty() {
        let tlb = tlb(3, 1024);
        [0, 1024, 8192].into_iter().for_each(|page| tlb.load(page));
        tlb.drop_pages(0, 4096);
        assert_eq!([0, 1024, 8192].map(|page| tlb.holds(page)), [false, false, true]);
        [2048, 3072].into_iter().for_each(|page| tlb.load(page));
        assert_eq!([2048, 3072, 8192].map(|page| tlb.holds(page)), [true; 3]);
        tlb.load(4096);
        assert_eq!([2048, 3072, 4096, 8192].map(|page| tlb.holds(page)), [true, true, true, false]);
    }

    #[test]
    fn words_are_counted_up_to_a_page_that_is_missing() {
        let tlb = tlb(4, 64);
        [SHARED_BASE + 64, SHARED_BASE + 128].into_iter().for_each(|page| tlb.load(page));
        assert_eq!([64, 72, 184, 192, 56].map(|at| tlb.words_from(SHARED_BASE + at, 100)), [16, 15, 1, 0, 0]);
        assert_eq!([192, 184, 72, 64, 200].map(|at| tlb.words_before(SHARED_BASE + at, 100)), [16, 15, 1, 0, 0]);
        assert_eq!((tlb.words_from(SHARED_BASE + 64, 3), tlb.words_before(SHARED_BASE + 192, 3)), (3, 3));
    }

    #[test]
    fn only_a_possible_tlb_has_a_shape() {
        let shapes = [(0, 4096, 1), (65537, 4096, 1), (64, 4, 1), (64, 96, 1), (64, 1 << 21, 1), (64, 4096, u64::MAX)];
        assert!(shapes.iter().all(|&(entries, page, work)| TlbShape::new(entries, page, work).is_none()));
        assert!(TlbShape::new(65536, 8, 0).is_some_and(|shape| shape.bytes() < 1 << 30));
    }
}
