//! Explores every interleaving of a protocol.
//!
//! [`explore`] builds a system of a few nodes and objects whose threads do anything at any time (or what a scenario
//! of the protocol says), executes every event that can happen in every state with the same engine that simulates
//! and runs the protocol, and checks what the protocol promises. Breadth first, so that a counterexample is as short as
//! any. There are two explorers with the same answers: one that is brute force on purpose (one host thread, every state,
//! no symmetry), and the fast one (`search`).
//!
//! It must never know a machine, time, or a program.
// A number that does not fit must not be cut in silence: see `trivium_engine::number` for what to write in place of `as`.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

pub mod chart;
mod config;
mod coverage;
mod report;
mod runs;
mod search;
mod step;
mod system;

pub use config::group;
pub use config::{
    Checkpoints, Config, Fairness, MAX_NODES, Method, Network, Origin, Progress, Search, System, WriteAll,
};
pub use coverage::{Counted, Coverage, Never};
pub use report::deadlock::Waiting;
pub use report::parameters::{ParameterValue, TriedValue};
pub use report::trace::{Trace, is_minimal};
pub use report::{Exchanged, Omission, RecordChange, Report, Saved, Together, TraceStep, Verdict, text, text_around};
pub use runs::explore::{every_order_at_every_loop, explore};
pub use runs::mutants::{Fate, judge};
pub use search::{leftovers, orbits, unseen};
pub use system::action::event_kind;
pub use system::body::Script;
pub use system::client::{Client, Intent, ThreadPlace};
pub use system::late::OpenStore;
pub use system::layout::{BLOCK_BYTES, WORD, WORDS_PER_BLOCK, checks_values};
pub use system::model::{LaneModel, most_stored};
pub use system::outline::Outline;
