//! A port whose data leave at a rate, one message after the other; messages without data pass another one.

use super::{Passing, Port};
use crate::machine::{DataRate, Machine};
use crate::timing::calendar::Calendar;
use std::ops::Range;

pub(super) struct Rated {
    rate: DataRate,
    cycles_per_word: u64,
    /// For each packet, at least.
    send_occupancy: u64,
    others: Box<dyn Port>,
}

impl Rated {
    pub(super) fn new(machine: &Machine, rate: DataRate, others: Box<dyn Port>) -> Rated {
        Rated {
            rate,
            cycles_per_word: machine.interface.cycles_per_word,
            send_occupancy: machine.interface.send_occupancy,
            others,
        }
    }
}

impl Port for Rated {
    fn leave(&self, out: &mut Calendar, at: u64, message: Passing) -> (Range<u64>, u64) {
        if message.bytes == 0 {
            return self.others.leave(out, at, message);
        }
        // Its tail leaves when all of it has.
        let least = (message.words * self.cycles_per_word).max(self.send_occupancy * message.packets);
        let taken = self.rate.cycles_of(message.bytes).max(least);
        let begun = out.book(at, taken);
        (begun..begun + taken, begun + taken)
    }

    fn enter(&self, message: Passing) -> u64 {
        self.others.enter(message)
    }
}
