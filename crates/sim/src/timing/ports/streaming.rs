//! A queue that is filled while the handler writes to it, word by word.

use super::{Passing, Port};
use crate::machine::Machine;
use crate::timing::calendar::Calendar;
use std::ops::Range;

pub(super) struct Streaming {
    cycles_per_word: u64,
    /// For each packet, at least.
    send_occupancy: u64,
    receive_occupancy: u64,
}

impl Streaming {
    pub(super) fn new(machine: &Machine) -> Streaming {
        Streaming {
            cycles_per_word: machine.interface.cycles_per_word,
            send_occupancy: machine.interface.send_occupancy,
            receive_occupancy: machine.interface.receive_occupancy,
        }
    }
}

impl Port for Streaming {
    fn leave(&self, out: &mut Calendar, at: u64, message: Passing) -> (Range<u64>, u64) {
        let (length, busy) = (message.words * self.cycles_per_word, self.send_occupancy * message.packets);
        if busy > length {
            // The interface works on it after it was handed over; that is part of the latency.
            let begun = out.book(at, busy);
            return (begun..begun + busy, begun);
        }
        // A message that finds the queue empty leaves at once.
        let begun = out.book(at.saturating_sub(length), length);
        (begun..begun + length, (begun + length).max(at))
    }

    fn enter(&self, message: Passing) -> u64 {
        (message.words * self.cycles_per_word).max(self.receive_occupancy * message.packets)
    }
}
