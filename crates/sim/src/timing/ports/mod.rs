//! The kinds of ports between a node and its network: how long a message keeps the queue that it leaves by, when its head is out, and how long it
//! keeps the queue that it comes in by. Credits, and the order of lanes, are not theirs ([`super::interface`]).

mod cut_through;
mod rated;
mod streaming;

use crate::machine::Machine;
use crate::timing::calendar::Calendar;
use cut_through::CutThrough;
use rated::Rated;
use std::ops::Range;
use streaming::Streaming;

/// A message that passes a port.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// In how many packets it goes, at least 1.
    pub packets: u64,
    /// The words of all of them, headers among them.
    pub words: u64,
    /// The bytes of its data.
    pub bytes: u64,
    /// How long after its head its last word is handed over at least.
    pub tail: u64,
}

/// A kind of port. All times are cycles of the processor.
pub trait Port: Send {
    /// A message is handed over at a cycle: the cycles for which it is in the queue, and when its head has left. `out`: when the queue is in use.
    fn leave(&self, out: &mut Calendar, at: u64, message: Passing) -> (Range<u64>, u64);

    /// The cycles for which it keeps the queue at its receiver.
    fn enter(&self, message: Passing) -> u64;
}

/// The port of a machine's nodes.
pub fn make(machine: &Machine) -> Box<dyn Port> {
    let port: Box<dyn Port> = match machine.interface.cut_through {
        true => Box::new(CutThrough::new(machine)),
        false => Box::new(Streaming::new(machine)),
    };
    match machine.data_rate() {
        Some(rate) => Box::new(Rated::new(machine, rate, port)),
        None => port,
    }
}
