//! The memory bus of a node: one transaction at a time, first come first served.

use crate::machine;
use crate::machine::price::{Price, TRANSACTIONS, Transaction};
use crate::timing::calendar::Calendar;

/// The bus of one node.
#[derive(Clone, Debug)]
pub struct Bus {
    arbitration: u64,
    occupancy: [u64; TRANSACTIONS.len()],
    calendar: Calendar,
    busy: u64,
    transactions: u64,
    /// What was booked since somebody looked, if that is kept: the transaction, its first cycle and one past its last.
    pub(crate) noted: Option<Vec<(Transaction, u64, u64)>>,
}

impl Bus {
    /// An idle bus.
    pub fn new(model: &machine::BusModel) -> Bus {
        Bus {
            arbitration: model.arbitration(),
            occupancy: TRANSACTIONS.map(|(_, transaction)| model.occupancy(transaction)),
            calendar: Calendar::default(),
            busy: 0,
            transactions: 0,
            noted: None,
        }
    }

    /// From now on it keeps what is booked if `on`.
    pub(crate) fn note(&mut self, on: bool) {
        self.noted = on.then(Vec::new);
    }

    /// Cycles from a request to its grant when the bus is idle.
    #[inline]
    pub fn arbitration(&self) -> u64 {
        self.arbitration
    }

    /// Cycles for which a transaction holds the bus after its grant.
    #[inline]
    pub fn occupancy(&self, transaction: Transaction) -> u64 {
        self.occupancy[transaction as usize]
    }

    /// Cycles of a price that are not spent on the bus: what a slower engine stretches.
    #[inline]
    pub fn own_cycles(&self, price: &Price) -> u64 {
        match price.bus[..] {
            [] => price.cycles,
            _ => price.cycles.saturating_sub(price.bus.iter().map(|&t| self.arbitration() + self.occupancy(t)).sum()),
        }
    }

    /// Books a transaction that can be granted at cycle `earliest`, and gives the cycle of its grant.
    pub fn book(&mut self, transaction: Transaction, earliest: u64) -> u64 {
        let length = self.occupancy(transaction);
        self.busy += length;
        self.transactions += 1;
        let grant = self.calendar.book(earliest, length);
        if let Some(noted) = &mut self.noted {
            noted.push((transaction, grant, grant + length));
        }
        grant
    }

    /// Cycles for which it has been held, by what is booked too.
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

    #[test]
    fn each_transaction_has_its_own_time() {
        let model = machine::Machine::load("typhoon", &[]).unwrap().bus;
        let bus = Bus::new(&model);
        for (_, transaction) in TRANSACTIONS {
            assert_eq!(bus.occupancy(transaction), model.occupancy(transaction), "{transaction:?}");
        }
    }
}
