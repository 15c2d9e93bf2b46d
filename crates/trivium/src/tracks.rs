//! The parts of a node, as traces and pictures show them.

use trivium_sim::Spent;

/// The tracks of a node, in the order in which they are shown.
pub const TRACKS: [&str; 6] = ["processor", "engine", "bus", "link out", "link in", "calls"];
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

/// Where a handler is shown.
pub fn track(on_processor: bool) -> u32 {
    if on_processor { CALLS } else { ENGINE }
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
