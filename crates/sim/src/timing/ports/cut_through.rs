//! A port that a message is handed over to whole, and whose head leaves while its tail still comes.

use super::{Passing, Port};
use crate::machine::Machine;
use crate::timing::calendar::Calendar;
use std::ops::Range;

pub(super) struct CutThrough {
    cycles_per_word: u64,
    /// What a packet's length is beside its words.
    message: u64,
    receive_occupancy: u64,
}

impl CutThrough {
    pub(super) fn new(machine: &Machine) -> CutThrough {
        CutThrough {
            cycles_per_word: machine.interface.cycles_per_word,
            message: machine.interface.message,
            receive_occupancy: machine.interface.receive_occupancy,
        }
    }

    fn length(&self, message: Passing) -> u64 {
        (message.words * self.cycles_per_word + self.message * message.packets).max(message.tail)
    }
}

impl Port for CutThrough {
    fn leave(&self, out: &mut Calendar, at: u64, message: Passing) -> (Range<u64>, u64) {
        // It was handed over with the way to the port behind it.
        let length = self.length(message);
        let begun = out.book(at, length);
        (begun..begun + length, begun)
    }

    fn enter(&self, message: Passing) -> u64 {
        self.length(message).max(self.receive_occupancy * message.packets)
    }
}
