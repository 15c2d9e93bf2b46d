//! The memory bus of a node: one transaction at a time, first come first served.

use crate::machine;
use crate::price::Transaction;
use std::collections::VecDeque;

/// So many busy intervals are remembered; requests further in the past find no gap between older ones.
const REMEMBERED: usize = 256;

/// The bus as a calendar of busy intervals. A node's events are worked out in the order of their starts, and a
/// long handler books the bus ahead; a later request that fits a gap before those bookings takes it.
#[derive(Clone, Debug)]
pub struct Bus {
    model: machine::Bus,
    booked: VecDeque<(u64, u64)>,
    busy: u64,
    transactions: u64,
}

impl Bus {
    /// An idle bus.
    pub fn new(model: &machine::Bus) -> Bus {
        Bus { model: model.clone(), booked: VecDeque::new(), busy: 0, transactions: 0 }
    }

    /// What it is made of.
    pub fn model(&self) -> &machine::Bus {
        &self.model
    }

    /// Books a transaction that can be granted at `earliest` (a cycle), and gives the cycle of its grant.
    pub fn book(&mut self, transaction: Transaction, earliest: u64) -> u64 {
        let length = self.model.occupancy(transaction);
        self.busy += length;
        self.transactions += 1;
        if length == 0 {
            return earliest;
        }
        let mut at = self.booked.len();
        while at > 0 && self.booked[at - 1].0 >= earliest {
            at -= 1;
        }
        let mut start = if at > 0 { earliest.max(self.booked[at - 1].1) } else { earliest };
        while let Some(&(from, to)) = self.booked.get(at) {
            if start + length <= from {
                break;
            }
            start = start.max(to);
            at += 1;
        }
        self.booked.insert(at, (start, start + length));
        if self.booked.len() > REMEMBERED {
            self.booked.pop_front();
        }
        start
    }

    /// Cycles for which it has been held, so far and by what is booked.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// Transactions so far.
    pub fn transactions(&self) -> u64 {
        self.transactions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Occupancy;

    fn bus() -> Bus {
        let occupancy = Occupancy { read: 10, invalidate: 2, write_back: 5, uncached_load: 8, uncached_store: 3, abort: 3 };
        Bus::new(&machine::Bus { ratio: 1, arbitration: 2, occupancy })
    }

    #[test]
    fn a_busy_bus_makes_wait() {
        let mut bus = bus();
        assert_eq!(bus.book(Transaction::Read, 100), 100);
        assert_eq!(bus.book(Transaction::Read, 105), 110);
        assert_eq!(bus.book(Transaction::Invalidate, 100), 120);
        assert_eq!((bus.busy(), bus.transactions()), (22, 3));
    }

    #[test]
    fn a_gap_before_a_booking_is_used() {
        let mut bus = bus();
        assert_eq!(bus.book(Transaction::Read, 100), 100);
        assert_eq!(bus.book(Transaction::Read, 200), 200);
        assert_eq!(bus.book(Transaction::WriteBack, 50), 50);
        assert_eq!(bus.book(Transaction::WriteBack, 108), 110);
        assert_eq!(bus.book(Transaction::Read, 195), 210, "it does not fit before 200");
        assert_eq!(bus.book(Transaction::WriteBack, 195), 195, "it just fits");
    }
}
