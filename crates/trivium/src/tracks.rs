//! The parts of a node, as traces and pictures show them.

use trivium_sim::{Spent, Worker};

/// The tracks of a node, in the order in which they are shown; the last ones are those of the engines for messages, where a node has several.
pub const TRACKS: [&str; 14] = [
    "processor",
    "engine",
    "bus",
    "link out",
    "link in",
    "calls",
    "slot 1",
    "slot 2",
    "slot 3",
    "slot 4",
    "slot 5",
    "slot 6",
    "slot 7",
    "slot 8",
];
/// What the processor does.
pub const PROCESSOR: u32 = 0;
/// Handlers that the engine runs.
pub const ENGINE: u32 = 1;
/// What moves on the bus.
pub const BUS: u32 = 2;
/// Messages that leave.
pub const LINK_OUT: u32 = 3;
/// Messages that arrive.
pub const LINK_IN: u32 = 4;
/// Handlers that the processor itself runs.
pub const CALLS: u32 = 5;

/// The tracks of a node with so many engines for messages beside another one.
pub fn tracks(slots: u64) -> &'static [&'static str] {
    let most = TRACKS.len() - 1 - CALLS as usize;
    &TRACKS[..=CALLS as usize + usize::try_from(slots).map_or(most, |slots| slots.min(most))]
}

/// Where a handler is shown.
pub fn track(worker: Worker) -> u32 {
    match worker {
        Worker::Processor => CALLS,
        Worker::Engine(0) => ENGINE,
        Worker::Engine(slot) => (CALLS + 1..).nth(slot - 1).unwrap_or(ENGINE),
    }
}

/// What a stall is called.
pub fn stall_name(spent: Spent) -> &'static str {
    match spent {
        Spent::Read => "read stall",
        Spent::Write => "write stall",
        Spent::Tlb => "TLB stall",
        Spent::Sync => "sync stall",
    }
}
