//! Runs a parallel program for real: every node is an operating-system thread with a program of its own, kept coherent by
//! the same protocol files that are checked and simulated (`docs/semantics.md`, `docs/run.md`). Where there are more nodes than processors, one thread
//! for each of these carries several.
//!
//! A node runs handlers in its own thread: where its program waits, and at poll points while it computes. What nodes tell each
//! other goes through a [`Transport`], which carries packets of bytes and knows neither protocols nor programs.
//!
//! It must never know modelled time or machines (no cycle, no price), source text, or the search.
// A number that does not fit must not be cut in silence: see `trivium_engine::number` for what to write in place of `as`.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod history;
mod node;
mod packets;
mod reports;
mod runs;
mod transport;

pub use history::RecordedRun;
pub use reports::latency::Latency;
pub use reports::trace::{LiveHandled, LiveNote, LiveWhat, NodeTrace, Numbered, RunTrace, Waited};
pub use runs::{Ended, LiveNode, LiveOutcome, RunResult, STALL_LIMIT, Setup, StallTimes, next_packet};
pub use runs::{record, replay, run, take_part};
pub use transport::Transport;
pub use transport::contract::check_transport;
pub use transport::threads::{Threads, join};
pub use trivium_node::{Blame, NodeError, Said};
