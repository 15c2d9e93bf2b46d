//! A run from its beginning to its end: who takes part, what a node lives through, how all part, and what is told of it.

mod beginning;
mod ending;
mod life;
mod pin;
mod result;
mod run;
mod setup;

pub use beginning::next_packet;
pub use result::{LiveNode, RunResult, StallTimes};
pub use run::{Ended, LiveOutcome, record, replay, run, take_part};
pub use setup::{STALL_LIMIT, Setup};
