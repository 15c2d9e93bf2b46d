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

mod begin;
pub mod chart;
mod client;
mod conclude;
mod config;
mod coverage;
mod deadlock;
mod explore;
mod flood;
mod ghost;
pub mod group;
mod late;
mod layout;
mod mark;
mod mechanisms;
mod model;
mod murphi;
mod mutants;
mod payload;
mod progress;
mod promise;
mod remember;
mod report;
mod search;
mod spin;
mod step;
mod store;
mod trace;
mod usage;
mod vacuity;
mod world;

pub use config::{
    Checkpoints, Config, ConfigError, MAX_NODES, Method, Network, Origin, Progress, Search, System, Writer,
};
pub use coverage::{Counted, Coverage, Never};
pub use deadlock::Waiting;
pub use explore::explore;
pub use layout::BLOCK_BYTES;
pub use murphi::murphi;
pub use mutants::{Fate, judge};
pub use report::{Change, Omission, Report, Saved, Step, Together, Verdict, text, text_around};
pub use search::{leftovers, orbits, unseen};
pub use spin::spin;
pub use trace::{Trace, is_minimal};
