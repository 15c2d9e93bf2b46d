//! Something of each page of a program's memory.

use trivium_guest::SHARED_BASE;

/// A value for each page, private and shared; that of pages that nobody has set is the default. It takes as much memory as there are pages
/// up to the highest of either kind that has been set.
pub(super) struct PerPage<T> {
    page_shift: u32,
    private: Vec<T>,
    shared: Vec<T>,
}

impl<T: Copy + Default> PerPage<T> {
    /// Of pages of `page` bytes, a power of two.
    pub fn new(page: u64) -> PerPage<T> {
        PerPage { page_shift: page.trailing_zeros(), private: Vec::new(), shared: Vec::new() }
    }

    /// That of the page of an address.
    #[inline]
    pub fn get(&self, address: u32) -> T {
        let (values, address) =
            if address < SHARED_BASE { (&self.private, address) } else { (&self.shared, address - SHARED_BASE) };
        values.get((address >> self.page_shift) as usize).copied().unwrap_or_default()
    }

    /// Sets that of the page of an address.
    pub fn set(&mut self, address: u32, value: T) {
        let (values, address) = if address < SHARED_BASE {
            (&mut self.private, address)
        } else {
            (&mut self.shared, address - SHARED_BASE)
        };
        let page = (address >> self.page_shift) as usize;
        if page >= values.len() {
            values.resize(page + 16, T::default());
        }
        values[page] = value;
    }

    /// Where the page of an address begins.
    pub fn start(&self, address: u32) -> u32 {
        address >> self.page_shift << self.page_shift
    }

    /// Bytes of a page.
    pub fn bytes(&self) -> u32 {
        1 << self.page_shift
    }
}
