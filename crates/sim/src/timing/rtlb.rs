//! A node's RTLB: the tags of which pages its access control finds at once (Reinhardt, Pfile and Wood 1998; our specification 3.3).

use crate::machine::Machine;
use crate::machine::price::Transaction;
use crate::machine::tlb::RtlbModel;
use crate::reports::counters::Lookups;
use crate::timing::bus::Bus;
use crate::timing::folding::Numbered;
use crate::timing::pricing::Booking;
use std::collections::{HashSet, VecDeque};
use std::ops::RangeInclusive;
use trivium_engine::Object;

/// The table of a node. Pages are numbers: a page of shared memory has one frame on a node.
pub(crate) struct Rtlb {
    model: RtlbModel,
    page_shift: u32,
    /// The pages that it holds, the oldest first.
    order: VecDeque<u64>,
    /// The same, to find one.
    held: HashSet<u64>,
    counted: Lookups,
}

impl Rtlb {
    /// The empty table of a machine that has one.
    pub fn new(machine: &Machine) -> Option<Rtlb> {
        let model = machine.rtlb.clone()?;
        let page_shift = machine.memory.page.trailing_zeros();
        Some(Rtlb { model, page_shift, order: VecDeque::new(), held: HashSet::new(), counted: Lookups::default() })
    }

    /// Looks up the pages of bytes from one offset of shared memory to another. For how many cycles that takes longer than finding them.
    pub fn look_up(&mut self, bytes: RangeInclusive<u64>) -> u64 {
        let pages = bytes.start() >> self.page_shift..=bytes.end() >> self.page_shift;
        pages.map(|page| if self.finds(page) { 0 } else { self.model.miss }).sum()
    }

    fn finds(&mut self, page: u64) -> bool {
        self.counted.lookups += 1;
        if !self.held.insert(page) {
            return true;
        }
        self.counted.misses += 1;
        self.order.push_back(page);
        if self.order.len() as u64 > self.model.entries
            && let Some(oldest) = self.order.pop_front()
        {
            self.held.remove(&oldest);
        }
        false
    }

    /// The page of an offset has no frame any more.
    pub fn drop_page(&mut self, offset: u64) {
        let page = offset >> self.page_shift;
        if self.held.remove(&page) {
            self.order.retain(|held| *held != page);
        }
    }

    /// Look-ups and misses since the beginning.
    pub fn counted(&self) -> Lookups {
        self.counted
    }
}

/// A bus beside a table in which a handler looks up the pages of its blocks.
pub(crate) struct Looked<'a> {
    pub bus: &'a mut Bus,
    pub rtlb: &'a mut Rtlb,
    /// The blocks, by their numbers, and the bytes of each.
    pub blocks: (&'a Numbered, u64),
}

impl Booking for Looked<'_> {
    fn bus(&self) -> &Bus {
        self.bus
    }

    fn book(&mut self, transaction: Transaction, earliest: u64) -> u64 {
        Bus::book(self.bus, transaction, earliest)
    }

    fn look_up(&mut self, block: Object) -> u64 {
        let (numbered, bytes) = self.blocks;
        let from = numbered.block(block).map(|block| u64::from(block.id) * bytes);
        from.map_or(0, |from| self.rtlb.look_up(from..=from + bytes - 1))
    }
}
