//! The memory bus of a node: one transaction at a time, first come first served.

use crate::calendar::Calendar;
use crate::machine;
use crate::price::Transaction;

/// The bus of one node.
#[derive(Clone, Debug)]
pub struct Bus {
    model: machine::Bus,
    calendar: Calendar,
    busy: u64,
    transactions: u64,
    /// What was booked since somebody looked, if that is kept: the transaction, its first cycle and one past its last.
    pub(crate) noted: Option<Vec<(Transaction, u64, u64)>>,
}

impl Bus {
    /// An idle bus.
    pub fn new(model: &machine::Bus) -> Bus {
        Bus { model: model.clone(), calendar: Calendar::default(), busy: 0, transactions: 0, noted: None }
    }

    /// The same bus, which keeps what is booked if `on`.
    pub(crate) fn noting(self, on: bool) -> Bus {
        Bus { noted: on.then(Vec::new), ..self }
    }

    /// What it is made of.
    pub fn model(&self) -> &machine::Bus {
        &self.model
    }

    /// Books a transaction that can be granted at cycle `earliest`, and gives the cycle of its grant.
    pub fn book(&mut self, transaction: Transaction, earliest: u64) -> u64 {
        let length = self.model.occupancy(transaction);
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
